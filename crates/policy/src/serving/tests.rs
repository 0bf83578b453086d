use super::*;

const OTHER: &str = "blake3:ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
const HASH: &str = "blake3:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

fn read(text: &str) -> Result<Serving, String> {
    Serving::parse("serve.yaml", &text.replace("HASH", HASH).replace("OTHER", OTHER)).map_err(|rejection| {
        assert_eq!(rejection.code, Code::InvalidInput);
        rejection.message
    })
}

const LEAST: &str = "tokens: [{ name: a, hash: 'HASH', roots: [/p] }]\n";

#[test]
fn the_least_configuration_is_a_loopback_server_that_trusts_no_page() {
    let serving = read(LEAST).unwrap();
    assert_eq!((serving.listen.to_string(), serving.hosts), ("127.0.0.1:8137".to_owned(), Host::own()));
    assert_eq!(
        (serving.origins, serving.metrics, serving.limits),
        (vec![], Readers::Token, ServerLimits::default())
    );
    let [token] = serving.tokens.as_slice() else { panic!("one token") };
    assert_eq!((token.name.as_str(), token.hash[1], token.hash[31]), ("a", 0x11, 0xff));
    assert!(!token.read_only && !token.metrics && token.toolsets.is_none());
}

#[test]
fn every_setting_is_read() {
    let serving = read(
        "listen: 0.0.0.0:80\nallowed_hosts: [a.example:80]\nallowed_origins: ['https://b.example']\nmetrics: open\n\
         limits: { body: 1MiB, headers_within: 1s, body_within: 2s, read_within: 3s, idle: 4s, connections: 16, \
         requests: 5, sessions: 6, session_idle: 1d }\n\
         tokens:\n- { name: a, hash: 'HASH', roots: [/p, /q], read_only: true, tools: [edit], metrics: true }\n\
         - { name: b, hash: 'OTHER', organization: acme }\nstore: sqlite:/d\n",
    )
    .unwrap();
    let seconds = Duration::from_secs;
    let bounds = ServerLimits {
        body: 1 << 20,
        headers_timeout: seconds(1),
        body_timeout: seconds(2),
        read_timeout: seconds(3),
        idle: seconds(4),
        connections: 16,
        requests: 5,
        sessions: 6,
        session_idle: seconds(86_400),
    };
    assert_eq!((serving.limits, serving.metrics), (bounds, Readers::All));
    assert_eq!(serving.hosts, [Host::read("a.example:80").unwrap()]);
    assert_eq!(serving.origins, [WebOrigin::read("https://b.example:443").unwrap()]);
    let token = &serving.tokens[0];
    assert!(token.read_only && token.metrics && token.roots.len() == 2 && token.organization.is_none());
    assert_eq!(serving.store.as_deref(), Some("sqlite:/d"));
    let [_, other] = serving.tokens.as_slice() else { panic!("two tokens") };
    assert_eq!((other.organization.as_deref(), other.roots.len()), (Some("acme"), 0));
    assert_eq!(token.toolsets.as_deref(), Some(&["edit".to_owned()][..]));
}

#[test]
fn what_is_wrong_is_refused_with_its_place() {
    let token = |more: &str| format!("tokens:\n- {{ name: a, hash: 'HASH', roots: [/p]{more} }}\n");
    for (text, expected) in [
        (String::new(), "serve.yaml:1:1: the configuration must be a map, not nothing"),
        ("tokens: []".to_owned(), "`tokens` is empty"),
        ("listen: 127.0.0.1:1\n".to_owned(), "the key `tokens` is missing"),
        (format!("tokenz: []\n{LEAST}"), "serve.yaml:1:1: unknown key `tokenz`, did you mean `tokens`?"),
        (format!("{LEAST}listen: 8137\n"), "serve.yaml:2:9: `listen` must be a text"),
        (format!("{LEAST}listen: localhost:1\n"), "must be an address and a port"),
        (format!("{LEAST}listen: 0.0.0.0:1\n"), "serve.yaml:2:9: other machines can reach this address"),
        (format!("{LEAST}listen: '[::]:1'\n"), "other machines can reach this address"),
        (format!("{LEAST}allowed_hosts: ['http://a']\n"), "without a scheme"),
        (format!("{LEAST}allowed_hosts: ['*']\n"), "without a scheme"),
        (format!("{LEAST}allowed_origins: ['null']\n"), "must be an origin"),
        (format!("{LEAST}allowed_origins: ['*']\n"), "must be an origin"),
        (format!("{LEAST}limits: {{ body: 1GiB }}\n"), "from 1KiB to 64MiB"),
        (format!("{LEAST}limits: {{ idle: 0 }}\n"), "from 100ms to 10m"),
        (format!("{LEAST}limits: {{ session_idle: 1m }}\n"), "from 15m"),
        (format!("{LEAST}metrics: yes\n"), "unknown metrics `yes`"),
        (token(", organization: ''"), "`organization` must have 1 to 128 bytes"),
        (token(", organization: \"a\\tb\""), "no control characters"),
        (token(", organization: 7"), "`organization` must be a text"),
        (format!("{LEAST}store: 7\n"), "`store` must be a text"),
        (token(", tools: []"), "is empty"),
        (token(", tools: [edti]"), "did you mean `edit`?"),
        (token(", read_only: yes"), "must be `true` or `false`"),
        ("tokens: [{ name: a, hash: 'HASH' }]".to_owned(), "has no access to anything"),
        ("tokens: [{ name: a, hash: 'HASH', roots: [p] }]".to_owned(), "absolute paths"),
        (
            "tokens: [{ name: 'a b', hash: 'HASH', roots: [/p] }]".to_owned(),
            "`name` may contain only letters",
        ),
        ("tokens: [{ hash: 'HASH', roots: [/p] }]".to_owned(), "the key `name` is missing"),
        (format!("{LEAST}{LEAST}"), "duplicate key"),
        (
            "tokens:\n- { name: a, hash: 'HASH', roots: [/p] }\n- { name: a, hash: 'HASH', roots: [/p] }"
                .to_owned(),
            "serve.yaml:3:3: duplicate token name `a`",
        ),
        (
            "tokens:\n- { name: a, hash: 'HASH', roots: [/p] }\n- { name: b, hash: 'HASH', roots: [/p] }"
                .to_owned(),
            "serve.yaml:3:3: `a` and `b` are the same token",
        ),
    ] {
        let message = read(&text).expect_err(&text);
        assert!(message.contains(expected), "{text}\n{message}");
    }
}

#[test]
fn a_token_in_the_place_of_its_hash_is_not_repeated() {
    for secret in ["lockgate_s3cr3t", "blake3:s3cr3t", "blake3:00", "[s3cr3t]"] {
        let error =
            Serving::parse("serve.yaml", &format!("tokens:\n- name: a\n  roots: [/p]\n  hash: {secret}\n"));
        let error = error.unwrap_err();
        assert!(error.message.contains("`hash` must be"), "{}", error.message);
        assert!(!error.message.contains("s3cr3t"), "{}", error.message);
    }
}
