//! `lyceum qti export`

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use lyceum_assessment::{ContentKind, repository};
use lyceum_blob::Blobs;
use lyceum_core::Problem;
use lyceum_store::Tx;
use serde_json::{Map, json};

use super::document_files::DocumentWithFiles;
use crate::failure::{Code, Failure, Result};
use crate::interrupt;
use crate::printer::Printer;
use crate::settings::{self, DataArgs, Missing};

/// Maximum bytes of a file name without `.xml`; file systems allow 255.
const NAME_MAX_BYTES: usize = 200;

#[derive(Args)]
pub(crate) struct Export {
    /// The folder to create, with the subfolders items, tests and stimuli. A document with files is in a folder of its own
    #[arg(value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    data: DataArgs,
}

impl Export {
    /// Writes all documents as of one instant. The folder gets its name when it is complete.
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let (config, db) = self.data.open(Missing::Refuse)?;
        let out = self.out.display().to_string();
        if fs::read_dir(&self.out).is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(Failure::new(Code::Conflict, format!("the folder '{out}' is not empty"))
                .hint("choose a folder that does not exist yet"));
        }
        let mut part = self.out.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        if part.exists() {
            let part = part.display();
            return Err(Failure::new(Code::Conflict, format!("'{part}' already exists"))
                .hint("remove it if an interrupted export left it"));
        }
        let bar = printer.progress("exporting", 0);
        interrupt::unfinished(Some(&part));
        let blobs = settings::blobs(&config, &db)?;
        let warn = |text: &str| bar.suspend(|| printer.warn(text));
        let mut counts = Map::new();
        let exported = db.read_blocking(|tx| {
            for (kind, folder) in [
                (ContentKind::Item, "items"),
                (ContentKind::Test, "tests"),
                (ContentKind::Stimulus, "stimuli"),
            ] {
                let folder_path = part.join(folder);
                fs::create_dir_all(&folder_path).map_err(|error| failed(&folder_path, &error))?;
                let (mut names, mut count) = (ExportNames::default(), 0_u64);
                let mut written = Vec::new();
                repository::each(tx, kind, |seq, identifier, xml| {
                    let name = names.of(identifier, seq);
                    let path = folder_path.join(&name);
                    fs::write(&path, xml).map_err(|error| failed(&path, &error))?;
                    written.push((identifier.to_owned(), name));
                    bar.inc(1);
                    count += 1;
                    Ok(())
                })?;
                for (identifier, name) in written {
                    let path = folder_path.join(name);
                    add_files(tx, &blobs, (kind, identifier.as_str()), &path, warn)?;
                }
                counts.insert(folder.into(), json!(count));
            }
            fs::rename(&part, &self.out).map_err(|error| failed(&self.out, &error))
        });
        interrupt::unfinished(None);
        if exported.is_err() {
            // Removes the incomplete folder. If that fails, the command's error is still the same.
            let _ = fs::remove_dir_all(&part);
        }
        exported?;
        bar.finish_and_clear();
        let parts: Vec<String> =
            counts.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        printer.answer(String::new, || json!({ "folder": out, "documents": counts }));
        printer.done(&format!("exported {} to '{out}'", parts.join(", ")));
        Ok(())
    }
}

/// Moves a document that has files into a folder of its own, with its files.
fn add_files(
    tx: &mut Tx<'_>,
    blobs: &Blobs,
    document: (ContentKind, &str),
    path: &Path,
    warn: impl Fn(&str),
) -> lyceum_core::Result<()> {
    let text = || fs::read_to_string(path).map_err(|error| failed(path, &error));
    let Some(document) = DocumentWithFiles::find(tx, document, text)? else { return Ok(()) };
    let folder = document.write(blobs, &path.with_extension(""), warn)?;
    let name = path.file_name().expect("a document has a name");
    fs::rename(path, folder.join(name)).map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &io::Error) -> Problem {
    Problem::internal(format!("'{}' cannot be written: {error}", path.display()))
}

/// The names of files and folders used in one folder.
#[derive(Default)]
struct ExportNames {
    /// In lower case, because some file systems ignore case.
    used: HashSet<String>,
}

impl ExportNames {
    /// A file name for a document that cannot lead out of the folder: letters, digits, `.`, `-` and `_`
    /// stay, and every other byte becomes `%` and two hex digits. The document's own folder has the same name without
    /// `.xml`. A name that is too long or already used ends with the document's row number.
    fn of(&mut self, identifier: &str, seq: i64) -> String {
        let byte = |(at, byte): (usize, u8)| match byte {
            b'.' if at > 0 => ".".to_owned(),
            byte if byte.is_ascii_alphanumeric() || b"-_".contains(&byte) => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        };
        let whole: String = identifier.bytes().enumerate().map(byte).collect();
        let mut name = whole.get(..NAME_MAX_BYTES).unwrap_or(&whole).to_owned();
        let names = |name: &str| [name.to_ascii_lowercase(), name.to_ascii_lowercase() + ".xml"];
        let is_cut = name.is_empty() || name.len() != whole.len();
        if is_cut || names(&name).iter().any(|name| self.used.contains(name)) {
            name = format!("{name}~{seq}");
        }
        self.used.extend(names(&name));
        name + ".xml"
    }
}
