//! Access to projects' key-value stores for the API and the command line. Backends see the same entries.

use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lyceum_core::limits::KV_VALUE_MAX_BYTES;
use lyceum_core::messages::{MUST_NOT_BE_EMPTY, too_long};
use lyceum_core::time::{Clock, Timestamp};
use lyceum_core::{Problem, ProblemKind, Result, message};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::bindings::Stores;
use crate::bindings::stores::kv::{Kv as Store, KvEntry};
use crate::limits::{
    KV_EXPIRATION_MIN_S, KV_KEY_MAX_BYTES, KV_METADATA_MAX_BYTES, KV_PAGE_MAX_KEYS,
};

/// A key-value store. Cheap to clone.
#[derive(Clone)]
pub struct Kv(Arc<Store>);

/// A key, without its value.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct KvKey {
    /// The key.
    pub name: String,
    /// When the entry expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// Any JSON that was stored with the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

/// A page of keys.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct KvPage {
    /// Keys in byte order.
    pub keys: Vec<KvKey>,
    /// The cursor of the next page. The last page has none.
    pub cursor: Option<String>,
}

impl Kv {
    /// The store in a file of this disk. Other processes may use it too.
    pub fn open(file: &Path, clock: Arc<dyn Clock>) -> Result<Self> {
        Store::open(file, clock, false).map(|store| Self(Arc::new(store)))
    }

    /// The store that backends of this engine have open.
    pub(crate) fn shared(stores: &Stores, file: &Path) -> Result<Self> {
        stores.kv(file).map(Self)
    }

    /// The value of a key; `None` if there is no entry, or it has expired.
    pub fn get(&self, key: &str) -> Result<Option<Vec<u8>>> {
        check_key(key)?;
        Ok(self.0.get(key)?.map(|entry| entry.value))
    }

    /// Stores a value, with JSON as metadata, for `ttl_s` seconds or for good.
    ///
    /// Errors: `Invalid` if the key, the metadata or the time breaks a rule; `TooLarge`.
    pub fn put(
        &self,
        key: &str,
        value: &[u8],
        metadata: Option<&Value>,
        ttl_s: Option<i64>,
    ) -> Result<()> {
        check_key(key)?;
        if value.len() > KV_VALUE_MAX_BYTES {
            let message = message!("the limit for a value is {KV_VALUE_MAX_BYTES} bytes");
            return Err(Problem::new(ProblemKind::TooLarge, message));
        }
        let metadata = metadata.map(Value::to_string);
        if metadata.as_ref().is_some_and(|text| text.len() > KV_METADATA_MAX_BYTES) {
            return Err(Problem::invalid("metadata", too_long(KV_METADATA_MAX_BYTES)));
        }
        if ttl_s.is_some_and(|ttl| ttl < KV_EXPIRATION_MIN_S) {
            let message = message!("must be at least {KV_EXPIRATION_MIN_S} seconds");
            return Err(Problem::invalid("ttl", message));
        }
        let expires = ttl_s.map(|ttl| self.0.now().saturating_add(ttl));
        self.0.put(key, &KvEntry { value: value.to_owned(), metadata, expires })
    }

    /// Deletes those of the keys that exist.
    pub fn delete(&self, keys: &[String]) -> Result<()> {
        keys.iter().try_for_each(|key| check_key(key))?;
        self.0.delete(keys)
    }

    /// A page of the keys with a prefix, after the cursor of the page before.
    ///
    /// Errors: `Invalid` if the cursor is invalid, or the limit is not from 1 to [`KV_PAGE_MAX_KEYS`].
    pub fn list(&self, prefix: &str, cursor: Option<&str>, limit: Option<usize>) -> Result<KvPage> {
        let limit = limit.unwrap_or(KV_PAGE_MAX_KEYS);
        if !(1..=KV_PAGE_MAX_KEYS).contains(&limit) {
            return Err(Problem::invalid(
                "limit",
                message!("must be from 1 to {KV_PAGE_MAX_KEYS}"),
            ));
        }
        let after = BASE64_STANDARD.decode(cursor.unwrap_or_default()).ok();
        let after = after.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| {
            Problem::invalid(
                "cursor",
                "is not one that a list returned; leave it out to begin again",
            )
        })?;
        let page = self.0.list(prefix, &after, limit)?;
        let last = page.keys.last().filter(|_| page.has_more);
        let cursor = last.map(|(name, ..)| BASE64_STANDARD.encode(name));
        let key = |(name, metadata, expires): (String, Option<String>, Option<i64>)| KvKey {
            name,
            expires: expires.map(|at| Timestamp::from_milliseconds(at.saturating_mul(1000))),
            metadata: metadata.and_then(|text| serde_json::from_str(&text).ok()),
        };
        Ok(KvPage { keys: page.keys.into_iter().map(key).collect(), cursor })
    }
}

fn check_key(key: &str) -> Result<()> {
    match key.len() {
        0 => Err(Problem::invalid("key", MUST_NOT_BE_EMPTY)),
        1..=KV_KEY_MAX_BYTES if !matches!(key, "." | "..") => Ok(()),
        1..=KV_KEY_MAX_BYTES => {
            Err(Problem::invalid("key", message!("must not be '{key}', which no backend can read")))
        }
        _ => Err(Problem::invalid("key", too_long(KV_KEY_MAX_BYTES))),
    }
}

#[cfg(test)]
mod tests {
    use lyceum_core::time::SystemClock;

    use super::*;

    #[test]
    fn a_value_may_have_the_bytes_of_the_limit_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let kv = Kv::open(&folder.path().join("kv.db"), Arc::new(SystemClock)).unwrap();
        let value = vec![0; KV_VALUE_MAX_BYTES + 1];
        kv.put("key", &value[1..], None, None).unwrap();
        let refused = kv.put("key", &value, None, None).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::TooLarge);
    }
}
