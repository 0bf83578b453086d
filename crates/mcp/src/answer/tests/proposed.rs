//! Tests of the most similar lines and the proposed call in a rejection.

use std::sync::Arc;

use rmcp::model::JsonObject;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_proposed_call_is_whole_or_reported_as_omitted(sample in random_answer(), response_options in options()) {
        let (answer, _) = answered(&sample, &response_options);
        let left_out = answer.json["notes"].to_string();
        let is_noted = left_out.contains("1 proposed call") || left_out.contains("more is not shown");
        match (&sample.next, answer.json.get("next")) {
            (None, shown) => prop_assert_eq!(shown, None),
            (Some(_), None) => prop_assert!(is_noted, "{}", answer.json),
            (Some(next), Some(shown)) => {
                let next = json!(next);
                prop_assert_eq!(&next, shown);
                prop_assert!(answer.text.contains(&format!("\nnext: {next}")), "{}", answer.text);
            }
        }
    }
}

/// Returns the most similar lines, and their first difference.
fn nearest() -> Best {
    let difference = Difference { line: 51, column: 19, expected: "string)".into(), found: "[]byte)".into() };
    Best {
        start_line: 50,
        end_line: 51,
        score: Score::from_distance(3, 20),
        lines: vec!["// Process.".into(), "func Process(data []byte)".into()],
        excerpt: vec![(50, "// Process.".into()), (51, "func Process(data []byte)".into())],
        first_difference: Some(difference),
    }
}

#[test]
fn a_rejection_shows_what_comes_nearest_and_the_call_that_would_work() {
    let arguments =
        rmcp::object!({"file_path": "a.go", "search_context": "x", "new_content": "y", "mode": "strict"});
    let options = ResponseOptions {
        path: Some("a.go".into()),
        profile: edit_code::TOOL.profile,
        offers: CallOffers {
            current_call: Some(Arc::new(ToolCall {
                tool: "edit_code",
                arguments,
                schema: unknown_fields,
                check: |_| Ok(()),
            })),
            ..CallOffers::default()
        },
        ..ResponseOptions::default()
    };
    let next = NextCall::Edit { search: "found".into(), replace: "new".into() };
    let error = Error::new(Code::MatchNotFound, "m").best(nearest()).with_next(next);
    let answer = render_error(&error, &options);
    let wanted = json!({"tool": "edit_code", "arguments": {"file_path": "a.go", "search_context": "found",
        "new_content": "new", "mode": "strict"}});
    assert_eq!(answer.json["next"], wanted);
    assert_eq!(
        answer.json["best"],
        json!({"start_line": 50, "end_line": 51, "score": 0.85,
            "lines": ["// Process.", "func Process(data []byte)"],
            "first_difference": {"line": 51, "column": 19, "asked": "string)", "found": "[]byte)"}})
    );
    assert_eq!(
        answer.text,
        format!(
            "nothing was written: No match found. Best candidate at line 50 (Score: 85%).\n\
             NO_MATCH; read the file again and quote what is there\n\
             best: lines 50 to 51, score 85%\n50: // Process.\n51: func Process(data []byte)\n\
             first difference: line 51, column 19, asked \"string)\", found \"[]byte)\"\n\
             next: {wanted}"
        )
    );
}

#[test]
fn a_call_that_has_no_room_is_not_shown_in_part() {
    let arguments = rmcp::object!({"path": "a.go", "search": "x", "replace": "y"});
    let again = Some(Arc::new(ToolCall {
        tool: "safe_edit_file",
        arguments,
        schema: unknown_fields,
        check: |_| Ok(()),
    }));
    let shows = |length: usize| {
        let next = NextCall::Edit { search: "f".repeat(length), replace: "g".repeat(length) };
        let error = Error::new(Code::MatchNotFound, "m").best(nearest()).with_next(next);
        let offers = CallOffers { current_call: again.clone(), ..CallOffers::default() };
        let answer = render_error(&error, &ResponseOptions { offers, ..ResponseOptions::default() });
        assert!(on_the_wire(&answer, Forms::Both) <= 8192);
        assert_eq!(answer.json["best"]["lines"].as_array().map(Vec::len), Some(2), "{}", answer.json);
        (answer.json.get("next").is_some(), answer.json["notes"].to_string().contains("1 proposed call"))
    };
    assert_eq!((shows(10), shows(1500)), ((true, false), (true, false)));
    assert_eq!((shows(2000), shows(1_000_000)), ((false, true), (false, true)));
}

#[test]
fn a_read_is_proposed_if_a_read_tool_is_offered() {
    let read =
        || Error::new(Code::MatchNotFound, "m").with_next(NextCall::Read { start_line: 40, end_line: 52 });
    let rejection = |error: Error, reader| {
        let tools = OfferedTools { read: reader, ..OfferedTools::default() };
        let offers = CallOffers { tools, ..CallOffers::default() };
        render_error(
            &error,
            &ResponseOptions { path: Some("a.go".into()), offers, ..ResponseOptions::default() },
        )
        .json
    };
    let offered = rejection(read(), Some("read_content_lines"));
    assert_eq!(
        offered["next"],
        json!({"tool": "read_content_lines", "arguments": {"path": "a.go", "start_line": 40, "end_line": 52}})
    );
    assert_eq!(offered["hint"], Code::MatchNotFound.remedy());
    let alone = rejection(read(), None);
    assert_eq!((alone.get("next"), &alone["hint"]), (None, &json!("read lines 40 to 52")));
    let hinted = rejection(read().hint("look"), None);
    assert_eq!(hinted["hint"], "look; read lines 40 to 52");
}

#[test]
fn a_list_has_the_scope_of_the_search() {
    let proposed = |arguments, folder: &str| {
        let error = Error::new(Code::FileNotFound, "m").with_next(NextCall::List { folder: folder.into() });
        let tools = OfferedTools { list: Some("list_content"), ..OfferedTools::default() };
        let (tool, schema) = ("search_content", unknown_fields);
        let call = ToolCall { tool, arguments, schema, check: |_| Ok(()) };
        let offers = CallOffers { current_call: Some(Arc::new(call)), tools, ..CallOffers::default() };
        render_error(&error, &ResponseOptions { offers, ..ResponseOptions::default() }).json["next"].clone()
    };
    for (arguments, folder, wanted) in [
        (rmcp::object!({"pattern": "x", "path": "b"}), "a", json!({"path_prefix": "a/"})),
        (rmcp::object!({"pattern": "x", "entity_type": "file", "app_id": null}), "", json!({})),
        (
            rmcp::object!({"pattern": "x", "path": "b", "entity_type": "app_file", "app_id": "crm"}),
            "",
            json!({"entity_type": "app_file", "app_id": "crm"}),
        ),
        (
            rmcp::object!({"pattern": "x", "entity_type": "workflow", "organization_id": "acme"}),
            "a",
            json!({"path_prefix": "a/", "entity_type": "workflow", "organization_id": "acme"}),
        ),
    ] {
        assert_eq!(proposed(arguments, folder), json!({"tool": "list_content", "arguments": wanted}));
    }
}

#[test]
fn a_missing_file_is_created_by_a_tool_that_is_offered() {
    let hint = |tool, create| {
        let (arguments, schema): (_, fn() -> &'static JsonObject) = match tool {
            "safe_edit_file" => (rmcp::object!({"path": "a"}), crate::tools::safe_edit_file::TOOL.schema),
            _ => (rmcp::object!({"file_path": "a"}), crate::tools::edit_file::TOOL.schema),
        };
        let call = ToolCall { tool, arguments, schema, check: |_| Ok(()) };
        let tools = OfferedTools { create, ..OfferedTools::default() };
        let offers = CallOffers { current_call: Some(Arc::new(call)), tools, ..CallOffers::default() };
        let options = ResponseOptions { offers, ..ResponseOptions::default() };
        render_error(&Error::new(Code::FileNotFound, "m"), &options).json["hint"].clone()
    };
    assert_eq!(
        hint("edit_file", Some("safe_edit_file")),
        "correct the path, or create the file with `safe_edit_file`, which takes its text as `content`"
    );
    assert_eq!(hint("edit_file", None), "correct the path; none of the offered tools creates a file");
    assert_eq!(hint("safe_edit_file", Some("safe_edit_file")), Code::FileNotFound.remedy());
}

#[test]
fn the_history_of_the_target_is_proposed_if_its_tool_is_offered() {
    let proposed = |path: Option<&str>, history| {
        let error = Error::new(Code::InvalidInput, "m").with_next(NextCall::History);
        let tools = OfferedTools { history, ..OfferedTools::default() };
        let offers = CallOffers { tools, ..CallOffers::default() };
        let options = ResponseOptions { path: path.map(str::to_owned), offers, ..ResponseOptions::default() };
        render_error(&error, &options).json.get("next").cloned()
    };
    let call = |arguments| Some(json!({"tool": "list_edits", "arguments": arguments}));
    assert_eq!(proposed(Some("a.go"), Some("list_edits")), call(json!({"path": "a.go"})));
    assert_eq!(proposed(None, Some("list_edits")), call(json!({})));
    assert_eq!(proposed(None, None), None);
}
