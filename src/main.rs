//! The `lockgate` command.

fn main() -> std::process::ExitCode {
    lockgate::front::cli::run()
}
