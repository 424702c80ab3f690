//! Renders questions for learners.

use std::collections::HashMap;
use std::sync::Arc;

use lyceum_assessment::limits::QTI_PAGE_MAX_BYTES;
use lyceum_assessment::{candidate, repository as content};
use lyceum_core::text::segment;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::Difficulty;
use crate::attempt::{Attempt, AttemptLogAnswer};
use crate::bank::QuestionSet;
use crate::caches::LessonCaches;
use crate::gradebook;
use crate::lesson_context::LessonContext;

pub use crate::rendered_items::LessonQuestionContent;

/// A question as a learner sees it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LessonQuestion {
    /// The identifier of its item.
    pub id: String,
    /// Its place in the test, from 0.
    pub index: usize,
    /// Its title.
    pub title: String,
    /// The item's address.
    pub url: String,
    /// Its difficulty.
    pub difficulty: Difficulty,
    /// Whether a person approved it.
    pub human_approved: bool,
    /// Its content.
    pub content: LessonQuestionContent,
    /// The answer, if the item has one response variable and was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Value>,
    /// The answers by response variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responses: Option<Map<String, Value>>,
    /// Whether the answer was correct. Hidden until the test is finished and a person has scored it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correct: Option<bool>,
    /// The result of the answer. Hidden until the test is finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub result: Option<Value>,
    /// The sourcedId of the assessment result. Hidden until the test is finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_id: Option<String>,
    /// The learning objectives that it teaches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub learning_objectives: Vec<String>,
}

/// A question to render. Its item may still be in its stored form; rendering that for a learner is work that needs no
/// transaction.
#[derive(Clone, Debug)]
pub struct QuestionDraft {
    question: LessonQuestion,
    /// The work that is left.
    left: Option<StoredItem>,
}

/// An item in its stored form.
#[derive(Clone, Copy, Debug)]
struct StoredItem {
    version: i64,
    seed: u64,
}

impl QuestionDraft {
    /// Whether no work is left.
    pub fn is_ready(&self) -> bool {
        self.left.is_none()
    }

    /// The question, as a learner sees it.
    pub fn render(self, memory: &LessonCaches) -> Result<LessonQuestion> {
        let Self { mut question, left } = self;
        if let Some(StoredItem { version, seed }) = left {
            let seen = candidate(&question.content.raw_xml, seed)?;
            question.content.raw_xml = seen.xml;
            if !seen.varies {
                let (key, content) = ((question.id.clone(), version), question.content.clone());
                let bytes = content.raw_xml.len();
                memory.views.0.store(key, Arc::new(content), bytes);
            }
        }
        Ok(question)
    }
}

/// A question to prepare.
pub(crate) struct QuestionRequest<'a> {
    /// Its place in the bank.
    pub(crate) place: usize,
    /// The seed of its variant.
    pub(crate) seed: u64,
    /// The answer to it, if there is one.
    pub(crate) answered: Option<&'a AttemptLogAnswer>,
    /// Whether the result of the answer is shown.
    pub(crate) shows_result: bool,
}

/// Prepares questions of an attempt. Errors: `TooLarge` if their items have more than [`QTI_PAGE_MAX_BYTES`]
/// in total.
pub(crate) fn drafts(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    attempt: &Attempt,
    bank: &QuestionSet,
    wanted: &[QuestionRequest<'_>],
) -> Result<Vec<QuestionDraft>> {
    let key = |wanted: &QuestionRequest<'_>| {
        (bank.questions.questions[wanted.place].id.clone(), bank.items[wanted.place].version)
    };
    let seen: Vec<_> = wanted.iter().map(|one| context.memory.views.0.get(&key(one))).collect();
    let unseen = wanted.iter().zip(&seen).filter(|(_, seen)| seen.is_none());
    let unseen: Vec<_> = unseen.map(|(wanted, _)| key(wanted)).collect();
    let texts = match unseen.is_empty() {
        true => HashMap::new(),
        false => content::texts(tx, &unseen)?,
    };
    let bytes = texts.values().map(|text| text.xml.len()).sum::<usize>()
        + seen.iter().flatten().map(|seen| seen.raw_xml.len()).sum::<usize>();
    if bytes > QTI_PAGE_MAX_BYTES {
        let most = QTI_PAGE_MAX_BYTES;
        let message = message!(
            "the questions of the lesson have {bytes} bytes, more than {most}; split its test"
        );
        return Err(Problem::new(ProblemKind::TooLarge, message));
    }
    let drafts = wanted.iter().zip(seen).map(|(wanted, seen)| {
        let of_text = |text: &content::Text| LessonQuestionContent {
            kind: text.kind.clone(),
            raw_xml: text.xml.clone(),
        };
        let item = StoredItem { version: bank.items[wanted.place].version, seed: wanted.seed };
        let unprepared = seen.is_none().then_some(item);
        let loaded = match seen {
            Some(seen) => LessonQuestionContent::clone(&seen),
            None => texts
                .get(&key(wanted))
                .map(of_text)
                .ok_or_else(|| Problem::internal("an item of an attempt is missing"))?,
        };
        let question = &bank.questions.questions[wanted.place];
        let shown_answer = wanted.answered.filter(|_| wanted.shows_result);
        let id = segment(&question.id);
        Ok(QuestionDraft {
            question: LessonQuestion {
                id: question.id.clone(),
                index: wanted.place,
                title: bank.items[wanted.place].title.clone(),
                url: format!("{}/assessment-items/{id}", context.base_url),
                difficulty: question.difficulty,
                human_approved: question.approved,
                content: loaded,
                response: wanted.answered.and_then(|answered| only(&answered.responses)),
                responses: wanted.answered.map(|answered| answered.responses.clone()),
                correct: shown_answer
                    .filter(|answered| !answered.pending)
                    .map(|answered| answered.correct),
                result: shown_answer.map(|answered| result(answered.result.clone())),
                result_id: shown_answer.map(|_| gradebook::answer_result(attempt, &question.id)),
                learning_objectives: bank.items[wanted.place].learning_objectives.clone(),
            },
            left: unprepared,
        })
    });
    drafts.collect()
}

/// The answer, if there is exactly one variable.
fn only(responses: &Map<String, Value>) -> Option<Value> {
    responses.values().next().filter(|_| responses.len() == 1).cloned()
}

/// The result of an answer, as clients read it.
pub(crate) fn result(mut scored: Value) -> Value {
    if scored["feedback"].is_null() {
        scored["feedback"] = "".into();
    }
    scored
}
