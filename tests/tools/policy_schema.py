"""Says of each document on standard input whether it passes the schema there: null, or what is wrong."""
import json
import sys

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

request = json.load(sys.stdin)
Draft202012Validator.check_schema(request["schema"])
validator = Draft202012Validator(request["schema"])
wrong = (best_match(validator.iter_errors(document)) for document in request["documents"])
json.dump([error and f"{error.json_path}: {error.message}" for error in wrong], sys.stdout)
