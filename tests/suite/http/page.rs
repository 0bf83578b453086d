//! docs/serving.md says what the code does.

use std::fs;
use std::path::PathBuf;

use lockgate_policy::Serving;

use crate::suite::policy::page::{Row, keys, replaced, rows};

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/serving.md")
}

fn generated(page: &str) -> String {
    let mut all: Vec<Row> = Vec::new();
    rows(&[Serving::settings()], "", &mut all);
    replaced(page, "keys", &keys(&all))
}

#[test]
fn the_table_of_the_page_is_that_of_the_code() {
    let page_text = fs::read_to_string(page()).unwrap();
    let expected = generated(&page_text);
    if std::env::var_os("UPDATE").is_some() && page_text != expected {
        fs::write(page(), &expected).unwrap();
        return;
    }
    assert!(
        page_text == expected,
        "docs/serving.md is out of step; rewrite it with UPDATE=1 cargo test --test all suite::http::page"
    );
}

#[test]
fn the_example_of_the_page_is_a_configuration() {
    let page_text = fs::read_to_string(page()).unwrap();
    let example = page_text.split("<!-- example -->\n```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let serving = Serving::parse("serve.yaml", example).unwrap();
    let names: Vec<&str> = serving.tokens.iter().map(|token| token.name.as_str()).collect();
    assert_eq!(names, ["alice", "review-bot", "platform", "prometheus"]);
    assert_eq!(serving.tokens[2].organization.as_deref(), Some("acme"));
    assert!(Serving::parse("serve.yaml", &example.replace("read_only", "readonly")).is_err(), "the control");
}
