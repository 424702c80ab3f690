//! The packages in `package.json`.

use std::path::Path;

use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Value};

use super::{FileChange, read};
use crate::failure::{Code, Failure, Result};

const FILE: &str = "package.json";

/// `package.json`, as text and as JSON.
pub(super) struct Manifest {
    text: String,
    json: Map<String, Value>,
}

impl Manifest {
    /// Errors: there is no `package.json`, or it is not a JSON object.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let (text, file) = (read(folder, FILE)?, folder.join(FILE));
        if text.is_empty() {
            let message = format!("there is no '{}'", file.display());
            return Err(Failure::new(Code::NotFound, message).hint(
                "run `lyceum init` in the folder of an npm project; `lyceum create` starts a new project",
            ));
        }
        let json = serde_json::from_str(&text).map_err(|error| {
            Failure::failed(format!("'{}' is not a JSON object: {error}", file.display()))
        })?;
        Ok(Self { text, json })
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.json.get("name")?.as_str()
    }

    /// Whether the project depends on a package.
    pub(super) fn has(&self, package: &str) -> bool {
        let lists = ["dependencies", "devDependencies"];
        lists.iter().any(|list| self.json.get(*list).is_some_and(|it| it.get(package).is_some()))
    }

    /// The manifest with the packages that it lacks, sorted as npm sorts them.
    pub(super) fn change(&self) -> Option<FileChange> {
        let mut wanted = vec![("dependencies", "@lyceum/sdk"), ("devDependencies", "@lyceum/cli")];
        if self.has("vite") {
            wanted.push(("devDependencies", "@lyceum/vite"));
        }
        wanted.retain(|(_, package)| !self.has(package));
        if wanted.is_empty() {
            return None;
        }
        let mut json = self.json.clone();
        let mut what = Vec::new();
        for (list, package) in wanted {
            let packages = json.entry(list).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(packages) = packages {
                packages
                    .insert(package.to_owned(), format!("^{}", env!("CARGO_PKG_VERSION")).into());
                packages.sort_keys();
            }
            what.push(format!("add {package} to {list}"));
        }
        Some(FileChange { file: FILE.to_owned(), what, text: self.with_indentation(&json) })
    }

    /// JSON with the indentation and the end of the file.
    fn with_indentation(&self, json: &Map<String, Value>) -> String {
        let indented = self.text.lines().find(|line| line.starts_with([' ', '\t']));
        let indent = indented.map_or("  ", |line| &line[..line.len() - line.trim_start().len()]);
        let mut bytes = Vec::new();
        let formatter = PrettyFormatter::with_indent(indent.as_bytes());
        json.serialize(&mut Serializer::with_formatter(&mut bytes, formatter))
            .expect("JSON can be written to memory");
        let end = if self.text.ends_with('\n') { "\n" } else { "" };
        String::from_utf8(bytes).expect("JSON is UTF-8") + end
    }
}
