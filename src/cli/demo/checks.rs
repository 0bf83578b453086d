//! Compares the answers of the demo with the bytes on disk.

use super::steps::DemoOutcome;
use lockgate_protocol::EditResponse;
use lockgate_text::Version;

/// Checks an answer against the expected outcome and the bytes before and after the call.
///
/// Returns a description of the result. Errors: a description of the difference.
pub(super) fn check_outcome(
    outcome: DemoOutcome,
    answer: &EditResponse,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
) -> Result<String, String> {
    let status = answer.status.as_deref().unwrap_or_default();
    if status != outcome.status() {
        return Err(format!("the answer has status `{status}`, expected `{}`", outcome.status()));
    }
    match outcome {
        DemoOutcome::Written => written(answer, before, after),
        DemoOutcome::Refused if answer.code.as_deref() != Some("GATE_REFUSED") => {
            Err(format!("the rejection has the code {:?}, expected GATE_REFUSED", answer.code))
        }
        DemoOutcome::Refused | DemoOutcome::Verified => untouched(before, after),
    }
}

fn written(answer: &EditResponse, before: Option<&[u8]>, after: Option<&[u8]>) -> Result<String, String> {
    let Some(bytes) = after else { return Err("the file does not exist".to_owned()) };
    if before == after {
        return Err("the file's bytes are the same as before".to_owned());
    }
    if answer.bytes_outside_edit.as_deref() != Some("unchanged") {
        return Err("the answer does not confirm that the bytes outside the edit are unchanged".to_owned());
    }
    let version = answer.version.as_deref().unwrap_or_default();
    if !Version::hash(bytes).matches(version) {
        return Err(format!("the file's version is {}, the answer says `{version}`", Version::hash(bytes)));
    }
    let was = before.map_or_else(|| "no file before".to_owned(), |before| format!("{} before", before.len()));
    Ok(format!("{} bytes ({was}) whose version is {version}, as the answer says", bytes.len()))
}

fn untouched(before: Option<&[u8]>, after: Option<&[u8]>) -> Result<String, String> {
    match after {
        Some(bytes) if before == after => {
            Ok(format!("all {} bytes are the same as before the call", bytes.len()))
        }
        Some(_) => Err("the file's bytes differ from those before the call".to_owned()),
        None => Err("the file does not exist".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: &str, code: Option<&str>, version: Option<&[u8]>) -> EditResponse {
        EditResponse {
            status: Some(status.to_owned().into()),
            code: code.map(|code| code.to_owned().into()),
            version: version.map(|bytes| Version::hash(bytes).to_string()),
            bytes_outside_edit: Some("unchanged".to_owned()),
            ..EditResponse::default()
        }
    }

    #[test]
    fn an_expected_outcome_passes() {
        let new: &[u8] = b"new";
        assert!(
            check_outcome(DemoOutcome::Written, &answer("written", None, Some(new)), Some(b"old"), Some(new))
                .is_ok()
        );
        assert!(
            check_outcome(DemoOutcome::Written, &answer("written", None, Some(new)), None, Some(new)).is_ok()
        );
        assert!(
            check_outcome(
                DemoOutcome::Refused,
                &answer("refused", Some("GATE_REFUSED"), None),
                Some(new),
                Some(new)
            )
            .is_ok()
        );
        assert!(
            check_outcome(DemoOutcome::Verified, &answer("verified", None, None), Some(new), Some(new))
                .is_ok()
        );
    }

    #[test]
    fn every_unexpected_outcome_fails() {
        let (old, new): (&[u8], &[u8]) = (b"old", b"new");
        let written = answer("written", None, Some(new));
        assert!(
            check_outcome(DemoOutcome::Written, &answer("unchanged", None, Some(new)), Some(old), Some(new))
                .is_err()
        );
        assert!(check_outcome(DemoOutcome::Written, &written, Some(new), Some(new)).is_err());
        assert!(check_outcome(DemoOutcome::Written, &written, Some(old), None).is_err());
        assert!(check_outcome(DemoOutcome::Written, &written, Some(old), Some(b"other")).is_err());
        let rejected = answer("refused", Some("GATE_REFUSED"), None);
        assert!(check_outcome(DemoOutcome::Refused, &rejected, Some(old), Some(new)).is_err());
        assert!(check_outcome(DemoOutcome::Refused, &rejected, Some(old), None).is_err());
        assert!(
            check_outcome(
                DemoOutcome::Refused,
                &answer("refused", Some("NO_MATCH"), None),
                Some(old),
                Some(old)
            )
            .is_err()
        );
        assert!(
            check_outcome(DemoOutcome::Verified, &answer("verified", None, None), Some(old), Some(new))
                .is_err()
        );
    }
}
