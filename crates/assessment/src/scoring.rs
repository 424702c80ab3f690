//! Answers to stored items: scored, and what a learner is shown before and after.

use std::sync::Arc;

use lyceum_core::random::Stream;
use lyceum_core::{Detail, Problem, Result, limits};
use lyceum_qti::model::{FeedbackKind, Item};
use lyceum_qti::{
    Attempt, Outcomes, ResponseFault, Responses, Variant, View, check, score, variant,
};
use lyceum_store::Tx;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use serde::Serialize;
use serde_json::Value;

use crate::body::Object;
use crate::repository;

/// Items that were read lately, by identifier and version, so that a response is scored without
/// parsing. Bounded by [`limits::QTI_PARSED_CACHE_BYTES`] of XML.
pub struct Items(Cache<(String, i64), Parsed, Bytes>);

#[derive(Clone)]
struct Parsed {
    item: Arc<Item>,
    bytes: u64,
}

#[derive(Clone)]
struct Bytes;

impl Weighter<(String, i64), Parsed> for Bytes {
    fn weight(&self, _: &(String, i64), parsed: &Parsed) -> u64 {
        parsed.bytes.max(1)
    }
}

impl Default for Items {
    fn default() -> Self {
        let most = limits::QTI_PARSED_CACHE_BYTES;
        // An item of ordinary size; the estimate sizes the table of the cache alone.
        let estimate = usize::try_from(most / 4096).unwrap_or(usize::MAX);
        Self(Cache::with_weighter(estimate, most, Bytes))
    }
}

impl Items {
    /// A version of an item that is or was stored, parsed. Errors: `NotFound`.
    pub fn version(&self, tx: &mut Tx<'_>, identifier: &str, version: i64) -> Result<Arc<Item>> {
        if let Some(found) = self.0.get(&(identifier.to_owned(), version)) {
            return Ok(found.item);
        }
        let stored = repository::version(tx, crate::Kind::Item, identifier, version)?;
        self.keep(identifier, version, &stored.xml)
    }

    /// A stored item, parsed. Errors: `NotFound`.
    pub fn item(&self, tx: &mut Tx<'_>, identifier: &str) -> Result<Arc<Item>> {
        let known = |version| self.0.get(&(identifier.to_owned(), version)).map(|found| found.item);
        repository::parsed(tx, identifier, known, |version, xml| {
            self.keep(identifier, version, xml)
        })
    }

    fn keep(&self, identifier: &str, version: i64, xml: &str) -> Result<Arc<Item>> {
        let item = Arc::new(lyceum_qti::read_item(xml)?);
        let parsed = Parsed { item: Arc::clone(&item), bytes: xml.len() as u64 };
        self.0.insert((identifier.to_owned(), version), parsed);
        Ok(item)
    }
}

/// What came of a response.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scored {
    /// The outcome `SCORE`; 0 where it has no value.
    pub score: f64,
    /// The outcome that chose the first feedback that is shown, and its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Chosen>,
    /// Every outcome by its name.
    pub outcomes: Value,
    /// Every feedback that is shown, in the order of the document.
    pub feedbacks: Vec<Shown>,
}

/// An outcome and the value by which it chose a feedback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chosen {
    /// The outcome.
    pub identifier: String,
    /// Its value.
    pub value: String,
}

/// A feedback that is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shown {
    /// `modal`, `inline` or `block`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The outcome that chose it.
    pub outcome_identifier: String,
    /// Its own identifier.
    pub identifier: String,
    /// Its title, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it says, as XML.
    pub content: String,
}

/// Scores an answer: `{response, seed?}`, or `{responses: {variable: value}, seed?}` for an item with
/// several response variables. `seed` names the variant of an item with templates. Errors: `Invalid`
/// for answers that do not fit the item, each by its variable.
pub fn respond(item: &Item, body: &Object) -> Result<Scored> {
    let mut random = Stream::seeded(seed(body.get("seed"))?);
    let responses = responses(item, body)?;
    let variant = (!item.templates.is_empty()).then(|| variant(item, &mut random));
    let attempt = Attempt { number: 1, variant: variant.as_ref(), ..Attempt::default() };
    let outcomes = score(item, &responses, attempt, &mut random);
    Ok(scored(item, &outcomes))
}

/// The score of a right answer: of the one that the item declares as correct; where it declares none,
/// what its `SCORE` can be at most, else 1.
pub fn full_score(item: &Item, seed: u64) -> f64 {
    let mut random = Stream::seeded(seed);
    let variant = (!item.templates.is_empty()).then(|| variant(item, &mut random));
    let mut responses = Responses::default();
    for response in &item.responses {
        let name = &response.declaration.identifier;
        let of_variant = variant.as_ref().and_then(|variant| variant.correct(name));
        match of_variant.unwrap_or(&response.correct) {
            lyceum_qti::value::Value::Null => {}
            correct => responses.set(name, correct.clone()),
        }
    }
    let declared = item.outcome("SCORE").and_then(|score| score.normal_maximum);
    if responses == Responses::default() {
        return declared.unwrap_or(1.0);
    }
    let attempt = Attempt { number: 1, variant: variant.as_ref(), ..Attempt::default() };
    let reached = score(item, &responses, attempt, &mut random).score();
    reached.filter(|reached| *reached > 0.0).or(declared).unwrap_or(1.0)
}

fn scored(item: &Item, outcomes: &Outcomes) -> Scored {
    let shown: Vec<_> = outcomes.feedback(item);
    let first = shown.iter().find(|feedback| feedback.kind == FeedbackKind::Modal);
    Scored {
        score: outcomes.score().filter(|score| score.is_finite()).unwrap_or(0.0),
        feedback: first.or(shown.first()).map(|feedback| Chosen {
            identifier: feedback.outcome.to_string(),
            value: feedback.identifier.to_string(),
        }),
        outcomes: outcomes.to_json(),
        feedbacks: shown
            .into_iter()
            .map(|feedback| Shown {
                kind: match feedback.kind {
                    FeedbackKind::Inline => "inline",
                    FeedbackKind::Block => "block",
                    FeedbackKind::Modal | FeedbackKind::Test { .. } => "modal",
                },
                outcome_identifier: feedback.outcome.to_string(),
                identifier: feedback.identifier.to_string(),
                title: feedback.title.as_deref().map(str::to_owned),
                content: feedback.content.clone(),
            })
            .collect(),
    }
}

/// The answers, read and held against the rules of the interactions.
fn responses(item: &Item, body: &Object) -> Result<Responses> {
    let given = match (body.get("responses"), body.get("response")) {
        (Some(Value::Object(given)), _) | (None, Some(Value::Object(given))) => given.clone(),
        (Some(_), _) => {
            return Err(Problem::invalid("responses", "must be an object of variables"));
        }
        (None, None) => {
            let message = "is required; send a text, a list of texts, or null for no answer";
            return Err(Problem::invalid("response", message));
        }
        (None, Some(answer)) => match item.responses.first() {
            Some(first) => {
                let first = item.response("RESPONSE").unwrap_or(first);
                let name = first.declaration.identifier.to_string();
                std::iter::once((name, answer.clone())).collect()
            }
            None => Object::new(),
        },
    };
    let responses = Responses::from_json(item, &given).map_err(refused)?;
    match check(item, &responses) {
        faults if faults.is_empty() => Ok(responses),
        faults => Err(refused(faults)),
    }
}

fn refused(faults: Vec<ResponseFault>) -> Problem {
    let detail = |fault: ResponseFault| Detail {
        path: format!("response.{}", fault.identifier),
        message: format!("{}; {}", fault.message, fault.mend),
    };
    Problem::invalid_all(faults.into_iter().map(detail).collect())
}

/// The seed of an item's variant; 0 where none is given.
fn seed(given: Option<&Value>) -> Result<u64> {
    match given {
        None | Some(Value::Null) => Ok(0),
        Some(seed) => {
            seed.as_u64().ok_or_else(|| Problem::invalid("seed", "must be a whole number from 0"))
        }
    }
}

/// An item for its candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What a learner is shown before an answer, as XML of QTI 3.0: no keys, no processing, no hidden
    /// feedback.
    pub xml: String,
    /// Whether another seed may show another variant.
    pub varies: bool,
}

/// An item for its candidate. The same seed as for [`respond`] shows the same variant.
pub fn candidate(xml: &str, seed: u64) -> Result<Candidate> {
    let item = lyceum_qti::read_item(xml)?;
    let mut random = Stream::seeded(seed);
    let varies = !item.templates.is_empty();
    let variant: Option<Variant> = varies.then(|| variant(&item, &mut random));
    let view = View { outcomes: None, variant: variant.as_ref() };
    Ok(Candidate { xml: lyceum_qti::candidate_view(xml, view)?, varies })
}
