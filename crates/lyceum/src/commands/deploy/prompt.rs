//! Questions on the terminal.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::failure::{Code, Failure, Result};

/// Whether the program runs on a terminal, where a person can answer.
pub(crate) fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a question and returns the answer, or `usual` for an empty line. Standard error stays unlocked meanwhile, because
/// after Ctrl-C another thread prints there and ends the program.
pub(crate) fn ask(question: &str, usual: Option<&str>) -> Result<String> {
    let shown = usual.map(|usual| format!(" [{usual}]")).unwrap_or_default();
    let mut stderr = io::stderr();
    let _ = write!(stderr, "{question}{shown}: ");
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    if !matches!(read, Ok(count) if count > 0) {
        let _ = writeln!(stderr);
        return Err(cancelled());
    }
    let line = line.trim();
    Ok(if line.is_empty() { usual.unwrap_or_default().to_owned() } else { line.to_owned() })
}

/// Asks a yes-or-no question. An empty line means `usual`.
pub(crate) fn confirm(question: &str, usual: bool) -> Result<bool> {
    loop {
        let shown = if usual { "Y/n" } else { "y/N" };
        match ask(&format!("{question} ({shown})"), None)?.to_lowercase().as_str() {
            "" => return Ok(usual),
            "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => {}
        }
    }
}

/// The failure of a command that the user cancelled.
pub(crate) fn cancelled() -> Failure {
    Failure::new(Code::Interrupted, "cancelled; nothing was changed")
}
