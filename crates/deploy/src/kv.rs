//! The key-value store of a deployed project, as a client of the server's API.

use std::fmt::Write;

use lyceum_core::text::segment;
use lyceum_core::{ProblemKind, Result};
use serde_json::{Value, json};

use crate::Server;

/// The entries of a deployed project's key-value store.
pub struct KvEntries<'s> {
    server: &'s Server,
    base: String,
}

impl<'s> KvEntries<'s> {
    /// The entries of that project.
    pub fn of(server: &'s Server, slug: &str) -> Self {
        Self { server, base: format!("/api/projects/{slug}/kv") }
    }

    /// A page of keys, with the cursor of the next page.
    pub fn list(&self, prefix: &str, cursor: Option<&str>, limit: Option<usize>) -> Result<Value> {
        self.server.page(&self.base, prefix, cursor, limit)
    }

    /// The value of a key; `None` if the key does not exist.
    pub fn get(&self, key: &str) -> Result<Option<Vec<u8>>> {
        match self.server.get_bytes(&format!("{}/value?key={}", self.base, segment(key))) {
            Ok(value) => Ok(Some(value)),
            Err(problem) if problem.kind == ProblemKind::NotFound => {
                // Distinguishes a missing key from a missing store, which is an error.
                self.list("", None, Some(1)).map(|_| None)
            }
            Err(problem) => Err(problem),
        }
    }

    /// Stores a value, with JSON as metadata, for `ttl_s` seconds or for good.
    pub fn put(
        &self,
        key: &str,
        value: &[u8],
        metadata: Option<&Value>,
        ttl_s: Option<i64>,
    ) -> Result<()> {
        let mut path = format!("{}/value?key={}", self.base, segment(key));
        if let Some(metadata) = metadata {
            let _ = write!(path, "&metadata={}", segment(&metadata.to_string()));
        }
        if let Some(ttl) = ttl_s {
            let _ = write!(path, "&ttl={ttl}");
        }
        self.server.put_bytes(&path, value).map(drop)
    }

    /// Deletes keys. Missing keys are ignored.
    pub fn delete(&self, keys: &[String]) -> Result<()> {
        self.server.post(&format!("{}/delete", self.base), &json!({ "keys": keys })).map(drop)
    }
}
