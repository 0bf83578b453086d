//! Processor time and memory of processes, from /proc.

use std::fs;
use std::time::Duration;

/// Processor time so far of a process and of all that it started.
pub fn processor_time(process: u32) -> Duration {
    let mut all = 0;
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Ok(id) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Some(fields) = stat(id) else { continue };
        let own = id == process;
        if own || fields.get(1) == Some(&process.into()) {
            // Its own time, and for the process itself that of children that have ended.
            all += fields[11] + fields[12] + if own { fields[13] + fields[14] } else { 0 };
        }
    }
    Duration::from_millis(all * 10)
}

/// Processor time so far of this program, without what it started.
pub fn own_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// The fields of /proc/ID/stat after the name; the state, which is no number, is 0.
fn stat(process: u32) -> Option<Vec<u64>> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    Some(text.rsplit(") ").next()?.split(' ').map(|field| field.trim().parse().unwrap_or(0)).collect())
}

/// Memory that a process has now, in KiB.
pub fn memory(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
