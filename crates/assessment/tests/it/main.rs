//! Stored documents, on both stores.
#![allow(clippy::unwrap_used, reason = "helpers of tests unwrap as tests do")]

use lyceum_assessment::{
    Change, Draft, Kind, MIGRATIONS, Object, Parameters, Query, parse, repository,
};
use lyceum_core::time::Timestamp;
use lyceum_core::{ProblemKind, limits};
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

fn draft(identifier: &str, text: &str) -> Draft {
    Draft::of(Kind::Stimulus, stimulus(identifier, text), &Object::new()).unwrap()
}

fn first_page(limit: &str) -> Query {
    let given = Parameters { limit: Some(limit.to_owned()), ..Parameters::default() };
    Query::read(Kind::Stimulus, &given).unwrap()
}

#[test]
fn a_page_holds_as_many_bytes_as_the_limit_allows() {
    let big = draft("big", &"long text ".repeat(limits::QTI_DOCUMENT_MAX_BYTES / 11));
    let shown = 3 * big.xml.len();
    let most = limits::QTI_PAGE_MAX_BYTES / shown;
    both(|db| {
        db.write_blocking(|tx| {
            for number in 0..=most {
                let another = Draft { identifier: format!("s-{number}"), ..big.clone() };
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
        assert!(page.items.len() > limits::QTI_PAGE_MAX_BYTES / 2, "{}", page.items.len());
        let refused = list(most + 1).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::TooLarge);
        assert!(refused.message.contains("smaller 'limit'"), "{refused}");
    });
}

#[test]
fn a_title_is_changed_where_it_stands_and_nowhere_else() {
    both(|db| {
        let stored =
            db.write_blocking(|tx| repository::create(tx, now(), &draft("s", "text"))).unwrap();
        assert_eq!(stored.title, "It's \"one\"");
        let body = parse(br#"{"title": "Two <&> \"2\""}"#).unwrap();
        let change = Change::read(Kind::Stimulus, "s", body).unwrap();
        let changed = db
            .write_blocking(|tx| {
                repository::replace(tx, now(), Kind::Stimulus, "s", &change, Some(1))
            })
            .unwrap();
        assert_eq!(changed.title, "Two <&> \"2\"");
        let wanted = stored
            .xml
            .replace("title = 'It&apos;s \"one\"'", "title=\"Two &lt;&amp;&gt; &quot;2&quot;\"");
        assert_eq!(changed.xml, wanted);
    });
}

#[test]
fn totals_are_those_of_the_rows() {
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
            db.write_blocking(|tx| repository::delete(tx, Kind::Stimulus, &id, None)).unwrap();
        }
        assert_eq!(total(), 3);
        // The store may give a number again; the version is never given again.
        let again =
            db.write_blocking(|tx| repository::create(tx, now(), &draft("s-4", "new"))).unwrap();
        assert_eq!((again.version, total()), (2, 4));
    });
}
