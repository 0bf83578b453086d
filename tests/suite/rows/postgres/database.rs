//! A database of a cluster, and who speaks to it.

use super::host::output_text;
use super::{KEEPER, PASSWORD_IN_URL, Postgres};

/// A database of a cluster, which belongs to [`KEEPER`].
pub struct Database<'p> {
    pub postgres: &'p Postgres,
    pub name: String,
}

impl Database<'_> {
    /// The URL by which a server reaches it through the socket.
    pub fn url(&self) -> String {
        let (folder, name) = (self.postgres.folder.display(), &self.name);
        let folder = folder.to_string().replace('/', "%2F");
        format!("postgres://{KEEPER}:{PASSWORD_IN_URL}@localhost/{name}?host={folder}")
    }

    /// The URL by which a server reaches it through a proxy.
    pub fn url_at(&self, address: std::net::SocketAddr) -> String {
        format!("postgres://{KEEPER}:{PASSWORD_IN_URL}@{address}/{}", self.name)
    }

    /// Runs SQL that nothing holds, and gives its rows.
    #[track_caller]
    pub fn boss(&self, sql: &str) -> String {
        self.postgres.boss(&self.name, sql)
    }

    /// Runs SQL as a server could, and gives its rows.
    #[track_caller]
    pub fn query_as_server(&self, sql: &str) -> String {
        output_text(self.postgres.psql(&self.name, KEEPER, sql))
    }

    /// Runs SQL as a server could; `Err` has what the database said.
    pub fn try_query_as_server(&self, sql: &str) -> Result<String, String> {
        let output = self.postgres.psql(&self.name, KEEPER, sql);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            Ok(String::from_utf8(output.stdout).unwrap().trim_end().to_owned())
        } else {
            Err(stderr)
        }
    }
}
