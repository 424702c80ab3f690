//! Scores responses to stored items, and renders items for learners.

use std::sync::Arc;

use lyceum_core::random::RandomStream;
use lyceum_core::{Detail, Problem, Result, message};
use lyceum_qti::model::{FeedbackKind, Item, ResponseDeclaration};
use lyceum_qti::{
    CandidateSession, Outcomes, ResponseFault, Responses, ScoringInput, Variant, check,
    is_scored_elsewhere, needs_manual_scoring, score, variant,
};
use lyceum_store::Tx;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::body::Object;
use crate::limits;
use crate::repository;

/// A cache of parsed items by identifier and version, so that scoring a response need not parse. It is limited to
/// [`limits::QTI_PARSED_CACHE_BYTES`] of XML.
pub struct Items(Cache<(String, i64), ParsedItem, Bytes>);

#[derive(Clone)]
struct ParsedItem {
    item: Arc<Item>,
    bytes: u64,
}

#[derive(Clone)]
struct Bytes;

impl Weighter<(String, i64), ParsedItem> for Bytes {
    fn weight(&self, _: &(String, i64), parsed: &ParsedItem) -> u64 {
        parsed.bytes.max(1)
    }
}

impl Default for Items {
    fn default() -> Self {
        let most = limits::QTI_PARSED_CACHE_BYTES;
        // Assumes items of typical size. The estimate only determines the size of the cache's table.
        let estimate = usize::try_from(most / 4096).unwrap_or(usize::MAX);
        Self(Cache::with_weighter(estimate, most, Bytes))
    }
}

impl Items {
    /// A current or earlier version of an item, parsed. Errors: `NotFound`.
    pub fn version(&self, tx: &mut Tx<'_>, identifier: &str, version: i64) -> Result<Arc<Item>> {
        if let Some(found) = self.0.get(&(identifier.to_owned(), version)) {
            return Ok(found.item);
        }
        let stored = repository::version(tx, crate::ContentKind::Item, identifier, version)?;
        self.parse_and_cache(identifier, version, &stored.xml)
    }

    /// A stored item, parsed. Errors: `NotFound`.
    pub fn item(&self, tx: &mut Tx<'_>, identifier: &str) -> Result<Arc<Item>> {
        let known = |version| self.0.get(&(identifier.to_owned(), version)).map(|found| found.item);
        repository::parsed(tx, identifier, known, |version, xml| {
            self.parse_and_cache(identifier, version, xml)
        })
    }

    fn parse_and_cache(&self, identifier: &str, version: i64, xml: &str) -> Result<Arc<Item>> {
        let item = Arc::new(lyceum_qti::read_item(xml)?);
        let parsed = ParsedItem { item: Arc::clone(&item), bytes: xml.len() as u64 };
        self.0.insert((identifier.to_owned(), version), parsed);
        Ok(item)
    }
}

/// The result of scoring a response.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ScoredAnswer")]
pub struct AnswerScore {
    /// The outcome `SCORE`; 0 if it has no value.
    pub score: f64,
    /// The score of a right answer.
    pub max_score: f64,
    /// Whether a person still has to score the answer.
    pub needs_manual_scoring: bool,
    /// Whether the answer follows the rules of its interactions, such as `min-choices`. Otherwise, it is still
    /// scored.
    pub is_valid: bool,
    /// The rules that it breaks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<ResponseFault>,
    /// The outcome that selected the first visible feedback, and its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Chosen>,
    /// Every outcome by its name.
    #[schemars(with = "Map<String, Value>")]
    pub outcomes: Value,
    /// All visible feedback, in document order; none if a person must score the answer and the item does not say so.
    pub feedbacks: Vec<ShownFeedback>,
}

impl AnswerScore {
    /// The answer's share of a correct answer's score, from 0 to 1. An answer with more choices than allowed earns
    /// nothing, because under a mapping, selecting every choice would earn everything.
    pub fn share(&self) -> f64 {
        if self.faults.iter().any(|fault| fault.is_excess) {
            return 0.0;
        }
        // Rounding may make a sum of parts slightly different from the whole.
        match self.score / self.max_score {
            share if share >= 1.0 - 1e-9 => 1.0,
            share if share > 0.0 => share,
            _ => 0.0,
        }
    }
}

/// An outcome and the value by which it chose a feedback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ChosenFeedback")]
pub struct Chosen {
    /// The outcome.
    pub identifier: String,
    /// Its value.
    pub value: String,
}

/// A feedback that is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ShownFeedback")]
pub struct ShownFeedback {
    /// Where it is shown.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["modal", "inline", "block"]))]
    pub kind: &'static str,
    /// The outcome that selected it.
    pub outcome_identifier: String,
    /// Its identifier.
    pub identifier: String,
    /// Its title, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its content, as XML.
    pub content: String,
}

/// The responses of an answer, as clients send them. One of the members must be there.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[schemars(extend("anyOf" = [{ "required": ["response"] }, { "required": ["responses"] }]))]
pub struct SentResponses {
    /// The answers by response variable.
    #[schemars(extend("type" = "object"))]
    responses: Option<Object>,
    /// The answer to one response variable: a text, a list of texts, or null for none.
    response: Option<Value>,
}

impl SentResponses {
    /// The responses by response variable. A single response belongs to `RESPONSE`, or to the item's first variable.
    pub fn by_variable(self, item: &Item) -> Object {
        self.of_variable(None, item)
    }

    fn of_variable(self, named: Option<&ResponseDeclaration>, item: &Item) -> Object {
        let usual = || item.response("RESPONSE").or_else(|| item.responses.first());
        match (self.responses, self.response) {
            (Some(responses), _) | (None, Some(Value::Object(responses))) => responses,
            (None, response) => {
                let variable = named.or_else(usual).map(|found| &found.declaration.identifier);
                variable.map(|name| (name.to_string(), response.into())).into_iter().collect()
            }
        }
    }
}

/// An answer to an item, to try out its scoring.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct ItemAnswer {
    /// The name of the response variable, or of the item.
    identifier: Option<String>,
    #[serde(flatten)]
    responses: SentResponses,
    /// The variant of an item with templates; by default 0.
    seed: Option<u64>,
}

impl ItemAnswer {
    /// The responses by response variable, and the seed of the variant.
    ///
    /// Errors: `Invalid` for an identifier that is neither a response variable nor the item's.
    pub fn for_item(self, item: &Item) -> Result<(Object, u64)> {
        let named = self.identifier.map(|name| response_named(item, &name)).transpose()?;
        Ok((self.responses.of_variable(named.flatten(), item), self.seed.unwrap_or(0)))
    }
}

/// Scores responses by response variable. The seed selects the variant of an item with templates. An answer that
/// breaks a rule such as `min-choices` is scored and marked. Errors: `Invalid` for responses that do not fit the
/// item, each by its variable.
pub fn respond(item: &Item, responses: &Object, seed: u64) -> Result<AnswerScore> {
    Ok(score_answer(item, responses, seed)?.scored)
}

/// A scored answer with everything that decides what is shown of the item after it.
pub(crate) struct ScoredAnswer {
    pub(crate) scored: AnswerScore,
    /// The outcomes that select feedback; `None` if the rules cannot judge the answer.
    pub(crate) outcomes: Option<Outcomes>,
    pub(crate) variant: Option<Variant>,
}

/// Scores an answer. Errors: as [`respond`].
pub(crate) fn score_answer(item: &Item, responses: &Object, seed: u64) -> Result<ScoredAnswer> {
    if let (true, Some(first)) = (responses.is_empty(), item.responses.first()) {
        let name = &first.declaration.identifier;
        let message = message!("must have an answer; to answer nothing, send {{\"{name}\": null}}");
        return Err(Problem::invalid("responses", message));
    }
    let responses = Responses::from_json(item, responses).map_err(refused)?;
    let faults = check(item, &responses);
    if faults.iter().any(|fault| !fault.is_scored) {
        return Err(refused(faults));
    }
    let mut random = RandomStream::seeded(seed);
    let variant = (!item.templates.is_empty()).then(|| variant(item, &mut random));
    let attempt = ScoringInput { number: 1, variant: variant.as_ref(), ..ScoringInput::default() };
    let outcomes = score(item, &responses, attempt, &mut random);
    let needs_manual_scoring = needs_manual_scoring(item, &responses);
    let mut scored = AnswerScore {
        max_score: full_score(item, seed),
        needs_manual_scoring,
        is_valid: faults.is_empty(),
        faults,
        ..scored(item, &outcomes)
    };
    // Rules that cannot judge an answer would call it wrong. An author who says that a person scores it wrote them for that.
    let judges = !needs_manual_scoring || is_scored_elsewhere(item);
    if !judges {
        (scored.feedback, scored.feedbacks) = (None, Vec::new());
    }
    Ok(ScoredAnswer { scored, outcomes: judges.then_some(outcomes), variant })
}

/// Like [`respond`], for tests that validate responses (`validate-responses`). Errors: `Invalid` also for answers
/// that break a rule of an interaction.
pub fn respond_validated(item: &Item, responses: &Object, seed: u64) -> Result<AnswerScore> {
    match respond(item, responses, seed)? {
        scored if scored.is_valid => Ok(scored),
        scored => Err(refused(scored.faults)),
    }
}

/// The score of a correct answer. If the item declares no correct response, it is the maximum of `SCORE`, or 1.
pub fn full_score(item: &Item, seed: u64) -> f64 {
    let mut random = RandomStream::seeded(seed);
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
    let attempt = ScoringInput { number: 1, variant: variant.as_ref(), ..ScoringInput::default() };
    let reached = score(item, &responses, attempt, &mut random).score();
    reached.filter(|reached| *reached > 0.0).or(declared).unwrap_or(1.0)
}

fn scored(item: &Item, outcomes: &Outcomes) -> AnswerScore {
    let shown: Vec<_> = outcomes.feedback(item);
    let first = shown.iter().find(|feedback| feedback.kind == FeedbackKind::Modal);
    AnswerScore {
        score: outcomes.score().filter(|score| score.is_finite()).unwrap_or(0.0),
        max_score: 1.0,
        needs_manual_scoring: false,
        is_valid: true,
        faults: Vec::new(),
        feedback: first.or(shown.first()).map(|feedback| Chosen {
            identifier: feedback.outcome.to_string(),
            value: feedback.identifier.to_string(),
        }),
        outcomes: outcomes.to_json(),
        feedbacks: shown
            .into_iter()
            .map(|feedback| ShownFeedback {
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

/// The response variable with this name; `None` for the name of the item. Errors: `Invalid` for any other name.
fn response_named<'i>(item: &'i Item, name: &str) -> Result<Option<&'i ResponseDeclaration>> {
    let named = item.response(name);
    if named.is_some() || *name == *item.identifier {
        return Ok(named);
    }
    let known = item.responses.iter().map(|own| &*own.declaration.identifier);
    let message = message!(
        "The item '{item.identifier}' has no response variable '{name}'. Write one of {names}, or leave identifier \
         out.",
        names = known.collect::<Vec<_>>().join(", ")
    );
    Err(Problem::invalid("identifier", message))
}

fn refused(faults: Vec<ResponseFault>) -> Problem {
    let detail = |fault: ResponseFault| Detail {
        path: format!("response.{}", fault.identifier),
        message: message!("{fault.message}; {fault.remedy}"),
    };
    Problem::invalid_all(faults.into_iter().map(detail).collect())
}

/// An item as learners see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The item before an answer, as QTI 3.0 XML without keys, processing and hidden feedback.
    pub xml: String,
    /// Whether another seed may show another variant, or another order of choices.
    pub varies: bool,
}

/// Renders an item for learners. The seed selects the same variant as in [`respond`], and the order of shuffled
/// choices.
pub fn candidate(xml: &str, seed: u64) -> Result<Candidate> {
    let item = lyceum_qti::read_item(xml)?;
    let mut random = RandomStream::seeded(seed);
    let has_variants = !item.templates.is_empty();
    let variant: Option<Variant> = has_variants.then(|| variant(&item, &mut random));
    let view = CandidateSession { outcomes: None, variant: variant.as_ref(), seed };
    let varies = has_variants || item.interactions.iter().any(|interaction| interaction.shuffle);
    Ok(Candidate { xml: lyceum_qti::candidate_view(xml, view)?, varies })
}
