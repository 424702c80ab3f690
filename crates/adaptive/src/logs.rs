//! Logs of running attempts, as the engine reads them.

use std::collections::HashMap;
use std::sync::Arc;

use lyceum_core::Result;
use lyceum_store::Tx;

use crate::attempt::Attempt;
use crate::bank::QuestionSet;
use crate::engine::{Answer, AnswerLog, Question};
use crate::limits;
use crate::repository::log;
use crate::sized_cache::SizedCache;

/// A cache of logs by attempt and round. The counts of earlier attempts stay the same during an attempt, and answers
/// are only added. So an old log is still correct up to its end.
pub(crate) struct AnswerLogCache(SizedCache<(i64, i64), AnswerLog>);

/// A log that was read. Cache it only after the commit of the transaction that read it, because a rollback could undo
/// an answer in it.
#[derive(Clone, Debug)]
pub struct ReadLog {
    key: (i64, i64),
    pub(crate) log: Arc<AnswerLog>,
}

impl ReadLog {
    /// The log with one more answer.
    pub(crate) fn and(mut self, answer: Answer) -> Self {
        Arc::make_mut(&mut self.log).answers.push(answer);
        self
    }
}

impl Default for AnswerLogCache {
    fn default() -> Self {
        Self(SizedCache::new(limits::LESSON_LOG_CACHE_BYTES, 1024))
    }
}

impl AnswerLogCache {
    /// The log of an attempt's current round.
    pub(crate) fn get(
        &self,
        tx: &mut Tx<'_>,
        attempt: &Attempt,
        bank: &QuestionSet,
    ) -> Result<ReadLog> {
        let key = (attempt.id, attempt.round);
        let answered = usize::try_from(attempt.answered).unwrap_or(usize::MAX);
        let log = match self.0.get(&key) {
            Some(known) if known.answers.len() == answered => known,
            Some(known) if known.answers.len() < answered => {
                let mut log = AnswerLog::clone(&known);
                log.answers.extend(log::answers(tx, attempt, known.answers.len())?);
                Arc::new(log)
            }
            _ => Arc::new(attempt.log(tx, bank)?),
        };
        Ok(ReadLog { key, log })
    }

    /// The log with which an attempt begins, if the complete log of the previous attempt is cached. This avoids
    /// reading the logs of all earlier attempts again.
    pub(crate) fn after(
        &self,
        former: &Attempt,
        attempt: &Attempt,
        bank: &QuestionSet,
    ) -> Option<ReadLog> {
        let known = self.0.get(&(former.id, former.round))?;
        let answered = usize::try_from(former.answered).unwrap_or(usize::MAX);
        if known.answers.len() != answered || [&former.bank, &attempt.bank] != [&bank.id; 2] {
            return None;
        }
        let questions = &bank.questions.questions;
        let mut counts: HashMap<&str, u32> = HashMap::new();
        for answer in &known.answers {
            *counts.entry(&questions[answer.question as usize].id).or_default() += 1;
        }
        let before = known.earlier.iter().copied().chain(std::iter::repeat(0));
        let with = |(question, before): (&Question, u32)| {
            before + counts.get(question.id.as_str()).copied().unwrap_or(0)
        };
        let earlier = questions.iter().zip(before).map(with).collect();
        let log = Arc::new(AnswerLog { earlier, answers: Vec::new() });
        Some(ReadLog { key: (attempt.id, attempt.round), log })
    }

    pub(crate) fn store(&self, read: ReadLog) {
        let AnswerLog { earlier, answers } = &*read.log;
        let bytes = size_of_val(&earlier[..]) + answers.capacity() * size_of::<Answer>();
        self.0.store(read.key, read.log, bytes);
    }
}
