//! The standard's own files. They are not part of the repository: tests read them from
//! `$LYCEUM_STANDARDS` or `../shared/standards` beside it, and say so where they are absent.

use std::path::{Path, PathBuf};

/// The folder `qti` of the standards. Absent: prints what is left out, or panics where it is
/// required.
pub(crate) fn folder(left_out: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let standards = variable("LYCEUM_STANDARDS")
        .map_or_else(|| root.join("../shared/standards"), PathBuf::from);
    let folder = standards.join("qti");
    if folder.join("1edtech-examples").exists() {
        return Some(folder);
    }
    assert!(!is_required(), "no files of the standard in {}", folder.display());
    println!("left out, without the files of the standard: {left_out}");
    None
}

/// Whether a test against the standard may not be left out.
pub(crate) fn is_required() -> bool {
    variable("LYCEUM_REQUIRE_STANDARDS").is_some_and(|value| value == "1")
}

fn variable(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "tests are told where to look by variables")]
    std::env::var(name).ok()
}

/// A file of the standard that holds an item, a test, a section or a stimulus of QTI 3.
pub(crate) struct File {
    /// Below the folder `qti`.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) xml: String,
}

/// All of them, sorted by name.
pub(crate) fn documents(folder: &Path) -> Vec<File> {
    let mut files = Vec::new();
    for part in ["1edtech-examples", "kennisnet-items", "scored-fixtures"] {
        walk(&folder.join(part), folder, &mut files);
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(files.len() > 250, "only {} files", files.len());
    files
}

fn walk(at: &Path, folder: &Path, files: &mut Vec<File>) {
    for entry in std::fs::read_dir(at).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, folder, files);
        } else if path.extension().is_some_and(|extension| extension == "xml") {
            let xml = std::fs::read_to_string(&path).unwrap();
            let roots = ["item", "test", "section", "stimulus"];
            let is = |name: &str| xml.contains(&format!("<qti-assessment-{name}"));
            // Manifests name these elements too, without being one.
            if roots.into_iter().any(is) && !xml.contains("<manifest") {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                files.push(File { name, path, xml });
            }
        }
    }
}
