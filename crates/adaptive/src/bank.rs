//! The questions of an attempt, in the versions that they had when it began.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use lyceum_assessment::repository::{self as content, ItemHead};
use lyceum_assessment::{ContentKind, Reference, structure};
use lyceum_core::text::hex;
use lyceum_core::{Problem, Result};
use lyceum_store::Tx;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::Difficulty;
use crate::engine::{self, Calibration};
use crate::limits;
use crate::repository::banks as repository;
use crate::sized_cache::SizedCache;
use crate::time_limit::TestTimeLimit;

/// The questions of an attempt: a version of each item, in the order of the test.
#[derive(Debug)]
pub struct QuestionSet {
    /// The hash of its content.
    pub id: String,
    /// The questions, as the engine sees them.
    pub questions: engine::EngineQuestions,
    /// Further data about the questions for learners, in the same order.
    pub items: Vec<QuestionDetails>,
}

/// Data about a question that the engine does not need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionDetails {
    /// The version of the item.
    pub version: i64,
    /// Its title.
    pub title: String,
    /// Its learning objectives, as its author set them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub learning_objectives: Vec<String>,
    /// Whether answers that break a rule of the interaction are refused (`validate-responses` of the test).
    /// Otherwise, they are scored and marked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub validates_responses: bool,
}

#[derive(Serialize, Deserialize)]
struct StoredQuestion {
    #[serde(flatten)]
    question: engine::Question,
    #[serde(flatten)]
    item: QuestionDetails,
}

impl QuestionSet {
    /// The bank of the items of an attempt, in order. Without a test, it is empty. The bank is stored, unless
    /// `former` has the same versions in the same order.
    ///
    /// `seed` determines selection and order in a lesson that is shown whole. Without a seed, the bank has all items
    /// in the order of the test, because the engine chooses among them step by step.
    pub(crate) fn of_test(
        tx: &mut Tx<'_>,
        tests: &TestCache,
        (test, seed): (Option<&str>, Option<u64>),
        former: Option<Arc<Self>>,
    ) -> Result<Arc<Self>> {
        let mut rows = Vec::new();
        if let Some(test) = test {
            let names = tests.names(tx, test)?;
            let heads = match seed.filter(|_| names.varies) {
                Some(seed) => arranged(tx, test, seed, former.as_deref())?,
                None => structure::heads(tx, &names.of)?,
            };
            let validated = match names.validated.is_empty() {
                true => Vec::new(),
                false => structure::heads(tx, &names.validated)?,
            };
            let validated = validated.into_iter().map(|head| head.identifier).collect();
            let is_same =
                |former: &Arc<Self>| former.is_of(&heads) && former.validates_as(&validated);
            if let Some(former) = former.filter(is_same) {
                return Ok(former);
            }
            rows.extend(heads.into_iter().map(|head| row(head, &validated)));
        }
        let body = serde_json::to_string(&rows).map_err(Problem::internal)?;
        let id = hex(Sha256::digest(body.as_bytes()));
        repository::put(tx, &id, &body)?;
        Ok(Arc::new(Self::of_rows(id, rows)))
    }

    /// Whether it has exactly these versions of items, whose content never changes.
    fn is_of(&self, heads: &[ItemHead]) -> bool {
        let own = self.questions.questions.iter().zip(&self.items);
        let own = own.map(|(question, item)| (question.id.as_str(), item.version));
        own.eq(heads.iter().map(|head| (head.identifier.as_str(), head.version)))
    }

    /// Whether it refuses invalid answers to exactly these items.
    fn validates_as(&self, validated: &HashSet<String>) -> bool {
        let own = self.questions.questions.iter().zip(&self.items);
        own.into_iter()
            .all(|(question, item)| item.validates_responses == validated.contains(&question.id))
    }

    fn of_rows(id: String, rows: Vec<StoredQuestion>) -> Self {
        let (questions, items) = rows.into_iter().map(|row| (row.question, row.item)).unzip();
        Self { id, questions: engine::EngineQuestions { questions }, items }
    }

    fn parse(id: &str, body: &str) -> Result<Self> {
        let rows: Vec<StoredQuestion> = serde_json::from_str(body).map_err(Problem::internal)?;
        Ok(Self::of_rows(id.to_owned(), rows))
    }

    /// The banks that exist, by id. Runs one statement.
    pub(crate) fn find_all(tx: &mut Tx<'_>, ids: &[&str]) -> Result<HashMap<String, Self>> {
        let found = repository::find_all(tx, ids)?.into_iter();
        let parsed = found.map(|(id, body)| Ok((id.clone(), Self::parse(&id, &body)?)));
        parsed.collect()
    }

    /// The place of the item with that identifier.
    pub(crate) fn place(&self, identifier: &str) -> Option<usize> {
        self.questions.questions.iter().position(|question| question.id == identifier)
    }
}

/// The maximum number of draws to find an order that differs from the previous attempt's.
const DRAWS: u64 = 8;

/// The items that the seed selects, in its order. The order differs from the previous attempt's if one is found
/// within [`DRAWS`] draws. An item that is drawn twice is asked once, because answers name items.
fn arranged(
    tx: &mut Tx<'_>,
    test: &str,
    seed: u64,
    former: Option<&QuestionSet>,
) -> Result<Vec<ItemHead>> {
    let test = structure::test(tx, test)?;
    let (mut heads, mut drawn) = (Vec::new(), None);
    for draw in 0..DRAWS {
        let references = structure::arranged(&test, engine::mixed(seed, draw));
        if drawn.as_ref() == Some(&references) {
            continue;
        }
        heads = structure::heads(tx, &references)?;
        drawn = Some(references);
        let mut known = HashSet::new();
        heads.retain(|head| known.insert(head.identifier.clone()));
        if !former.is_some_and(|former| former.is_of(&heads)) {
            break;
        }
    }
    Ok(heads)
}

/// A question with the data in its item's metadata: `difficulty`, `humanApproved`, `irt: {a, b, c}`,
/// `learningObjectives`. Without a difficulty, it counts as easy.
fn row(head: ItemHead, validated: &HashSet<String>) -> StoredQuestion {
    let metadata: Map<String, Value> = head
        .metadata
        .as_deref()
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let calibration = metadata.get("irt").and_then(|irt| {
        let parameter = |name: &str| irt.get(name).and_then(Value::as_f64);
        let (b, c) = (parameter("b")?, parameter("c").unwrap_or(0.0));
        Some(Calibration { a: parameter("a").unwrap_or(1.0), b, c })
    });
    let difficulty_name = metadata.get("difficulty").and_then(Value::as_str);
    let difficulty_name =
        difficulty_name.and_then(|name| Difficulty::from_name(&name.to_ascii_lowercase()));
    let objectives = metadata.get("learningObjectives").and_then(Value::as_array);
    let validates_responses = validated.contains(&head.identifier);
    StoredQuestion {
        question: engine::Question {
            id: head.identifier,
            difficulty: difficulty_name.or(calibration.map(of_b)).unwrap_or(Difficulty::Easy),
            approved: metadata.get("humanApproved").and_then(Value::as_bool).unwrap_or(false),
            calibration,
        },
        item: QuestionDetails {
            version: head.version,
            title: head.title,
            learning_objectives: objectives
                .into_iter()
                .flatten()
                .filter_map(|objective| objective.as_str().map(str::to_owned))
                .collect(),
            validates_responses,
        },
    }
}

/// Thirds of a standard normal distribution, so that easy, medium and hard questions are equally frequent.
fn of_b(calibration: Calibration) -> Difficulty {
    const THIRD: f64 = 0.430_727;
    match calibration.b {
        b if b < -THIRD => Difficulty::Easy,
        b if b > THIRD => Difficulty::Hard,
        _ => Difficulty::Medium,
    }
}

/// A cache of the item references of tests, valid as long as a test stays the same. It is limited to
/// [`limits::LESSON_TEST_CACHE_BYTES`] of names.
pub(crate) struct TestCache(SizedCache<String, QuestionNames>);

struct QuestionNames {
    state: String,
    of: Vec<Reference>,
    /// Whether its sections select or shuffle.
    varies: bool,
    /// The items whose answers it validates.
    validated: Vec<Reference>,
    time_limit: Option<TestTimeLimit>,
}

impl Default for TestCache {
    fn default() -> Self {
        Self(SizedCache::new(limits::LESSON_TEST_CACHE_BYTES, 4096))
    }
}

impl TestCache {
    /// The time limit of a test. Errors: `NotFound`.
    pub(crate) fn time_limit(&self, tx: &mut Tx<'_>, test: &str) -> Result<Option<TestTimeLimit>> {
        Ok(self.names(tx, test)?.time_limit)
    }

    /// Errors: `NotFound`.
    fn names(&self, tx: &mut Tx<'_>, test: &str) -> Result<Arc<QuestionNames>> {
        let state = content::state(tx, ContentKind::Test, test)?
            .ok_or_else(|| ContentKind::Test.missing(test))?;
        let test = test.to_owned();
        if let Some(known) = self.0.get(&test)
            && known.state == state
        {
            return Ok(known);
        }
        let read = structure::test(tx, &test)?;
        let (of, varies) = (structure::references(&read), structure::varies(&read));
        let validated = structure::validated(&read);
        let names = of.iter().chain(&validated);
        let bytes = names.map(|name| name.identifier.len() + name.href.len()).sum();
        let time_limit = TestTimeLimit::of(&read);
        let names = Arc::new(QuestionNames { state, of, varies, validated, time_limit });
        self.0.store(test, Arc::clone(&names), bytes);
        Ok(names)
    }
}

/// A cache of banks. Banks never change, so an entry is never stale. It is limited to
/// [`limits::LESSON_BANK_CACHE_BYTES`] of JSON.
pub struct QuestionSetCache(SizedCache<String, QuestionSet>);

impl Default for QuestionSetCache {
    fn default() -> Self {
        Self(SizedCache::new(limits::LESSON_BANK_CACHE_BYTES, 8192))
    }
}

impl QuestionSetCache {
    /// The bank with that id.
    pub(crate) fn get(&self, tx: &mut Tx<'_>, id: &String) -> Result<Arc<QuestionSet>> {
        if let Some(known) = self.0.get(id) {
            return Ok(known);
        }
        let body = repository::get(tx, id)?;
        let bank = Arc::new(QuestionSet::parse(id, &body)?);
        self.0.store(id.clone(), Arc::clone(&bank), body.len());
        Ok(bank)
    }
}
