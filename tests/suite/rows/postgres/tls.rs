//! TLS for a cluster, with certificates made by `openssl`.

use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{Postgres, id_of};
use crate::suite::store::not_run;
use crate::suite::wire::TIMEOUT;

/// A folder of authorities and of the certificates that they issue.
pub struct Certificates(TempDir);

impl Certificates {
    /// Nothing where there is no `openssl`.
    pub fn new() -> Option<Certificates> {
        let version = Command::new("openssl").arg("version").output();
        if version.is_err() {
            not_run("TLS to PostgreSQL: there is no openssl");
            return None;
        }
        Some(Certificates(tempfile::tempdir().unwrap()))
    }

    /// The path of a certificate.
    pub fn certificate(&self, name: &str) -> PathBuf {
        self.0.path().join(format!("{name}.pem"))
    }

    /// The path of a key.
    pub fn key(&self, name: &str) -> PathBuf {
        self.0.path().join(format!("{name}.key"))
    }

    fn openssl(&self, arguments: &str) {
        let mut openssl = Command::new("openssl");
        let output = openssl.args(arguments.split(' ')).current_dir(self.0.path()).output().unwrap();
        assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn configure(&self, name: &str, extensions: &str) {
        let config =
            format!("[req]\ndistinguished_name=dn\nprompt=no\n[dn]\nCN={name}\n[ext]\n{extensions}\n");
        std::fs::write(self.0.path().join("config"), config).unwrap();
    }

    /// Makes an authority.
    pub fn authority(&self, name: &str) {
        self.configure(name, "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign");
        self.openssl(&format!(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 9 -config config -extensions ext \
             -keyout {name}.key -out {name}.pem"
        ));
    }

    /// Makes a certificate for what `holder` says, such as `DNS:example.org`.
    pub fn issue(&self, authority: &str, name: &str, holder: &str) {
        self.configure(name, &format!("basicConstraints=CA:FALSE\nsubjectAltName={holder}"));
        self.openssl(&format!(
            "req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -config config -keyout {name}.key -out {name}.csr"
        ));
        self.openssl(&format!(
            "x509 -req -in {name}.csr -CA {authority}.pem -CAkey {authority}.key -CAcreateserial -days 9 \
             -extfile config -extensions ext -out {name}.pem"
        ));
    }
}

impl Postgres {
    /// Sets what a cluster reads again without a new start, and the rule for connections by TCP.
    pub fn reload(&self, rule: &str, settings: &[(&str, &str)]) {
        let rules = self.data().join("pg_hba.conf");
        let text = std::fs::read_to_string(&rules).unwrap();
        let local: String =
            text.lines().filter(|line| line.starts_with("local")).map(|line| format!("{line}\n")).collect();
        std::fs::write(rules, format!("{local}{rule}\n")).unwrap();
        let since = self.boss("postgres", "SELECT pg_conf_load_time()");
        for (name, value) in settings {
            self.boss("postgres", &format!("ALTER SYSTEM SET {name} = '{value}'"));
        }
        self.boss("postgres", "SELECT pg_reload_conf()");
        let start = Instant::now();
        while self.boss("postgres", "SELECT pg_conf_load_time()") == since {
            assert!(start.elapsed() < TIMEOUT, "the settings are not read");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Has the cluster use a certificate, and accept those of clients from an authority.
    pub fn use_certificate(&self, certificates: &Certificates, name: &str, rule: &str) {
        let copy = |path: PathBuf| {
            let copy = self.data().join(path.file_name().unwrap());
            std::fs::copy(path, &copy).unwrap();
            std::fs::set_permissions(&copy, PermissionsExt::from_mode(0o600)).unwrap();
            if let Some((user, group)) = self.user.and_then(id_of) {
                chown(&copy, Some(user), Some(group)).unwrap();
            }
            copy.display().to_string()
        };
        let (certificate, key) = (copy(certificates.certificate(name)), copy(certificates.key(name)));
        let authority = copy(certificates.certificate("authority"));
        let settings = [
            ("ssl_cert_file", certificate.as_str()),
            ("ssl_key_file", &key),
            ("ssl_ca_file", &authority),
            ("ssl", "on"),
        ];
        self.reload(rule, &settings);
    }
}
