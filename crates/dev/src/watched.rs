//! Which files a backend is made of, and whether one of them changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lyceum_project::ROUTES;
use tokio::time::sleep;

use crate::source::{ENVS, root};

/// How often files are looked at: a few dozen, which takes some microseconds each.
const LOOK: Duration = Duration::from_millis(25);
/// For how long nothing changes before what was saved is taken for whole.
const SETTLED: Duration = Duration::from_millis(10);

/// When a file was written, and its bytes.
type Stamp = (SystemTime, u64);

/// The files of a backend as they were when it was last made.
pub(crate) struct Watched {
    root: PathBuf,
    /// What went into the bundle.
    inputs: BTreeSet<PathBuf>,
    seen: BTreeMap<PathBuf, Stamp>,
}

impl Watched {
    pub(crate) fn of(path: &Path) -> Self {
        let mut watched = Self { root: root(path), inputs: BTreeSet::new(), seen: BTreeMap::new() };
        watched.seen = watched.look(&watched.folder());
        watched
    }

    /// Looks at these, too. Installed packages change when they are installed, and are many.
    pub(crate) fn also(&mut self, inputs: Vec<PathBuf>) {
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

    /// Waits until something is not as it was, and for the moment that it takes to be written.
    pub(crate) async fn changed(&mut self) {
        let folder = self.folder();
        loop {
            sleep(LOOK).await;
            let mut now = self.look(&folder);
            if now == self.seen {
                continue;
            }
            loop {
                sleep(SETTLED).await;
                let after = self.look(&folder);
                if after == now {
                    self.seen = now;
                    return;
                }
                now = after;
            }
        }
    }

    /// The folder around the routes, where helpers stand.
    fn folder(&self) -> PathBuf {
        let config = lyceum_project::find(&self.root).ok().flatten();
        let routes = config.and_then(|config| config.integrations.routes);
        let routes = PathBuf::from(routes.as_deref().unwrap_or(ROUTES));
        routes.components().next().map_or_else(|| self.root.clone(), |part| self.root.join(part))
    }

    fn look(&self, folder: &Path) -> BTreeMap<PathBuf, Stamp> {
        let mut files: BTreeSet<PathBuf> = self.inputs.clone();
        let named = lyceum_project::FILES.iter().chain(&ENVS);
        files.extend(named.map(|name| self.root.join(name)));
        collect(folder, &mut files);
        files.into_iter().filter_map(|path| Some((path.clone(), stamp(&path)?))).collect()
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let data = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
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
