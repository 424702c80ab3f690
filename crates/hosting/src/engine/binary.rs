//! Finds the runtime.

use std::path::{Path, PathBuf};

/// Finds workerd: the file that `LYCEUM_WORKERD` names, otherwise the one in an npm package or in `lib/lyceum` of one
/// of these folders or a folder above, otherwise the first one on the `PATH`.
pub fn find_workerd(
    named: Option<&str>,
    folders: &[PathBuf],
    search_path: Option<&str>,
) -> Option<PathBuf> {
    if let Some(named) = named {
        return Some(named.into());
    }
    let found = folders.iter().flat_map(|folder| folder.ancestors()).find_map(below);
    found.or_else(|| {
        let path = std::env::split_paths(search_path?).map(|folder| folder.join("workerd"));
        path.into_iter().find(|file| file.is_file())
    })
}

fn below(folder: &Path) -> Option<PathBuf> {
    let system = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("macos", "aarch64") => "darwin-arm64",
        ("macos", _) => "darwin-64",
        (_, "aarch64") => "linux-arm64",
        _ => "linux-64",
    };
    let in_npm =
        ["node_modules", "web/node_modules", "tests/hosting/node_modules"].map(|packages| {
            folder.join(packages).join(format!("@cloudflare/workerd-{system}/bin/workerd"))
        });
    // Where the release tarball, the Debian package and the container have it.
    let installed = folder.join("lib/lyceum/workerd");
    in_npm.into_iter().chain([installed]).find(|file| file.is_file())
}
