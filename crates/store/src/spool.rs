//! A temporary multimap on disk, for imports that must remember more than memory holds.

use std::collections::HashMap;

use lyceum_core::{Problem, Result};
use rusqlite::{Connection, OptionalExtension as _};

use crate::limits::SPOOL_CACHE_BYTES;

/// Keys with any number of values each, in named spaces, in an anonymous temporary file that
/// vanishes with the spool. Memory stays bounded; nothing survives a crash, nor should it.
pub struct Spool {
    file: Connection,
    spaces: HashMap<String, SpoolSpace>,
}

/// A space is a table of its own, which gets its index when it is first searched.
struct SpoolSpace {
    table: String,
    indexed: bool,
}

impl Spool {
    /// An empty spool.
    pub fn new() -> Result<Self> {
        let file = Connection::open("").map_err(Problem::internal)?;
        // One transaction that never ends: pages reach the file only when the cache is full.
        file.execute_batch(&format!(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE;
             PRAGMA cache_size = -{}; BEGIN",
            SPOOL_CACHE_BYTES / 1024
        ))
        .map_err(Problem::internal)?;
        Ok(Self { file, spaces: HashMap::new() })
    }

    /// Adds a value under a key of a space.
    pub fn put(&mut self, space: &str, key: &str, value: &str) -> Result<()> {
        if !self.spaces.contains_key(space) {
            let table = format!("space{}", self.spaces.len());
            self.file
                .execute_batch(&format!("CREATE TABLE {table} (key TEXT, value TEXT)"))
                .map_err(Problem::internal)?;
            self.spaces.insert(space.to_owned(), SpoolSpace { table, indexed: false });
        }
        let sql = format!("INSERT INTO {} VALUES (?, ?)", self.spaces[space].table);
        let added = self.file.prepare_cached(&sql).and_then(|mut it| it.execute([key, value]));
        added.map(drop).map_err(Problem::internal)
    }

    /// Takes the values under a key of a space out, in the order in which they were put.
    pub fn take(&mut self, space: &str, key: &str) -> Result<Vec<String>> {
        let Some(SpoolSpace { table, indexed }) = self.spaces.get_mut(space) else {
            return Ok(Vec::new());
        };
        if !*indexed {
            self.file
                .execute_batch(&format!("CREATE INDEX {table}_key ON {table} (key)"))
                .map_err(Problem::internal)?;
            *indexed = true;
        }
        let sql = format!("DELETE FROM {table} WHERE key = ? RETURNING rowid, value");
        let mut taken: Vec<(i64, String)> = self
            .file
            .prepare_cached(&sql)
            .and_then(|mut it| it.query_map([key], |row| Ok((row.get(0)?, row.get(1)?)))?.collect())
            .map_err(Problem::internal)?;
        taken.sort_unstable();
        Ok(taken.into_iter().map(|(_, value)| value).collect())
    }

    /// The key of a space that was put before all others and has values still.
    pub fn first(&self, space: &str) -> Result<Option<String>> {
        let Some(SpoolSpace { table, .. }) = self.spaces.get(space) else { return Ok(None) };
        let sql = format!("SELECT key FROM {table} ORDER BY rowid LIMIT 1");
        self.file
            .prepare_cached(&sql)
            .and_then(|mut first| first.query_row([], |row| row.get(0)).optional())
            .map_err(Problem::internal)
    }

    /// Hands every key and value of a space to `each`, in the order in which they were put.
    pub fn each(&self, space: &str, mut each: impl FnMut(&str, &str) -> Result<()>) -> Result<()> {
        let Some(SpoolSpace { table, .. }) = self.spaces.get(space) else { return Ok(()) };
        let sql = format!("SELECT key, value FROM {table} ORDER BY rowid");
        let mut statement = self.file.prepare_cached(&sql).map_err(Problem::internal)?;
        let mut rows = statement.query([]).map_err(Problem::internal)?;
        while let Some(row) = rows.next().map_err(Problem::internal)? {
            let text = |column| row.get_ref(column)?.as_str().map_err(rusqlite::Error::from);
            each(text(0).map_err(Problem::internal)?, text(1).map_err(Problem::internal)?)?;
        }
        Ok(())
    }
}
