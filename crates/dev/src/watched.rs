//! Watches the files of a backend for changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lyceum_project::ROUTES;
use tokio::time::sleep;

use crate::source::{ENVS, first_part, root};

/// The interval between checks. A check of a few dozen files takes microseconds for each.
const LOOK: Duration = Duration::from_millis(25);
/// The time without a change after which a save counts as complete.
const SETTLED: Duration = Duration::from_millis(10);

/// Files that package managers write in `node_modules` after they installed packages. The first one is the folder
/// itself, which changes when a package is added or removed by hand.
const INSTALLED: [&str; 5] =
    ["", ".package-lock.json", ".modules.yaml", ".yarn-integrity", ".yarn-state.yml"];

/// When a file or folder was written, and its size in bytes.
type Stamp = (SystemTime, u64);

/// The files of a backend, with their state when it was last bundled.
pub(crate) struct WatchedFiles {
    root: PathBuf,
    /// The folder that contains the folder of routes.
    folder: PathBuf,
    /// The files in the bundle.
    inputs: BTreeSet<PathBuf>,
    seen: BTreeMap<PathBuf, Stamp>,
}

impl WatchedFiles {
    pub(crate) fn of(path: &Path) -> Self {
        let (root, inputs, seen) = (root(path), BTreeSet::new(), BTreeMap::new());
        let folder = root.join(first_part(ROUTES));
        let mut watched = Self { root, folder, inputs, seen };
        watched.seen = watched.read_stamps();
        watched
    }

    /// Also watches these files, and replaces the watched folder. Files of installed packages are not watched, because
    /// they are many: what is installed is.
    pub(crate) fn also(&mut self, inputs: Vec<PathBuf>, folder: Option<PathBuf>) {
        if let Some(folder) = folder.filter(|folder| *folder != self.folder) {
            self.folder = folder;
            let now = self.read_stamps();
            self.seen.retain(|file, _| now.contains_key(file));
            for (file, stamp) in now {
                self.seen.entry(file).or_insert(stamp);
            }
        }
        let own = |path: &PathBuf| path.components().all(|part| part.as_os_str() != "node_modules");
        for input in inputs.into_iter().filter(own) {
            if let Some(stamp) = stamp(&input)
                && !self.inputs.contains(&input)
            {
                self.seen.entry(input.clone()).or_insert(stamp);
            }
            self.inputs.insert(input);
        }
    }

    /// Waits until a file has changed and its writing seems complete.
    pub(crate) async fn changed(&mut self) {
        loop {
            sleep(LOOK).await;
            let mut now = self.read_stamps();
            if now == self.seen {
                continue;
            }
            loop {
                sleep(SETTLED).await;
                let after = self.read_stamps();
                if after == now {
                    self.seen = now;
                    return;
                }
                now = after;
            }
        }
    }

    fn read_stamps(&self) -> BTreeMap<PathBuf, Stamp> {
        let mut files: BTreeSet<PathBuf> = self.inputs.clone();
        let named = lyceum_project::FILES.iter().chain(&ENVS);
        files.extend(named.map(|name| self.root.join(name)));
        let installed = self.root.ancestors().map(|folder| folder.join("node_modules"));
        files.extend(installed.flat_map(|folder| INSTALLED.map(|name| folder.join(name))));
        collect(&self.folder, &mut files);
        files.into_iter().filter_map(|path| Some((path.clone(), stamp(&path)?))).collect()
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let data = fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}

fn collect(folder: &Path, files: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_other = name.to_string_lossy().starts_with('.') || name == "node_modules";
        match entry.file_type() {
            Ok(sort) if sort.is_dir() && !is_other => collect(&entry.path(), files),
            Ok(sort) if sort.is_file() && !is_other => drop(files.insert(entry.path())),
            _ => {}
        }
    }
}
