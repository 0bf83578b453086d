//! The keys of the HTTP server's configuration, in one table.

use crate::server_toolsets::TOOLSETS;
use crate::value_shape::{Range, tables};
use crate::words::words;

words! {
    /// The clients that may read the metrics.
    #[derive(Default)]
    pub enum Readers {
        /// Clients whose token allows it.
        #[default]
        Token = "token",
        /// All clients, without a token.
        All = "open",
    }
}

const BODY: Range = Range { min: 1024, max: 64 << 20, description: "from 1KiB to 64MiB" };
const WITHIN: Range = Range { min: 100, max: 600_000, description: "from 100ms to 10m" };
const SESSION: Range = Range {
    min: 900_000,
    max: 7 * 86_400_000,
    description: "from 15m, the longest that a person is waited for, to 7d",
};
const CONNECTIONS: Range = Range { min: 16, max: 100_000, description: "from 16 to 100000" };
const COUNT: Range = Range { min: 1, max: 10_000, description: "from 1 to 10000" };

tables! {
    /// The keys at the top level of the configuration.
    SERVING {
        "listen": Text, Is("127.0.0.1:8137") => "the address and port to listen on; an address that other machines reach needs `allowed_hosts`";
        "allowed_hosts": List(&Text, 1), Described("`localhost`, `127.0.0.1` and `[::1]` with any port")
            => "the host names that clients use, as in `Host`, each with its port or for any port";
        "allowed_origins": List(&Text, 0), Is("[]")
            => "the web pages whose scripts may send requests, as in `Origin`; requests without `Origin` do not come from a web page";
        "metrics": Words(Readers::WORDS), Is("token")
            => "who may read `/metrics`: `token`: clients whose token allows it; `open`: everyone who can reach the server";
        "limits": Map(&[LIMITS]), Is("{}") => "how much and how long";
        "store": Text, Described("that of `LOCKGATE_STORE`, else `content.db` in the state folder")
            => "the database of stored content, `sqlite:PATH` or `postgres://...`; a URL with a password is rejected here; set it in `LOCKGATE_STORE`";
        "tokens": List(&Map(&[TOKEN]), 1), Required => "the clients and their permissions";
    }
    LIMITS {
        "body": Size(BODY), Is("4MiB") => "the largest body of a request";
        "headers_within": Duration(WITHIN), Is("10s") => "the timeout for the headers of a request";
        "body_within": Duration(WITHIN), Is("30s") => "the timeout for the body of a request";
        "read_within": Duration(WITHIN), Is("30s") => "how long a client may read nothing of a response";
        "idle": Duration(WITHIN), Is("90s") => "how long a connection may stay open without a request";
        "connections": Whole(CONNECTIONS), Is("1024")
            => "the most open connections; beyond that, the one that was idle longest is closed";
        "requests": Whole(COUNT), Is("64") => "the most concurrent requests of one token; one more is rejected with 429";
        "sessions": Whole(COUNT), Is("256")
            => "the most sessions of one token, for clients of 2025-11-25 and older; one more is rejected with 503";
        "session_idle": Age(SESSION), Is("8h") => "how long a session may stay open without a request";
    }
    /// The keys of each entry in `tokens`.
    TOKEN {
        "name": Text, Required => "the name of the client: letters, digits, `.`, `_`, `@` and `-`; the journal records it";
        "hash": Text, Required => "`blake3:` and the BLAKE3 of the token in hexadecimal, as `lockgate serve token` prints it";
        "roots": List(&Text, 0), Described("none: without `organization`, the token has no tools")
            => "the folders whose files it can reach, as absolute paths";
        "read_only": Flag, Is("false") => "`true`: it has no tool that can write";
        "tools": List(&Words(&TOOLSETS), 1), Described("those of the policy at the top of the first root, else `[edit, text, look]`, and `content` with an `organization`")
            => "the toolsets that it is offered";
        "metrics": Flag, Is("false") => "`true`: it may read `/metrics`, which counts the requests of all tokens";
        "organization": Text, Described("none")
            => "the organisation whose stored content it can reach, in addition to global content; without `roots` it reaches no file";
    }
}
