//! `git proof`: parse, run, exit code.

fn main() -> std::process::ExitCode {
    git_proof::cli::main()
}
