//! The peak memory of a server, per file and match level.

use std::fs;
use std::time::Duration;

use serde_json::json;

use super::texts::{self, Quoted};
use super::wire::Server;

/// Prints the peak of a server that did nothing else.
pub fn table() {
    let sizes = [1, 10, 50];
    println!("| MB of peak memory, in a file of | 1 MB | 10 MB | 50 MB | of 6 x file + 32 MiB |");
    println!("|---|---|---|---|---|");
    let texts = sizes.map(text);
    for (name, Quoted { search, replace }, _) in texts::levels() {
        print!("| {name} |");
        let mut worst: f64 = 0.0;
        for text in &texts {
            let peak = peak(text, &search, &replace);
            let allowed = (6 * text.len() + (32 << 20)) as f64;
            worst = worst.max(peak / allowed);
            print!(" {:.0} |", peak / 1e6);
        }
        println!(" {:.0} % at most |", worst * 100.0);
    }
}

fn text(megabytes: usize) -> String {
    let lines = megabytes * 1_000_000 / 38;
    texts::planted(lines)
}

fn peak(text: &str, search: &str, replace: &str) -> f64 {
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(root.path().join("quality.yaml"), "quality_gates: {}\nlimits: { file: 100MiB }\n").unwrap();
    fs::write(root.path().join("a.py"), text).unwrap();
    let mut server = Server::start(root.path(), &[]);
    let arguments = json!({"file_path": "a.py", "search_context": search, "new_content": replace});
    server.call("edit_code", &arguments);
    server.memory("VmHWM") as f64
}

/// The time that the threads of a process have run on a processor.
pub fn processor(process: u32) -> Duration {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let task_time = |task: fs::DirEntry| -> Option<u64> {
        let stat = fs::read_to_string(task.path().join("schedstat")).ok()?;
        stat.split(' ').next()?.parse().ok()
    };
    Duration::from_nanos(tasks.flatten().filter_map(task_time).sum())
}
