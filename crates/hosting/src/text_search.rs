//! Searches what projects store: databases with restore points, key-value stores and indexes of buckets.

use lyceum_core::Result;

use crate::backup::NamedFiles;
use crate::bindings::search;
use crate::nodes::Node;

/// A table of a project that contains a searched text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundTable {
    /// The slug of the project.
    pub project: String,
    /// The file in the project's folder.
    pub file: String,
    /// The table.
    pub table: String,
    /// The number of its rows that contain a text.
    pub rows: u64,
}

/// The tables with rows that contain one of the terms, which are in lower case, in the files of projects on this node.
/// `on_file` is called before each file.
pub fn tables_with(
    node: &Node,
    named: &NamedFiles,
    terms: &[String],
    mut on_file: impl FnMut(),
) -> Result<Vec<FoundTable>> {
    let mut found = Vec::new();
    for (project, files) in &named.projects {
        let folder = node.folder_of(project);
        for file in files {
            on_file();
            let path = folder.join(file);
            if !path.exists() {
                continue;
            }
            for (table, rows) in search::tables_with(&path, terms)? {
                found.push(FoundTable {
                    project: project.clone(),
                    file: file.clone(),
                    table,
                    rows,
                });
            }
        }
    }
    Ok(found)
}
