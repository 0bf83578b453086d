"""Validates SARIF logs against the schema that a package brings: sarif_schema.py SCHEMA LOG...

The control: a log that is spoilt in one place is found to be invalid, so the schema is one that says something."""

import copy
import json
import sys

import jsonschema


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    validator = kind(schema, format_checker=kind.FORMAT_CHECKER)
    failed = False
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            log = json.load(file)
        errors = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(log)]
        spoilt = copy.deepcopy(log)
        spoilt["runs"][0]["tool"]["driver"].pop("name")
        spoilt["runs"][0]["columnKind"] = "bytes"
        caught = len(list(validator.iter_errors(spoilt)))
        if errors or caught != 2:
            failed = True
            print(f"INVALID {path}: {errors[:5]}, control {caught}")
        else:
            print(f"valid {path}: {len(log['runs'][0]['results'])} results")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
