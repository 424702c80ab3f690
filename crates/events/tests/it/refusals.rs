//! Refused envelopes are kept, but not without end.

use lyceum_core::limits::{EVENT_REFUSED_KEPT_COUNT, EVENT_REFUSED_KEPT_DAYS};
use lyceum_core::time::Timestamp;
use lyceum_events::{MIGRATIONS, repository};
use lyceum_store::Db;

fn kept(db: &Db) -> Vec<String> {
    let refused = db.read_blocking(|tx| repository::refused(tx, i64::MAX)).unwrap();
    refused.into_iter().map(|refusal| refusal.body).collect()
}

#[test]
fn the_oldest_go_when_there_are_too_many_or_they_are_too_old() {
    let noon = Timestamp::from_milliseconds(1_768_464_000_000);
    lyceum_testkit::both_stores(MIGRATIONS, |target| {
        let db = Db::open(target, MIGRATIONS).expect("a fresh database opens");
        db.write_blocking(|tx| {
            for number in 0..EVENT_REFUSED_KEPT_COUNT + 2 {
                repository::refuse(tx, noon, "app", ("is odd", &[]), &number.to_string())?;
            }
            Ok(())
        })
        .unwrap();
        let bodies = kept(&db);
        assert_eq!(i64::try_from(bodies.len()), Ok(EVENT_REFUSED_KEPT_COUNT));
        assert_eq!(bodies.last().map(String::as_str), Some("2"));

        let later = noon.plus_seconds(EVENT_REFUSED_KEPT_DAYS * 86_400 + 1);
        db.write_blocking(|tx| repository::refuse(tx, later, "app", ("is odd", &[]), "last"))
            .unwrap();
        assert_eq!(kept(&db), ["last"]);
    });
}
