//! The protection of the connection to PostgreSQL, as a URL demands it.

use std::path::Path;

use lockgate_error::{Code, Error};

use super::faults::Client;
use super::postgres::{Certificates, Database, KEEPER, PASSWORD_IN_URL, Postgres};

/// Without a password: it is in the URL.
const RULE: &str = "host all all all password";

struct Fixture {
    postgres: Postgres,
    certificates: Certificates,
    address: String,
}

impl Fixture {
    /// A cluster at an address of its own.
    fn new() -> Option<Fixture> {
        let certificates = Certificates::new()?;
        let [_, _, a, b] = std::process::id().to_be_bytes();
        let address = format!("127.99.{a}.{}", b.max(1));
        let postgres = Postgres::start(&[("listen_addresses", &address)])?;
        postgres.reload(RULE, &[]);
        certificates.authority("authority");
        certificates.authority("stranger");
        certificates.issue("authority", "server", &format!("IP:{address}"));
        certificates.issue("authority", "other", "DNS:other.example");
        certificates.issue("authority", "client", "DNS:client.example");
        Some(Fixture { postgres, certificates, address })
    }

    /// Looks for a text through a connection with these parameters; tells whether it had TLS.
    fn connect(&self, database: &Database<'_>, parameters: &str) -> Result<bool, Error> {
        let dir = tempfile::tempdir().unwrap();
        let url =
            format!("postgres://{KEEPER}:{PASSWORD_IN_URL}@{}/{}?{parameters}", self.address, database.name);
        let client = Client::new(&url, dir.path());
        assert_eq!(client.try_text("src/a.txt")?, None);
        let used = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
             WHERE usename = 'keeper' AND datname = current_database() AND state = 'idle'";
        Ok(database.boss(used) == "t")
    }

    fn root(&self, name: &str) -> String {
        format!("sslrootcert={}", encode(&self.certificates.certificate(name)))
    }
}

fn encode(path: &Path) -> String {
    path.display().to_string().replace('/', "%2F")
}

#[track_caller]
fn assert_rejected(answer: Result<bool, Error>, reason: &str) {
    let error = answer.unwrap_err();
    assert_eq!(error.code, Code::StoreUnavailable, "{error:?}");
    assert!(error.message.contains(reason) && !format!("{error:?}").contains("s3cret"), "{error:?}");
}

#[test]
fn a_connection_is_protected_as_its_url_demands() {
    let Some(fixture) = Fixture::new() else { return };
    let database = fixture.postgres.database();
    let connect = |parameters: &str| fixture.connect(&database, parameters);
    // Without TLS in the server.
    for mode in ["", "sslmode=prefer", "sslmode=allow", "sslmode=disable"] {
        assert_eq!(connect(mode), Ok(false), "{mode}");
    }
    assert_rejected(connect("sslmode=require"), "does not support TLS");
    // With a certificate for the address.
    fixture.postgres.use_certificate(&fixture.certificates, "server", RULE);
    let (known, unknown) = (fixture.root("authority"), fixture.root("stranger"));
    for (mode, has_tls) in [
        ("", true),
        ("sslmode=prefer", true),
        ("sslmode=require", true),
        ("sslmode=allow", false),
        ("sslmode=disable", false),
    ] {
        assert_eq!(connect(mode), Ok(has_tls), "{mode}");
        assert_eq!(connect(&format!("{mode}&{unknown}")), Ok(has_tls), "{mode}: it is not verified");
    }
    for mode in ["sslmode=verify-ca", "sslmode=verify-full"] {
        assert_eq!(connect(&format!("{mode}&{known}")), Ok(true), "{mode}");
        assert_rejected(connect(&format!("{mode}&{unknown}")), "TLS certificate");
        // The roots of this machine, if it has any.
        assert_rejected(connect(mode), "certificate");
        assert_rejected(connect(&format!("{mode}&sslrootcert=%2Fno%2Fsuch")), "certificate or key");
    }
    // With a certificate for another name.
    fixture.postgres.use_certificate(&fixture.certificates, "other", RULE);
    assert_eq!(connect(&format!("sslmode=verify-ca&{known}")), Ok(true));
    assert_rejected(connect(&format!("sslmode=verify-full&{known}")), "TLS certificate");
    assert_rejected(connect(&format!("sslmode=verify-ca&{unknown}")), "TLS certificate");
}

#[test]
fn a_client_shows_its_certificate() {
    let Some(fixture) = Fixture::new() else { return };
    let database = fixture.postgres.database();
    let rule = "hostssl all all all password clientcert=verify-ca";
    fixture.postgres.use_certificate(&fixture.certificates, "server", rule);
    let certificate = format!("sslcert={}", encode(&fixture.certificates.certificate("client")));
    let key = format!("sslkey={}", encode(&fixture.certificates.key("client")));
    assert_eq!(fixture.connect(&database, &format!("sslmode=require&{certificate}&{key}")), Ok(true));
    assert!(fixture.connect(&database, "sslmode=require").is_err());
    assert_rejected(fixture.connect(&database, &format!("sslmode=require&{certificate}")), "URL is invalid");
}
