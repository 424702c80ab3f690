//! The clock of a machine, as its programs see it by `libfaketime`. Clocks that only go on are not changed.

use std::fs;
use std::path::{Path, PathBuf};

use lyceum_testkit::full_size;

/// The library, from the package `faketime`.
const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

/// A clock that can be stepped.
pub(super) struct Clock(PathBuf);

impl Clock {
    /// A clock that shows the time of this machine. The file says by how much it differs.
    pub(super) fn new(file: &Path) -> Self {
        let clock = Self(file.to_owned());
        clock.step(0);
        clock
    }

    /// Whether clocks can be stepped here.
    pub(super) fn can_step() -> bool {
        full_size() && Path::new(LIBRARY).exists()
    }

    /// Makes the clock differ from the time of this machine by so many seconds.
    pub(super) fn step(&self, seconds: i32) {
        let draft = self.0.with_extension("draft");
        fs::write(&draft, format!("{seconds:+}\n")).unwrap();
        fs::rename(draft, &self.0).unwrap();
    }

    /// The variables that give the clock to a program, as arguments of `env`. The library must not be loaded as another
    /// user before.
    pub(super) fn variables(&self) -> Vec<String> {
        if !Self::can_step() {
            return Vec::new();
        }
        vec![
            format!("LD_PRELOAD={LIBRARY}"),
            format!("FAKETIME_TIMESTAMP_FILE={}", self.0.display()),
            "FAKETIME_CACHE_DURATION=1".to_owned(),
            "FAKETIME_DONT_FAKE_MONOTONIC=1".to_owned(),
        ]
    }
}
