"""60 small edits, half of them bad, for benches/findings.py. They were written before any result was seen.

A case is (id, what, path, before, old, new). `before` is the file, or None for a new one whose text is `new`. The edit
replaces `old`, which stands once, by `new`. SIBLINGS has the other files of a case.
"""

PY = '''"""Orders of a shop."""

import json
import subprocess


def total(items: list[dict]) -> int:
    """Adds up the prices."""
    result = 0
    for item in items:
        result += item["price"]
    return result


def load(text: str) -> dict:
    """Reads an order."""
    return json.loads(text)


def archive(name: str) -> None:
    """Packs a folder."""
    subprocess.run(["tar", "-cf", name + ".tar", name], check=True)
'''

PY_TEST = '''from orders import total


def test_total():
    assert total([{"price": 2}, {"price": 3}]) == 5


def test_empty():
    assert total([]) == 0
'''

JS = '''const list = document.querySelector("#list");

function show(items) {
  for (const item of items) {
    const row = document.createElement("li");
    row.textContent = item.name;
    list.appendChild(row);
  }
}

function parse(text) {
  return JSON.parse(text);
}

module.exports = { show, parse };
'''

TS = '''export interface Item {
  name: string;
  price: number;
}

export function total(items: Item[]): number {
  return items.reduce((sum, item) => sum + item.price, 0);
}

export function label(item: Item): string {
  return `${item.name}: ${item.price}`;
}
'''

TS_CALLER = '''import { label, total, type Item } from "./items";

const items: Item[] = [{ name: "tea", price: 3 }];
console.log(total(items), label(items[0]!));
'''

PACKAGE = '''{
  "name": "shop",
  "version": "1.0.0",
  "scripts": {
    "build": "tsc",
    "test": "node --test"
  },
  "license": "MIT"
}
'''

TSCONFIG = '''{
  "compilerOptions": {
    "strict": true,
    "noEmit": true,
    "target": "es2022",
    "module": "nodenext"
  }
}
'''

WORKFLOW = '''name: test
on:
  issues:
    types: [opened]
  push:
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: make test
'''

COMPOSE = '''services:
  web:
    image: shop:1
    ports:
      - "8080:80"
    environment:
      MODE: production
  db:
    image: postgres:16
'''

RUST = '''/// The state of an order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum State {
    Open,
    Paid,
}

/// Adds up the prices.
pub fn total(prices: &[u32]) -> u32 {
    prices.iter().sum()
}

/// The word of a state.
pub fn word(state: State) -> &'static str {
    match state {
        State::Open => "open",
        State::Paid => "paid",
    }
}
'''

GO = '''package shop

import "fmt"

// Item is sold.
type Item struct {
	Name  string
	Price int
}

// Total adds up the prices.
func Total(items []Item) int {
	sum := 0
	for _, item := range items {
		sum += item.Price
	}
	return sum
}

// Label names an item.
func Label(item Item) string {
	return fmt.Sprintf("%s: %d", item.Name, item.Price)
}
'''

README = '''# Shop

A small shop.

## Use

```console
$ make test
```

## Licence

MIT
'''

BAD = [
    ("b01", "a parenthesis that is not closed", "orders.py", PY, "    return json.loads(text)\n", "    return json.loads(text\n"),
    ("b02", "a line of a loop that lost its indentation", "orders.py", PY, '        result += item["price"]\n', '    result += item["price"]\n'),
    ("b03", "a name that does not exist", "orders.py", PY, "    return result\n", "    return results\n"),
    ("b04", "an import that is still used goes", "orders.py", PY, "import json\nimport subprocess\n", "import subprocess\n"),
    ("b05", "a key of a cloud in the source", "orders.py", PY, "def load(text", 'AWS_SECRET_ACCESS_KEY = "wJalrXUtnFEMIK7MDENGbPxRfiCYzz81pqLs0aTe"\n\n\ndef load(text'),
    ("b06", "a shell command made of a parameter", "orders.py", PY, 'subprocess.run(["tar", "-cf", name + ".tar", name], check=True)', 'subprocess.run(f"tar -cf {name}.tar {name}", shell=True, check=True)'),
    ("b07", "a text returned as a number", "orders.py", PY, "    return result\n", '    return f"{result}"\n'),
    ("b08", "a test that tests nothing any more", "test_orders.py", PY_TEST, '    assert total([{"price": 2}, {"price": 3}]) == 5\n', "    assert True\n"),
    ("b09", "a placeholder instead of the code", "orders.py", PY, '    result = 0\n    for item in items:\n        result += item["price"]\n    return result\n', "    result = 0\n    # ... rest of the function unchanged ...\n"),
    ("b10", "a brace that is missing", "show.js", JS, "    list.appendChild(row);\n  }\n}\n", "    list.appendChild(row);\n  }\n"),
    ("b11", "an argument of a wrong type", "items.ts", TS, "export function label", 'export const none = total(["tea"]);\n\nexport function label'),
    ("b12", "a signature that breaks the caller in another file", "items.ts", TS, "export function label(item: Item): string {", "export function label(item: Item, currency: string): string {"),
    ("b13", "a name of a person as HTML", "show.js", JS, "    row.textContent = item.name;\n", "    row.innerHTML = item.name;\n"),
    ("b14", "eval of a text", "show.js", JS, "  return JSON.parse(text);\n", '  return eval("(" + text + ")");\n'),
    ("b15", "line ends written as text", "show.js", JS, "  return JSON.parse(text);\n", "  const value = JSON.parse(text);\\n  return value;\n"),
    ("b16", "conflict markers", "items.ts", TS, "  return items.reduce((sum, item) => sum + item.price, 0);\n", "<<<<<<< HEAD\n  return items.reduce((sum, item) => sum + item.price, 0);\n=======\n  return items.length;\n>>>>>>> other\n"),
    ("b17", "a comma after the last entry", "package.json", PACKAGE, '  "license": "MIT"\n', '  "license": "MIT",\n'),
    ("b18", "a key that is there twice", "package.json", PACKAGE, '  "license": "MIT"\n', '  "license": "MIT",\n  "version": "1.0.1"\n'),
    ("b19", "the last brace goes", "package.json", PACKAGE, '  "license": "MIT"\n}\n', '  "license": "MIT"\n'),
    ("b20", "an entry with too little indentation", "compose.yaml", COMPOSE, "    environment:\n      MODE: production\n", "    environment:\n   MODE: production\n"),
    ("b21", "a key that is there twice", "compose.yaml", COMPOSE, "    image: postgres:16\n", "    image: postgres:16\n    image: postgres:17\n"),
    ("b22", "the title of an issue in a shell command", ".github/workflows/test.yml", WORKFLOW, "      - run: make test\n", '      - run: make test\n      - run: echo "${{ github.event.issue.title }}"\n'),
    ("b23", "conflict markers", "compose.yaml", COMPOSE, "    image: postgres:16\n", "<<<<<<< HEAD\n    image: postgres:16\n=======\n    image: postgres:17\n>>>>>>> other\n"),
    ("b24", "a brace that is missing", "src/lib.rs", RUST, '        State::Paid => "paid",\n    }\n}\n', '        State::Paid => "paid",\n    }\n'),
    ("b25", "a text returned as a number", "src/lib.rs", RUST, "    prices.iter().sum()\n", '    "0"\n'),
    ("b26", "a placeholder instead of the code", "src/lib.rs", RUST, "    prices.iter().sum()\n", "    todo!()\n"),
    ("b27", "a parenthesis that is missing", "shop.go", GO, '	return fmt.Sprintf("%s: %d", item.Name, item.Price)\n', '	return fmt.Sprintf("%s: %d", item.Name, item.Price\n'),
    ("b28", "an import that nothing uses", "shop.go", GO, 'import "fmt"\n', 'import (\n	"fmt"\n	"os"\n)\n'),
    ("b29", "a function that does not exist", "shop.go", GO, "	return sum\n", "	return round(sum)\n"),
    ("b30", "line numbers of a listing in the text", "README.md", README, "A small shop.\n\n## Use\n", "     3→A small shop for tea.\n     4→\n     5→## Use\n"),
]

GOOD = [
    ("g01", "another name for a variable", "orders.py", PY, '    result = 0\n    for item in items:\n        result += item["price"]\n    return result\n', '    amount = 0\n    for item in items:\n        amount += item["price"]\n    return amount\n'),
    ("g02", "an import and its use", "orders.py", PY, 'import json\nimport subprocess\n\n\ndef total(items: list[dict]) -> int:\n    """Adds up the prices."""\n', 'import json\nimport logging\nimport subprocess\n\n\ndef total(items: list[dict]) -> int:\n    """Adds up the prices."""\n    logging.debug("%d items", len(items))\n'),
    ("g03", "a program started with a list of words", "orders.py", PY, '    subprocess.run(["tar", "-cf", name + ".tar", name], check=True)\n', '    command = ["tar", "-czf", f"{name}.tar.gz", "--", name]\n    subprocess.run(command, check=True)\n'),
    ("g04", "a protocol whose bodies are dots", "shapes.py", None, None, 'from typing import Protocol\n\n\nclass Shape(Protocol):\n    """What has an area."""\n\n    def area(self) -> float: ...\n\n    def name(self) -> str: ...\n'),
    ("g05", "another case for a test", "test_orders.py", PY_TEST, "    assert total([]) == 0\n", '    assert total([]) == 0\n    assert total([{"price": 0}]) == 0\n'),
    ("g06", "the name of a variable of the environment, not a key", "orders.py", PY, "import json\nimport subprocess\n\n\n", 'import json\nimport os\nimport subprocess\n\nPASSWORD = os.environ["SHOP_PASSWORD"]\n\n\n'),
    ("g07", "a comment that says evaluate and todo", "orders.py", PY, "    return json.loads(text)\n", "    # The todo list is not evaluated here: eval() is never called.\n    return json.loads(text)\n"),
    ("g08", "one of two old faults is repaired", "broken.py", "def a(:\n    return 1\n\n\ndef b(:\n    return 2\n", "def a(:\n", "def a():\n"),
    ("g09", "text instead of HTML, with a template", "show.js", JS, "    row.textContent = item.name;\n", "    row.textContent = `${item.name} (${item.count ?? 1})`;\n"),
    ("g10", "a pattern with quotes and slashes", "show.js", JS, "  return JSON.parse(text);\n", "  return JSON.parse(text.replace(/\\/\\*[^\"'`]*\\*\\//g, \"\"));\n"),
    ("g11", "a generic function", "items.ts", TS, "export function label", "export function first<T>(values: readonly T[]): T | undefined {\n  return values[0];\n}\n\nexport function label"),
    ("g12", "a parameter that may be left out", "items.ts", TS, "export function label(item: Item): string {\n  return `${item.name}: ${item.price}`;\n", 'export function label(item: Item, currency = "EUR"): string {\n  return `${item.name}: ${item.price} ${currency}`;\n'),
    ("g13", "elements in TypeScript", "row.tsx", None, None, "type Props = { name: string };\n\nexport const Row = ({ name }: Props) => (\n  <li className=\"row\">\n    {name} &lt;b&gt;\n  </li>\n);\n"),
    ("g14", "a text with an escaped line end", "show.js", JS, "module.exports = { show, parse };\n", 'const SEPARATOR = "\\n";\n\nmodule.exports = { show, parse, SEPARATOR };\n'),
    ("g15", "a query with parameters", "query.ts", None, None, 'interface Database {\n  query(text: string, values: unknown[]): Promise<unknown[]>;\n}\n\nexport async function find(database: Database, name: string): Promise<unknown[]> {\n  return await database.query("SELECT * FROM items WHERE name = $1", [name]);\n}\n'),
    ("g16", "another script", "package.json", PACKAGE, '    "test": "node --test"\n', '    "test": "node --test",\n    "lint": "oxlint"\n'),
    ("g17", "comments in a file that allows them", "tsconfig.json", TSCONFIG, '    "noEmit": true,\n', '    // The build is made by another program.\n    "noEmit": true,\n'),
    ("g18", "a new file of settings", "settings.json", None, None, '{\n  "names": ["a", "b\\u00fc"],\n  "limits": { "max": 1e3, "min": -0.5 },\n  "none": null\n}\n'),
    ("g19", "another version", "package.json", PACKAGE, '  "version": "1.0.0",\n', '  "version": "1.1.0",\n'),
    ("g20", "the title of an issue through the environment", ".github/workflows/test.yml", WORKFLOW, "      - run: make test\n", '      - run: make test\n      - run: echo "$TITLE"\n        env:\n          TITLE: ${{ github.event.issue.title }}\n'),
    ("g21", "an anchor and its use", "compose.yaml", COMPOSE, "    environment:\n      MODE: production\n  db:\n    image: postgres:16\n", "    environment: &environment\n      MODE: production\n  db:\n    image: postgres:16\n    environment:\n      <<: *environment\n      TIER: data\n"),
    ("g22", "two documents in one file", "objects.yaml", None, None, "kind: Service\nmetadata: { name: web }\n---\nkind: Deployment\nmetadata: { name: web }\n"),
    ("g23", "a tag of one's own", ".gitlab-ci.yml", None, None, ".setup:\n  script:\n    - make setup\n\ntest:\n  script:\n    - !reference [.setup, script]\n    - make test\n"),
    ("g24", "another state, in the list and in the match", "src/lib.rs", RUST, "    Paid,\n}\n\n/// Adds up the prices.\npub fn total(prices: &[u32]) -> u32 {\n    prices.iter().sum()\n}\n\n/// The word of a state.\npub fn word(state: State) -> &'static str {\n    match state {\n", "    Paid,\n    Sent,\n}\n\n/// Adds up the prices.\npub fn total(prices: &[u32]) -> u32 {\n    prices.iter().sum()\n}\n\n/// The word of a state.\npub fn word(state: State) -> &'static str {\n    match state {\n        State::Sent => \"sent\",\n"),
    ("g25", "a lifetime and a closure", "src/lib.rs", RUST, "/// The word of a state.\n", "/// The longest name.\npub fn longest<'a>(names: &'a [String]) -> Option<&'a str> {\n    names.iter().map(String::as_str).max_by_key(|name| name.len())\n}\n\n/// The word of a state.\n"),
    ("g26", "a macro", "src/lib.rs", RUST, "/// The word of a state.\n", "/// Adds any number of prices.\n#[macro_export]\nmacro_rules! sum {\n    ($($price:expr),* $(,)?) => {\n        0 $(+ $price)*\n    };\n}\n\n/// The word of a state.\n"),
    ("g27", "a method", "shop.go", GO, "// Total adds", "// IsFree tells whether the item costs nothing.\nfunc (i Item) IsFree() bool {\n	return i.Price == 0\n}\n\n// Total adds"),
    ("g28", "a generic function", "shop.go", GO, "// Label names", "// Map changes each value.\nfunc Map[A, B any](values []A, change func(A) B) []B {\n	result := make([]B, 0, len(values))\n	for _, value := range values {\n		result = append(result, change(value))\n	}\n	return result\n}\n\n// Label names"),
    ("g29", "a test with a table", "shop_test.go", None, None, 'package shop\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) {\n	for name, test := range map[string]struct {\n		items []Item\n		want  int\n	}{\n		"none": {nil, 0},\n		"two":  {[]Item{{"a", 1}, {"b", 2}}, 3},\n	} {\n		t.Run(name, func(t *testing.T) {\n			if got := Total(test.items); got != test.want {\n				t.Errorf("got %d, want %d", got, test.want)\n			}\n		})\n	}\n}\n'),
    ("g30", "a chapter on conflicts that shows the markers", "README.md", README, "## Licence\n", "## Conflicts\n\nA conflict looks like this:\n\n```text\n<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> other\n```\n\n## Licence\n"),
]

# The files of the project besides the edited one.
SIBLINGS = {
    "orders.py": PY, "test_orders.py": PY_TEST, "show.js": JS, "items.ts": TS, "main.ts": TS_CALLER, "package.json": PACKAGE,
    "tsconfig.json": TSCONFIG, ".github/workflows/test.yml": WORKFLOW, "compose.yaml": COMPOSE, "src/lib.rs": RUST,
    "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n', "shop.go": GO, "go.mod": "module example.com/shop\n\ngo 1.22\n",
    "README.md": README,
}
