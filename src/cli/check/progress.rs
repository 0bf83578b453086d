//! Progress display of a check on a terminal.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::cli::paint::visible;
use lockgate_checks::Watch;

/// Runs the work of a check; a bar on the terminal of standard error shows its files.
pub(super) async fn with_progress_bar<T>(watch: Watch, work: impl AsyncFnOnce(Watch) -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work(watch).await;
    }
    let style =
        ProgressStyle::with_template("{bar:30} {pos}/{len} files, {rate:.cyan} {eta} left  {wide_msg:.dim}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).with_key("rate", write_rate);
    let bar = ProgressBar::new(0).with_style(style);
    let shown = bar.clone();
    let watch = watch.with_progress(Box::new(move |path, done, total| {
        shown.set_length(u64::try_from(total).unwrap_or(u64::MAX));
        shown.set_position(u64::try_from(done).unwrap_or(u64::MAX));
        shown.set_message(visible(path).replace('\n', " "));
    }));
    let outcome = work(watch).await;
    bar.finish_and_clear();
    outcome
}

/// Writes the files per second with one decimal, so that the width of the bar changes little.
fn write_rate(state: &ProgressState, out: &mut dyn std::fmt::Write) {
    let _ = write!(out, "{:.1}/s", state.per_sec());
}
