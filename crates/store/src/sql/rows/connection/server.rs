//! The URL of a PostgreSQL server. The environment and the password file supply what it omits.

use super::pgpass::password_in;
use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use tokio_postgres::Config;
use url::Url;

/// The variables of the environment that PostgreSQL's programs read, and the parameters that they set.
const ENVIRONMENT: [(&str, &str); 12] = [
    ("PGHOST", "host"),
    ("PGHOSTADDR", "host"),
    ("PGPORT", "port"),
    ("PGUSER", "user"),
    ("PGPASSWORD", "password"),
    ("PGDATABASE", "dbname"),
    ("PGSSLMODE", "sslmode"),
    ("PGSSLROOTCERT", "sslrootcert"),
    ("PGSSLCERT", "sslcert"),
    ("PGSSLKEY", "sslkey"),
    ("PGAPPNAME", "application_name"),
    ("PGOPTIONS", "options"),
];
/// The folders where a server of this machine may have its socket.
const SOCKET_FOLDERS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// A server, and how to connect to it.
pub struct PostgresOptions {
    /// The user, the password, the database and the session's parameters.
    pub config: Config,
    /// The name or address of the host. A certificate is checked against it.
    pub host: String,
    pub port: u16,
    /// The server's socket, if it is on this machine.
    pub socket: Option<PathBuf>,
    pub tls: TlsMode,
    /// Files with certificates or a key, or these themselves as PEM.
    pub root_certificates: Option<String>,
    pub client_certificate: Option<String>,
    pub client_key: Option<String>,
}

/// The protection of a connection, as PostgreSQL names it in `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsMode {
    /// None; `allow` as well.
    Disable,
    /// TLS if the server supports it, with any certificate.
    Prefer,
    /// TLS with any certificate.
    Require,
    /// TLS with a certificate of a known authority, for any name.
    VerifyCa,
    /// TLS with a certificate of a known authority for this host.
    VerifyFull,
}

impl TlsMode {
    pub fn parse(name: &str) -> Option<TlsMode> {
        Some(match name.to_ascii_lowercase().as_str() {
            "disable" | "allow" => TlsMode::Disable,
            "prefer" => TlsMode::Prefer,
            "require" => TlsMode::Require,
            "verify-ca" => TlsMode::VerifyCa,
            "verify-full" => TlsMode::VerifyFull,
            _ => return None,
        })
    }
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PostgresOptions")
    }
}

impl PostgresOptions {
    /// Parses a URL; `None` if it is invalid.
    pub fn parse(url: &str) -> Option<PostgresOptions> {
        let mut parameters = Parameters::in_environment(&|name| std::env::var(name).ok());
        parameters.read_url(&Url::parse(url).ok()?)?;
        let custom = std::env::var_os("PGPASSFILE").map(PathBuf::from);
        let default = std::env::home_dir().map(|home| home.join(".pgpass"));
        Some(parameters.into_options(&[custom, default]))
    }
}

/// The parameters of a connection by their names in PostgreSQL.
struct Parameters(HashMap<&'static str, String>);

impl Parameters {
    fn in_environment(environment: &dyn Fn(&str) -> Option<String>) -> Parameters {
        let mut parameters = Parameters(HashMap::new());
        for (name, parameter) in ENVIRONMENT {
            // An invalid value counts as absent.
            let _ = environment(name).and_then(|value| parameters.set(parameter, value));
        }
        parameters
    }

    /// Sets a parameter; `None` if its value is invalid.
    fn set(&mut self, name: &'static str, value: String) -> Option<()> {
        match name {
            "port" => drop(value.parse::<u16>().ok()?),
            "sslmode" => drop(TlsMode::parse(&value)?),
            _ => {}
        }
        self.0.insert(name, value);
        Some(())
    }

    /// Sets the parameters of a URL; `None` if it is invalid.
    fn read_url(&mut self, url: &Url) -> Option<()> {
        let decode =
            |text: &str| percent_encoding::percent_decode_str(text).decode_utf8().ok().map(String::from);
        if let Some(host) = url.host_str() {
            let decoded = decode(host)?;
            let host = host.trim_matches(['[', ']']).to_owned();
            if decoded.starts_with('/') { self.set("socket", decoded)? } else { self.set("host", host)? }
        }
        if let Some(port) = url.port() {
            self.set("port", port.to_string())?;
        }
        let database = url.path().trim_start_matches('/');
        for (name, value) in
            [("user", url.username()), ("password", url.password().unwrap_or("")), ("dbname", database)]
        {
            if !value.is_empty() {
                self.set(name, decode(value)?)?;
            }
        }
        url.query_pairs().try_for_each(|(name, value)| self.read_parameter(&name, value.into_owned()))
    }

    fn read_parameter(&mut self, name: &str, value: String) -> Option<()> {
        let name = match name {
            "host" if value.starts_with('/') => "socket",
            "host" => "host",
            "hostaddr" => value.parse::<IpAddr>().ok().map(|_| "host")?,
            "port" => "port",
            "dbname" => "dbname",
            "user" => "user",
            "password" => "password",
            "application_name" => "application_name",
            "sslmode" | "ssl-mode" => "sslmode",
            "sslrootcert" | "ssl-root-cert" | "ssl-ca" => "sslrootcert",
            "sslcert" | "ssl-cert" => "sslcert",
            "sslkey" | "ssl-key" => "sslkey",
            "options" => {
                self.add_option(&value);
                return Some(());
            }
            _ => {
                if let Some(setting) = name.strip_prefix("options[").and_then(|name| name.strip_suffix(']')) {
                    let assignment = format!("{setting}={value}").replace('\\', r"\\").replace(' ', r"\ ");
                    self.add_option(&format!("-c {assignment}"));
                } else if name != "statement-cache-capacity" {
                    tracing::warn!("an unknown parameter of the store URL is ignored");
                }
                return Some(());
            }
        };
        self.set(name, value)
    }

    fn add_option(&mut self, option: &str) {
        let options = self.0.entry("options").or_default();
        if !options.is_empty() {
            options.push(' ');
        }
        options.push_str(option);
    }

    fn into_options(mut self, password_files: &[Option<PathBuf>]) -> PostgresOptions {
        let mut take = |name: &str| self.0.remove(name);
        let port = take("port").and_then(|port| port.parse().ok()).unwrap_or(5432);
        let host = take("host").unwrap_or_else(|| default_host(port));
        let folder = take("socket").or_else(|| host.starts_with('/').then(|| host.clone()));
        let user = take("user").or_else(|| whoami::username().ok()).unwrap_or_else(|| "unknown".to_owned());
        let database = take("dbname");
        let fields = [&host, &port.to_string(), database.as_deref().unwrap_or_default(), &user];
        let in_file = || password_files.iter().flatten().find_map(|file| password_in(file, fields));
        let password = take("password").or_else(in_file).unwrap_or_default();
        let mut config = Config::new();
        config.user(&user).password(password);
        if let Some(database) = database {
            config.dbname(database);
        }
        if let Some(name) = take("application_name") {
            config.application_name(name);
        }
        if let Some(options) = take("options") {
            config.options(options);
        }
        PostgresOptions {
            config,
            port,
            socket: folder.map(|folder| Path::new(&folder).join(format!(".s.PGSQL.{port}"))),
            host,
            tls: take("sslmode").and_then(|mode| TlsMode::parse(&mode)).unwrap_or(TlsMode::Prefer),
            root_certificates: take("sslrootcert"),
            client_certificate: take("sslcert"),
            client_key: take("sslkey"),
        }
    }
}

/// The folder of the socket of this machine's server, or else this machine's name.
fn default_host(port: u16) -> String {
    let has_socket = |folder: &&str| Path::new(folder).join(format!(".s.PGSQL.{port}")).exists();
    SOCKET_FOLDERS.into_iter().find(has_socket).unwrap_or("localhost").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(url: &str, environment: &[(&str, &str)]) -> Option<PostgresOptions> {
        let value = |name: &str| {
            environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        let mut parameters = Parameters::in_environment(&value);
        parameters.read_url(&Url::parse(url).unwrap())?;
        Some(parameters.into_options(&[]))
    }

    fn password(options: &PostgresOptions) -> &str {
        std::str::from_utf8(options.config.get_password().unwrap()).unwrap()
    }

    #[test]
    fn a_url_names_a_host_or_a_socket() {
        let at = |url: &str| {
            let options = options(url, &[("PGHOST", "elsewhere")]).unwrap();
            (options.host, options.port, options.socket)
        };
        let socket = |folder: &str, port: u16| Some(PathBuf::from(format!("{folder}/.s.PGSQL.{port}")));
        assert_eq!(at("postgres://db.example:1/x"), ("db.example".to_owned(), 1, None));
        assert_eq!(at("postgres://[::1]/x"), ("::1".to_owned(), 5432, None));
        assert_eq!(at("postgres:///x"), ("elsewhere".to_owned(), 5432, None));
        assert_eq!(at("postgres:///?hostaddr=8.8.8.8&port=7"), ("8.8.8.8".to_owned(), 7, None));
        assert_eq!(
            at("postgres://localhost/x?host=/a/b"),
            ("localhost".to_owned(), 5432, socket("/a/b", 5432))
        );
        assert_eq!(at("postgres://u@%2Fa%2Fb:8/x").2, socket("/a/b", 8));
        assert_eq!(options("postgres:///x", &[("PGHOST", "/a")]).unwrap().socket, socket("/a", 5432));
    }

    #[test]
    fn a_url_comes_before_the_environment() {
        let environment = [
            ("PGUSER", "pat"),
            ("PGPASSWORD", "secret"),
            ("PGDATABASE", "base"),
            ("PGPORT", "9"),
            ("PGSSLMODE", "verify-full"),
            ("PGSSLROOTCERT", "/root.pem"),
            ("PGOPTIONS", "-c a=b"),
            ("PGAPPNAME", "app"),
        ];
        let given = options("postgres://", &environment).unwrap();
        assert_eq!((given.config.get_user(), given.config.get_dbname()), (Some("pat"), Some("base")));
        assert_eq!((password(&given), given.port, given.tls), ("secret", 9, TlsMode::VerifyFull));
        assert_eq!(
            (given.config.get_application_name(), given.root_certificates.as_deref()),
            (Some("app"), Some("/root.pem"))
        );
        let url = "postgres://u%40h:p%2Fw@host:1/d%20b?sslmode=require&options=-c%20c%3Dd&options[e]=f%20%5C&application_name=x";
        let named = options(url, &environment).unwrap();
        assert_eq!((named.config.get_user(), named.config.get_dbname()), (Some("u@h"), Some("d b")));
        assert_eq!((password(&named), named.port, named.tls), ("p/w", 1, TlsMode::Require));
        assert_eq!(named.config.get_options(), Some(r"-c a=b -c c=d -c e=f\ \\"));
        assert_eq!(named.config.get_application_name(), Some("x"));
        assert_eq!(format!("{named:?}"), "PostgresOptions");
    }

    #[test]
    fn an_invalid_parameter_is_refused_in_a_url_and_ignored_in_the_environment() {
        for url in [
            "postgres:///?sslmode=bogus",
            "postgres:///?port=x",
            "postgres:///?hostaddr=x",
            "postgres://%ff@host/x",
        ] {
            assert!(options(url, &[]).is_none(), "{url}");
        }
        let options = options(
            "postgres:///?unknown=x&statement-cache-capacity=7",
            &[("PGSSLMODE", "bogus"), ("PGPORT", "x")],
        );
        assert!(options.is_some_and(|options| options.tls == TlsMode::Prefer && options.port == 5432));
    }
}
