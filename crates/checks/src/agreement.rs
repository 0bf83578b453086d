//! Compares the findings of a gate with those that a sample expects, from a recorded output or a real run.
//!
//! Invariant: they agree only if every finding matches, in the order of the text; a finding in another file
//! never matches.
#![deny(clippy::disallowed_methods)]

use super::finding::Finding;
use lockgate_policy::{Expected, Sample};

/// The placeholder for the project's directory in an expected message.
const ROOT: &str = "{root}";

/// The difference between expected and actual findings: everything from the first mismatch to the last, in
/// the order of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Expected by the sample but not found.
    pub missing: Vec<Expected>,
    /// Found but not expected by the sample.
    pub unexpected: Vec<Finding>,
}

/// Compares the expected findings of a sample with the actual ones; `None` if they agree.
pub fn mismatch(sample: &Sample, found: &[Finding]) -> Option<Mismatch> {
    let mut found: Vec<&Finding> = found.iter().collect();
    found.sort_by_key(|finding| (finding.elsewhere.is_some(), finding.line, finding.column));
    let agree = |(expected, finding): &(&Expected, &&Finding)| agrees(expected, finding);
    let first = sample.finds.iter().zip(&found).take_while(agree).count();
    let (missing, unexpected) = (sample.finds.get(first..)?, found.get(first..)?);
    let last = missing.iter().rev().zip(unexpected.iter().rev()).take_while(agree).count();
    let missing: Vec<Expected> = missing.iter().take(missing.len() - last).cloned().collect();
    let unexpected: Vec<Finding> =
        unexpected.iter().take(unexpected.len() - last).copied().cloned().collect();
    (!missing.is_empty() || !unexpected.is_empty()).then_some(Mismatch { missing, unexpected })
}

fn agrees(expected: &Expected, found: &Finding) -> bool {
    found.elsewhere.is_none()
        && expected.line == found.line
        && expected.column.is_none_or(|column| column == found.column)
        && expected.code.as_ref().is_none_or(|code| Some(code) == found.code.as_ref())
        && expected.severity.is_none_or(|severity| severity == found.severity)
        && expected.message.as_ref().is_none_or(|part| holds(&found.message, part))
}

/// True if a message contains `part`; `{root}` in it matches any text.
fn holds(message: &str, part: &str) -> bool {
    let mut rest = Some(message);
    for piece in part.split(ROOT) {
        rest = rest.and_then(|rest| rest.split_once(piece)).map(|(_, after)| after);
    }
    rest.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_policy::Severity;

    fn expected(line: usize) -> Expected {
        Expected { line, column: None, code: None, severity: None, message: None }
    }

    fn sample(finds: &[Expected]) -> Sample {
        Sample {
            path: "a.py".to_owned(),
            draft: String::new(),
            before: None,
            siblings: Vec::new(),
            with: Vec::new(),
            output: None,
            errors: String::new(),
            exit: 0,
            finds: finds.to_vec(),
        }
    }

    fn found(lines: &[usize]) -> Vec<Finding> {
        let finding = |line: &usize| Finding {
            code: Some("E1".to_owned()),
            ..Finding::new(*line, 2, "seen in /a/b of it")
        };
        lines.iter().map(finding).collect()
    }

    #[test]
    fn only_every_finding_in_order_is_an_agreement() {
        let wanted = sample(&[1, 3, 5].map(expected));
        assert_eq!(mismatch(&wanted, &found(&[1, 3, 5])), None);
        assert_eq!(mismatch(&wanted, &found(&[5, 1, 3])), None, "the order of the text counts");
        assert_eq!(mismatch(&sample(&[]), &[]), None);
        let lines = |found: &[usize]| {
            let between = mismatch(&wanted, &self::found(found)).unwrap();
            let missing: Vec<usize> = between.missing.iter().map(|expected| expected.line).collect();
            (missing, between.unexpected.iter().map(|found| found.line).collect::<Vec<_>>())
        };
        assert_eq!(lines(&[1, 4, 5]), (vec![3], vec![4]));
        assert_eq!(lines(&[1, 5]), (vec![3], vec![]));
        assert_eq!(lines(&[1, 3, 3, 5]), (vec![], vec![3]));
        assert_eq!(lines(&[]), (vec![1, 3, 5], vec![]));
        assert!(mismatch(&sample(&[]), &found(&[1])).is_some());
    }

    #[test]
    fn each_part_that_a_sample_pins_counts() {
        let pinned = Expected {
            column: Some(2),
            code: Some("E1".to_owned()),
            severity: Some(Severity::Error),
            message: Some("in {root} of".to_owned()),
            ..expected(1)
        };
        let altered = [
            Expected { line: 2, ..pinned.clone() },
            Expected { column: Some(1), ..pinned.clone() },
            Expected { code: Some("E2".to_owned()), ..pinned.clone() },
            Expected { severity: Some(Severity::Warning), ..pinned.clone() },
            Expected { message: Some("of {root} in".to_owned()), ..pinned.clone() },
        ];
        assert_eq!(mismatch(&sample(std::slice::from_ref(&pinned)), &found(&[1])), None);
        for other in altered {
            assert!(mismatch(&sample(std::slice::from_ref(&other)), &found(&[1])).is_some(), "{other:?}");
        }
        let elsewhere = Finding { elsewhere: Some("b.py".to_owned()), ..found(&[1]).remove(0) };
        assert!(mismatch(&sample(&[pinned]), &[elsewhere]).is_some());
    }
}
