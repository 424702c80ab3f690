//! The standards' own files. They are not part of the repository: tests read them from
//! `$LYCEUM_STANDARDS` or `../shared/standards` beside it, and say so where they are absent.

use std::path::{Path, PathBuf};

/// The folder of the standards. Absent: prints what is left out, or panics where it is required.
pub(crate) fn folder(left_out: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = variable("LYCEUM_STANDARDS")
        .map_or_else(|| root.join("../shared/standards"), PathBuf::from);
    if folder.join("openbadges/examples").exists() {
        return Some(folder);
    }
    let required = variable("LYCEUM_REQUIRE_STANDARDS").is_some_and(|value| value == "1");
    assert!(!required, "no files of the standard in {}", folder.display());
    println!("left out, without the files of the standard: {left_out}");
    None
}

pub(crate) fn variable(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "tests are told where to look by variables")]
    std::env::var(name).ok()
}
