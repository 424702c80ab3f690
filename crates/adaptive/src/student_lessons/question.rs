//! A question as its student sees it in a browser.

use std::sync::Arc;

use lyceum_assessment::files::{self, ContentNames};
use lyceum_assessment::{
    ContentKind, answered_html, candidate_html, repository as content, stimuli, stimulus_html,
};
use lyceum_core::text::segment;
use lyceum_core::{Problem, Result};
use lyceum_qti::model::Item;
use lyceum_roster::record::Object;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use crate::attempt::AttemptLogAnswer;
use crate::bank::QuestionSet;
use crate::lesson_context::LessonContext;

/// A question as its student sees it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StudentQuestion {
    /// Its id, which the answer repeats.
    pub id: String,
    /// Its number in the attempt, from 0, which the answer repeats.
    pub number: i64,
    /// Its title.
    pub title: String,
    /// The texts that belong to it, as HTML.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<String>,
    /// Its content as HTML. After an answer whose result is shown, it contains the feedback.
    pub html: String,
    /// The answer by response variable, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responses: Option<Object>,
    /// The result of the answer. Hidden until the attempt shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<StudentResult>,
}

/// The result of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StudentResult {
    /// It earned the full score.
    Correct,
    /// It earned a part of the score.
    PartlyCorrect,
    /// It earned nothing.
    Wrong,
    /// A person must score it.
    Waiting,
}

impl StudentResult {
    pub(super) fn of(answered: &AttemptLogAnswer) -> Self {
        match answered.share {
            None => Self::Waiting,
            Some(_) if answered.correct => Self::Correct,
            Some(0) => Self::Wrong,
            Some(_) => Self::PartlyCorrect,
        }
    }
}

/// A question whose HTML is still to be rendered, which needs no transaction.
#[derive(Clone, Debug)]
pub(super) struct QuestionText {
    question: StudentQuestion,
    xml: String,
    files: ContentNames,
    /// The XML of its stimuli, each with its files.
    stimuli: Vec<(String, ContentNames)>,
    /// The address below which the lesson's files are.
    file_base: String,
    seed: u64,
    /// The parsed item and the responses, if their feedback is shown.
    answered: Option<(Arc<Item>, Object)>,
}

/// A question to show.
pub(super) struct ShownQuestion<'a> {
    /// Its place in the question set.
    pub(super) place: usize,
    /// Its number in the attempt.
    pub(super) number: i64,
    /// The seed of its variant.
    pub(super) seed: u64,
    /// The answer, if there is one.
    pub(super) answered: Option<&'a AttemptLogAnswer>,
    /// Whether result and feedback are shown.
    pub(super) shows_result: bool,
}

/// Loads the texts of a lesson's questions. Runs two statements, and more for items that were changed since or have
/// stimuli.
pub(super) fn load(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    (lesson, bank): (&str, &QuestionSet),
    shown: &[ShownQuestion<'_>],
) -> Result<Vec<QuestionText>> {
    let key = |shown: &ShownQuestion<'_>| {
        (bank.questions.questions[shown.place].id.clone(), bank.items[shown.place].version)
    };
    let keys: Vec<_> = shown.iter().map(key).collect();
    let texts = content::texts(tx, &keys)?;
    let identifiers: Vec<&str> = keys.iter().map(|(id, _)| id.as_str()).collect();
    let files = files::names(tx, ContentKind::Item, &identifiers)?;
    let file_base = format!("/api/learn/lessons/{}/files", segment(lesson));
    let mut questions = Vec::with_capacity(shown.len());
    for (shown, key) in shown.iter().zip(&keys) {
        let text = texts.get(key);
        let text = text.ok_or_else(|| Problem::internal("an item of an attempt is missing"))?;
        let item = context.items.version(tx, &key.0, key.1)?;
        let answer_with_result = shown.answered.filter(|_| shown.shows_result);
        questions.push(QuestionText {
            question: StudentQuestion {
                id: key.0.clone(),
                number: shown.number,
                title: bank.items[shown.place].title.clone(),
                texts: Vec::new(),
                html: String::new(),
                responses: shown.answered.map(|answered| answered.responses.clone()),
                result: answer_with_result.map(StudentResult::of),
            },
            xml: text.xml.clone(),
            files: files.get(&key.0).cloned().unwrap_or_default(),
            stimuli: stimuli(tx, &item)?
                .into_iter()
                .map(|(stimulus, files)| (stimulus.xml, files))
                .collect(),
            file_base: file_base.clone(),
            seed: shown.seed,
            answered: answer_with_result.map(|answered| (item, answered.responses.clone())),
        });
    }
    Ok(questions)
}

impl QuestionText {
    pub(super) fn render(self) -> Result<StudentQuestion> {
        let Self { question, xml, files, stimuli, file_base, seed, answered } = self;
        let texts = stimuli.iter().map(|(xml, files)| {
            stimulus_html(xml, &|reference| files.address(&file_base, reference))
        });
        let texts = texts.collect::<Result<_>>()?;
        let address_of = |reference: &str| files.address(&file_base, reference);
        let html = match answered {
            None => candidate_html(&xml, seed, &address_of)?,
            Some((item, responses)) => {
                answered_html((&item, &xml), &responses, seed, &address_of)?.1
            }
        };
        Ok(StudentQuestion { texts, html, ..question })
    }
}
