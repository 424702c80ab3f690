//! The stores behind bindings, each opened once. `lyceum_project::Binding` has their names. A binding has its lines in
//! [`Store`], [`client`] and [`Stores`] here, and a module with its protocol.

mod d1;
pub(crate) mod kv;
pub(crate) mod r2;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use lyceum_blob::BucketInstallations;
use lyceum_core::config::S3Settings;
use lyceum_core::time::{Clock, Timestamp};
use lyceum_core::{Problem, Result};
use lyceum_project::Binding;

use super::answer::Answer;
use crate::engine::EngineSettings;
use crate::homes;
use crate::limits::BUCKET_SPARED_S;
use crate::replicas::Replicas;
use d1::D1;
use kv::Kv;
use r2::R2Bucket;

/// The store behind a binding.
pub(super) enum Store {
    D1(Arc<D1>),
    Kv(Arc<Kv>),
    Bucket(Arc<R2Bucket>),
}

impl Store {
    pub(super) fn open(stores: &Stores, binding: Binding, path: &Path) -> Result<Self> {
        Ok(match binding {
            Binding::Database => Self::D1(stores.d1(path)?),
            Binding::Kv => Self::Kv(stores.kv(path)?),
            Binding::Bucket => Self::Bucket(stores.bucket(path)?),
        })
    }

    pub(super) async fn answer(&self, request: Request<Incoming>) -> Answer {
        match self {
            Self::D1(d1) => d1::answer(d1, request).await,
            Self::Kv(kv) => kv::answer(kv, request).await,
            Self::Bucket(bucket) => r2::answer(bucket, request).await,
        }
    }
}

/// How the runtime's configuration gives a worker the client of a binding. `SERVICE` stands for the service that the
/// client talks to.
pub(crate) fn client(binding: Binding) -> &'static str {
    match binding {
        Binding::Database => {
            r#"wrapped = (moduleName = "cloudflare-internal:d1-api", innerBindings = [(name = "fetcher", service = "SERVICE")])"#
        }
        Binding::Kv => r#"kvNamespace = "SERVICE""#,
        Binding::Bucket => r#"r2Bucket = "SERVICE""#,
    }
}

/// Open files by path. Two versions of a backend that run side by side share them.
pub(crate) struct Stores {
    clock: Arc<dyn Clock>,
    s3: S3Settings,
    installations: BucketInstallations,
    replicas: Option<Arc<Replicas>>,
    /// How long a bucket keeps the blobs that it does not need any more.
    spared: Duration,
    /// Size limits of a database and of a bucket, in bytes.
    quotas: (u64, u64),
    d1: OpenStores<D1>,
    kv: OpenStores<Kv>,
    buckets: OpenStores<R2Bucket>,
    /// When the buckets were swept.
    swept: Mutex<HashMap<PathBuf, Timestamp>>,
}

struct OpenStores<T>(Mutex<HashMap<PathBuf, Weak<T>>>);

impl Stores {
    pub(crate) fn new(clock: Arc<dyn Clock>, settings: &EngineSettings) -> Self {
        Self {
            clock,
            s3: settings.s3.clone(),
            installations: settings.installations.clone(),
            replicas: settings.replicas.clone(),
            // In a bucket, a copy of the database may need them, too, before it is noticed.
            spared: match settings.lease.is_needed() || !settings.s3.bucket.is_empty() {
                true => Duration::from_secs(BUCKET_SPARED_S.unsigned_abs()),
                false => Duration::ZERO,
            },
            quotas: (settings.database_bytes, settings.bucket_bytes),
            d1: OpenStores(Mutex::default()),
            kv: OpenStores(Mutex::default()),
            buckets: OpenStores(Mutex::default()),
            swept: Mutex::default(),
        }
    }

    pub(crate) fn d1(&self, path: &Path) -> Result<Arc<D1>> {
        self.d1.get(path, |path| {
            let d1 = D1::open(path, self.quotas.0, self.replicas.is_some())?;
            self.replicate(path);
            Ok(d1)
        })
    }

    /// Whether the file, or a file in the folder, is in use.
    pub(crate) fn has_open(&self, path: &Path) -> bool {
        self.d1.has(path) || self.kv.has(path) || self.buckets.has(path)
    }

    pub(crate) fn kv(&self, path: &Path) -> Result<Arc<Kv>> {
        self.kv.get(path, |path| {
            let kv = Kv::open(path, Arc::clone(&self.clock), self.replicas.is_some())?;
            self.replicate(path);
            Ok(kv)
        })
    }

    pub(crate) fn bucket(&self, path: &Path) -> Result<Arc<R2Bucket>> {
        self.buckets.get(path, |path| {
            let (clock, quota) = (Arc::clone(&self.clock), self.quotas.1);
            let is_replicated = self.replicas.is_some();
            let place = (&self.s3, self.installations.clone());
            let bucket = R2Bucket::open(path, place, clock, quota, self.spared, is_replicated)?;
            let now = self.clock.now();
            self.replicate(&path.join(homes::INDEX));
            let mut swept = self.swept.lock().unwrap_or_else(PoisonError::into_inner);
            let is_due = |swept: &Timestamp| now >= swept.plus_seconds(BUCKET_SPARED_S);
            if bucket.may_sweep() && swept.get(path).is_none_or(is_due) {
                bucket.sweep()?;
                swept.insert(path.to_owned(), now);
            }
            Ok(bucket)
        })
    }

    fn replicate(&self, file: &Path) {
        if let Some(replicas) = &self.replicas {
            replicas.follow(file);
        }
    }
}

impl<T> OpenStores<T> {
    fn has(&self, path: &Path) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().any(|(file, weak)| file.starts_with(path) && weak.strong_count() > 0)
    }

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
