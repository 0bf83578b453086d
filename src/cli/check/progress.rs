//! Progress display of a check on a terminal.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::cli::paint::visible;
use lockgate_checks as gate;

/// A progress bar on standard error, if that is a terminal.
pub(super) struct CheckProgress(Option<ProgressBar>);

impl CheckProgress {
    pub(super) fn new() -> CheckProgress {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(0);
            let style = ProgressStyle::with_template(
                "{bar:30} {pos}/{len} files, {rate:.cyan} {eta} left  {wide_msg:.dim}",
            );
            bar.with_style(
                style.unwrap_or_else(|_| ProgressStyle::default_bar()).with_key("rate", write_rate),
            )
        });
        CheckProgress(bar)
    }

    /// Returns the progress callback; `None` without a terminal.
    pub(super) fn callback(&self) -> Option<gate::ProgressFn> {
        let bar = self.0.clone()?;
        Some(Box::new(move |path, done, total| {
            bar.set_length(u64::try_from(total).unwrap_or(u64::MAX));
            bar.set_position(u64::try_from(done).unwrap_or(u64::MAX));
            bar.set_message(visible(path).replace('\n', " "));
        }))
    }

    pub(super) fn finish(self) {
        if let Some(bar) = self.0 {
            bar.finish_and_clear();
        }
    }
}

/// Writes the files per second with one decimal, so that the width of the bar changes little.
fn write_rate(state: &ProgressState, out: &mut dyn std::fmt::Write) {
    let _ = write!(out, "{:.1}/s", state.per_sec());
}
