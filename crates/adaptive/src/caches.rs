//! The caches of lessons. Entries are never stale, and each cache has a limit.

use crate::bank::{QuestionSetCache, TestCache};
use crate::lesson::LessonCache;
use crate::logs::{self, AnswerLogCache};
use crate::rendered_items::RenderedItems;

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
