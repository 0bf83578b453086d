//! Stored content: the same over files, SQLite and PostgreSQL, nobody's but its owner's, and whole whatever happens.

mod backup;
mod contract;
mod faults;
mod fixture;
mod isolation;
mod narrowing;
mod owners;
pub mod postgres;
mod proxy;
mod statements;
mod tls;

use postgres::{Ending, Postgres};
use proxy::{FaultPoint, Proxy, Then, When};

use std::io::{Read, Write};
use std::net::TcpStream;

#[test]
fn a_cluster_comes_back_as_it_was_however_it_ended() {
    let Some(postgres) = Postgres::start(&[]) else { return };
    let database = postgres.database();
    database.query_as_server("CREATE TABLE t (n bigint)");
    for (number, how) in [Ending::Clean, Ending::Immediate, Ending::Killed].into_iter().enumerate() {
        database.query_as_server(&format!("INSERT INTO t VALUES ({number})"));
        postgres.end(how);
        assert!(database.try_query_as_server("SELECT 1").is_err(), "{how:?}");
        postgres.begin();
        assert_eq!(database.query_as_server("SELECT count(*) FROM t"), (number + 1).to_string(), "{how:?}");
    }
    assert!(
        database.try_query_as_server("CREATE ROLE other").is_err(),
        "the role of the servers is no superuser"
    );
    let folder = postgres.folder().to_owned();
    drop(database);
    drop(postgres);
    assert!(!folder.exists());
}

/// A greeting and a query, as bytes of the protocol.
fn greeted(proxy: &Proxy) -> TcpStream {
    let mut stream = TcpStream::connect(proxy.address).unwrap();
    let body = b"\0\x03\0\0user\0boss\0database\0postgres\0\0";
    let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
    // Who is turned away sees it when reading.
    stream.write_all(&[length.as_slice(), body].concat()).ok();
    stream
}

fn send_query(stream: &mut TcpStream, sql: &str) -> std::io::Result<()> {
    let length = u32::try_from(sql.len() + 5).unwrap();
    stream.write_all(&[b"Q".as_slice(), &length.to_be_bytes(), sql.as_bytes(), b"\0"].concat())
}

#[test]
fn the_proxy_breaks_the_connection_at_the_given_message() {
    let Some(postgres) = Postgres::shared() else { return };
    let database = postgres.database();
    database.query_as_server("CREATE TABLE t (n bigint)");
    postgres.boss("postgres", "CREATE TABLE t (n bigint)");
    let proxy = Proxy::before(&postgres.socket());
    for (then, at) in
        [Then::Mended, Then::Broken].into_iter().flat_map(|then| FaultPoint::ALL.map(|at| (then, at)))
    {
        postgres.boss("postgres", "TRUNCATE t");
        proxy.arm(When::Number(2), at, then);
        let mut stream = greeted(&proxy);
        send_query(&mut stream, "INSERT INTO t VALUES (1)").unwrap();
        send_query(&mut stream, "INSERT INTO t VALUES (2)").ok();
        send_query(&mut stream, "INSERT INTO t VALUES (3)").ok();
        let mut heard = Vec::new();
        stream.read_to_end(&mut heard).ok();
        let obeyed = if matches!(at, FaultPoint::Before | FaultPoint::Within) { "1" } else { "2" };
        assert_eq!(postgres.boss("postgres", "SELECT count(*) FROM t"), obeyed, "{at:?}");
        let mut again = greeted(&proxy);
        send_query(&mut again, "SELECT 1").ok();
        let is_answered = again.read(&mut [0]).is_ok_and(|read| read > 0);
        assert_eq!(is_answered, then == Then::Mended, "{at:?}");
        let (messages, broke) = proxy.clear_fault();
        assert_eq!(broke.as_deref(), Some("Query INSERT INTO t VALUES (2)"), "{messages:?}");
        assert_eq!(messages[..2], ["Greeting", "Query INSERT INTO t VALUES (1)"]);
    }
}
