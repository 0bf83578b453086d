//! The keys of the HTTP server's configuration, in one table.

use crate::policy::keys::{TOOLSETS, tables};
use crate::policy::value_shape::Absent::{Described, Is, Refused};
use crate::policy::value_shape::ValueShape::{Age, Duration, Flag, List, Map, Size, Text, Whole, Words};
use crate::policy::value_shape::{Range, Setting};

pub(super) const BODY: Range = Range { min: 1024, max: 64 << 20, description: "from 1KiB to 64MiB" };
pub(super) const WITHIN: Range = Range { min: 100, max: 600_000, description: "from 100ms to 10m" };
pub(super) const SESSION: Range = Range {
    min: 900_000,
    max: 7 * 86_400_000,
    description: "from 15m, the longest that a person is waited for, to 7d",
};
pub(super) const CONNECTIONS: Range = Range { min: 16, max: 100_000, description: "from 16 to 100000" };
pub(super) const COUNT: Range = Range { min: 1, max: 10_000, description: "from 1 to 10000" };

tables! {
    /// The configuration itself.
    SERVING {
        "listen": Text, Is("127.0.0.1:8137") => "the address and port to listen on; an address that other machines reach needs `allowed_hosts`";
        "allowed_hosts": List(&Text, 1), Described("`localhost`, `127.0.0.1` and `[::1]` with any port")
            => "the names by which clients call the server, as in `Host`, each with its port or for any port";
        "allowed_origins": List(&Text, 0), Is("[]")
            => "the web pages whose scripts may call, as in `Origin`; requests without `Origin` come from no web page";
        "metrics": Words(&["token", "open"]), Is("token")
            => "who may read `/metrics`: `token`: clients whose token says so; `open`: everybody who reaches the server";
        "limits": Map(&[LIMITS]), Is("{}") => "how much and how long";
        "store": Text, Described("that of `LOCKGATE_STORE`, else `content.db` in the state folder")
            => "the database of stored content, `sqlite:PATH` or `postgres://...`; a URL with a password is refused here, and belongs in `LOCKGATE_STORE`";
        "tokens": List(&Map(&[TOKEN]), 1), Refused => "who may call, and what each may do";
    }
    LIMITS {
        "body": Size(BODY), Is("4MiB") => "the largest body of a request";
        "headers_within": Duration(WITHIN), Is("10s") => "how long a client may take to send the head of a request";
        "body_within": Duration(WITHIN), Is("30s") => "how long a client may take to send a body";
        "read_within": Duration(WITHIN), Is("30s") => "how long a client may take none of an answer that waits for it";
        "idle": Duration(WITHIN), Is("90s") => "how long a connection may stay open without a request";
        "connections": Whole(CONNECTIONS), Is("1024")
            => "how many connections may be open; where there are as many, the one that was idle longest makes room";
        "requests": Whole(COUNT), Is("64") => "how many requests of one token are worked on at a time; one more is refused with 429";
        "sessions": Whole(COUNT), Is("256")
            => "how many sessions one token may have, of clients of 2025-11-25 and older; one more is refused with 503";
        "session_idle": Age(SESSION), Is("8h") => "how long a session without a request is kept";
    }
    /// One entry of `tokens`.
    TOKEN {
        "name": Text, Refused => "who this is: letters, digits, `.`, `_`, `@` and `-`; the journal names it";
        "hash": Text, Refused => "`blake3:` and the BLAKE3 of the token in hexadecimal, as `lockgate serve token` prints it";
        "roots": List(&Text, 0), Described("none: without `organization`, the token has no tools")
            => "the folders whose files it reaches, by absolute paths";
        "read_only": Flag, Is("false") => "`true`: it has no tool that can write";
        "tools": List(&Words(&TOOLSETS), 1), Described("those of the policy at the top of the first root, else `[edit, look]`, and `content` with an `organization`")
            => "the toolsets that it is offered";
        "metrics": Flag, Is("false") => "`true`: it may read `/metrics`, which counts what all tokens do";
        "organization": Text, Described("none")
            => "whose stored content it reaches, beside what is no organisation's; one without `roots` reaches no file";
    }
}
