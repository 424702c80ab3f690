//! Assessment banks: several variations of a test for one lesson, which students get in turn.
//!
//! A first attempt takes the test at the bank's position and moves it on, so that all tests are used equally. An
//! attempt always gets the same test again, also after the bank has changed.

use std::collections::HashSet;

use lyceum_core::limits::SOURCED_ID_MAX_CHARS;
use lyceum_core::time::Timestamp;
use lyceum_core::{Detail, Message, Problem, ProblemKind, Result, body, message};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::body::Object;
use crate::limits;
use crate::repository::banks as repository;
use crate::{ContentKind, Page, Reference};

pub use crate::repository::banks::Bank;

/// A bank in a request.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[schemars(rename = "AssessmentBankInput")]
pub struct BankInput {
    /// Its name.
    #[schemars(length(min = 1, max = limits::QTI_IDENTIFIER_MAX_CHARS))]
    pub identifier: String,
    /// Its title.
    #[schemars(length(min = 1, max = limits::QTI_IDENTIFIER_MAX_CHARS))]
    pub title: String,
    /// The identifiers of its tests, in the order in which they take turns.
    #[schemars(
        length(min = 1, max = limits::BANK_TESTS_MAX_COUNT),
        inner(length(min = 1)),
        extend("uniqueItems" = true)
    )]
    pub tests: Vec<String>,
    /// Its metadata.
    pub metadata: Option<Object>,
}

impl BankInput {
    /// A bank as it is sent. Errors: `Invalid`, with every fault and its path.
    pub fn read(body: Object) -> Result<Self> {
        let input: Self = body::of(body.into())?;
        let mut faults = Vec::new();
        for (at, test) in input.tests.iter().enumerate() {
            if input.tests[..at].contains(test) {
                faults.push(fault(
                    &format!("tests[{at}]"),
                    message!("'{test}' appears twice; name each test once"),
                ));
            }
        }
        if faults.is_empty() { Ok(input) } else { Err(Problem::invalid_all(faults)) }
    }
}

fn fault(path: &str, message: impl Into<Message>) -> Detail {
    Detail { path: path.to_owned(), message: message.into() }
}

/// A request for the next test of a bank.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AssessmentBankTurnInput")]
pub struct BankTurnRequest {
    /// The user.
    #[schemars(length(min = 1, max = SOURCED_ID_MAX_CHARS))]
    pub user_id: String,
    /// The user's attempt; without it, the one that follows the last.
    #[schemars(range(min = 1, max = limits::BANK_ATTEMPT_MAX_COUNT))]
    pub attempt: Option<i64>,
}

/// The fields that order lists of banks. The first is the default.
pub const SORTS: [&str; 4] = ["createdAt", "updatedAt", "identifier", "title"];

/// The variation that a user is served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AssessmentBankTurn")]
pub struct BankTurn {
    /// The bank.
    pub assessment_bank: String,
    /// The user.
    pub user_id: String,
    /// The number of the attempt, from 1.
    pub attempt: i64,
    /// The identifier of the test.
    pub assessment_test: String,
}

/// A reference to a test or a bank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Questions {
    /// The test with that identifier.
    Test(String),
    /// The bank with that identifier.
    Bank(String),
}

/// Finds the stored test or bank of each reference. A test comes before a bank with the same name. Runs two
/// statements.
pub fn questions(tx: &mut Tx<'_>, references: &[Reference]) -> Result<Vec<Option<Questions>>> {
    let names: Vec<&str> = references.iter().flat_map(Reference::names).collect();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let tests = crate::repository::known(tx, ContentKind::Test, &names)?;
    let banks = repository::existing(tx, &names)?;
    let questions = |reference: &Reference| {
        let stored_name = |known: &HashSet<String>| {
            reference.names().into_iter().find_map(|name| known.get(name).cloned())
        };
        stored_name(&tests)
            .map(Questions::Test)
            .or_else(|| stored_name(&banks).map(Questions::Bank))
    };
    Ok(references.iter().map(questions).collect())
}

/// Stores a new bank. If an equal bank already exists, it is returned. Errors: `Invalid` for tests that do not exist;
/// `Conflict` if another bank has the identifier.
pub fn create(tx: &mut Tx<'_>, now: Timestamp, input: &BankInput) -> Result<Bank> {
    check_tests(tx, &input.tests)?;
    if let Some(before) = repository::get(tx, &input.identifier)? {
        let same = (&before.title, &before.tests, &before.metadata)
            == (&input.title, &input.tests, &input.metadata);
        if same {
            return Ok(before);
        }
        let message = message!(
            "There is another assessment bank with the identifier '{input.identifier}'. Replace it with PUT, or choose \
             another identifier."
        );
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    let bank = to_bank(input, 1, now.to_string(), now);
    repository::insert(tx, &bank)?;
    Ok(bank)
}

/// Finds a bank. Errors: `NotFound`.
pub fn get(tx: &mut Tx<'_>, identifier: &str) -> Result<Bank> {
    repository::get(tx, identifier)?.ok_or_else(|| missing(identifier))
}

/// A page of banks, and the number of banks on all pages.
pub fn list(tx: &mut Tx<'_>, page: &Page) -> Result<(Vec<Bank>, u64)> {
    repository::list(tx, page)
}

/// Replaces the bank with this identifier. Turns that users had stay recorded. Errors: `NotFound`; `Invalid` for
/// tests that do not exist; `PreconditionFailed` if the stored version is not `expected`.
pub fn replace(
    tx: &mut Tx<'_>,
    now: Timestamp,
    input: &BankInput,
    expected: Option<i64>,
) -> Result<Bank> {
    let former = expect(tx, &input.identifier, expected)?;
    check_tests(tx, &input.tests)?;
    let bank = to_bank(input, former.version + 1, former.created_at, now);
    repository::update(tx, &bank)?;
    Ok(bank)
}

/// Finds the bank and checks its version.
fn expect(tx: &mut Tx<'_>, identifier: &str, expected: Option<i64>) -> Result<Bank> {
    let bank = get(tx, identifier)?;
    if expected.is_some_and(|expected| expected != bank.version) {
        let message = message!(
            "the assessment bank '{identifier}' has version {bank.version} now; read it again"
        );
        return Err(Problem::new(ProblemKind::PreconditionFailed, message));
    }
    Ok(bank)
}

/// Deletes a bank and its turns. Errors: `NotFound`; `PreconditionFailed` if the stored version is not `expected`.
pub fn delete(tx: &mut Tx<'_>, identifier: &str, expected: Option<i64>) -> Result<()> {
    expect(tx, identifier, expected)?;
    match repository::delete(tx, identifier)? {
        true => Ok(()),
        false => Err(missing(identifier)),
    }
}

/// The test that a user already got in an attempt; `None` if the user got none yet. Errors: `NotFound` for the bank.
pub fn find_drawn_test(
    tx: &mut Tx<'_>,
    bank: &str,
    user: &str,
    attempt: i64,
) -> Result<Option<BankTurn>> {
    let known = repository::drawn_test(tx, bank, user, attempt)?;
    if known.is_none() {
        get(tx, bank)?;
    }
    Ok(known.map(|test| bank_turn(bank, user, attempt, test)))
}

/// The test for a user's attempt, counted from 1; by default, for the attempt after the last one. Each user's first
/// attempt takes the next test of the bank's rotation, so that users start with all tests equally often. Further
/// attempts take the following tests in turn. A repeated attempt gets the same test, even if the bank has changed.
/// Errors: `NotFound` for the bank.
pub fn next(tx: &mut Tx<'_>, bank: &str, user: &str, attempt: Option<i64>) -> Result<BankTurn> {
    let Bank { tests, .. } = get(tx, bank)?;
    let last = repository::last_turn(tx, bank, user)?;
    let attempt = attempt.unwrap_or_else(|| last.as_ref().map_or(1, |(attempt, _)| attempt + 1));
    if let Some(test) = repository::drawn_test(tx, bank, user, attempt)? {
        return Ok(bank_turn(bank, user, attempt, test));
    }
    let place = |test: &str| tests.iter().position(|other| other == test);
    let known = last.and_then(|(attempt, test)| Some((attempt, place(&test)?)));
    let (from, start) = match known {
        Some((last, at)) => (last, at),
        None => (1, modulo(repository::turn_rotation(tx, bank)?, tests.len())),
    };
    let count = i64::try_from(tests.len()).map_err(Problem::internal)?;
    let ahead = modulo((attempt - from).rem_euclid(count), tests.len());
    let test = tests[(start + ahead) % tests.len()].clone();
    repository::put_turn(tx, bank, user, attempt, &test)?;
    Ok(bank_turn(bank, user, attempt, test))
}

fn modulo(number: i64, count: usize) -> usize {
    usize::try_from(number).unwrap_or_default() % count
}

fn bank_turn(bank: &str, user: &str, attempt: i64, test: String) -> BankTurn {
    BankTurn {
        assessment_bank: bank.to_owned(),
        user_id: user.to_owned(),
        attempt,
        assessment_test: test,
    }
}

fn to_bank(input: &BankInput, version: i64, created_at: String, now: Timestamp) -> Bank {
    let BankInput { identifier, title, tests, metadata } = input.clone();
    Bank { identifier, title, tests, metadata, version, created_at, updated_at: now.to_string() }
}

fn missing(identifier: &str) -> Problem {
    Problem::new(ProblemKind::NotFound, message!("there is no assessment bank '{identifier}'"))
}

/// Checks that all tests exist. Errors: `Invalid`, with those that do not.
fn check_tests(tx: &mut Tx<'_>, tests: &[String]) -> Result<()> {
    let known = crate::repository::known(tx, crate::ContentKind::Test, tests)?;
    let faults: Vec<Detail> = tests
        .iter()
        .enumerate()
        .filter(|(_, test)| !known.contains(*test))
        .map(|(at, test)| {
            let message = message!("there is no test '{test}'; create it first");
            Detail { path: format!("tests[{at}]"), message }
        })
        .collect();
    match faults.is_empty() {
        true => Ok(()),
        false => Err(Problem::invalid_all(faults)),
    }
}
