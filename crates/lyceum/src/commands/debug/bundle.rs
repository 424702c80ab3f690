//! `lyceum debug bundle`

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use lyceum_core::Problem;
use lyceum_core::config::{self, Config, LoadedConfig, Secret};
use lyceum_deploy::{ENV, secrets_in};
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::redaction::Redaction;
use crate::commands::deploy::show;
use crate::commands::doctor;
use crate::commands::export::whole;
use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, table};
use crate::profile::Profiles;
use crate::project::workerd;
use crate::settings::DataArgs;

/// Lines from the end of the log.
const LOG_LINES: usize = 500;
/// The files of a project that may hold secrets.
const ENVS: [&str; 3] = [ENV, ".env.development", ".env.local"];
/// Variables with the secret of another learning platform.
const PLATFORM_SECRETS: [&str; 2] = ["TRACKING_API_CLIENT_SECRET", "TIMEBACK_API_CLIENT_SECRET"];
/// The config files of a project.
const CONFIGS: [&str; 4] =
    ["lyceum.config.js", "lyceum.config.mjs", "lyceum.config.ts", "lyceum.config.json"];

#[derive(Args)]
pub(crate) struct Bundle {
    /// The zip to write. An existing file is replaced
    #[arg(short, long, value_name = "FILE.zip", default_value = "lyceum-debug.zip")]
    output: PathBuf,
    /// A log of the server or sandbox; the bundle gets its last 500 lines
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Folder of the project
    #[arg(long, value_name = "DIR", default_value = ".", hide_default_value = true)]
    project: PathBuf,
    #[command(flatten)]
    data: DataArgs,
}

impl Bundle {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let loaded = self.data.load(&[]);
        let redaction = Redaction::of(self.secrets(loaded.as_ref().ok()));
        let mut files = vec![("versions.txt".to_owned(), versions(&self.project))];
        match &loaded {
            Ok(loaded) => {
                files.push(("doctor.txt".to_owned(), doctor::report(&loaded.config)));
                files.push(("settings.txt".to_owned(), settings(loaded)));
            }
            Err(failure) => {
                files.push(("settings.txt".to_owned(), format!("error: {}\n", failure.message)));
            }
        }
        if let Some(log) = &self.log {
            files.push(("log.txt".to_owned(), last_lines(&read(log)?)));
        }
        for name in CONFIGS {
            let file = self.project.join(name);
            if file.is_file() {
                files.push((name.to_owned(), read(&file)?));
            }
        }
        for (_, text) in &mut files {
            *text = redaction.apply(text);
        }
        whole(&self.output, |file| write(file, &files))?;
        let rows =
            files.iter().map(|(name, text)| vec![name.clone(), show::bytes(text.len() as u64)]);
        let entries = || -> Vec<Value> {
            files.iter().map(|(name, text)| json!({ "name": name, "size": text.len() })).collect()
        };
        printer.answer(
            || table(&["file", "size"], &rows.collect::<Vec<_>>()),
            || json!({ "file": self.output, "entries": entries() }),
        );
        printer.done(&format!("✔ Wrote '{}'", self.output.display()));
        printer.note("secrets were removed; read the files before you send them");
        Ok(())
    }

    /// The secret values that this machine knows.
    fn secrets(&self, loaded: Option<&LoadedConfig>) -> Vec<String> {
        let mut secrets = loaded.map(|loaded| of_settings(&loaded.config)).unwrap_or_default();
        for name in ENVS {
            // A file that cannot be read is not in the bundle either.
            let known = secrets_in(&self.project.join(name)).ok().flatten().unwrap_or_default();
            secrets.extend(known.into_values());
        }
        let is_secret = |name: &str| {
            ["SECRET", "KEY", "TOKEN", "PASSWORD"].iter().any(|word| name.contains(word))
        };
        let variables = config::environment().unwrap_or_default().into_iter();
        secrets.extend(variables.filter(|(name, _)| is_secret(name)).map(|(_, value)| value));
        secrets.extend(PLATFORM_SECRETS.iter().filter_map(|name| config::variable(name)));
        let profiles = Profiles::read().map(|profiles| profiles.all).unwrap_or_default();
        let entries = profiles.into_values().flat_map(std::collections::BTreeMap::into_values);
        secrets.extend(entries.map(|entry| entry.token));
        secrets
    }
}

fn of_settings(config: &Config) -> Vec<String> {
    let settings = [
        &config.store.database,
        &config.store.read_replica,
        &config.keys.master,
        &config.keys.master_other,
        &config.backup.key,
        &config.hosting.promote_key,
        &config.admin.password,
        &config.oidc.client_secret,
        &config.s3.access_key,
        &config.s3.secret_key,
    ];
    let headers = config.telemetry.headers.iter().map(|(_, value)| value);
    let texts = settings.into_iter().flatten().chain(headers).map(Secret::reveal);
    texts.map(str::to_owned).collect()
}

fn versions(project: &Path) -> String {
    let system = rustix::system::uname();
    let workerd = workerd(project);
    let workerd = workerd.map_or_else(|| "none".to_owned(), |path| path.display().to_string());
    format!(
        "lyceum   {}\nsystem   {} {} {}\nworkerd  {workerd}\n",
        env!("CARGO_PKG_VERSION"),
        system.sysname().to_string_lossy(),
        system.release().to_string_lossy(),
        system.machine().to_string_lossy(),
    )
}

fn settings(loaded: &LoadedConfig) -> String {
    let rows = loaded.effective().into_iter();
    let rows = rows.map(|(key, value, origin)| vec![key, value, origin.to_string()]);
    table(&["setting", "value", "from"], &rows.collect::<Vec<_>>())
}

fn read(file: &Path) -> Result<String> {
    let bytes = std::fs::read(file).map_err(|error| {
        Failure::new(Code::NotFound, format!("'{}' cannot be read: {error}", file.display()))
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    let last = &lines[lines.len().saturating_sub(LOG_LINES)..];
    last.iter().flat_map(|line| [line, "\n"]).collect()
}

fn write(file: File, files: &[(String, String)]) -> lyceum_core::Result<()> {
    let mut zip = ZipWriter::new(file);
    for (name, text) in files {
        zip.start_file(name, SimpleFileOptions::default()).map_err(Problem::internal)?;
        zip.write_all(text.as_bytes()).map_err(Problem::internal)?;
    }
    zip.finish().map(drop).map_err(Problem::internal)
}
