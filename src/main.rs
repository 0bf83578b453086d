//! The `lockgate` command.

fn main() -> std::process::ExitCode {
    lockgate::cli::run()
}
