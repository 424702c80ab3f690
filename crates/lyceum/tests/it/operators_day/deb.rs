//! Debian packages of this release and of the former one.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use crate::packages::{pack, pack_program, package, run};
use crate::served::variable;

/// The Debian package of a program in a folder of its own.
pub(super) struct Deb {
    _folder: TempDir,
    pub(super) file: PathBuf,
}

impl Deb {
    pub(super) fn of_this_release() -> Self {
        let folder = pack(&["deb"]);
        Self { file: package(&folder, ".deb"), _folder: folder }
    }

    /// The former release, with a lower version and with another file of settings.
    pub(super) fn of_the_former_release() -> Self {
        let program = variable("LYCEUM_TEST_PREVIOUS_BIN");
        let program = program.expect("`cargo xtask soak` builds the former release");
        let folder = pack_program(program.as_ref(), &["deb"]);
        let (packed, file) = (package(&folder, ".deb"), folder.path().join("lyceum_0.0.1.deb"));
        let tree = folder.path().join("tree");
        run(Command::new("dpkg-deb").arg("--raw-extract").arg(&packed).arg(&tree));
        let control = fs::read_to_string(tree.join("DEBIAN/control")).unwrap();
        let is_version = |line: &&str| line.starts_with("Version: ");
        let version = control.lines().find(is_version).unwrap();
        fs::write(tree.join("DEBIAN/control"), control.replace(version, "Version: 0.0.1")).unwrap();
        let settings = tree.join("etc/lyceum/lyceum.toml");
        let text = fs::read_to_string(&settings).unwrap();
        fs::write(&settings, format!("# The settings of the former release.\n{text}")).unwrap();
        run(Command::new("dpkg-deb").args(["--build", "-Znone"]).arg(&tree).arg(&file));
        fs::remove_dir_all(tree).unwrap();
        fs::remove_file(packed).unwrap();
        Self { _folder: folder, file }
    }
}
