//! The index of a bucket: which object has which bytes. The bytes are blobs next to it.

mod multipart;

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lyceum_blob::{Blob, Blobs, BucketInstallations, Digest, Writer};
use lyceum_core::config::S3Settings;
use lyceum_core::random::secret_id;
use lyceum_core::time::Clock;
use lyceum_core::{Problem, Result};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use serde_json::{Map, Value as Json};

use crate::bindings::sql::{failed, open};
use crate::bindings::stores::r2::{
    CUSTOM_METADATA, Condition, HTTP_METADATA, ListRequest, MetadataField, R2Fault, R2Object,
};
use crate::limits::R2_PAGE_MAX_KEYS;
use crate::pieces::BlobsInTurn;

/// Objects by key, in byte order of the keys.
pub(crate) struct R2Bucket {
    index: Mutex<Connection>,
    blobs: Blobs,
    clock: Arc<dyn Clock>,
    max_bytes: u64,
    /// How long blobs stay that no object has. Another node may restore an index that still names them, or a copy of the
    /// database use them.
    spared: Duration,
}

/// A page of a list.
pub(crate) struct ObjectPage {
    pub(crate) objects: Vec<R2Object>,
    pub(crate) prefixes: Vec<String>,
    /// The cursor of the next page; `None` on the last page.
    pub(crate) cursor: Option<String>,
}

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS object (
        key TEXT PRIMARY KEY, version TEXT NOT NULL, size INTEGER NOT NULL, etag TEXT NOT NULL,
        uploaded INTEGER NOT NULL, checksums TEXT NOT NULL, http TEXT NOT NULL, custom TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS piece (
        version TEXT NOT NULL, number INTEGER NOT NULL, sha256 BLOB NOT NULL, PRIMARY KEY (version, number)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS piece_sha256 ON piece (sha256);
    CREATE TABLE IF NOT EXISTS upload (
        id TEXT PRIMARY KEY, key TEXT NOT NULL, http TEXT NOT NULL, custom TEXT NOT NULL,
        is_over INTEGER NOT NULL DEFAULT 0, begun INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS part (
        upload TEXT NOT NULL, number INTEGER NOT NULL, sha256 BLOB NOT NULL, size INTEGER NOT NULL,
        md5 BLOB NOT NULL, PRIMARY KEY (upload, number)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS part_sha256 ON part (sha256);
    CREATE TABLE IF NOT EXISTS usage (id INTEGER PRIMARY KEY CHECK (id = 1), bytes INTEGER NOT NULL);
    INSERT OR IGNORE INTO usage SELECT 1,
        (SELECT coalesce(sum(size), 0) FROM object) + (SELECT coalesce(sum(size), 0) FROM part);
    CREATE TRIGGER IF NOT EXISTS object_in AFTER INSERT ON object
        BEGIN UPDATE usage SET bytes = bytes + new.size; END;
    CREATE TRIGGER IF NOT EXISTS object_out AFTER DELETE ON object
        BEGIN UPDATE usage SET bytes = bytes - old.size; END;
    CREATE TRIGGER IF NOT EXISTS part_in AFTER INSERT ON part
        BEGIN UPDATE usage SET bytes = bytes + new.size; END;
    CREATE TRIGGER IF NOT EXISTS part_out AFTER DELETE ON part
        BEGIN UPDATE usage SET bytes = bytes - old.size; END;
";

const OBJECT: &str = "key, version, size, etag, uploaded, checksums, http, custom";

impl R2Bucket {
    /// Opens the bucket in the folder, creates it if it is missing, and limits its size. The bytes are in
    /// the folder, or in S3 under the name of the project, which is the name of the parent folder.
    pub(crate) fn open(
        folder: &Path,
        (s3, installations): (&S3Settings, BucketInstallations),
        clock: Arc<dyn Clock>,
        max_bytes: u64,
        spared: Duration,
        is_replicated: bool,
    ) -> Result<Self> {
        let project = folder.parent().and_then(Path::file_name).unwrap_or_default();
        let name = format!("projects/{}", project.to_string_lossy());
        let blobs = Blobs::open_at(folder.join("objects"), s3, &name, installations)?;
        let index = open(&folder.join("index.sqlite"), is_replicated)?;
        let made = index.execute_batch(SCHEMA);
        made.map_err(|fault| failed("make the index of a bucket", &fault))?;
        Ok(Self { index: Mutex::new(index), blobs, clock, max_bytes, spared })
    }

    /// Whether blobs without an object can be removed now.
    pub(crate) fn may_sweep(&self) -> bool {
        self.blobs.may_delete()
    }

    /// Removes blobs without an object, which a crash between writing bytes and index leaves. No other process may
    /// write to the bucket meanwhile.
    pub(crate) fn sweep(&self) -> Result<()> {
        let index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let listed = || -> rusqlite::Result<HashSet<Digest>> {
            let sql = "SELECT sha256 FROM piece UNION SELECT sha256 FROM part";
            index.prepare(sql)?.query_map([], |row| row.get(0).map(Digest))?.collect()
        };
        let wanted = listed().map_err(|fault| failed("list the blobs of a bucket", &fault))?;
        let swept =
            self.blobs.sweep(self.clock.now(), self.spared, |digest| wanted.contains(digest))?;
        if swept != lyceum_blob::SweepReport::default() {
            tracing::info!(?swept, "removed what a crash left in a bucket");
        }
        Ok(())
    }

    /// A writer for the bytes of a new object.
    pub(crate) fn writer(&self) -> Result<Writer> {
        self.blobs.writer()
    }

    pub(crate) fn head(&self, key: &str) -> Result<Option<R2Object>, R2Fault> {
        self.with_connection(|index| object(index, key))
    }

    /// The object and its bytes. Its first part stays readable even if the object is deleted meanwhile. Further
    /// parts are opened when they are needed, and reading fails if one is gone.
    pub(crate) fn open_object(
        &self,
        key: &str,
    ) -> Result<Option<(R2Object, BlobsInTurn)>, R2Fault> {
        let found = self.with_connection(|index| {
            let Some(object) = object(index, key)? else { return Ok(None) };
            let sql = "SELECT sha256 FROM piece WHERE version = ?1 ORDER BY number";
            let mut pieces = index.prepare_cached(sql)?;
            let pieces = pieces.query_map([&object.version], |row| row.get(0).map(Digest))?;
            let pieces = pieces.collect::<rusqlite::Result<Vec<_>>>()?;
            // Opened in the same transaction, so that nobody can delete it before.
            let first = pieces.first().map(|digest| self.blobs.open(digest));
            Ok(Some((object, pieces, first)))
        })?;
        let Some((object, pieces, first)) = found else { return Ok(None) };
        let missing = format!("the bytes of '{}' are missing", object.key);
        let there = move |blob: Result<Option<Blob>>| {
            blob?.ok_or_else(|| Problem::internal(missing.clone()))
        };
        let first = first.map(&there).transpose()?;
        let blobs = self.blobs.clone();
        let others = pieces.into_iter().skip(1).map(move |digest| there(blobs.open(&digest)));
        let all = first.into_iter().map(Ok).chain(others);
        Ok(Some((object, Box::new(all.map(|blob| blob.map_err(Into::into))))))
    }

    /// Stores the written bytes as the object with the key, if the condition holds.
    pub(crate) fn put(
        &self,
        key: &str,
        writer: Writer,
        checksums: Map<String, Json>,
        http: Map<String, Json>,
        custom: Vec<MetadataField>,
        only_if: Option<Condition>,
    ) -> Result<R2Object, R2Fault> {
        let etag = checksums["0"].as_str().expect("every object has an MD5").to_owned();
        let object = R2Object {
            key: key.to_owned(),
            version: secret_id(),
            size: writer.size(),
            etag,
            uploaded: self.clock.now().milliseconds(),
            checksums,
            http,
            custom,
        };
        let digest = writer.digest();
        self.change(|index, gone| {
            let before = self::object(index, key)?;
            if only_if.is_some_and(|condition| !condition.holds(before.as_ref())) {
                return Ok(Err(R2Fault::Condition(None)));
            }
            if let Err(problem) = writer.store() {
                return Ok(Err(problem.into()));
            }
            store(index, &object, &[digest.0], gone)?;
            self.within_quota(index, gone, digest.0)
        })?;
        Ok(object)
    }

    /// Refuses an object that makes the bucket too large. Its bytes are removed.
    fn within_quota(
        &self,
        index: &Transaction<'_>,
        gone: &mut Vec<[u8; 32]>,
        added: [u8; 32],
    ) -> rusqlite::Result<Result<(), R2Fault>> {
        let bytes: i64 =
            index.prepare_cached("SELECT bytes FROM usage")?.query_row([], |row| row.get(0))?;
        if bytes.unsigned_abs() <= self.max_bytes {
            return Ok(Ok(()));
        }
        gone.push(added);
        Ok(Err(R2Fault::Full(self.max_bytes)))
    }

    /// Deletes those of the keys that exist.
    pub(crate) fn delete(&self, keys: &[String]) -> Result<(), R2Fault> {
        self.change(|index, gone| {
            for key in keys {
                remove(index, key, gone)?;
            }
            Ok(Ok(()))
        })
    }

    /// A page of at most `most` objects and prefixes, or fewer if the request asks for fewer.
    pub(crate) fn list(&self, list: &ListRequest, most: usize) -> Result<ObjectPage, R2Fault> {
        let limit = match list.limit {
            None => R2_PAGE_MAX_KEYS,
            Some(limit) => usize::try_from(limit)
                .ok()
                .filter(|limit| (1..=R2_PAGE_MAX_KEYS).contains(limit))
                .ok_or(R2Fault::BadLimit)?,
        };
        let limit = limit.min(most);
        let cursor = list.cursor.as_ref().map(|cursor| {
            let decoded = BASE64_STANDARD.decode(cursor).ok();
            let bad = || {
                R2Fault::BadRequest("the cursor is invalid; use one that a list returned".into())
            };
            decoded.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(bad)
        });
        let after = cursor.transpose()?.max(list.start_after.clone());
        self.with_connection(|index| page(index, list, after.as_deref(), limit))
    }

    /// Runs reads in one transaction, so that they see one state.
    fn with_connection<T>(
        &self,
        read: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, R2Fault> {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let read = index.transaction().and_then(|transaction| read(&transaction));
        read.map_err(|fault| failed("read the index of a bucket", &fault).into())
    }

    /// Whether another server may continue with an older index, which names blobs that this one no longer names.
    fn may_have_older_index(&self) -> bool {
        !self.spared.is_zero()
    }

    /// Protects blobs that such an index may name from [`R2Bucket::sweep`] for the time `spared` from now on.
    fn spare(&self, gone: &[[u8; 32]]) -> Result<(), R2Fault> {
        if !self.may_have_older_index() {
            return Ok(());
        }
        for digest in gone {
            self.blobs.spare(&Digest(*digest))?;
        }
        Ok(())
    }

    /// Changes the index in one transaction, then removes blobs that it no longer names; at a later sweep if an older
    /// index may name them.
    fn change<T>(
        &self,
        change: impl FnOnce(
            &Transaction<'_>,
            &mut Vec<[u8; 32]>,
        ) -> rusqlite::Result<Result<T, R2Fault>>,
    ) -> Result<T, R2Fault> {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let mut gone = Vec::new();
        let changed = || -> rusqlite::Result<Result<T, R2Fault>> {
            // An immediate transaction waits for a backup. A transaction that begins with a read would fail when it writes.
            let transaction = index.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let changed = change(&transaction, &mut gone)?;
            let changed = changed.and_then(|value| self.spare(&gone).map(|()| value));
            if changed.is_ok() {
                transaction.commit()?;
            }
            Ok(changed)
        };
        let changed = changed()
            .map_err(|fault| R2Fault::from(failed("change the index of a bucket", &fault)))?;
        if self.may_have_older_index() {
            return changed;
        }
        for digest in gone {
            let named = "SELECT EXISTS (SELECT 1 FROM piece WHERE sha256 = ?1) \
                         OR EXISTS (SELECT 1 FROM part WHERE sha256 = ?1)";
            let is_named: rusqlite::Result<bool> = index
                .prepare_cached(named)
                .and_then(|mut named| named.query_row([digest], |row| row.get(0)));
            // A later sweep removes what cannot be removed now.
            if matches!(is_named, Ok(false))
                && let Err(problem) = self.blobs.remove(&Digest(digest))
            {
                tracing::warn!("a blob stays: {problem}");
            }
        }
        changed
    }
}

fn object(index: &Connection, key: &str) -> rusqlite::Result<Option<R2Object>> {
    let sql = format!("SELECT {OBJECT} FROM object WHERE key = ?1");
    index.prepare_cached(&sql)?.query_row([key], row_object).optional()
}

fn row_object(row: &Row<'_>) -> rusqlite::Result<R2Object> {
    let text = |index: usize| row.get::<_, String>(index);
    Ok(R2Object {
        key: text(0)?,
        version: text(1)?,
        size: row.get::<_, i64>(2)?.unsigned_abs(),
        etag: text(3)?,
        uploaded: row.get(4)?,
        checksums: serde_json::from_str(&text(5)?).unwrap_or_default(),
        http: serde_json::from_str(&text(6)?).unwrap_or_default(),
        custom: serde_json::from_str(&text(7)?).unwrap_or_default(),
    })
}

/// Replaces the object with this key.
fn store(
    index: &Transaction<'_>,
    object: &R2Object,
    pieces: &[[u8; 32]],
    gone: &mut Vec<[u8; 32]>,
) -> rusqlite::Result<()> {
    remove(index, &object.key, gone)?;
    index
        .prepare_cached(
            "INSERT INTO object (key, version, size, etag, uploaded, checksums, http, custom) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            object.key,
            object.version,
            i64::try_from(object.size).unwrap_or(i64::MAX),
            object.etag,
            object.uploaded,
            json(&object.checksums),
            json(&object.http),
            json(&object.custom),
        ])?;
    let mut add =
        index.prepare_cached("INSERT INTO piece (version, number, sha256) VALUES (?1, ?2, ?3)")?;
    for (number, digest) in (0i64..).zip(pieces) {
        add.execute(params![object.version, number, digest])?;
    }
    Ok(())
}

fn remove(index: &Transaction<'_>, key: &str, gone: &mut Vec<[u8; 32]>) -> rusqlite::Result<()> {
    let version: Option<String> = index
        .prepare_cached("DELETE FROM object WHERE key = ?1 RETURNING version")?
        .query_row([key], |row| row.get(0))
        .optional()?;
    let Some(version) = version else { return Ok(()) };
    let mut pieces =
        index.prepare_cached("DELETE FROM piece WHERE version = ?1 RETURNING sha256")?;
    for digest in pieces.query_map([version], |row| row.get(0))? {
        gone.push(digest?);
    }
    Ok(())
}

/// Entries after the key: objects, and prefixes up to the delimiter. Each prefix counts once.
fn page(
    index: &Connection,
    list: &ListRequest,
    after: Option<&str>,
    limit: usize,
) -> rusqlite::Result<ObjectPage> {
    // The empty string is itself a key, and no key comes before it.
    let begin = if after.is_some() { "key >= ?1 AND key > ?2" } else { "key >= ?1 AND ?2 = ''" };
    let sql = format!("SELECT {OBJECT} FROM object WHERE {begin} ORDER BY key");
    let mut rows = index.prepare_cached(&sql)?;
    let mut rows = rows.query([list.prefix.as_str(), after.unwrap_or_default()])?;
    let delimiter = list.delimiter.as_deref().filter(|delimiter| !delimiter.is_empty());
    let mut listed = ObjectPage { objects: Vec::new(), prefixes: Vec::new(), cursor: None };
    let mut behind = String::new();
    while let Some(row) = rows.next()? {
        let key: String = row.get(0)?;
        let Some(rest) = key.strip_prefix(&list.prefix) else { break };
        let group = delimiter.and_then(|delimiter| {
            let end = rest.find(delimiter)? + delimiter.len();
            Some(key[..list.prefix.len() + end].to_owned())
        });
        let is_known = group.is_some() && listed.prefixes.last() == group.as_ref();
        if !is_known && listed.objects.len() + listed.prefixes.len() == limit {
            listed.cursor = Some(BASE64_STANDARD.encode(behind));
            break;
        }
        match group {
            Some(_) if is_known => {}
            Some(group) => listed.prefixes.push(group),
            None => {
                let mut object = row_object(row)?;
                if !list.include.contains(&HTTP_METADATA) {
                    object.http.clear();
                }
                if !list.include.contains(&CUSTOM_METADATA) {
                    object.custom.clear();
                }
                listed.objects.push(object);
            }
        }
        behind = key;
    }
    Ok(listed)
}

fn json(value: &(impl serde::Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("metadata is JSON")
}
