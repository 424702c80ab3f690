//! Badges and learner records in the console, on both stores.

use lyceum_access::audit;
use lyceum_core::time::Timestamp;
use lyceum_core::{ProblemKind, Reach};
use lyceum_credentials::definition::{self, Definition};
use lyceum_credentials::issued::{self, CredentialText};
use lyceum_credentials::limits;
use lyceum_credentials::screens::badges::BadgeState;
use lyceum_credentials::screens::{badges, issuing, records as record_screen, text, title};
use lyceum_credentials::{MIGRATIONS, clr};
use lyceum_store::{Db, Migration};
use lyceum_testkit::{both_stores, records};
use serde_json::json;

const ALL: &Reach = &Reach::Everything;

fn both(body: impl Fn(&Db)) {
    let migrations: Vec<Migration> =
        [lyceum_access::MIGRATIONS, lyceum_roster::MIGRATIONS, MIGRATIONS].concat();
    both_stores(&migrations, |target| {
        let db = Db::open(target, &migrations).unwrap();
        records::school(&db, "s", "School");
        records::student(&db, "ann", "s", "3");
        records::student(&db, "zoë", "s", "4");
        body(&db);
    });
}

fn at(second: i64) -> Timestamp {
    "2026-01-15T08:00:00Z".parse::<Timestamp>().unwrap().plus_seconds(second)
}

/// Stores a credential with that number about an achievement; with a learner, as this server issues it.
fn badge(db: &Db, number: i64, achievement: &str, learner: Option<&str>) -> String {
    let id = format!("urn:uuid:00000000-0000-4000-8000-{number:012}");
    let credential = json!({
        "id": id, "type": ["VerifiableCredential", "OpenBadgeCredential"], "proof": [{ "type": "DataIntegrityProof" }],
        "name": format!("Badge {number}"), "issuer": { "id": "urn:issuer", "name": { "en": "Academy" } },
        "validFrom": at(number).to_string(), "validUntil": at(number * number * 2).to_string(),
        "credentialSubject": { "achievement": { "id": achievement, "name": "Rivers" } },
    });
    let text = credential.to_string();
    let badge = lyceum_core::body::of(credential).unwrap();
    let signed = CredentialText::read(&badge, &text).unwrap();
    db.write_blocking(|tx| {
        issued::upsert(tx, at(number), &signed)?;
        let sql =
            "UPDATE issued_credentials SET learner = $1, issued_by = $2 WHERE credential = $3";
        let issued_by = learner.map(|_| "urn:issuer");
        tx.execute(sql, &[learner.into(), issued_by.into(), (&id).into()])?;
        issued::require(tx, &id, ALL)
    })
    .unwrap()
    .id
}

fn define(db: &Db, achievement: &str) {
    let document = json!({
        "@context": lyceum_credentials::CONTEXTS,
        "id": format!("{achievement}:definition"), "type": ["VerifiableCredential", "OpenBadgeCredential"],
        "name": "Rivers", "issuer": { "id": "urn:issuer", "type": ["Profile"], "name": "Academy" },
        "credentialSubject": {
            "id": achievement, "type": ["Achievement"], "name": "Rivers", "description": "Names rivers.",
            "criteria": { "narrative": "Names ten rivers." },
        },
    });
    let definition = Definition::read(lyceum_core::body::of(document).unwrap()).unwrap();
    db.write_blocking(|tx| definition::create(tx, at(0), &definition).map(drop)).unwrap();
}

#[test]
fn badges_are_sorted_newest_first_and_filtered() {
    both(|db| {
        let (first, second) = (badge(db, 1, "urn:a", Some("ann")), badge(db, 2, "urn:b", None));
        badge(db, 3, "urn:a", Some("gone"));
        let revoke = |reason: &str| {
            db.write_blocking(|tx| {
                badges::revoke(tx, at(9), "ada@example.org", &first, reason, ALL)
            })
        };
        for wrong in [String::new(), "x".repeat(limits::REVOCATION_REASON_MAX_CHARS + 1)] {
            assert_eq!(revoke(&wrong).unwrap_err().kind, ProblemKind::Invalid);
        }
        for _ in 0..2 {
            assert_eq!(revoke("by mistake").unwrap().reason.as_deref(), Some("by mistake"));
        }
        let noted = db.read_blocking(|tx| audit::list(tx, &audit::AuditFilter::default(), 9, 0));
        assert_eq!(noted.unwrap().total, 1, "a revocation is noted once");
        let read = |state, achievement: &str| {
            let filter = badges::Filter { state, achievement: achievement.to_owned() };
            db.read_blocking(|tx| badges::read(tx, at(9), &filter, ALL)).unwrap()
        };
        let all = read(None, "");
        let titles: Vec<&str> = all.badges.iter().map(|badge| badge.title.as_str()).collect();
        assert_eq!((all.read_count, titles), (3, vec!["Badge 3", "Badge 2", "Badge 1"]));
        let names: Vec<Option<&str>> = all
            .badges
            .iter()
            .map(|badge| badge.learner.as_ref().map(|learner| learner.name.as_str()))
            .collect();
        assert_eq!(names, [Some("gone"), None, Some("ann Example")]);
        assert_eq!(all.badges[0].issuer, "Academy");
        assert_eq!(read(Some(BadgeState::Revoked), "").badges, [all.badges[2].clone()]);
        assert_eq!(read(Some(BadgeState::Expired), "").badges, [all.badges[1].clone()]);
        assert_eq!(read(Some(BadgeState::Valid), "urn:a").badges, [all.badges[0].clone()]);
        let one = db.read_blocking(|tx| badges::one(tx, &second, ALL)).unwrap();
        assert_eq!((one.title.as_str(), one.learner), ("Badge 2", None));
        let missing = db.read_blocking(|tx| badges::one(tx, "none", ALL).map(drop));
        assert_eq!(missing.unwrap_err().kind, ProblemKind::NotFound);
    });
}

#[test]
fn definitions_count_what_this_server_issued_and_learners_are_searched() {
    both(|db| {
        define(db, "urn:a");
        badge(db, 1, "urn:a", Some("ann"));
        badge(db, 2, "urn:a", None);
        let list = db.read_blocking(|tx| badges::definitions(tx, ALL)).unwrap();
        assert_eq!((list.read_count, list.definitions.len()), (2, 1));
        assert_eq!(
            (list.definitions[0].name.as_str(), list.definitions[0].issued_count),
            ("Rivers", 1)
        );
        let found = |search: &str| {
            let choices = db.read_blocking(|tx| issuing::read(tx, search, ALL)).unwrap();
            assert_eq!(choices.badges, [("urn:a".to_owned(), "Rivers".to_owned())]);
            assert_eq!(choices.more_count, 0);
            choices.learners.into_iter().map(|one| (one.learner.id, one.school)).collect::<Vec<_>>()
        };
        let school = |id: &str| (id.to_owned(), "School".to_owned());
        assert_eq!(found(""), []);
        assert_eq!(found("EXAMPLE"), [school("ann"), school("zoë")]);
        assert_eq!(found("zoe"), [school("zoë")]);
        assert_eq!(found("ann@"), [school("ann")]);
        assert_eq!(found("nobody"), []);
    });
}

#[test]
fn a_search_shows_the_first_learners_and_counts_the_others() {
    both(|db| {
        for number in 0..25 {
            records::student(db, &format!("student-{number}"), "s", "3");
        }
        let choices = db.read_blocking(|tx| issuing::read(tx, "student-", ALL)).unwrap();
        assert_eq!((choices.learners.len(), choices.more_count), (20, 5));
        let one = db.read_blocking(|tx| issuing::read(tx, "student-1", ALL)).unwrap();
        assert_eq!(
            (one.learners.len(), one.more_count),
            (1, 0),
            "a whole sourcedId is that learner"
        );
    });
}

#[test]
fn learner_records_count_their_achievements() {
    both(|db| {
        let record = json!({
            "id": "urn:uuid:00000000-0000-4000-8000-000000000009", "type": ["VerifiableCredential", "ClrCredential"],
            "issuer": { "id": "urn:issuer" }, "validFrom": at(0).to_string(), "proof": [{}],
            "credentialSubject": { "achievement": [
                { "id": "urn:a", "name": "Rivers", "description": "Names rivers." }, { "id": "urn:b", "name": "Lakes" },
            ] },
        });
        let mut version = clr::signed(record.as_object().unwrap(), &record.to_string()).unwrap();
        version.learner = Some("ann".to_owned());
        db.write_blocking(|tx| clr::put(tx, at(0), &version, ALL).map(drop)).unwrap();
        let list = db.read_blocking(|tx| record_screen::read(tx, ALL)).unwrap();
        let [listed] = list.as_slice() else { panic!("{list:?}") };
        assert_eq!((listed.title.as_str(), listed.achievement_count), ("", 2));
        assert_eq!(listed.learner.as_ref().unwrap().name, "ann Example");
        let read = |id: &str| {
            db.read_blocking(|tx| record_screen::one(tx, "https://lyceum.test", id, ALL))
        };
        let one = read(&listed.id).unwrap();
        let names: Vec<&str> = one.achievements.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(
            (names, one.achievements[0].description.as_str()),
            (vec!["Rivers", "Lakes"], "Names rivers.")
        );
        assert_eq!(read("urn:none").unwrap_err().kind, ProblemKind::NotFound);
    });
}

#[test]
fn texts_are_the_first_of_several_languages() {
    assert_eq!(text(&json!({ "de": "Flüsse", "en": "Rivers" })), "Flüsse");
    assert_eq!((text(&json!("Rivers")), text(&json!(3))), ("Rivers".to_owned(), String::new()));
    assert_eq!(title(&json!({})), "", "pages have a word for it");
    let achievement = json!({ "credentialSubject": { "achievement": { "name": "Rivers" } } });
    assert_eq!(title(&achievement), "Rivers");
}
