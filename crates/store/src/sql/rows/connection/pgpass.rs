//! Passwords from PostgreSQL's password file.
//!
//! Invariant: a file that others can read is not used.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Returns the password for a host, a port, a database and a user: the first line that has all four, or
/// `*` in their place.
pub(super) fn password_in(file: &Path, fields: [&str; 4]) -> Option<String> {
    if file.metadata().ok()?.permissions().mode() & 0o77 != 0 {
        tracing::warn!("the password file of PostgreSQL is ignored: others can read it");
        return None;
    }
    let text = std::fs::read_to_string(file).ok()?;
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| password_on(line, fields))
}

fn password_on(line: &str, fields: [&str; 4]) -> Option<String> {
    let mut rest = line.chars();
    for expected in fields {
        let (mut field, mut is_escaped) = (String::new(), false);
        loop {
            match rest.next()? {
                ':' if !is_escaped => break,
                '\\' if !is_escaped => is_escaped = true,
                character => {
                    field.push(character);
                    is_escaped = false;
                }
            }
        }
        if field != "*" && field != expected {
            return None;
        }
    }
    let mut password = String::new();
    while let Some(character) = rest.next() {
        password.extend(if character == '\\' { rest.next() } else { Some(character) });
    }
    Some(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_a_password_for_what_it_names() {
        let fields = ["localhost", "5432", "db", r"us:er\"];
        let on = |line: &str| password_on(line, fields);
        assert_eq!(on(r"localhost:5432:db:us\:er\\:baz ").as_deref(), Some("baz "));
        assert_eq!(on(r"*:*:*:*:ba\:z\\\").as_deref(), Some(r"ba:z\"));
        for other in
            ["otherhost:*:*:*:baz", "*:1:*:*:baz", "*:*:other:*:baz", "*:*:*:user:baz", "*:*:*:*", ""]
        {
            assert_eq!(on(other), None, "{other}");
        }
    }

    #[test]
    fn a_file_that_others_can_read_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("pgpass");
        std::fs::write(&file, "# *:*:*:*:comment\n*:*:*:other:no\r\n*:*:*:*:yes\r\n").unwrap();
        let mut found = Vec::new();
        for mode in [0o600, 0o640] {
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
            found.push(password_in(&file, ["h", "1", "d", "u"]));
        }
        assert_eq!(found, [Some("yes".to_owned()), None]);
        assert_eq!(password_in(&dir.path().join("absent"), ["h", "1", "d", "u"]), None);
    }
}
