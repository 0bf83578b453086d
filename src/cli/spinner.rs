//! Shows on a terminal that a command waits, and for which gate.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::paint::visible;
use lockgate_checks::Watch;

/// A command that takes less time than this shows nothing.
const DELAY: Duration = Duration::from_millis(300);

/// The time between two pictures of the spinner.
const TICK: Duration = Duration::from_millis(100);

/// Runs work whose gates may take long; after [`DELAY`], a line on the terminal of standard error says which gate runs.
pub(super) async fn with_spinner<T>(watch: Watch, work: impl AsyncFnOnce(Watch) -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work(watch).await;
    }
    let bar = ProgressBar::new_spinner();
    bar.set_draw_target(indicatif::ProgressDrawTarget::hidden());
    let style = ProgressStyle::with_template("{spinner} {elapsed} {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    let messages = bar.clone();
    let watch = watch.with_progress(Box::new(move |gate, _, _| {
        messages.set_message(visible(gate).replace('\n', " "));
    }));
    let mut work = std::pin::pin!(work(watch));
    let soon = tokio::time::timeout(DELAY, work.as_mut()).await;
    if let Ok(outcome) = soon {
        return outcome;
    }
    bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
    bar.enable_steady_tick(TICK);
    let outcome = work.await;
    bar.finish_and_clear();
    outcome
}
