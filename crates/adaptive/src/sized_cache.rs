//! Caches with a limit in bytes.

use std::hash::Hash;
use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// A cache with a limit in bytes.
pub(crate) struct SizedCache<K, T>(Cache<K, CachedValue<T>, WeighByBytes>);

struct CachedValue<T> {
    value: Arc<T>,
    bytes: u64,
}

impl<T> Clone for CachedValue<T> {
    fn clone(&self) -> Self {
        Self { value: Arc::clone(&self.value), bytes: self.bytes }
    }
}

#[derive(Clone)]
struct WeighByBytes;

impl<K, T> Weighter<K, CachedValue<T>> for WeighByBytes {
    fn weight(&self, _: &K, value: &CachedValue<T>) -> u64 {
        value.bytes.max(1)
    }
}

impl<K: Eq + Hash, T> SizedCache<K, T> {
    /// A cache of `most` bytes. `ordinary` is the usual size of an entry and only determines the size of the table.
    pub(crate) fn new(most: u64, ordinary: u64) -> Self {
        let estimate = usize::try_from(most / ordinary).unwrap_or(usize::MAX);
        Self(Cache::with_weighter(estimate, most, WeighByBytes))
    }

    pub(crate) fn get(&self, key: &K) -> Option<Arc<T>> {
        self.0.get(key).map(|value| value.value)
    }

    pub(crate) fn store(&self, key: K, value: Arc<T>, bytes: usize) {
        self.0.insert(key, CachedValue { value, bytes: bytes as u64 });
    }
}
