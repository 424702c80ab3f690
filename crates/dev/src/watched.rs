//! Watches the files of a backend for changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lyceum_project::ROUTES;
use tokio::time::sleep;

use crate::MessageHandler;
use crate::folders::FolderWatch;
use crate::source::{ENVS, first_part, root};

/// The time without a change after which a save counts as complete.
const SETTLED: Duration = Duration::from_millis(10);
/// The time between two looks while the system reports changes that concern no file of the backend.
const PAUSE: Duration = Duration::from_millis(25);

/// The folder of installed packages.
const PACKAGES: &str = "node_modules";
/// Files that package managers write in `node_modules` after they installed packages. The first one is the folder
/// itself, which changes when a package is added or removed by hand.
const INSTALLED: [&str; 5] =
    ["", ".package-lock.json", ".modules.yaml", ".yarn-integrity", ".yarn-state.yml"];
/// A folder with this file may get a `node_modules`.
const MANIFEST: &str = "package.json";

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
    watch: FolderWatch,
}

/// The files of a backend at one time.
#[derive(Default)]
struct FoundFiles {
    stamps: BTreeMap<PathBuf, Stamp>,
    /// The folders in which a change of a file, or a new one, is reported.
    folders: BTreeSet<PathBuf>,
}

impl WatchedFiles {
    pub(crate) fn of(path: &Path, on_message: MessageHandler) -> Self {
        let (root, inputs, seen) = (root(path), BTreeSet::new(), BTreeMap::new());
        let folder = root.join(first_part(ROUTES));
        let watch = FolderWatch::new(&root, on_message);
        let mut watched = Self { root, folder, inputs, seen, watch };
        watched.seen = watched.look();
        watched
    }

    /// Also watches these files, and replaces the watched folder. Files of installed packages are not watched, because
    /// they are many: what is installed is.
    pub(crate) fn also(&mut self, inputs: Vec<PathBuf>, folder: Option<PathBuf>) {
        let own = |path: &PathBuf| path.components().all(|part| part.as_os_str() != PACKAGES);
        let known = |path: &PathBuf| self.inputs.contains(path);
        let new: BTreeSet<_> = inputs.into_iter().filter(own).filter(|path| !known(path)).collect();
        self.inputs.extend(new.iter().cloned());
        let other = folder.filter(|folder| *folder != self.folder);
        let is_moved = other.is_some();
        self.folder = other.unwrap_or_else(|| std::mem::take(&mut self.folder));
        let now = self.look();
        if is_moved {
            self.seen.retain(|file, _| now.contains_key(file));
        }
        // A file that appeared beside them while they were bundled is a change.
        for (file, stamp) in now.into_iter().filter(|(file, _)| is_moved || new.contains(file)) {
            self.seen.entry(file).or_insert(stamp);
        }
    }

    /// Waits until a file has changed and its writing seems complete.
    pub(crate) async fn changed(&mut self) {
        loop {
            self.watch.changed().await;
            let mut now = self.look();
            if now == self.seen {
                sleep(PAUSE).await;
                continue;
            }
            loop {
                sleep(SETTLED).await;
                let after = self.look();
                if after == now {
                    self.seen = now;
                    return;
                }
                now = after;
            }
        }
    }

    /// Watches all folders that exist now, and reads the files. Later changes are reported.
    fn look(&mut self) -> BTreeMap<PathBuf, Stamp> {
        let mut found = self.find();
        loop {
            self.watch.follow(found.folders);
            // What changed before the folders were watched is read now.
            found = self.find();
            if self.watch.wants(&found.folders) {
                return found.stamps;
            }
        }
    }

    fn find(&self) -> FoundFiles {
        let mut found = FoundFiles::default();
        let named = lyceum_project::FILES.iter().chain(&ENVS).map(|name| self.root.join(name));
        for file in self.inputs.iter().cloned().chain(named) {
            found.add(file);
        }
        for above in self.root.ancestors() {
            let packages = above.join(PACKAGES);
            if packages.is_dir() {
                for name in INSTALLED {
                    found.add_stamp(packages.join(name));
                }
                found.folders.insert(packages);
            }
            if above.join(MANIFEST).is_file() {
                found.folders.insert(above.to_owned());
            }
        }
        found.add_below(&self.folder);
        found
    }
}

impl FoundFiles {
    /// Adds a file, which may be missing.
    fn add(&mut self, file: PathBuf) {
        let target = file.is_symlink().then(|| file.canonicalize().ok()).flatten();
        for path in target.iter().chain([&file]) {
            // If its folder is missing, too, a change is reported for the nearest one above.
            let above = path.ancestors().skip(1).find(|folder| folder.is_dir());
            self.folders.extend(above.map(Path::to_owned));
        }
        self.add_stamp(file);
    }

    fn add_stamp(&mut self, path: PathBuf) {
        if let Some(stamp) = stamp(&path) {
            self.stamps.insert(path, stamp);
        }
    }

    /// Adds the files in the folder and in those below it.
    fn add_below(&mut self, folder: &Path) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        self.folders.insert(folder.to_owned());
        for entry in entries.flatten() {
            let name = entry.file_name();
            let is_other = name.to_string_lossy().starts_with('.') || name == PACKAGES;
            match entry.file_type() {
                Ok(sort) if sort.is_dir() && !is_other => self.add_below(&entry.path()),
                Ok(sort) if sort.is_file() && !is_other => self.add_stamp(entry.path()),
                _ => {}
            }
        }
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let data = fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}
