//! Runs the hot paths of a server in one process, for `tests/it/hot_paths.rs`, which counts their instructions.
//!
//! `hot-paths prepare FOLDER` makes the database, and `hot-paths run FOLDER` runs each path twice: caches are filled the
//! first time, and the second time counts. The paths are the functions whose names begin with `path_`.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;

use ed25519_dalek::SigningKey;
use lyceum_adaptive::engine::{Answer, AnswerLog, EngineQuestions, Question, WHOLE, next, stream};
use lyceum_adaptive::{Difficulty, LessonType, Policy};
use lyceum_core::random::RandomStream;
use lyceum_core::time::Timestamp;
use lyceum_core::{PayloadDialect, Reach, Result};
use lyceum_credentials::{did, proof, verify};
use lyceum_events::Event;
use lyceum_qti::model::Item;
use lyceum_qti::{Responses, ScoringInput, check, read_item, score};
use lyceum_roster::collections::at;
use lyceum_roster::query::{ListParameters, query};
use lyceum_roster::render::RecordView;
use lyceum_roster::repository::{self, ListQuery};
use lyceum_store::{Db, SqlDialect, StoreLocation, Tx};
use lyceum_testkit::records;
use serde_json::{Value, json};

/// Records of a page, and events of an envelope.
const PAGE: usize = 100;
/// Questions of the bank, of which the attempt has answered every tenth.
const QUESTIONS: u16 = 500;
/// How often a path is repeated, so that seeds of hash maps and the state of the heap average out. An envelope is large
/// enough by itself.
const REPEATED: usize = 5;
const NOW: Timestamp = Timestamp::from_milliseconds(1_768_464_000_000);
const ITEM: &str = include_str!("hot-paths-item.xml");

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [command, folder] = &arguments[..] else {
        panic!("write `hot-paths prepare FOLDER` or `hot-paths run FOLDER`")
    };
    let migrations = [lyceum_roster::MIGRATIONS, lyceum_events::MIGRATIONS].concat();
    let file = Path::new(folder).join("hot-paths.db");
    let db = Db::open(&StoreLocation::Sqlite(file), &migrations).expect("the database opens");
    match command.as_str() {
        "prepare" => prepare(&db),
        "run" => run(&db),
        other => panic!("unknown command '{other}'"),
    }
}

/// A school with a page of students, of whom one takes ten classes.
fn prepare(db: &Db) {
    records::school(db, "school", "School");
    records::course(db, "course", "school", "Math");
    for number in 0..PAGE {
        records::student(db, &format!("student-{number}"), "school", "05");
    }
    for number in 0..10 {
        let class = format!("class-{number}");
        records::class(db, &class, "course", "school");
        records::enroll(db, "student-7", &class, "school", "student");
    }
}

fn run(db: &Db) {
    let filtered = filtered(db.dialect());
    let item = read_item(ITEM).expect("the item is correct");
    let policy = Policy::shipped(LessonType::Powerpath100);
    let (bank, log) = attempt();
    let key = SigningKey::from_bytes(&[7; 32]);
    let badge = badge(&key);
    let credential = signed(&badge, &key);
    for round in 0..2 {
        path_filter(db.dialect());
        db.read_blocking(|tx| path_list(tx, &filtered)).expect("the enrollments are read");
        let whole = list_query(
            "users",
            &ListParameters { limit: Some("100"), ..Default::default() },
            db.dialect(),
        );
        db.read_blocking(|tx| path_page(tx, &whole)).expect("the page is read");
        path_read_item(ITEM);
        path_score(&item);
        path_choose(&policy, &bank, &log);
        let events = path_validate(&envelope(round));
        db.write_blocking(|tx| path_append(tx, &events)).expect("the events are appended");
        path_sign(&badge, &key);
        path_verify(&credential);
    }
}

/// Reads the parameters of a list: the filter is parsed and its fields are found.
#[inline(never)]
fn path_filter(store: SqlDialect) {
    for _ in 0..REPEATED {
        black_box(filtered(store));
    }
}

/// Lists the ten enrollments of a student: the statement is built and run.
#[inline(never)]
fn path_list(tx: &mut Tx<'_>, filtered: &ListQuery) -> Result<()> {
    for _ in 0..REPEATED {
        assert_eq!(listed(tx, filtered)?, 10);
    }
    Ok(())
}

/// Renders a page of 100 users.
#[inline(never)]
fn path_page(tx: &mut Tx<'_>, whole: &ListQuery) -> Result<()> {
    for _ in 0..REPEATED {
        assert_eq!(listed(tx, whole)?, PAGE as u64);
    }
    Ok(())
}

/// Reads and checks a choice item.
#[inline(never)]
fn path_read_item(xml: &str) {
    for _ in 0..REPEATED {
        black_box(read_item(xml).expect("the item is correct"));
    }
}

/// Scores a response to a choice item.
#[inline(never)]
fn path_score(item: &Item) {
    let json = json!({ "RESPONSE": "C" });
    let values = json.as_object().expect("it is an object");
    let mut random = RandomStream::seeded(1);
    for _ in 0..REPEATED {
        let responses = Responses::from_json(item, values).expect("the response fits the item");
        assert!(check(item, &responses).is_empty());
        black_box(score(item, &responses, ScoringInput::default(), &mut random));
    }
}

/// Chooses the next question.
#[inline(never)]
fn path_choose(policy: &Policy, bank: &EngineQuestions, log: &AnswerLog) {
    for _ in 0..REPEATED {
        let choice = next(policy, bank, log, &mut stream(1, log.answers.len()));
        assert!(choice.is_some(), "the attempt goes on");
    }
}

/// Reads and checks an envelope of 100 events.
#[inline(never)]
fn path_validate(envelope: &str) -> Vec<Event> {
    lyceum_events::parse(envelope, NOW).expect("the envelope is correct").events
}

/// Appends 100 events.
#[inline(never)]
fn path_append(tx: &mut Tx<'_>, events: &[Event]) -> Result<()> {
    let appended = lyceum_events::append(tx, NOW, "client", events)?;
    assert_eq!(appended.len(), PAGE);
    Ok(())
}

/// Signs an Open Badge.
#[inline(never)]
fn path_sign(badge: &Value, key: &SigningKey) {
    for _ in 0..REPEATED {
        black_box(signed(badge, key));
    }
}

/// Verifies an Open Badge.
#[inline(never)]
fn path_verify(credential: &str) {
    for _ in 0..REPEATED {
        let verification = verify::verify(credential.as_bytes(), &BTreeMap::new(), NOW);
        assert!(verification.is_confirmed(), "{:#?}", verification.checks);
    }
}

fn signed(badge: &Value, key: &SigningKey) -> String {
    let method = did::key_method(&key.verifying_key());
    proof::sign(badge.clone(), key, &method, NOW).expect("the badge is signed").to_string()
}

/// A list of enrollments with a filter of three clauses.
fn filtered(store: SqlDialect) -> ListQuery {
    let filter = Some("user.sourcedId='student-7' AND role='student' AND status!='tobedeleted'");
    list_query("enrollments", &ListParameters { filter, ..Default::default() }, store)
}

fn list_query(path: &str, parameters: &ListParameters<'_>, store: SqlDialect) -> ListQuery {
    let collection = at(path).expect("the collection exists");
    query(collection, None, Reach::Everything, parameters, store).expect("the query is correct")
}

/// The number of records on the page.
fn listed(tx: &mut Tx<'_>, query: &ListQuery) -> Result<u64> {
    let view = RecordView {
        base_url: "https://lyceum.example.org",
        dialect: PayloadDialect::Platform,
        fields: None,
    };
    let page = repository::list(tx, query, &view)?;
    black_box(&page.records);
    Ok(page.count)
}

/// A bank, and an attempt that has answered 20 of its questions, every second one correctly.
fn attempt() -> (EngineQuestions, AnswerLog) {
    let questions = (0..QUESTIONS)
        .map(|number| Question {
            id: format!("question-{number}"),
            difficulty: Difficulty::ALL[usize::from(number % 3)],
            approved: true,
            calibration: None,
        })
        .collect();
    let answers = (0..20_u32)
        .map(|number| {
            let correct = number % 2 == 0;
            let (score, share) = (f64::from(u8::from(correct)), Some(u32::from(correct) * WHOLE));
            Answer { question: number, correct, score, share }
        })
        .collect();
    (EngineQuestions { questions }, AnswerLog { earlier: Vec::new(), answers })
}

/// An envelope with 100 new events for each number.
fn envelope(number: usize) -> String {
    let event = |event: usize| {
        json!({
            "@context": lyceum_events::CONTEXT,
            "id": format!("urn:uuid:00000000-0000-4000-8{number:03}-{event:012}"),
            "type": "ActivityEvent", "profile": "ServiceProfile", "action": "Completed",
            "eventTime": "2026-01-15T07:00:00.000Z",
            "actor": {
                "id": format!("https://lyceum.example.org/ims/oneroster/rostering/v1p2/users/student-{event}"),
                "type": "ServiceUser", "email": "student@example.org",
            },
            "object": {
                "id": "https://app.example/activities/fractions", "type": "ServiceActivityContext",
                "subject": "Math", "app": { "name": "Fractions" },
                "course": {
                    "id": "https://lyceum.example.org/ims/oneroster/rostering/v1p2/courses/course",
                    "name": "Course",
                },
                "activity": { "name": "Fractions 1" },
            },
            "generated": {
                "id": "https://app.example/metrics/1", "type": "ServiceActivityMetricsCollection",
                "attempt": 1, "items": [{ "type": "xpEarned", "value": 12.5 }],
            },
        })
    };
    json!({
        "sensor": "https://app.example", "sendTime": "2026-01-15T07:00:01.000Z",
        "dataVersion": lyceum_events::CONTEXT, "data": (0..PAGE).map(event).collect::<Value>(),
    })
    .to_string()
}

fn badge(key: &SigningKey) -> Value {
    json!({
        "@context": [
            "https://www.w3.org/ns/credentials/v2",
            "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json",
        ],
        "id": "https://badges.example/credentials/1",
        "type": ["VerifiableCredential", "OpenBadgeCredential"],
        "issuer": {
            "id": did::key_of(&key.verifying_key()), "type": ["Profile"], "name": "Riverside School",
        },
        "validFrom": "2026-01-01T00:00:00Z",
        "name": "Fractions",
        "credentialSubject": {
            "id": "did:example:ada", "type": ["AchievementSubject"],
            "achievement": {
                "id": "https://badges.example/achievements/fractions", "type": ["Achievement"],
                "name": "Fractions", "description": "Adds and compares fractions",
                "criteria": { "narrative": "Reaches a score of 100 in the lesson on fractions" },
            },
        },
    })
}
