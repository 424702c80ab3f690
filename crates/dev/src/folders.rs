//! Watches folders. The system reports changes; where it may not, the caller has to look at intervals.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::{DevMessage, MessageHandler};

/// The interval between looks where the system may not report changes.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The error of Linux if a user may not open another queue of events: `EMFILE`.
const TOO_MANY_QUEUES: i32 = 24;

/// The inode and the time of the last change: they differ when another folder gets the path of a folder, or when its
/// entries change.
type FolderState = (u64, i64, i64);

/// Folders whose entries are watched, without those below.
pub(crate) struct FolderWatch {
    /// `None` if the system refuses to watch anything.
    watcher: Option<RecommendedWatcher>,
    reported: Arc<Notify>,
    watched: BTreeMap<PathBuf, FolderState>,
    /// The folders to watch, also those that cannot be watched.
    wanted: BTreeSet<PathBuf>,
    /// Whether the file system reports all changes, as far as is known.
    is_reporting: bool,
    has_warned: bool,
    on_message: MessageHandler,
}

impl FolderWatch {
    /// Watches nothing yet. `root` is on the file system of most folders.
    pub(crate) fn new(root: &Path, on_message: MessageHandler) -> Self {
        let reported = Arc::<Notify>::default();
        let of_watcher = Arc::clone(&reported);
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // Reading files changes nothing, and each look reads folders.
            if !event.is_ok_and(|event| event.kind.is_access()) {
                of_watcher.notify_one();
            }
        });
        let (watcher, failure) = match watcher {
            Ok(watcher) => (Some(watcher), None),
            Err(error) => (None, Some(error)),
        };
        let silent = silent_file_system(root);
        let mut watch = Self {
            watcher,
            reported,
            watched: BTreeMap::new(),
            wanted: BTreeSet::new(),
            is_reporting: silent.is_none(),
            has_warned: false,
            on_message,
        };
        if let Some(error) = failure {
            watch.warn(&reason(&error));
        } else if let Some(name) = silent {
            watch.warn(&format!("{name} does not report the changes of other machines"));
        }
        watch
    }

    /// Whether these folders are among those to watch.
    pub(crate) fn wants(&self, folders: &BTreeSet<PathBuf>) -> bool {
        folders.is_subset(&self.wanted)
    }

    /// Watches these folders from now on, and no others. What changed before may not be reported.
    pub(crate) fn follow(&mut self, folders: BTreeSet<PathBuf>) {
        let states = folders.iter().filter_map(|folder| Some((folder.clone(), state(folder)?)));
        let states: BTreeMap<PathBuf, FolderState> = states.collect();
        self.wanted = folders;
        let Some(watcher) = &mut self.watcher else { return };
        if states == self.watched {
            return;
        }
        let mut paths = watcher.paths_mut();
        // A folder that was renamed is not watched any more, nor is what is below it, even if it got its name back.
        let changed =
            self.watched.iter().filter(|(folder, state)| states.get(*folder) != Some(state));
        let changed: BTreeSet<PathBuf> = changed.map(|(folder, _)| folder.clone()).collect();
        self.watched.retain(|folder, _| {
            let is_stale = folder.ancestors().any(|above| changed.contains(above));
            if is_stale {
                let _ = paths.remove(folder); // an error: the system does not watch it any more
            }
            !is_stale
        });
        let mut failure = None;
        for (folder, state) in states {
            if self.watched.contains_key(&folder) {
                continue;
            }
            match paths.add(&folder, RecursiveMode::NonRecursive) {
                Ok(()) => drop(self.watched.insert(folder, state)),
                // It was deleted a moment ago, which is reported for the folder above it.
                Err(_) if !folder.exists() => {}
                Err(error) => {
                    let is_limit = matches!(error.kind, notify::ErrorKind::MaxFilesWatch);
                    failure = Some(error);
                    if is_limit {
                        break;
                    }
                }
            }
        }
        if let Err(error) = paths.commit() {
            self.watched.clear();
            failure = Some(error);
        }
        if let Some(error) = failure {
            self.warn(&reason(&error));
        }
    }

    /// Waits until something may have changed.
    pub(crate) async fn changed(&self) {
        let reported = self.reported.notified();
        if self.is_reporting && self.watched.len() == self.wanted.len() {
            reported.await;
        } else {
            let _ = timeout(LOOK_EVERY, reported).await;
        }
    }

    fn warn(&mut self, reason: &str) {
        if !std::mem::replace(&mut self.has_warned, true) {
            let seconds = LOOK_EVERY.as_secs();
            let text =
                format!("some changes are noticed only within {seconds} s, because {reason}");
            (self.on_message)(DevMessage::NoticesLate(text));
        }
    }
}

fn state(folder: &Path) -> Option<FolderState> {
    let data = fs::metadata(folder).ok()?;
    Some((data.ino(), data.ctime(), data.ctime_nsec()))
}

/// Why the system does not watch a folder, and what to do.
fn reason(error: &notify::Error) -> String {
    let raise = |name: &str, value: u32| {
        format!(
            "the limit {name} of this machine is reached; raise it, such as with `sudo sysctl {name}={value}`, and \
             start `lyceum dev` again"
        )
    };
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => raise("fs.inotify.max_user_watches", 524_288),
        notify::ErrorKind::Io(error) if error.raw_os_error() == Some(TOO_MANY_QUEUES) => {
            raise("fs.inotify.max_user_instances", 1024)
        }
        _ => format!("the system does not watch all folders: {error}"),
    }
}

/// The name of the folder's file system if other machines or the host of this one may change files there, which Linux
/// does not report.
#[cfg(target_os = "linux")]
fn silent_file_system(folder: &Path) -> Option<&'static str> {
    let kind = rustix::fs::statfs(folder).ok()?.f_type;
    // Numbers of `linux/magic.h`, and of VirtualBox.
    match u32::try_from(kind & 0xffff_ffff).ok()? {
        0x6969 => Some("NFS"),
        0x517b | 0xff53_4d42 | 0xfe53_4d42 => Some("SMB"),
        0x0102_1997 => Some("a folder of the host (9p)"),
        0x6573_5546 => Some("a folder of FUSE"),
        0x786f_4256 => Some("a shared folder of VirtualBox"),
        _ => None,
    }
}

/// FSEvents reports all changes of local disks.
#[cfg(not(target_os = "linux"))]
fn silent_file_system(_: &Path) -> Option<&'static str> {
    None
}
