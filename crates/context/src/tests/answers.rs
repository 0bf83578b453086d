//! Tests of the content and the order of a response within its size limit.

use super::{ContextQuery, NOTHING, World, at, used};
use lockgate_protocol::{ContextResponse, json_size};

fn project() -> World {
    World::new(&[
        (
            "app/models.py",
            "class User:\n    \"\"\"Somebody who can log in.\"\"\"\n\n    def rename(self, name):\n        self.name = name\n",
        ),
        (
            "app/views.py",
            "from app.models import User\n\ndef show(user):\n    user.rename('x')\n    return User()\n",
        ),
        ("lib/far/user.py", "class User:\n    pass\n"),
        ("tests/test_models.py", "from app.models import User\n\ndef test_user():\n    User().rename('y')\n"),
        ("notes.md", "# Users\n\n## How they log in\n"),
    ])
}

#[test]
fn near_goes_before_far_and_tests_come_last() {
    let world = project();
    let answer = world.symbol("User");
    assert_eq!(at(answer.definitions.as_ref().unwrap()), ["app/models.py:1 User", "lib/far/user.py:1 User"]);
    let ask_near = |path| world.ask(ContextQuery { symbol: Some("User"), near: Some(path), ..NOTHING });
    let own = ask_near("lib/far/user.py");
    assert_eq!(at(own.definitions.as_ref().unwrap()), ["lib/far/user.py:1 User", "app/models.py:1 User"]);
    assert_eq!(used(&own.references), Vec::<String>::new(), "the file means its own");
    let views = ask_near("app/views.py");
    assert_eq!(at(views.definitions.as_ref().unwrap())[0], "app/models.py:1 User");
    assert_eq!(
        used(&views.references),
        [
            "app/views.py:1",
            "app/views.py:5 show",
            "tests/test_models.py:1",
            "tests/test_models.py:4 test_user"
        ]
    );
}

#[test]
fn a_symbol_with_more_words_of_the_query_precedes_the_exact_name_of_one() {
    let world = World::new(&[
        ("a/cache.py", "def cache():\n    pass\n\ndef invalidate():\n    pass\n"),
        ("b/other.py", "def cached_entries_invalidated():\n    pass\n"),
        ("c/far.py", "def caches_users():\n    pass\n"),
    ]);
    let find = |query: &str| at(&world.ask(ContextQuery { query: Some(query), ..NOTHING }).symbols.unwrap());
    let both = find("invalidate cache entries");
    assert_eq!(both[0], "b/other.py:1 cached_entries_invalidated", "{both:?}");
    assert!(both[1..3].iter().all(|found| found.starts_with("a/cache.py:")), "{both:?}");
    // With as many words, the exact name comes first.
    assert_eq!(find("cache")[0], "a/cache.py:1 cache");
    let near = ContextQuery { query: Some("invalidate cache entries"), near: Some("a/cache.py"), ..NOTHING };
    assert_eq!(at(&world.ask(near).symbols.unwrap())[0], both[0], "nearness decides only between equals");
}

#[test]
fn a_name_may_be_given_in_every_way() {
    let world = project();
    for name in [
        "rename",
        "User.rename",
        "User::rename",
        "User#rename",
        "rename()",
        "models.User.rename",
        "app.models.User.rename",
    ] {
        let answer = world.symbol(name);
        assert_eq!(at(answer.definitions.as_ref().unwrap()), ["app/models.py:4 User.rename"], "{name}");
        assert_eq!(
            used(&answer.references),
            ["app/views.py:4 show", "tests/test_models.py:4 test_user"],
            "{name}"
        );
        let code = answer.definitions.unwrap().remove(0).code;
        assert_eq!(code.as_deref(), Some("4:     def rename(self, name):\n5:         self.name = name"));
    }
}

#[test]
fn a_number_selects_one_of_several_symbols_of_a_path() {
    let text = "class A {\n  void f() {}\n  void f(int a) {}\n}\n";
    let world = World::new(&[("A.java", text), ("B.java", "class A {\n  void f() {}\n}\n")]);
    let places = |name: &str| at(world.symbol(name).definitions.as_ref().unwrap());
    assert_eq!(places("A.f").len(), 3, "the control");
    assert_eq!(places("A.f[2]"), ["A.java:3 A.f"]);
    assert_eq!(places("A.f[1]"), ["A.java:2 A.f", "B.java:2 A.f"]);
    assert_eq!(places("A.f[3]"), Vec::<String>::new());
    assert_eq!(places("A.f[0]"), Vec::<String>::new());
    // A name has one number.
    assert_eq!(places("A.f[1][1]"), Vec::<String>::new());
    assert_eq!(places(&format!("A.f{}", "[1]".repeat(20_000))), Vec::<String>::new());
}

#[test]
fn a_number_selects_the_symbol_that_within_selects() {
    let c = "int go(int);\n\nint go(int a) {\n    return a;\n}\n";
    let java = "class A {\n  int f() { return 1; }\n}\nclass f {}\nclass B {\n  int f() { return 2; }\n}\n";
    let yaml = "deep:\n  a:\n    name: 1\n  name: 2\n";
    let module = "def f(): pass\ndef f(a): pass\n";
    let files = [("a.c", c), ("A.java", java), ("k.yaml", yaml), ("m.py", module)];
    let world = World::new(&files);
    for (path, name) in [
        ("a.c", "go[1]"),
        ("a.c", "go[2]"),
        ("a.c", "go[3]"),
        ("A.java", "f[1]"),
        ("A.java", "f[2]"),
        ("A.java", "A.f[1]"),
        ("k.yaml", "deep.name[1]"),
        ("k.yaml", "name[1]"),
        ("k.yaml", "name[2]"),
        ("m.py", "f[2]"),
    ] {
        let answer = world.ask(ContextQuery { symbol: Some(name), near: Some(path), ..NOTHING });
        let own: Vec<_> = answer.definitions.iter().flatten().filter(|found| found.path == path).collect();
        let lines: Vec<_> =
            own.iter().map(|found| (found.start_line.unwrap_or(found.line), found.end_line)).collect();
        let view = &world.0[path];
        let line = |at: usize| view.get(..at).unwrap().matches('\n').count() + 1;
        let tags = super::tags(path, view).unwrap();
        let spans: Vec<_> =
            tags.outline.spans(name).iter().map(|span| (line(span.start), line(span.end - 1))).collect();
        assert_eq!(lines, spans, "{path} {name}");
    }
    let lines = |name: &str| at(world.symbol(name).definitions.as_ref().unwrap());
    assert_eq!(lines("go[1]"), ["a.c:3 go"]);
    assert_eq!(lines("go[2]"), ["a.c:1 go"]);
    assert_eq!(lines("m.f[2]"), ["m.py:2 f"], "after the name of the module");
}

#[test]
fn every_name_of_an_outline_is_found() {
    let files = [
        ("CHANGELOG.md", "# Changelog\n\n## 1.2.0\n\n### Fixed\n\n## 1.1.0\n"),
        ("package.json", "{\n  \"dependencies\": {\n    \"lodash.merge\": \"1\"\n  }\n}\n"),
        ("a.css", ".n {\n  .o {\n    color: red;\n  }\n}\n"),
        ("k.js", "class K {\n  #p = 1;\n  p = 2;\n}\n"),
    ];
    let world = World::new(&files);
    for (path, _) in files {
        for symbol in world.ask(ContextQuery { near: Some(path), ..NOTHING }).target.unwrap().outline {
            let expected = format!("{path}:{} {}", symbol.line, symbol.name);
            assert_eq!(at(&world.symbol(&symbol.name).definitions.unwrap()), [expected]);
        }
    }
    assert_eq!(at(&world.symbol("#p").definitions.unwrap()), ["k.js:2 K.#p"]);
    assert_eq!(at(&world.symbol("p").definitions.unwrap()), ["k.js:3 K.p"]);
    assert_eq!(at(&world.symbol("K::p").definitions.unwrap()), ["k.js:3 K.p"]);
}

#[test]
fn the_deeper_keys_of_the_target_are_found() {
    let text = "jobs:\n  build:\n    steps:\n      - run: x\n";
    let world =
        World::new(&[("k.yaml", text), ("l.yaml", text), ("steps.py", "def steps(): pass\nsteps()\n")]);
    let near = |name| world.ask(ContextQuery { symbol: Some(name), near: Some("k.yaml"), ..NOTHING });
    let answer = near("jobs.build.steps");
    let definitions = answer.definitions.unwrap();
    assert_eq!(at(&definitions), ["k.yaml:3 jobs.build.steps"]);
    assert_eq!(definitions[0].code.as_deref(), Some("3:     steps:\n4:       - run: x"));
    assert_eq!((used(&answer.references), answer.notes, answer.truncated), (vec![], vec![], false));
    assert_eq!(at(&near("steps").definitions.unwrap()), ["k.yaml:3 jobs.build.steps", "steps.py:1 steps"]);
    assert_eq!(at(&near("jobs.build").definitions.unwrap()), ["k.yaml:2 jobs.build", "l.yaml:2 jobs.build"]);
    for (name, is_deeper) in [("jobs.build.steps", true), ("build.steps.run", true), ("jobs.test", false)] {
        let note = &world.symbol(name).notes[0];
        assert_eq!(note.contains("only the two upper levels of keys are indexed"), is_deeper, "{note}");
    }
}

#[test]
fn a_name_after_that_of_its_module_is_found_with_the_shortest_module() {
    let world = World::new(&[
        ("a.py", "class b:\n    def f(self): pass\n"),
        ("b.py", "def f(): pass\n"),
        ("c/a.py", "class b:\n    def f(self): pass\n"),
        ("t.toml", "[x]\nb = 1\n"),
    ]);
    let places = |name: &str| at(world.symbol(name).definitions.as_ref().unwrap());
    assert_eq!(places("a.b.f"), ["a.py:2 b.f", "c/a.py:2 b.f"]);
    assert_eq!(places("c.a.b.f"), ["a.py:2 b.f", "c/a.py:2 b.f"]);
    assert_eq!(places("other.b.f"), ["b.py:1 f"]);
    assert_eq!(places("t.x.b"), ["t.toml:2 x.b"]);
    assert_eq!(places("other.b.x.b"), Vec::<String>::new());
}

#[test]
fn a_name_that_nothing_has_is_answered_with_those_like_it() {
    let world = project();
    let answer = world.symbol("Usre");
    assert_eq!(answer.definitions.as_deref(), Some(&[][..]));
    assert!(
        answer.notes[0].contains("nothing in the workspace defines \"Usre\"; did you mean User"),
        "{:?}",
        answer.notes
    );
    assert!(!answer.truncated);
    let odd = world.symbol(&"\u{202e}x".repeat(5_000));
    assert!(odd.notes[0].len() < 1_000);
    // A name that is only used is shown where it is used.
    let outside = World::new(&[("a.py", "from flask import Flask\napp = Flask()\n")]).symbol("Flask");
    assert_eq!(used(&outside.references), ["a.py:1", "a.py:2"]);
    let scripts = World::new(&[
        ("a.ts", "import * as React from 'react';\nReact.useState(1);\n"),
        ("b.js", "const fs = require('node:fs');\nfs.readFile('x');\nother.readFile;\n"),
    ]);
    assert_eq!(used(&scripts.symbol("React.useState").references), ["a.ts:2"]);
    assert_eq!(used(&scripts.symbol("fs.readFile").references), ["b.js:2", "b.js:3"]);
    assert_eq!(used(&scripts.symbol("Preact.useState").references), Vec::<String>::new(), "the control");
}

#[test]
fn a_file_uses_only_names_that_its_language_can_use() {
    let world = World::new(&[
        ("a.py", "from m import count\ntotal = count + value\nprint(total)\n"),
        ("m.py", "count = 1\nvalue = 2\n"),
        ("lib.go", "package lib\n\nfunc value() {}\n\nvar count = 1\n"),
        ("b.rs", "pub fn print() {}\n"),
        ("c.ts", "import { area } from './d';\narea();\n"),
        ("d.js", "export function area() {}\n"),
    ]);
    let uses = |path| at(&world.ask(ContextQuery { near: Some(path), ..NOTHING }).uses);
    assert_eq!(uses("a.py"), ["m.py:1 count", "m.py:2 value"]);
    assert_eq!(uses("c.ts"), ["d.js:1 area"]);
}

#[test]
fn words_find_names_then_documentation() {
    let world = project();
    let find = |query: &str| at(&world.ask(ContextQuery { query: Some(query), ..NOTHING }).symbols.unwrap());
    assert_eq!(find("rename a user")[0], "app/models.py:4 User.rename");
    assert_eq!(find("log in somebody")[0], "app/models.py:1 User");
    assert_eq!(find("test_user")[0], "tests/test_models.py:3 test_user");
    assert!(find("zebra").is_empty());
    assert!(find("§ \u{0} ...").is_empty());
}

#[test]
fn a_short_name_is_found_after_what_matches_a_word() {
    let text = "def f():\n    pass\n\ndef to():\n    pass\n\ndef parse():\n    \"\"\"Parses f.\"\"\"\n";
    let world = World::new(&[("a.py", text)]);
    let find = |query: &str| at(&world.ask(ContextQuery { query: Some(query), ..NOTHING }).symbols.unwrap());
    assert_eq!(find("f"), ["a.py:1 f"]);
    assert_eq!(find("to"), ["a.py:4 to"]);
    assert_eq!(find("parse f to"), ["a.py:7 parse", "a.py:1 f", "a.py:4 to"]);
    assert!(find("g").is_empty());
}

#[test]
fn symbols_with_less_than_half_of_the_words_are_counted() {
    let world = World::new(&[
        ("a.py", "def load_config_file_path():\n    pass\n\ndef load_config():\n    pass\n"),
        ("b.py", "def path_of_name():\n    pass\n\nclass Load:\n    pass\n"),
    ]);
    let answer = world.ask(ContextQuery { query: Some("load config file path"), ..NOTHING });
    let found = at(&answer.symbols.unwrap());
    // All words of a name are enough.
    assert_eq!(found, ["a.py:1 load_config_file_path", "a.py:4 load_config", "b.py:4 Load"]);
    let note = "3 of 4 symbols are shown; the others match fewer of the words";
    assert_eq!((answer.notes, answer.truncated), (vec![note.to_owned()], true));
    let answer = world.ask(ContextQuery { query: Some("config path"), ..NOTHING });
    assert_eq!((answer.symbols.unwrap().len(), answer.notes, answer.truncated), (3, vec![], false));
}

#[test]
fn a_class_that_is_too_long_shows_its_members() {
    let body = "        self.value = compute_the_value_of_something(self.value)\n".repeat(40);
    let class = format!(
        "class A(Base):\n    size = 1\n\n    @cached\n    def f(self):\n{body}    def g(self):\n{body}"
    );
    let world =
        World::new(&[("a.py", &class), ("b.py", &format!("from a import A\n{}", "A()\n".repeat(300)))]);
    let ask = |tokens| world.ask(ContextQuery { symbol: Some("A"), tokens, ..NOTHING });
    let code = |answer: &ContextResponse| answer.definitions.as_ref().unwrap()[0].code.clone();
    let answer = ask(1_000);
    assert_eq!(
        code(&answer).as_deref(),
        Some("1: class A(Base):\n2:     size = 1\n5:     def f(self):\n46:     def g(self):")
    );
    assert!(answer.references.as_ref().unwrap().len() > 5);
    assert_eq!(answer.notes[1], "code that is too long shows only the lines of its members");
    assert!(answer.truncated && json_size(&answer) <= 4_000);
    let whole = ask(50_000);
    assert!(code(&whole).unwrap().lines().count() > 80 && whole.notes.is_empty() && !whole.truncated);
    for tokens in (100..1_500).step_by(100) {
        assert!(json_size(&ask(tokens)) <= tokens * 4, "{tokens}");
    }
    // The code has more than half of the space, and is whole because the references leave enough.
    let world = World::new(&[("a.py", &class)]);
    let tokens = json_size(&class) / 4 + 300;
    let answer = world.ask(ContextQuery { symbol: Some("A"), tokens, ..NOTHING });
    assert!(code(&answer).unwrap().lines().count() > 80 && !answer.truncated);
    let function = format!("def f():\n    def g():\n        pass\n{}", "    f()\n".repeat(500));
    let world = World::new(&[("a.py", &function)]);
    let answer = world.ask(ContextQuery { symbol: Some("f"), tokens: 500, ..NOTHING });
    assert_eq!(code(&answer), None, "a function has no members");
}

#[test]
fn symbols_of_a_query_that_do_not_fit_are_counted() {
    let text: String = (0..600).map(|n| format!("def cache_{n}(): pass\n")).collect();
    let world = World::new(&[("a.py", &text)]);
    for tokens in [500, 100_000] {
        let answer = world.ask(ContextQuery { query: Some("cache"), tokens, ..NOTHING });
        let shown = answer.symbols.unwrap().len();
        assert!(shown > 5 && shown <= 500 && answer.truncated, "{shown}");
        assert_eq!(answer.notes, [format!("{shown} of 600 symbols are shown")]);
    }
}

#[test]
fn a_file_is_outlined_with_what_it_uses() {
    let answer = project().ask(ContextQuery { near: Some("app/views.py"), ..NOTHING });
    let target = answer.target.unwrap();
    assert_eq!((target.path.as_str(), target.total_lines, target.outline.len()), ("app/views.py", 5, 1));
    assert_eq!(at(&answer.uses), ["app/models.py:1 User"]);
    assert_eq!(answer.versions.keys().collect::<Vec<_>>(), ["app/models.py"]);
}

#[test]
fn a_path_is_cut_only_if_it_does_not_fit() {
    for symbol in [None, Some("f")] {
        // Without notes, the rest of the answer has 82 bytes, and the lists of a symbol have 33 more.
        let longest = if symbol.is_some() { 285 } else { 318 };
        for length in (20..400).chain([longest]) {
            let path = format!("{}.py", "a".repeat(length - 3));
            let world = World::new(&[(&path, "def f():\n    pass\n\n\ndef g():\n    pass\n")]);
            let answer = world.ask(ContextQuery { symbol, near: Some(&path), tokens: 100, ..NOTHING });
            let size = json_size(&answer);
            assert!(size <= 400, "{length}: {size}");
            let is_whole = answer.target.unwrap().path == path;
            assert_eq!(is_whole, length <= longest, "{length}: {size}");
        }
    }
}

/// Returns the names of an outline in this many tokens, and the response, which says if some are
/// missing.
fn outlined(world: &World, tokens: usize) -> (Vec<String>, ContextResponse) {
    let mut answer = world.ask(ContextQuery { near: Some("a.py"), tokens, ..NOTHING });
    let outline = std::mem::take(&mut answer.target.as_mut().unwrap().outline);
    (outline.into_iter().map(|symbol| symbol.name).collect(), answer)
}

#[test]
fn an_outline_that_does_not_fit_loses_what_matters_least() {
    let class = |n: usize| {
        format!(
            "class Class{n}:\n    '''Says something about it.'''\n    field = 1\n    def method(self):\n        pass\n"
        )
    };
    let world = World::new(&[("a.py", &(0..20).map(class).collect::<String>())]);
    let (all, answer) = outlined(&world, 50_000);
    assert_eq!((all.len(), answer.truncated, answer.notes.len()), (60, false, 0));
    let mut last = all.len();
    for tokens in [1_600, 1_000, 600, 300, 150] {
        let (some, answer) = outlined(&world, tokens);
        assert!(some.len() <= last && answer.truncated, "{tokens}: {}", some.len());
        let has_field = some.iter().any(|name| name.ends_with("field"));
        let has_all_methods = some.iter().filter(|name| name.ends_with("method")).count() == 20;
        assert!(!has_field || has_all_methods, "{tokens}");
        last = some.len();
    }
    assert!(last < 10);
}

#[test]
fn an_outline_that_does_not_fit_uses_its_space() {
    let methods: String = (0..400).map(|n| format!("    def method{n}(self):\n        pass\n")).collect();
    let world = World::new(&[("a.py", &format!("class A:\n{methods}\n\ndef last():\n    pass\n"))]);
    let (shown, answer) = outlined(&world, 4_000);
    assert!(shown.len() > 100 && shown.len() < 402, "{}", shown.len());
    let methods = (0..shown.len() - 2).map(|n| format!("A.method{n}"));
    let wanted: Vec<String> =
        ["A".to_owned()].into_iter().chain(methods).chain(["last".to_owned()]).collect();
    assert_eq!(shown, wanted);
    assert_eq!(answer.notes, [format!("{} of 402 symbols of the outline are not shown", 402 - shown.len())]);
}

#[test]
fn an_outline_that_does_not_fit_cuts_its_signatures_first() {
    let parameters =
        "first: int = 1, second: int = 2, third: int = 3, fourth: int = 4, fifth: int = 5, sixth: int";
    let class = |n: usize| format!("class Class{n}:\n    def method(self, {parameters}):\n        pass\n");
    let world = World::new(&[("a.py", &(0..20).map(class).collect::<String>())]);
    let signatures = |tokens| {
        let answer = world.ask(ContextQuery { near: Some("a.py"), tokens, ..NOTHING });
        let outline = answer.target.unwrap().outline;
        (
            outline.len(),
            outline.into_iter().map(|it| it.signature.chars().count()).max().unwrap(),
            answer.notes,
        )
    };
    assert_eq!(signatures(50_000), (40, 110, vec![]));
    let mut longest = Vec::new();
    for tokens in (1_000..1_600).step_by(12).rev() {
        let (shown, most, notes) = signatures(tokens);
        if shown < 40 {
            assert!(most <= 31, "{tokens}: {most}");
            assert_eq!(notes, [format!("{} of 40 symbols of the outline are not shown", 40 - shown)]);
            continue;
        }
        if most < 110 {
            assert_eq!(notes, ["docs and the ends of long signatures are not shown"]);
        }
        longest.push(most);
    }
    longest.dedup();
    assert_eq!(longest, [110, 101, 61, 30]);
}

#[test]
fn an_outline_without_symbols_omits_nothing() {
    let (all, answer) = outlined(&World::new(&[("a.py", "f()\n")]), 4_000);
    assert_eq!((all.len(), answer.truncated, answer.notes), (0, false, Vec::new()));
}

#[test]
fn references_that_do_not_fit_are_counted() {
    let text = format!("def f(): pass\n{}", "f()\n".repeat(500));
    let answer =
        World::new(&[("a.py", &text)]).ask(ContextQuery { symbol: Some("f"), tokens: 500, ..NOTHING });
    let shown = answer.references.unwrap().len();
    assert!(shown > 5 && shown < 100 && answer.truncated);
    assert_eq!(answer.notes, [format!("{} of 500 references are not shown, in 1 files", 500 - shown)]);
}
