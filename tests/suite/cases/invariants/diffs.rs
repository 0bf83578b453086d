//! Whether a change is what is told of it: its diff applies with git, and lines moved as far as is said.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// A diff longer than this may have been cut, so it is not applied.
const WHOLE_DIFF: usize = 5 * 1024;

/// Whether every line that no edit names is where `line_map` says.
pub fn check_moved_lines(response: &Value, old: Option<&[u8]>, new: Option<&[u8]>) -> Result<(), String> {
    let (Some(old), Some(new)) = (old, new) else { return Ok(()) };
    let list = |key: &str| response[key].as_array().cloned().unwrap_or_default();
    let number = |value: &Value| value.as_i64().unwrap_or(0);
    let (edits, shifts) = (list("edits"), list("line_map"));
    let cut = response["notes"].to_string().contains("not shown");
    if cut || old.contains(&0) {
        return Ok(());
    }
    let (old, new): (Vec<&[u8]>, Vec<&[u8]>) = (lines(old), lines(new));
    for (line, text) in (1..).zip(&old) {
        if edits.iter().any(|edit| (number(&edit["start_line"])..=number(&edit["end_line"])).contains(&line))
        {
            continue;
        }
        let by = shifts
            .iter()
            .rfind(|shift| number(&shift["from"]) <= line)
            .map_or(0, |shift| number(&shift["by"]));
        let line_at = usize::try_from(line + by - 1).ok().and_then(|at| new.get(at));
        if line_at != Some(text) {
            return Err(format!("line {line} should be {by} lines further on"));
        }
    }
    Ok(())
}

/// The lines, without their ends and without a byte order mark.
pub fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let whole = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let end = |line: &'_ [u8]| line.len() - usize::from(line.ends_with(b"\r"));
    if bytes.is_empty() {
        Vec::new()
    } else {
        whole.split(|byte| *byte == b'\n').map(|line| &line[..end(line)]).collect()
    }
}

/// Whether `git apply` takes the diff, and makes of the old text the new one where that is known.
pub fn diff_applies(diff: &str, path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> Result<(), String> {
    let text = |bytes: Option<&[u8]>| bytes.is_none_or(|bytes| std::str::from_utf8(bytes).is_ok());
    if diff.is_empty() || diff.len() > WHOLE_DIFF || !text(old) || !text(new) {
        return Ok(());
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(path);
    std::fs::create_dir_all(file.parent().unwrap_or(folder.path())).unwrap();
    if let Some(old) = old {
        std::fs::write(&file, old).unwrap();
    }
    git_apply(folder.path(), diff)?;
    let applied = std::fs::read(&file).ok();
    if (new.is_some() || diff.contains("\ndeleted file mode")) && applied.as_deref() != new {
        let (applied, new) = (applied.unwrap_or_default(), new.unwrap_or_default());
        return Err(format!("it gives {:?} instead of {:?}", show(&applied), show(new)));
    }
    Ok(())
}

pub fn show(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(&bytes[..bytes.len().min(200)])
}

fn git_apply(folder: &Path, diff: &str) -> Result<(), String> {
    let mut child = Command::new("git")
        .args(["apply", "--whitespace=nowarn", "-"])
        .current_dir(folder)
        .env("GIT_CEILING_DIRECTORIES", folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("git is needed for the tests: {error}"))?;
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), diff.as_bytes()).ok();
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{} in\n{diff}", String::from_utf8_lossy(&output.stderr).trim()))
}
