//! Finds the runtime.

use std::path::{Path, PathBuf};

/// Finds workerd: the file that `LYCEUM_WORKERD` names, otherwise the npm package in `node_modules` or
/// `web/node_modules` of one of these folders or a folder above, otherwise the first one on the `PATH`.
pub fn find_workerd(
    named: Option<&str>,
    folders: &[PathBuf],
    search_path: Option<&str>,
) -> Option<PathBuf> {
    if let Some(named) = named {
        return Some(named.into());
    }
    let in_packages = folders.iter().flat_map(|folder| folder.ancestors()).find_map(in_packages);
    in_packages.or_else(|| {
        let path = std::env::split_paths(search_path?).map(|folder| folder.join("workerd"));
        path.into_iter().find(|file| file.is_file())
    })
}

fn in_packages(folder: &Path) -> Option<PathBuf> {
    let system = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("macos", "aarch64") => "darwin-arm64",
        ("macos", _) => "darwin-64",
        (_, "aarch64") => "linux-arm64",
        _ => "linux-64",
    };
    ["node_modules", "web/node_modules", "tests/hosting/node_modules"]
        .iter()
        .map(|packages| {
            folder.join(packages).join(format!("@cloudflare/workerd-{system}/bin/workerd"))
        })
        .find(|file| file.is_file())
}
