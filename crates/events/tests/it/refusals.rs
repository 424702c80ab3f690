//! Refused envelopes are kept, but not without end.

use lyceum_core::time::Timestamp;
use lyceum_core::{Message, ProblemKind};
use lyceum_events::limits::{
    EVENT_REFUSED_KEPT_COUNT, EVENT_REFUSED_KEPT_DAYS, EVENT_REFUSED_MAX_BYTES,
};
use lyceum_events::{CONTEXT, repository};
use lyceum_store::Db;
use serde_json::json;

use crate::log::both;

fn noon() -> Timestamp {
    Timestamp::from_milliseconds(1_768_464_000_000)
}

fn kept(db: &Db) -> Vec<String> {
    let refused = db.read_blocking(|tx| repository::refused(tx, i64::MAX)).unwrap();
    refused.into_iter().map(|refusal| refusal.message.to_string()).collect()
}

#[test]
fn the_oldest_rejected_envelopes_are_deleted_by_number_and_age() {
    both(|db| {
        db.write_blocking(|tx| {
            for number in 0..EVENT_REFUSED_KEPT_COUNT + 2 {
                repository::refuse(
                    tx,
                    noon(),
                    "app",
                    (&Message::untranslated(number.to_string()), &[]),
                    "{}",
                )?;
            }
            Ok(())
        })
        .unwrap();
        let messages = kept(db);
        assert_eq!(i64::try_from(messages.len()), Ok(EVENT_REFUSED_KEPT_COUNT));
        assert_eq!(messages.last().map(String::as_str), Some("2"));

        let later = noon().plus_seconds(EVENT_REFUSED_KEPT_DAYS * 86_400 + 1);
        db.write_blocking(|tx| repository::refuse(tx, later, "app", (&"last".into(), &[]), "{}"))
            .unwrap();
        assert_eq!(kept(db), ["last"]);
    });
}

#[test]
fn a_long_envelope_is_replayed_and_one_that_was_cut_is_not() {
    let envelope = |bytes: usize| {
        let name = "n".repeat(bytes);
        let entity = json!({"id": "https://example.org/users/1", "type": "Person", "name": name});
        json!({
            "sensor": "https://example.org/sensors/1",
            "sendTime": "2026-01-15T09:00:00.000Z",
            "dataVersion": CONTEXT,
            "data": [entity],
        })
        .to_string()
    };
    both(|db| {
        let refuse = |body: &str| {
            db.write_blocking(|tx| {
                repository::refuse(tx, noon(), "app", (&"is odd".into(), &[]), body)
            })
            .unwrap();
            let newest = db.read_blocking(|tx| repository::refused(tx, 1)).unwrap();
            db.write_blocking(|tx| repository::replay(tx, noon(), newest[0].id))
        };
        refuse(&envelope(EVENT_REFUSED_MAX_BYTES / 2)).unwrap();
        let cut = refuse(&envelope(EVENT_REFUSED_MAX_BYTES)).unwrap_err();
        assert!(
            cut.kind == ProblemKind::Conflict && cut.message.contains("send it again"),
            "{cut}"
        );
    });
}
