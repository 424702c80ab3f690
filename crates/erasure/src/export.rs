//! Writes everything about one person into a zip.
//!
//! | file | content |
//! |---|---|
//! | `index.html` | who it is, and a table of the files, for people; `lyceum-console` renders it |
//! | `person.json` | ids, addresses and names of the person |
//! | `<area>/<table>.ndjson` | the person's rows, one JSON object per line |
//! | `events/events.ndjson` | the person's events as they were sent |
//! | `events/superseded.ndjson` | versions of events that were corrected, each with the number of the version that replaced it |
//! | `credentials/<id>.json` or `.jwt` | credentials as they were issued |
//! | `projects.json` | the tables of projects that name the person |
//! | `objects/<project>/<key>` | files in projects' buckets whose key names the person |

use std::collections::BTreeMap;
use std::io::{Seek, Write};

use lyceum_core::text::segment;
use lyceum_core::{Problem, Result};
use lyceum_events::{LoggedEvent, of_actor, superseded_of_actor};
use lyceum_store::Tx;
use serde::Serialize;
use serde_json::json;
use zip::ZipWriter;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;

use crate::erase::ProjectTable;
use crate::inventory::TABLES;
use crate::sql;
use crate::subject::Subject;

/// The contents of an export: the number of entries by file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExportReport {
    /// Rows, events or credentials, by the name of the file.
    pub files: BTreeMap<String, u64>,
}

/// An export in progress.
pub struct Export<W: Write + Seek> {
    zip: ZipWriter<W>,
    report: ExportReport,
}

impl<W: Write + Seek> Export<W> {
    /// Begins a zip.
    pub fn new(file: W) -> Self {
        Self { zip: ZipWriter::new(file), report: ExportReport::default() }
    }

    /// Writes what the database has about the person.
    pub fn database(&mut self, tx: &mut Tx<'_>, subject: &Subject) -> Result<()> {
        self.start("person.json")?;
        self.line(&json!({
            "sourcedId": subject.user, "accounts": subject.accounts, "visitors": subject.visitors,
            "emails": subject.emails, "names": subject.names,
        }))?;
        for table in TABLES {
            if sql::count(tx, table, subject)? == 0 {
                continue;
            }
            let name = format!("{}/{}.ndjson", table.area, table.name);
            self.start(&name)?;
            let mut credentials = Vec::new();
            sql::rows(tx, table, subject, |row| {
                if table.area == "credentials" && row.contains_key("form") {
                    credentials.push((row.clone(), table.name));
                }
                self.line(&row.into())?;
                self.count(&name);
                Ok(())
            })?;
            for (row, table) in credentials {
                self.credential(&row, table)?;
            }
        }
        self.events(tx, subject)
    }

    fn credential(
        &mut self,
        row: &serde_json::Map<String, serde_json::Value>,
        table: &str,
    ) -> Result<()> {
        let id = match row.get("id").and_then(serde_json::Value::as_str) {
            Some(id) => segment(id).to_string(),
            None => format!("record-{}-version-{}", row["record"], row["version"]),
        };
        let (text, extension) = match &row["body"] {
            serde_json::Value::String(text) => (text.clone(), "jwt"),
            body => (body.to_string(), "json"),
        };
        let name = format!("credentials/{table}/{id}.{extension}");
        self.start(&name)?;
        self.zip.write_all(text.as_bytes()).map_err(Problem::internal)?;
        self.count(&name);
        Ok(())
    }

    fn events(&mut self, tx: &mut Tx<'_>, subject: &Subject) -> Result<()> {
        let mut events = Lines { name: "events/events.ndjson", is_begun: false };
        for &actor in &subject.actors {
            of_actor(tx, actor, i64::MIN..i64::MAX, |logged| {
                self.add(&mut events, &entry(&logged))
            })?;
        }
        let mut superseded = Lines { name: "events/superseded.ndjson", is_begun: false };
        for &actor in &subject.actors {
            superseded_of_actor(tx, actor, |logged, successor| {
                let mut entry = entry(&logged);
                entry["supersededBy"] = successor.into();
                self.add(&mut superseded, &entry)
            })?;
        }
        Ok(())
    }

    /// Adds a line to a file, which begins with its first line.
    fn add(&mut self, lines: &mut Lines, entry: &serde_json::Value) -> Result<()> {
        if !std::mem::replace(&mut lines.is_begun, true) {
            self.start(lines.name)?;
        }
        self.line(entry)?;
        self.count(lines.name);
        Ok(())
    }

    /// Writes the tables of projects that name the person.
    pub fn projects(&mut self, found: &[ProjectTable]) -> Result<()> {
        self.start("projects.json")?;
        self.line(&json!(found))?;
        self.report.files.insert("projects.json".to_owned(), found.len() as u64);
        Ok(())
    }

    /// Begins a file with an object of a project's bucket, which the caller then writes.
    pub fn object(&mut self, project: &str, key: &str) -> Result<impl Write> {
        let name = format!("objects/{}/{}", segment(project), segment(key));
        self.start(&name)?;
        self.count(&name);
        Ok(&mut self.zip)
    }

    /// The contents of the export so far.
    pub fn report(&self) -> &ExportReport {
        &self.report
    }

    /// Adds the page `index.html` and ends the zip.
    pub fn finish(mut self, index: &str) -> Result<ExportReport> {
        self.start("index.html")?;
        self.zip.write_all(index.as_bytes()).map_err(Problem::internal)?;
        self.zip.finish().map_err(failed)?;
        Ok(self.report)
    }

    fn start(&mut self, name: &str) -> Result<()> {
        let options = SimpleFileOptions::default().large_file(true);
        self.zip.start_file(name, options).map_err(failed)
    }

    fn line(&mut self, value: &serde_json::Value) -> Result<()> {
        serde_json::to_writer(&mut self.zip, value).map_err(Problem::internal)?;
        self.zip.write_all(b"\n").map_err(Problem::internal)
    }

    fn count(&mut self, name: &str) {
        *self.report.files.entry(name.to_owned()).or_default() += 1;
    }
}

fn failed(error: ZipError) -> Problem {
    Problem::internal(error)
}

/// A file of lines in the zip.
struct Lines {
    name: &'static str,
    is_begun: bool,
}

fn entry(logged: &LoggedEvent) -> serde_json::Value {
    let event = &logged.event;
    json!({
        "number": logged.seq, "client": logged.client, "sensor": event.sensor,
        "received": logged.received, "sendTime": event.send_time, "event": event.content(),
    })
}
