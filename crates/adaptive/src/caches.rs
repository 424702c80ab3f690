//! The caches of lessons. Entries are never stale, and each cache has a limit.

use std::hash::Hash;
use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::bank::{QuestionSetCache, TestCache};
use crate::lesson::LessonCache;
use crate::logs::{self, AnswerLogCache};
use crate::question::RenderedItems;

/// The caches.
#[derive(Default)]
pub struct LessonCaches {
    /// Banks, which never change.
    pub(crate) banks: QuestionSetCache,
    /// Lessons, valid as long as their records stay the same.
    pub(crate) lessons: LessonCache,
    /// Logs of running attempts, valid up to their end.
    pub(crate) logs: AnswerLogCache,
    /// Item references of tests, valid as long as a test stays the same.
    pub(crate) tests: TestCache,
    /// Versions of items, as learners see them.
    pub(crate) views: RenderedItems,
}

impl LessonCaches {
    /// Caches a log after its transaction was committed.
    pub fn store_log(&self, log: logs::ReadLog) {
        self.logs.store(log);
    }
}

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
