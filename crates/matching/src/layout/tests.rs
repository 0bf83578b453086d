use crate::{LineRange, Located, MatchLevel, MatchTolerance, OnDuplicate, SearchText, locate};
use lockgate_text::{Buffer, Hints};

/// Returns the file after the edit, or the kind of the rejection.
fn edited(language: &str, file: &str, search: &str, replace: &str) -> Result<String, String> {
    let path = format!("a.{language}");
    let buffer = Buffer::read(file.as_bytes().to_vec(), Hints::default()).unwrap();
    let range = LineRange::new(&buffer, 1, usize::MAX).with_language(
        Some(language),
        &path,
        &lockgate_syntax::Grammars,
    );
    let search_text = SearchText { search, replace, on_duplicate: OnDuplicate::Reject };
    match locate(search_text, range, MatchTolerance::Wrapping, &|| None) {
        Located::One(found) => {
            assert_eq!(found.match_info.level, MatchLevel::Layout, "{found:?}");
            let plan = buffer.plan(found.changes).unwrap();
            Ok(buffer.apply(&plan).unwrap().view().to_owned())
        }
        Located::Unchanged => Err("unchanged".to_owned()),
        Located::Ambiguous { lines, .. } => Err(format!("ambiguous {lines:?}")),
        Located::AlreadyApplied { line } => Err(format!("applied {line}")),
        Located::Conflict(conflict) => Err(format!("conflict {}", conflict.line)),
        Located::NotFound { .. } => Err("not found".to_owned()),
    }
}

const BLACK: &str = "def run(self):\n    result = compute(\n        first_argument,\n        second_argument,\n    )\n    return result\n";

#[test]
fn a_call_that_a_formatter_wrapped_is_found_and_stays_wrapped() {
    let quote = "    result = compute(first_argument, second_argument)\n    return result\n";
    assert_eq!(
        edited("python", BLACK, quote, "    result = compute(first_argument, other)\n    return result\n")
            .unwrap(),
        BLACK.replace("second_argument", "other")
    );
    assert_eq!(
        edited(
            "python",
            BLACK,
            quote,
            "    result = compute(first_argument, second_argument)\n    log(result)\n    return result\n"
        )
        .unwrap(),
        BLACK.replace("    )\n", "    )\n    log(result)\n")
    );
    assert_eq!(
        edited(
            "python",
            BLACK,
            quote,
            "    result = compute(first_argument, second_argument, third)\n    return result\n"
        )
        .unwrap(),
        BLACK.replace("second_argument,", "second_argument,\n        third,")
    );
    assert_eq!(
        edited("python", BLACK, quote, "    return None\n").unwrap(),
        "def run(self):\n    return None\n"
    );
}

#[test]
fn whole_lines_are_no_part_of_a_statement() {
    for (language, file, quote) in [
        ("python", "def f(a, b, tax):\n    total = compute(a, b) + tax\n", "    total = compute(a, b)\n"),
        ("typescript", "function f() {\n  total = compute(a, b) - tax;\n}\n", "  total = compute(a, b)\n"),
        ("typescript", "function f() {\n  return !isValid(user, token);\n}\n", "  isValid(user, token);\n"),
        ("go", "func f() {\n\tfor i = start; i < compute(a, b); i++ {\n\t}\n}\n", "\ti < compute(a, b);\n"),
    ] {
        assert_eq!(edited(language, file, quote, "x = 1\n"), Err("not found".into()), "{file}");
    }
    // The controls: where a formatter joins lines, and a part of a line as a part of it.
    for (language, file, quote) in [
        ("typescript", "f([first(a, b), second(c, d)]);\n", "  second( c, d )\n"),
        ("typescript", "f([first(a, b), second(c, d)]);\n", "  first( a, b ),\n"),
        ("c", "void f() { first(a, b); second(c, d); }\n", "  first( a, b );\n"),
        ("typescript", "x = compute(a, b) + tax;\n", "compute( a, b )"),
    ] {
        let edit = quote.replace("d )", "e )").replace("b )", "e )");
        assert!(edited(language, file, quote, &edit).is_ok(), "{file}");
    }
}

#[test]
fn parentheses_of_a_formatter_are_not_quoted() {
    let file = "total = (\n    first_value + second_value\n)\nprint(total)\n";
    let quote = "total = first_value + second_value\n";
    assert_eq!(
        edited("python", file, quote, "total = first_value - second_value\n").unwrap(),
        file.replace('+', "-")
    );
    assert_eq!(
        edited("python", file, quote, "total = first_value + second_value\nlog(total)\n").unwrap(),
        file.replace(")\nprint", ")\nlog(total)\nprint")
    );
    // These parentheses group: without them, the expression has another value.
    let grouped = "total = scale * (\n    first_value + second_value\n)\n";
    assert_eq!(
        edited("python", grouped, "total = scale * first_value + second_value\n", "x = 1\n"),
        Err("not found".into())
    );
}

#[test]
fn code_of_other_languages_is_found() {
    let prettier = "const result = await client\n  .fetch(url, {\n    method: \"POST\",\n    body,\n  })\n  .then(parse);\n";
    let quote = "const result = await client.fetch(url, { method: \"POST\", body }).then(parse);";
    assert_eq!(
        edited("typescript", prettier, quote, &quote.replace("POST", "PUT")).unwrap(),
        prettier.replace("POST", "PUT")
    );
    let rustfmt = "fn main() {\n    let value = builder\n        .with_name(\"a\")\n        .with_limit(10)\n        .build();\n}\n";
    let quote = "    let value = builder.with_name(\"a\").with_limit(10).build();\n";
    assert_eq!(
        edited("rust", rustfmt, quote, &quote.replace("10", "20")).unwrap(),
        rustfmt.replace("10", "20")
    );
    let joined = "package a\n\nfunc f() {\n\tcall(one, two, three)\n}\n";
    let quote = "\tcall(\n\t\tone,\n\t\ttwo,\n\t\tthree,\n\t)\n";
    assert_eq!(
        edited("go", joined, quote, &quote.replace("three", "four")).unwrap(),
        joined.replace("three", "four")
    );
}

#[test]
fn a_place_is_the_only_one_or_none() {
    let twice = format!("{BLACK}\n\n{BLACK}");
    let quote = "result = compute(first_argument, second_argument)";
    assert_eq!(edited("python", &twice, quote, "result = None"), Err("ambiguous [2, 10]".into()));
    assert_eq!(
        edited("python", BLACK, "result = compute(first_argument, third_argument)", "x"),
        Err("not found".into())
    );
}

#[test]
fn layout_that_has_a_meaning_counts() {
    let file = "if ready:\n    start(engine)\n    report(engine)\n";
    assert_eq!(
        // The lines are found without their indentation, and the edit is refused for it.
        edited("python", file, "if ready:\n    start(engine)\nreport(engine)\n", "x = 1\n"),
        Err("conflict 1".into())
    );
    let strings = "log(\n    \"two  blanks\",\n    value,\n)\n";
    assert_eq!(edited("python", strings, "log(\"two blanks\", value)\n", "x = 1\n"), Err("not found".into()));
    assert!(edited("python", strings, "log(\"two  blanks\", value)\n", "x = 1\n").is_ok());
    let signs = "let total = first\n  - -second_value;\n";
    assert_eq!(
        edited("javascript", signs, "let total = first --second_value;", "x"),
        Err("not found".into())
    );
    let tuple = "items = (\n    first_value_of_all,\n)\n";
    assert_eq!(edited("python", tuple, "items = (first_value_of_all)\n", "x = 1\n"), Err("not found".into()));
    let returned = "function f() {\n  return\n  first(value, other);\n}\n";
    assert_eq!(
        edited("javascript", returned, "return first(value, other);", "return 1;"),
        Err("not found".into())
    );
}

#[test]
fn what_the_edit_adds_has_the_layout_of_its_neighbours() {
    let quote = "    result = compute(first_argument, second_argument)\n    return result\n";
    let wanted = quote.replace("(first", "(zeroth, first");
    assert_eq!(
        edited("python", BLACK, quote, &wanted).unwrap(),
        BLACK.replace("        first", "        zeroth,\n        first")
    );
    let go = "func (h *stack) push(node *node) {\n\tnode.count++\n\tnext := pack(\n\t\tnode,\n\t\tnode.count,\n\t)\n}\n";
    let quote = "func (h *stack) push(node *node) {\n\tnode.count++\n\tnext := pack(node, node.count)\n}\n";
    // The added line has tokens of its neighbours, and is a line of its own.
    let wanted = quote.replace("\tnode.count++\n", "\tpush(node)\n\tnode.countAll++\n");
    let file = format!("package a\n\n{go}");
    assert_eq!(
        edited("go", &file, quote, &wanted).unwrap(),
        file.replace("\tnode.count++\n", "\tpush(node)\n\tnode.countAll++\n")
    );
    let list = "const names = [\n  [\"one\", 1],\n  [\"two\", 2],\n];\nrun(names);\n";
    let quote = "  [\"two\", 2]\n];\nrun(names);\n";
    // The comma that the formatter added is not lost with the bracket behind it.
    assert_eq!(edited("typescript", list, quote, "  [\"two\", 2]\nrun(names);\n"), Err("conflict 3".into()));
    assert_eq!(
        edited("typescript", list, quote, "  [\"two\", 3]\n];\nrun(names);\n").unwrap(),
        list.replace("2]", "3]")
    );
}

#[test]
fn an_edit_that_was_made_is_not_made_again() {
    let after = BLACK.replace("    return", "    log(result)\n    return");
    let quote = "    result = compute(first_argument, second_argument)\n";
    let wanted = "    result = compute(first_argument, second_argument)\n    log(result)\n";
    assert_eq!(edited("python", &after, quote, wanted), Err("applied 2".into()));
    assert_eq!(
        edited(
            "python",
            &BLACK.replace("second", "third"),
            quote,
            "    result = compute(first_argument, third_argument)\n"
        ),
        Err("applied 2".into())
    );
}

#[test]
fn a_layout_that_the_edit_changes_must_be_that_of_the_file() {
    let quote = "    result = compute(first_argument, second_argument)\n    return result\n";
    let wanted = "    result = compute(first_argument,\n        second_argument)\n    return result\n";
    assert_eq!(edited("python", BLACK, quote, wanted), Err("conflict 2".into()));
}

#[test]
fn a_replacement_with_the_layout_of_the_file_keeps_it() {
    let file =
        "fn run() {\n    start();\n    compute(first_argument, second_argument);\n    report(1, 2);\n}\n";
    let quote = "    start();\n    compute(first_argument,\n    second_argument);\n    report(1,\n    2);\n";
    let wanted = "    start();\n    compute(first_argument, other);\n    report(1, 2);\n";
    assert_eq!(edited("rust", file, quote, wanted).unwrap(), file.replace("second_argument", "other"));
}

#[test]
fn a_replacement_that_is_a_part_of_the_quoted_code_is_not_applied_yet() {
    let file = "fn run() {\n    compute(first_argument, second_argument);\n    report(1, 2);\n}\n";
    let quote = "    compute(first_argument,\n    second_argument);\n    report(1, 2);\n";
    let wanted = "    compute(first_argument, second_argument);\n";
    assert_eq!(edited("rust", file, quote, wanted).unwrap(), file.replace("    report(1, 2);\n", ""));
    let without = file.replace("    report(1, 2);\n", "");
    assert_eq!(edited("rust", &without, quote, wanted), Err("applied 2".into()));
}

#[test]
fn the_line_behind_a_removed_first_line_keeps_its_indentation() {
    let file = "const list = [\n  one(first_argument, 1),\n    two(second, 2),\n];\n";
    let quote = "  one( first_argument, 1 ),\n    two(second, 2),\n";
    assert_eq!(
        edited("typescript", file, quote, "    two(second, 2),\n").unwrap(),
        file.replace("  one(first_argument, 1),\n", "")
    );
}

/// The first of the two quoted lines resembles no line of the replacement, the second one does.
#[test]
fn a_line_that_the_quote_breaks_stays_on_its_line() {
    let file = "fn f() {\n    events.clear();\n    take(value(1, &mut events).unwrap().0, 2);\n}\n";
    let quote = "    events.clear();\n    take(value(1,\n    &mut events).unwrap().0, 2);\n";
    let wanted = "    events.clear();\n    take(value(1, &mut names).unwrap().0, 2);\n";
    assert_eq!(edited("rust", file, quote, wanted).unwrap(), file.replace("&mut events", "&mut names"));
}

proptest::proptest! {
    /// Any wrapping of a call is found, and only the changed argument changes.
    #[test]
    fn every_wrapping_of_a_call_is_found(
        names in proptest::collection::vec("[a-z]{3,8}", 2..6),
        breaks in proptest::collection::vec(proptest::bool::ANY, 7),
        comma in proptest::bool::ANY,
    ) {
        let names: Vec<String> = names.iter().enumerate().map(|(at, name)| format!("{name}{at}")).collect();
        let gap = |at: usize| if breaks[at % breaks.len()] { "\n        " } else { " " };
        let listed: Vec<String> = names.iter().enumerate().map(|(at, name)| format!("{}{name}", gap(at))).collect();
        let end = if comma { ",\n    )" } else { "\n    )" };
        let file = format!("def f():\n    x = compute({}{end}\n", listed.join(","));
        let quote = format!("    x = compute({})\n", names.join(", "));
        let wanted = quote.replace(&names[1], "changed_name");
        proptest::prop_assert_eq!(edited("python", &file, &quote, &wanted), Ok(file.replace(&names[1], "changed_name")));
    }

    /// Any two texts have an answer, and an edit is never made in a place that lacks the quoted words.
    #[test]
    fn any_text_has_an_answer(file in "[ab(){},;=\\n \"'#/.]{0,60}", quote in "[ab(){},;=\\n \"'#/.]{0,40}") {
        for language in ["python", "typescript", "rust", "go", "c", "java", "json"] {
            let path = format!("a.{language}");
            let buffer = Buffer::read(file.as_bytes().to_vec(), Hints::default()).unwrap();
            let range = LineRange::new(&buffer, 1, usize::MAX).with_language(Some(language), &path, &lockgate_syntax::Grammars);
            let search_text = SearchText { search: &quote, replace: "c", on_duplicate: OnDuplicate::Reject };
            if let Located::One(found) = locate(search_text, range, MatchTolerance::Wrapping, &|| None) {
                let plan = buffer.plan(found.changes).unwrap();
                proptest::prop_assert!(buffer.apply(&plan).is_ok());
            }
        }
    }
}

const TWICE: &str = "def run(self):\n    if ready:\n        start(\n            first_argument,\n            second_argument,\n        )\n    start(first_argument, second_argument)\n    stop()\n";

#[test]
fn of_two_lines_with_equal_tokens_the_one_with_the_removed_indentation_goes() {
    let quote = "    if ready:\n        start(first_argument, second_argument)\n    start(first_argument, second_argument)\n    stop()\n";
    let without = |line: &str| quote.replacen(line, "", 1);
    let wrapped = "        start(\n            first_argument,\n            second_argument,\n        )\n";
    assert_eq!(
        edited("python", TWICE, quote, &without("        start(first_argument, second_argument)\n")).unwrap(),
        TWICE.replace(wrapped, "")
    );
    let plain = "    start(first_argument, second_argument)\n";
    let last = format!("{plain}    stop()\n");
    assert_eq!(
        edited("python", TWICE, quote, &quote.replace(&last, "    stop()\n")).unwrap(),
        TWICE.replace(&last, "    stop()\n")
    );
}

#[test]
fn all_lines_of_a_wrapped_call_get_another_indentation() {
    let quote = "    result = compute(first_argument, second_argument)\n    return result\n";
    let nested =
        "    if ready:\n        result = compute(first_argument, second_argument)\n    return result\n";
    let result = "    if ready:\n        result = compute(\n            first_argument,\n            second_argument,\n        )\n";
    let edited = |file: &str, replace: &str| edited("python", file, quote, replace);
    assert_eq!(edited(BLACK, nested).unwrap(), format!("def run(self):\n{result}    return result\n"));
    let both =
        "    if ready:\n        result = compute(first_argument, second_argument)\n        return result\n";
    assert_eq!(edited(BLACK, both).unwrap(), format!("def run(self):\n{result}        return result\n"));
    // Lines that are not indented by that of the first one have no other.
    let outdented = BLACK.replace("        second_argument", "  second_argument");
    assert_eq!(edited(&outdented, nested), Err("conflict 2".to_owned()));
    // The control: a line that the formatter left alone.
    let last =
        "    result = compute(first_argument, second_argument)\n    if result:\n        return result\n";
    assert_eq!(
        edited(BLACK, last).unwrap(),
        BLACK.replace("    return result\n", "    if result:\n        return result\n")
    );
}

const SIGNATURE: &str = "impl Inner {\n    fn lock(\n        &self,\n        shard: u32,\n    ) -> Guard<'_, Wheel> {\n        self.get(shard)\n    }\n}\n";

#[test]
fn only_the_entries_of_a_list_get_lines_of_their_own() {
    let quote = "    fn lock(&self, shard: u32) -> Guard<'_, Wheel> {\n        self.get(shard)\n    }\n";
    let body = quote.replace("        self", "        let all: Map<u8, Wheel> = self.all();\n        self");
    assert_eq!(
        edited("rust", SIGNATURE, quote, &body).unwrap(),
        SIGNATURE
            .replace("        self.get", "        let all: Map<u8, Wheel> = self.all();\n        self.get")
    );
    let argument = quote.replace("u32)", "u32, all: Map<u8, Wheel>)");
    assert_eq!(
        edited("rust", SIGNATURE, quote, &argument).unwrap(),
        SIGNATURE.replace("shard: u32,\n", "shard: u32,\n        all: Map<u8, Wheel>,\n")
    );
}

/// The formatter added the last comma.
#[test]
fn the_last_entry_of_a_list_goes_with_its_comma() {
    let file =
        "struct Key {\n    #[one]\n    first: Option<Name>,\n    #[two]\n    second: Option<Number>,\n}\n";
    let quote = "    first: Option<Name>,\n    #[two]\n    second: Option<Number>\n}\n";
    let without = quote.replace("    second: Option<Number>\n", "");
    assert_eq!(
        edited("rust", file, quote, &without).unwrap(),
        file.replace("    second: Option<Number>,\n", "")
    );
    let list = "call(\n    first_argument,\n    second_argument,\n)\n";
    let quote = "call(first_argument, second_argument)\n";
    for (replace, expected) in
        [("call(first_argument)\n", "call(\n    first_argument,\n)\n"), ("call()\n", "call()\n")]
    {
        assert_eq!(
            edited("python", list, quote, replace).unwrap().replace("(\n)", "()"),
            expected,
            "{replace}"
        );
    }
}

/// A quote can be the formatted code, or an earlier version of the lines that look like it.
#[test]
fn a_near_duplicate_in_the_layout_of_the_quote_is_not_passed_over() {
    let quote = "    first = call(one, two)\n    log(first)\n    return first\n";
    let replace = quote.replace("log(first)", "log(first, 1)");
    let wrapped = "def run():\n    first = call(\n        one,\n        two,\n    )\n    log(first)\n    return first\n";
    let like = |line: &str| format!("{wrapped}\ndef other():\n{}", quote.replace("    log(first)", line));
    assert_eq!(edited("python", &like("    log(first2)"), quote, &replace), Err("conflict 11".to_owned()));
    // The controls: the line is another one, or there is no such place.
    let other = like("    print(one, two, first)");
    assert_eq!(
        edited("python", &other, quote, &replace).unwrap(),
        other.replacen("log(first)", "log(first, 1)", 1)
    );
    assert_eq!(
        edited("python", wrapped, quote, &replace).unwrap(),
        wrapped.replace("log(first)", "log(first, 1)")
    );
}

#[test]
fn near_duplicates_are_compared_within_a_limit() {
    let text = |seed: u64| -> String {
        let next = |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        let states = std::iter::successors(Some(seed), next).skip(1).take(4_000);
        states.map(|state| char::from(b'a' + (state >> 60) as u8)).collect()
    };
    let value = text(1);
    let quote = format!("{{\n\"k\": 1,\n\"v\": \"{value}\",\n\"end\": 77}}");
    let entry = |value: &str| format!("{{\n\"k\": 1,\n\"v\": \"{value}\"\n}},\n");
    let change = |others: &str| {
        let file = format!("[\n{others}{{\"k\": 1, \"v\": \"{value}\", \"end\": 77}}\n]\n");
        edited("json", &file, &quote, &quote.replace("77", "78")).map(|new| new == file.replace("77", "78"))
    };
    let like = entry(&format!("x{}x", value.get(1..value.len() - 1).unwrap()));
    assert_eq!(change(&like), Err("conflict 4".to_owned()));
    // The comparison with the first other entry takes nearly all that may be compared.
    assert_eq!(change(&(entry(&text(2)) + &like)), Ok(true));
}

#[test]
fn added_lines_and_a_new_indentation_follow_the_file_beside_wrapped_calls() {
    let js = "class A {\n  run() {\n    const m = build(\n      a,\n      b,\n    );\n    send(m);\n    done(m);\n  }\n}\n";
    let quote = "const m = build(a, b);\nsend(m);\ndone(m);\n";
    let go = "func f() {\n\tfor {\n\t\tn, err := w(\n\t\t\ta,\n\t\t\tb,\n\t\t)\n\t\tg(n)\n\t}\n}\n";
    let nested = "function f() {\n  if (a) {\n    send(\n      x,\n      y,\n    );\n    done();\n  }\n}\n";
    let part = "    send(x, y);\n    done();\n";
    for (language, file, quote, replace, expected) in [
        (
            "javascript",
            js,
            quote,
            "const m = build(a, b);\nlog(m);\nsend(m);\ndone(m);\n",
            js.replace("    send", "    log(m);\n    send"),
        ),
        (
            "javascript",
            js,
            quote,
            "log(1);\nconst m = build(a, b);\nsend(m);\ndone(m);\n",
            js.replace("    const", "    log(1);\n    const"),
        ),
        (
            "go",
            go,
            "    n, err := w(a, b)\n    g(n)\n",
            "    n, err := w(a, b)\n    if err {\n      h()\n    }\n    g(n)\n",
            go.replace("\t\tg(n)", "\t\tif err {\n\t\t\th()\n\t\t}\n\t\tg(n)"),
        ),
        (
            "javascript",
            nested,
            part,
            "  send(x, y);\n  done();\n",
            nested
                .replace("    send(\n      x,\n      y,\n    )", "  send(\n    x,\n    y,\n  )")
                .replace("    done", "  done"),
        ),
        (
            "javascript",
            nested,
            part,
            "  log(1);\n  send(x, y);\n  done();\n",
            nested
                .replace("    send(\n      x,\n      y,\n    )", "  log(1);\n  send(\n    x,\n    y,\n  )")
                .replace("    done", "  done"),
        ),
        (
            "javascript",
            nested,
            part,
            "    done();\n",
            "function f() {\n  if (a) {\n    done();\n  }\n}\n".to_owned(),
        ),
        // The file has the indentation that the quote has in another place.
        (
            "javascript",
            js,
            quote,
            "const m = build(a, b);\nif (m) {\n    send(m);\n}\ndone(m);\n",
            js.replace("    send(m);", "    if (m) {\n        send(m);\n    }"),
        ),
        // A blank line is added.
        (
            "javascript",
            js,
            quote,
            "const m = build(a, b);\n\nsend(m);\ndone(m);\n",
            js.replace("    send(m);", "\n    send(m);"),
        ),
    ] {
        assert_eq!(edited(language, file, quote, replace).as_deref(), Ok(expected.as_str()), "{replace}");
    }
    // What does not say how the further lines of the call are indented is refused.
    assert_eq!(
        edited("javascript", nested, part, "  emit(x, y);\n  done();\n"),
        Err("conflict 3".to_owned())
    );
}

#[test]
fn a_blank_that_may_end_a_line_is_refused() {
    let file = "fn f() {\n    let a = first(\n        x,\n    );\n    return a;\n}\n";
    let quote = "    let a = first(x);\n    return a;\n";
    let replace = "    let a = first(x);\n    log(a);\n    return a;\n";
    let expected = file.replace("    return", "    log(a);\n    return");
    assert_eq!(edited("rust", file, quote, replace), Ok(expected));
    for odd in ["\r", "\u{2028}", "\u{85}", "\u{b}", "\u{a0}"] {
        let odd = |text: &str| text.replace('\n', odd);
        let both = (odd(quote), odd(replace));
        for (quote, replace) in [both, (quote.to_owned(), odd(replace)), (odd(quote), replace.to_owned())] {
            let result = edited("rust", file, &quote, &replace);
            assert_eq!(result, Err("not found".into()), "{quote:?} {replace:?}");
        }
    }
    // In a string it is text.
    let text = file.replace("        x,", "        \"a\u{a0}b\",");
    let in_text = |edit: &str| edit.replace("(x)", "(\"a\u{a0}b\")");
    assert!(edited("rust", &text, &in_text(quote), &in_text(replace)).is_ok());
    // So it is in a comment, unless it may end a line.
    let with =
        |text: &str, odd: &str| text.replace("    return", &format!("    // all{odd}of it\n    return"));
    for (odd, is_found) in [
        ("\u{a0}", true),
        ("\u{3000}", true),
        ("\r", false),
        ("\u{b}", false),
        ("\u{c}", false),
        ("\u{85}", false),
        ("\u{2028}", false),
        ("\u{2029}", false),
    ] {
        let result = edited("rust", &with(file, odd), &with(quote, odd), &with(replace, odd));
        assert_eq!(result.is_ok(), is_found, "{odd:?}: {result:?}");
    }
}

#[test]
fn the_only_parameter_of_an_arrow_function_may_have_parentheses() {
    for (file, quote, replacement, after) in [
        (
            "const a = xs.map((x) => x + 1);\n",
            "xs.map(x => x + 1)",
            "xs.map(x => x + 2)",
            "const a = xs.map((x) => x + 2);\n",
        ),
        (
            "const a = xs.map(x => x + 1);\n",
            "xs.map((x) => x + 1)",
            "xs.map((x) => x + 2)",
            "const a = xs.map(x => x + 2);\n",
        ),
        (
            "const a = xs.map((x) => x + 1);\n",
            "xs.map(x => x + 1)",
            "ys.map(y => y + 1)",
            "const a = ys.map((y) => y + 1);\n",
        ),
        (
            "f(async (x) => g(x), 1);\n",
            "f(async x => g(x), 1)",
            "f(async x => h(x), 1)",
            "f(async (x) => h(x), 1);\n",
        ),
        (
            "f(async x => g(x), 1);\n",
            "f(async (x) => g(x), 1)",
            "f(async (x) => g(x), 2)",
            "f(async x => g(x), 2);\n",
        ),
        (
            "const a = xs.map(\n  (x) => x.name,\n);\n",
            "const a = xs.map(x => x.name);\n",
            "const a = xs.map(x => x.id);\n",
            "const a = xs.map(\n  (x) => x.id,\n);\n",
        ),
    ] {
        for language in ["javascript", "typescript"] {
            assert_eq!(edited(language, file, quote, replacement), Ok(after.into()), "{file} {quote}");
        }
    }
    let refused = |language: &str, file: &str, quote: &str, replacement: &str| {
        edited(language, file, quote, replacement).unwrap_err()
    };
    // Another function, and a quote that ends before the arrow.
    for (language, file, quote) in [
        ("typescript", "const a = xs.map((x, y) => x + 1);\n", "xs.map(x => x + 1)"),
        ("typescript", "const a = xs.map((x: number) => x + 1);\n", "xs.map(x => x + 1)"),
        ("typescript", "const a = xs.map((y) => x + 1);\n", "xs.map(x => x + 1)"),
        ("typescript", "const value = (x) => x + 1;\n", "const value = x"),
        ("typescript", "const value = (x) >= y + 1;\n", "const value = x >= y"),
        ("typescript", "const value = f((x), y + 1);\n", "const value = f(x, y"),
        ("java", "var a = xs.map((x) -> x + 1);\n", "xs.map(x -> x + 1)"),
        ("java", "var a = xs.map((x) => x + 1);\n", "xs.map(x => x + 1)"),
    ] {
        assert_eq!(refused(language, file, quote, "zzz"), "not found", "{file}");
    }
    // The parentheses are needed, or the edit is about them.
    for (file, quote, replacement) in [
        ("const a = xs.map(x => x + 1);\n", "xs.map((x) => x + 1)", "xs.map((x, y) => x + 1)"),
        ("const a = xs.map(x => x + 1);\n", "xs.map((x) => x + 1)", "xs.map(() => x + 1)"),
        ("const a = xs.map((x) => x + 1);\n", "xs.map(x => x + 1)", "xs.map((x, y) => x + 1)"),
    ] {
        let error = refused("typescript", file, quote, replacement);
        assert!(error.starts_with("conflict"), "{error}: {replacement}");
    }
}
