//! `lyceum badge`

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use lyceum_core::messages::io_reason;
use lyceum_core::time::{Clock, SystemClock};
use lyceum_credentials::limits::CREDENTIAL_MAX_BYTES;
use lyceum_credentials::verify::{self, CheckOutcome, Report};
use serde_json::{Value, json};

use crate::failure::{Code, Failure, Result};
use crate::printer::Printer;

#[derive(Subcommand)]
pub(crate) enum Badge {
    /// Verify a credential from any issuer: JSON, JWT, or a baked PNG or SVG. Works offline
    Verify(Verify),
}

#[derive(Args)]
pub(crate) struct Verify {
    /// The credential file; `-` reads standard input
    file: PathBuf,
    /// Check that the credential was issued to this email address or subject id
    #[arg(long, value_name = "EMAIL")]
    recipient: Option<String>,
    /// Use FILE as the document at URL, which a check needs; can be given several times
    #[arg(long, value_name = "URL=FILE")]
    fetched: Vec<String>,
    /// Treat skipped checks as failed
    #[arg(long)]
    strict: bool,
}

impl Badge {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::Verify(verify) => verify.run(printer),
        }
    }
}

impl Verify {
    fn run(&self, printer: &Printer) -> Result {
        let input = read(&self.file)?;
        let fetched = self.documents()?;
        let mut report = verify::verify(&input, &fetched, SystemClock.now());
        if let Some(identity) = &self.recipient {
            report.checks.push(verify::recipient(&report.credential, identity));
        }
        let wanted = verify::missing_documents(&input, &fetched);
        printer.answer(|| text(&report), || answer(&report, &wanted));
        let hint = wanted.first().map(|url| {
            format!(
                "download {url} and pass it with `--fetched {url}=FILE`; this command makes no connections"
            )
        });
        let count = |outcome| report.checks.iter().filter(|one| one.outcome == outcome).count();
        let summary = match (count(CheckOutcome::Failed), count(CheckOutcome::Skipped)) {
            (0, 0) => {
                printer.done("valid: every check passed");
                return Ok(());
            }
            (0, skipped) if !self.strict => {
                printer.warn(&format!("no check failed, but {skipped} could not be run"));
                if let Some(hint) = &hint {
                    printer.warn(hint);
                }
                return Ok(());
            }
            (0, skipped) => format!("not confirmed: {skipped} of the checks could not be run"),
            (failed, _) => format!("not valid: {failed} of the checks failed"),
        };
        Err(Failure { hint, ..Failure::failed(summary) })
    }

    fn documents(&self) -> Result<BTreeMap<String, Value>> {
        let document = |pair: &String| {
            let (url, file) = pair.rsplit_once('=').ok_or_else(|| {
                Failure::new(Code::Usage, format!("--fetched must be URL=FILE: got '{pair}'"))
                    .hint("write for example --fetched https://example.org/status/1=status.json")
            })?;
            let bytes = read(Path::new(file))?;
            // A status list may be served as a JWT.
            let value = match std::str::from_utf8(&bytes).map(str::trim) {
                Ok(text) if !text.starts_with(['{', '[', '"']) => Value::from(text),
                _ => lyceum_credentials::json::read(&bytes)?,
            };
            Ok((url.to_owned(), value))
        };
        self.fetched.iter().map(document).collect()
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = CREDENTIAL_MAX_BYTES as u64 + 1;
    let read = match path.as_os_str() == "-" {
        true => std::io::stdin().lock().take(most).read_to_end(&mut bytes),
        false => std::fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)),
    };
    match read {
        Ok(_) => Ok(bytes),
        Err(error) => {
            let missing = error.kind() == std::io::ErrorKind::NotFound;
            let code = if missing { Code::NotFound } else { Code::Failed };
            Err(Failure::new(
                code,
                format!("'{}' cannot be read: {}", path.display(), io_reason(&error)),
            )
            .hint("give a JSON or JWT file, or an image that contains a credential"))
        }
    }
}

fn text(report: &Report) -> String {
    let line = |check: &verify::Check| {
        let outcome = check.outcome.name();
        format!("{outcome:7}  {:11}  {}\n", check.name, check.message)
    };
    report.checks.iter().map(line).collect()
}

fn answer(report: &Report, wanted: &[String]) -> Value {
    json!({
        "valid": report.is_valid(),
        "confirmed": report.is_confirmed(),
        "checks": report.checks,
        "wanted": wanted,
        "credential": report.credential,
    })
}
