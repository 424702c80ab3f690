//! Stored documents, on both stores.
#![allow(
    clippy::format_collect,
    clippy::unwrap_used,
    reason = "helpers of tests unwrap as tests do, and read best with values"
)]

mod answers;
mod edits;
mod files;
mod html;

use lyceum_assessment::banks::{self, BankInput};
use lyceum_assessment::limits::QTI_PAGE_MAX_BYTES;
use lyceum_assessment::{
    CheckedDocument, ContentKind, DocumentChange, ItemAnswer, MIGRATIONS, Metadata, Object,
    Parameters, Query, parse, repository, respond_validated, structure,
};
use lyceum_core::time::Timestamp;
use lyceum_core::{ProblemKind, body};
use lyceum_qti::limits;
use lyceum_store::Db;
use lyceum_testkit::both_stores;

/// Runs the body on a fresh database of each store.
fn both(body: impl Fn(&Db)) {
    both_stores(MIGRATIONS, |target| body(&Db::open(target, MIGRATIONS).unwrap()));
}

fn now() -> Timestamp {
    "2026-01-15T08:00:00Z".parse().unwrap()
}

fn stimulus(identifier: &str, text: &str) -> String {
    format!(
        "<?xml version='1.0'?>\n<!-- title='not this' -->\n<qti-assessment-stimulus \
         xmlns='http://www.imsglobal.org/xsd/imsqtiasi_v3p0' identifier='{identifier}' \
         title = 'It&apos;s \"one\"'><qti-stimulus-body><p>{text}</p></qti-stimulus-body>\
         </qti-assessment-stimulus>"
    )
}

fn draft(identifier: &str, text: &str) -> CheckedDocument {
    CheckedDocument::of(ContentKind::Stimulus, stimulus(identifier, text), &Object::new()).unwrap()
}

/// An item without a stimulus.
fn plain_item(identifier: &str) -> CheckedDocument {
    let xml = format!(
        "<qti-assessment-item xmlns='http://www.imsglobal.org/xsd/imsqtiasi_v3p0' \
         identifier='{identifier}' title='Item {identifier}' time-dependent='false'>\
         <qti-item-body><p>x</p></qti-item-body></qti-assessment-item>"
    );
    CheckedDocument::of(ContentKind::Item, xml, &Object::new()).unwrap()
}

fn first_page(limit: &str) -> Query {
    let given = Parameters { limit: Some(limit.to_owned()), ..Parameters::default() };
    Query::read(ContentKind::Stimulus, &given).unwrap()
}

#[test]
fn a_page_has_as_many_documents_as_fit_into_the_byte_limit() {
    let big = draft("big", &"long text ".repeat(limits::QTI_DOCUMENT_MAX_BYTES / 11));
    let shown = 3 * big.xml.len();
    let most = QTI_PAGE_MAX_BYTES / shown;
    both(|db| {
        db.write_blocking(|tx| {
            for number in 0..=most {
                let another = CheckedDocument { identifier: format!("s-{number}"), ..big.clone() };
                repository::create(tx, now(), &another)?;
            }
            Ok(())
        })
        .unwrap();
        let list = |limit: usize| {
            let query = first_page(&limit.to_string());
            db.read_blocking(|tx| repository::list(tx, &query))
        };
        let page = list(most - 1).unwrap();
        assert_eq!(page.total, most as u64 + 1);
        assert!(page.items.len() > QTI_PAGE_MAX_BYTES / 2, "{}", page.items.len());
        let refused = list(most + 1).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::TooLarge);
        assert!(refused.message.contains("smaller 'limit'"), "{refused}");
    });
}

#[test]
fn a_change_of_the_title_changes_nothing_else_in_the_document() {
    both(|db| {
        let stored =
            db.write_blocking(|tx| repository::create(tx, now(), &draft("s", "text"))).unwrap();
        assert_eq!(stored.title, "It's \"one\"");
        let body = parse(br#"{"title": "Two <&> \"2\""}"#).unwrap();
        let change = DocumentChange::read(ContentKind::Stimulus, "s", body).unwrap();
        let changed = db
            .write_blocking(|tx| {
                repository::replace(tx, now(), ContentKind::Stimulus, "s", &change, Some(1))
            })
            .unwrap();
        assert_eq!(changed.title, "Two <&> \"2\"");
        let wanted = stored
            .xml
            .replace("title = 'It&apos;s \"one\"'", "title=\"Two &lt;&amp;&gt; &quot;2&quot;\"");
        assert_eq!(changed.xml, wanted);
    });
}

fn item(identifier: &str, stimulus: &str) -> CheckedDocument {
    let xml = format!(
        "<qti-assessment-item xmlns='http://www.imsglobal.org/xsd/imsqtiasi_v3p0' \
         identifier='{identifier}' title='t' time-dependent='false'>\
         <qti-assessment-stimulus-ref identifier='story' href='stimuli/{stimulus}.xml'/>\
         <qti-item-body><p>x</p></qti-item-body></qti-assessment-item>"
    );
    CheckedDocument::of(ContentKind::Item, xml, &Object::new()).unwrap()
}

#[test]
fn an_item_whose_stimulus_is_missing_is_refused() {
    both(|db| {
        let create =
            |draft: &CheckedDocument| db.write_blocking(|tx| repository::create(tx, now(), draft));
        let refused = create(&item("i", "s")).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::Invalid);
        assert_eq!(refused.details[0].path, "qti-assessment-stimulus-ref 'story'");
        assert!(refused.details[0].message.contains("'s'"), "{refused}");
        create(&draft("s", "text")).unwrap();
        create(&item("i", "s")).unwrap();
        let change = DocumentChange::Content(Box::new(item("i", "other")));
        let refused = db
            .write_blocking(|tx| {
                repository::replace(tx, now(), ContentKind::Item, "i", &change, None)
            })
            .unwrap_err();
        assert_eq!(refused.kind, ProblemKind::Invalid);
    });
}

#[test]
fn the_same_document_may_be_sent_again_and_another_is_a_conflict() {
    both(|db| {
        let create =
            |draft: &CheckedDocument| db.write_blocking(|tx| repository::create(tx, now(), draft));
        let first = create(&draft("s", "text")).unwrap();
        assert_eq!(create(&draft("s", "text")).unwrap(), first);
        let refused = create(&draft("s", "other")).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::Conflict);
        assert!(refused.message.contains("Replace it with PUT"), "{refused}");
        let described = CheckedDocument {
            metadata: Metadata::Set("{\"a\":1}".to_owned()),
            ..draft("s", "text")
        };
        assert_eq!(create(&described).unwrap_err().kind, ProblemKind::Conflict);
        let versions = db.read_blocking(|tx| repository::versions(tx, &first_page("9"), "s"));
        assert_eq!(versions.unwrap().total, 1);

        // A deleted one says so, and can be created again.
        db.write_blocking(|tx| repository::delete(tx, now(), ContentKind::Stimulus, "s", None))
            .unwrap();
        for gone in [
            db.read_blocking(|tx| repository::require(tx, ContentKind::Stimulus, "s")).map(drop),
            db.write_blocking(|tx| repository::delete(tx, now(), ContentKind::Stimulus, "s", None)),
        ] {
            let gone = gone.unwrap_err();
            assert_eq!(gone.kind, ProblemKind::NotFound);
            assert!(
                gone.message.contains("was deleted") && gone.message.contains("POST"),
                "{gone}"
            );
        }
        let never =
            db.read_blocking(|tx| repository::require(tx, ContentKind::Stimulus, "n")).unwrap_err();
        assert!(!never.message.contains("deleted"), "{never}");
        assert_eq!(create(&draft("s", "other")).unwrap().version, 2);
    });
}

#[test]
fn a_bank_may_be_sent_again_and_another_is_a_conflict() {
    let test = "<qti-assessment-test xmlns='http://www.imsglobal.org/xsd/imsqtiasi_v3p0' \
                identifier='t' title='t'><qti-test-part identifier='p' navigation-mode='linear' \
                submission-mode='individual'><qti-assessment-section identifier='s' title='s' \
                visible='true'/></qti-test-part></qti-assessment-test>";
    both(|db| {
        let test = CheckedDocument::of(ContentKind::Test, test.to_owned(), &Object::new()).unwrap();
        db.write_blocking(|tx| repository::create(tx, now(), &test)).unwrap();
        let create = |body: &[u8]| {
            let wish = BankInput::read(parse(body).unwrap()).unwrap();
            db.write_blocking(|tx| banks::create(tx, now(), &wish))
        };
        let body = br#"{"identifier": "b", "title": "B", "tests": ["t"]}"#;
        let first = create(body).unwrap();
        assert_eq!(create(body).unwrap(), first);
        let other = create(br#"{"identifier": "b", "title": "Other", "tests": ["t"]}"#);
        assert_eq!(other.unwrap_err().kind, ProblemKind::Conflict);
        db.write_blocking(|tx| banks::delete(tx, "b", None)).unwrap();
        create(br#"{"identifier": "b", "title": "Other", "tests": ["t"]}"#).unwrap();
    });
}

#[test]
fn an_unknown_format_is_refused() {
    for format in ["\"pdf\"", "\"XML\"", "5"] {
        let body = format!(
            "{{\"format\": {format}, \"identifier\": \"s\", \"title\": \"t\", \"content\": \"x\"}}"
        );
        let body = parse(body.as_bytes()).unwrap();
        for refused in [
            CheckedDocument::read(ContentKind::Stimulus, &body).map(drop),
            DocumentChange::read(ContentKind::Stimulus, "s", body.clone()).map(drop),
        ] {
            let refused = refused.unwrap_err();
            assert_eq!(refused.details[0].path, "format", "{refused}");
            assert!(refused.details[0].message.contains("one of xml, json"), "{refused}");
        }
    }
    let around = parse(br#"{"format": "pdf", "title": "t"}"#).unwrap();
    DocumentChange::read(ContentKind::Item, "i", around).unwrap_err();
    let json = br#"{"format": "json", "identifier": "s", "title": "t", "content": "x"}"#;
    CheckedDocument::read(ContentKind::Stimulus, &parse(json).unwrap()).unwrap();
}

/// Scores an answer to an item with that response declaration, interaction and processing.
fn scored(parts: &str, answer: &str) -> lyceum_core::Result<lyceum_assessment::AnswerScore> {
    let xml = format!(
        "<qti-assessment-item xmlns='http://www.imsglobal.org/xsd/imsqtiasi_v3p0' identifier='i' \
         title='t' time-dependent='false'>{parts}</qti-assessment-item>"
    );
    let item = lyceum_qti::read_item(&xml).unwrap();
    let (responses, seed) = body::read::<ItemAnswer>(answer.as_bytes())?.for_item(&item)?;
    lyceum_assessment::respond(&item, &responses, seed)
}

const MAPPED: &str = "<qti-response-declaration identifier='R' cardinality='multiple' base-type='identifier'>\
    <qti-correct-response><qti-value>A</qti-value><qti-value>B</qti-value></qti-correct-response>\
    <qti-mapping><qti-map-entry map-key='A' mapped-value='1'/><qti-map-entry map-key='B' mapped-value='1'/></qti-mapping>\
    </qti-response-declaration>\
    <qti-outcome-declaration identifier='SCORE' cardinality='single' base-type='float'/>\
    <qti-item-body><qti-choice-interaction response-identifier='R' min-choices='1' max-choices='2'>\
    <qti-simple-choice identifier='A'/><qti-simple-choice identifier='B'/><qti-simple-choice identifier='C'/>\
    </qti-choice-interaction></qti-item-body><qti-response-processing>\
    <qti-set-outcome-value identifier='SCORE'><qti-map-response identifier='R'/></qti-set-outcome-value>\
    </qti-response-processing>";

#[test]
fn an_answer_gets_partial_credit_and_is_marked_if_it_breaks_a_rule() {
    for (answer, score, share, valid) in [
        (r#"{"response": ["A", "B"]}"#, 2.0_f64, 1.0_f64, true),
        (r#"{"response": ["A"]}"#, 1.0, 0.5, true),
        (r#"{"response": ["A"], "identifier": "R"}"#, 1.0, 0.5, true),
        (r#"{"response": ["A"], "identifier": "i"}"#, 1.0, 0.5, true),
        (r#"{"response": null}"#, 0.0, 0.0, false),
        // Otherwise a learner who chooses every option would get the full score.
        (r#"{"response": ["A", "B", "C"]}"#, 2.0, 0.0, false),
    ] {
        let found = scored(MAPPED, answer).unwrap();
        assert_eq!(
            (found.score.to_bits(), found.max_score.to_bits()),
            (score.to_bits(), 2_f64.to_bits())
        );
        assert_eq!(found.share().to_bits(), share.to_bits(), "{answer}");
        assert_eq!((found.is_valid, found.faults.is_empty()), (valid, valid), "{answer}");
        assert!(!found.needs_manual_scoring);
    }
    for answer in [r#"{"response": ["Z"]}"#, r#"{"response": ["A"], "identifier": "NOPE"}"#] {
        assert_eq!(scored(MAPPED, answer).unwrap_err().kind, ProblemKind::Invalid, "{answer}");
    }
    let essay = "<qti-response-declaration identifier='R' cardinality='single' base-type='string'/>\
        <qti-outcome-declaration identifier='SCORE' cardinality='single' base-type='float' normal-maximum='5'/>\
        <qti-item-body><qti-extended-text-interaction response-identifier='R'/></qti-item-body>";
    let found = scored(essay, r#"{"response": "An essay"}"#).unwrap();
    assert!(found.needs_manual_scoring && found.max_score.to_bits() == 5_f64.to_bits());
    assert!(!scored(essay, r#"{"response": null}"#).unwrap().needs_manual_scoring);
}

#[test]
fn rules_that_cannot_judge_an_answer_do_not_call_it_wrong() {
    let essay = |score: &str| {
        format!(
            "<qti-response-declaration identifier='R' cardinality='single' base-type='string'/>\
             <qti-outcome-declaration identifier='SCORE' cardinality='single' base-type='float' {score}/>\
             <qti-outcome-declaration identifier='SAYS' cardinality='single' base-type='identifier'/>\
             <qti-item-body><qti-extended-text-interaction response-identifier='R'/></qti-item-body>\
             <qti-response-processing><qti-response-condition><qti-response-if>\
             <qti-match><qti-variable identifier='R'/><qti-correct identifier='R'/></qti-match>\
             <qti-set-outcome-value identifier='SCORE'><qti-base-value base-type='float'>1</qti-base-value></qti-set-outcome-value>\
             </qti-response-if><qti-response-else><qti-set-outcome-value identifier='SAYS'>\
             <qti-base-value base-type='identifier'>wrong</qti-base-value></qti-set-outcome-value></qti-response-else>\
             </qti-response-condition></qti-response-processing>\
             <qti-modal-feedback outcome-identifier='SAYS' identifier='wrong' show-hide='show'>\
             <qti-content-body><p>Wrong.</p></qti-content-body></qti-modal-feedback>"
        )
    };
    let said = |score, answer| {
        let found = scored(&essay(score), answer).unwrap();
        (found.needs_manual_scoring, found.feedbacks.len(), found.feedback.is_some())
    };
    let answer = r#"{"response": "An essay"}"#;
    assert_eq!(said("", answer), (true, 0, false));
    assert_eq!(said("", r#"{"response": null}"#), (false, 1, true));
    // The author knows that a person scores it, so the feedback is meant for before.
    assert_eq!(said("external-scored='human'", answer), (true, 1, true));
}

#[test]
fn a_validating_session_refuses_an_answer_that_breaks_a_rule() {
    let xml = format!(
        "<qti-assessment-item xmlns='http://www.imsglobal.org/xsd/imsqtiasi_v3p0' identifier='i' \
         title='t' time-dependent='false'>{MAPPED}</qti-assessment-item>"
    );
    let item = lyceum_qti::read_item(&xml).unwrap();
    let answer = |responses| respond_validated(&item, &parse(responses).unwrap(), 0);
    answer(br#"{"R": ["A"]}"#).unwrap();
    let refused = answer(br#"{"R": null}"#).unwrap_err();
    assert_eq!((refused.kind, &*refused.details[0].path), (ProblemKind::Invalid, "response.R"));
}

#[test]
fn the_items_of_a_test_follow_a_seed() {
    let refs: String = (0..6)
        .map(|n| format!("<qti-assessment-item-ref identifier='i-{n}' href='items/q-{n}.xml'/>"))
        .collect();
    let xml = format!(
        "<qti-assessment-test xmlns='http://www.imsglobal.org/xsd/imsqtiasi_v3p0' identifier='t' \
         title='t'><qti-test-part identifier='p' navigation-mode='linear' submission-mode='individual'>\
         <qti-assessment-section identifier='s' title='s' visible='true'><qti-selection select='3'/>\
         <qti-ordering shuffle='true'/>{refs}</qti-assessment-section></qti-test-part></qti-assessment-test>"
    );
    both(|db| {
        let test = CheckedDocument::of(ContentKind::Test, xml.clone(), &Object::new()).unwrap();
        let orders = db
            .write_blocking(|tx| {
                for n in 0..6 {
                    let item = item(&format!("q-{n}"), "s").xml;
                    let item = item.replace(
                        "<qti-assessment-stimulus-ref identifier='story' href='stimuli/s.xml'/>",
                        "",
                    );
                    let item = CheckedDocument::of(ContentKind::Item, item, &Object::new())?;
                    repository::create(tx, now(), &item)?;
                }
                repository::create(tx, now(), &test)?;
                let test = structure::test(tx, "t")?;
                Ok((0..20).map(|seed| structure::arranged(&test, seed)).collect::<Vec<_>>())
            })
            .unwrap();
        assert!(orders.iter().all(|order| order.len() == 3));
        assert!(orders.iter().any(|order| *order != orders[0]));
        let again = db.read_blocking(|tx| structure::test(tx, "t")).unwrap();
        assert_eq!(structure::arranged(&again, 7), orders[7]);
        db.read_blocking(|tx| structure::test(tx, "none")).unwrap_err();
    });
}

#[test]
fn totals_agree_with_the_rows() {
    both(|db| {
        let total = || db.read_blocking(|tx| repository::list(tx, &first_page("1"))).unwrap().total;
        db.write_blocking(|tx| {
            for number in 0..5 {
                repository::create(tx, now(), &draft(&format!("s-{number}"), "text"))?;
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(total(), 5);
        let taken = db.write_blocking(|tx| repository::create(tx, now(), &draft("s-1", "other")));
        assert_eq!(taken.unwrap_err().kind, ProblemKind::Conflict);
        for number in [4, 2] {
            let id = format!("s-{number}");
            db.write_blocking(|tx| repository::delete(tx, now(), ContentKind::Stimulus, &id, None))
                .unwrap();
        }
        assert_eq!(total(), 3);
        // The store may give a number again; the version is never given again.
        let again =
            db.write_blocking(|tx| repository::create(tx, now(), &draft("s-4", "new"))).unwrap();
        assert_eq!((again.version, total()), (2, 4));
    });
}
