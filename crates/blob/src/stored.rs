//! All blobs in a bucket, of all installations.

use lyceum_core::Result;
use lyceum_core::config::S3Settings;
use lyceum_core::time::Timestamp;
use object_store::aws::AmazonS3;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};

use crate::Digest;
use crate::installations::EARLIER;
use crate::remote::{OBJECTS, bucket_failed, key_prefix, open_bucket, wait};

/// A blob in a bucket.
#[derive(Clone, Debug)]
pub struct StoredBlob {
    /// The installation that wrote it.
    pub installation: String,
    /// The store of the blob, such as `hosting` or `projects/maths`.
    pub store: String,
    /// Its SHA-256.
    pub digest: Digest,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was written.
    pub written: Timestamp,
    key: Path,
}

/// The blobs in the bucket of the settings.
pub struct StoredBlobs {
    bucket: AmazonS3,
    /// The prefix of all keys, with a slash at its end.
    prefix: String,
}

impl StoredBlobs {
    /// Sends no request yet. Errors: `Invalid` if the settings do not name a usable bucket.
    pub fn open(s3: &S3Settings) -> Result<Self> {
        let prefix = match s3.prefix.trim_matches('/') {
            "" => String::new(),
            prefix => format!("{prefix}/"),
        };
        Ok(Self { bucket: open_bucket(s3)?, prefix })
    }

    /// All blobs, in no order. Calls `progress` with the number of blobs so far. Errors: `Unavailable`.
    pub fn list(&self, mut progress: impl FnMut(u64)) -> Result<Vec<StoredBlob>> {
        let roots = [OBJECTS, "hosting", "projects"];
        let mut folders: Vec<Path> =
            roots.map(|root| Path::from(key_prefix(&self.prefix, root))).to_vec();
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            let listed = wait(self.bucket.list_with_delimiter(Some(&folder)));
            let listed = listed.map_err(|fault| bucket_failed(&fault))?;
            folders.extend(listed.common_prefixes);
            found.extend(listed.objects.into_iter().filter_map(|meta| self.blob(meta)));
            progress(found.len() as u64);
        }
        Ok(found)
    }

    fn blob(&self, meta: ObjectMeta) -> Option<StoredBlob> {
        let key = meta.location.as_ref().strip_prefix(&self.prefix)?;
        let (place, digest) = key.rsplit_once('/')?;
        let with_id = place.strip_prefix(OBJECTS).and_then(|place| place.strip_prefix('/'));
        let (installation, store) = match with_id {
            Some(place) => place.split_once('/')?,
            None => (EARLIER, place),
        };
        Some(StoredBlob {
            installation: installation.to_owned(),
            store: store.to_owned(),
            digest: digest.parse().ok()?,
            bytes: meta.size,
            written: Timestamp::from_milliseconds(meta.last_modified.timestamp_millis()),
            key: meta.location,
        })
    }

    /// Deletes a blob. A missing one is ignored. Errors: `Unavailable`.
    pub fn delete(&self, blob: &StoredBlob) -> Result<()> {
        match wait(self.bucket.delete(&blob.key)) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(fault) => Err(bucket_failed(&fault)),
        }
    }
}
