//! The canary of a gate as samples.

use lockgate_policy::{CanaryKind, CanaryText, Gate, Language, Languages, Sample, language_named};

/// Returns the texts of a gate's canary in the order in which they are tried, each with the meaning of a
/// finding in it. They are set in the project of the gate's first good sample, which contains the program's
/// configuration. Empty if the gate has no canary, or no path to put it at.
pub fn canaries(gate: &Gate) -> Vec<(Sample, CanaryKind)> {
    let good = gate.samples.iter().find(|sample| sample.finds.is_empty());
    let path = match (good, &gate.languages) {
        (Some(good), _) => Some(good.path.clone()),
        (None, Languages::Every) => Some("canary.txt".to_owned()),
        (None, Languages::Only(names)) => {
            names.first().and_then(|name| language_named(name)).map(Language::example)
        }
    };
    let (Some(canary), Some(path)) = (&gate.canary, path) else { return Vec::new() };
    let sample = |CanaryText { text, kind }: CanaryText| {
        let sample = Sample {
            path: path.clone(),
            draft: text,
            before: None,
            siblings: Vec::new(),
            with: good.map(|good| good.with.clone()).unwrap_or_default(),
            output: None,
            errors: String::new(),
            exit: 0,
            finds: Vec::new(),
        };
        (sample, kind)
    };
    canary.attempts(good.map_or("", |good| &good.draft)).into_iter().map(sample).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_policy::{Catalogue, language_of};

    #[test]
    fn every_canary_of_the_catalogue_lies_where_its_gate_looks() {
        let gates = Catalogue::embedded().gates().iter();
        let all = gates.flat_map(|gate| canaries(gate).into_iter().map(move |(sample, _)| (gate, sample)));
        let all: Vec<_> = all.collect();
        assert!(all.len() > 10, "{}", all.len());
        for (gate, sample) in all {
            assert!(gate.covers(language_of(&sample.path, None)), "{}: {}", gate.name, sample.path);
            let passed_over = gate.command().is_some_and(|command| command.files.excludes(&sample.path));
            assert!(!passed_over, "{}: {}", gate.name, sample.path);
        }
    }
}
