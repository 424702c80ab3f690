//! The files behind bindings, each opened once.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use lyceum_core::time::Clock;
use lyceum_core::{Problem, Result};

use super::sql::{D1, Kv};

/// What is open, by its path. Two versions of a backend that run side by side share it.
pub(crate) struct Stores {
    clock: Arc<dyn Clock>,
    d1: Open<D1>,
    kv: Open<Kv>,
}

struct Open<T>(Mutex<HashMap<PathBuf, Weak<T>>>);

impl Stores {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, d1: Open(Mutex::default()), kv: Open(Mutex::default()) }
    }

    pub(crate) fn d1(&self, path: &Path) -> Result<Arc<D1>> {
        self.d1.get(path, D1::open)
    }

    pub(crate) fn kv(&self, path: &Path) -> Result<Arc<Kv>> {
        self.kv.get(path, |path| Kv::open(path, Arc::clone(&self.clock)))
    }
}

impl<T> Open<T> {
    fn get(&self, path: &Path, open: impl FnOnce(&Path) -> Result<T>) -> Result<Arc<T>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = all.get(path).and_then(Weak::upgrade) {
            return Ok(opened);
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|fault| {
                Problem::internal(format!("make {}: {fault}", folder.display()))
            })?;
        }
        let opened = Arc::new(open(path)?);
        all.retain(|_, weak| weak.strong_count() > 0);
        all.insert(path.to_owned(), Arc::downgrade(&opened));
        Ok(opened)
    }
}
