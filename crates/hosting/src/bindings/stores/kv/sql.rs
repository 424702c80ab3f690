//! The key-value store of a project.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lyceum_core::Result;
use lyceum_core::time::Clock;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::bindings::sql::{failed, limit_size, open};
use crate::limits::KV_MAX_BYTES;

/// Keys with values, some of which expire.
pub(crate) struct Kv {
    connection: Mutex<Connection>,
    clock: Arc<dyn Clock>,
}

/// A stored value.
pub(crate) struct KvEntry {
    pub(crate) value: Vec<u8>,
    /// JSON.
    pub(crate) metadata: Option<String>,
    /// Seconds since 1970.
    pub(crate) expires: Option<i64>,
}

/// A page of a list: keys with metadata and expiry, and whether there are more.
pub(crate) struct KvPage {
    pub(crate) keys: Vec<(String, Option<String>, Option<i64>)>,
    pub(crate) has_more: bool,
}

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS entry (
        key TEXT PRIMARY KEY, value BLOB NOT NULL, metadata TEXT, expires INTEGER
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS entry_expires ON entry (expires) WHERE expires IS NOT NULL;
";

impl Kv {
    pub(crate) fn open(path: &Path, clock: Arc<dyn Clock>, is_replicated: bool) -> Result<Self> {
        let connection = open(path, is_replicated)?;
        connection
            .execute_batch(SCHEMA)
            .and_then(|()| limit_size(&connection, KV_MAX_BYTES))
            .map_err(|fault| failed("make the table of keys", &fault))?;
        Ok(Self { connection: Mutex::new(connection), clock })
    }

    /// Seconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        self.clock.now().seconds()
    }

    pub(crate) fn get(&self, key: &str) -> Result<Option<KvEntry>> {
        let entry = |row: &Row<'_>| {
            Ok(KvEntry { value: row.get(0)?, metadata: row.get(1)?, expires: row.get(2)? })
        };
        let sql = "SELECT value, metadata, expires FROM entry \
                   WHERE key = ?1 AND (expires IS NULL OR expires > ?2)";
        self.with_connection(|connection| {
            connection.prepare_cached(sql)?.query_row(params![key, self.now()], entry).optional()
        })
    }

    /// Stores the entry, and removes expired entries.
    pub(crate) fn put(&self, key: &str, entry: &KvEntry) -> Result<()> {
        self.with_connection(|connection| {
            let transaction = connection.transaction()?;
            let clear = "DELETE FROM entry WHERE expires <= ?1";
            transaction.prepare_cached(clear)?.execute([self.now()])?;
            let put = "INSERT INTO entry (key, value, metadata, expires) VALUES (?1, ?2, ?3, ?4) \
                       ON CONFLICT (key) DO UPDATE \
                       SET value = ?2, metadata = ?3, expires = ?4";
            let values = params![key, entry.value, entry.metadata, entry.expires];
            transaction.prepare_cached(put)?.execute(values)?;
            transaction.commit()
        })
    }

    /// Deletes those of the keys that exist.
    pub(crate) fn delete(&self, keys: &[String]) -> Result<()> {
        self.with_connection(|connection| {
            let transaction = connection.transaction()?;
            for key in keys {
                let delete = "DELETE FROM entry WHERE key = ?1";
                transaction.prepare_cached(delete)?.execute([key])?;
            }
            transaction.commit()
        })
    }

    /// Keys that begin with the prefix and come after `after`, in byte order.
    pub(crate) fn list(&self, prefix: &str, after: &str, limit: usize) -> Result<KvPage> {
        let sql = "SELECT key, metadata, expires FROM entry \
                   WHERE key >= ?1 AND key > ?2 AND substr(key, 1, length(?1)) = ?1 \
                   AND (expires IS NULL OR expires > ?3) ORDER BY key LIMIT ?4";
        let most = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
        let mut keys = self.with_connection(|connection| {
            connection
                .prepare_cached(sql)?
                .query_map(params![prefix, after, self.now(), most], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                })?
                .collect::<rusqlite::Result<Vec<_>>>()
        })?;
        let has_more = keys.len() > limit;
        keys.truncate(limit);
        Ok(KvPage { keys, has_more })
    }

    fn with_connection<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let mut connection: MutexGuard<'_, Connection> =
            self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut connection).map_err(|fault| failed("keys of a project", &fault))
    }
}
