//! The migration from the state before V10, in which facts were sums of many events.

use lyceum_core::random::RandomStream;
use lyceum_store::{Db, Migration, Param, SqlDialect, StoreLocation, Tx, Value};

use crate::kit::{CustomEvent, LATER, SENT, migrations, rebuild, rows, send};

/// The copied rows: a query, the target table and its columns.
const COPIED: [(&str, &str, &[&str]); 6] = [
    ("SELECT id, client, sensor FROM event_sources", "event_sources", &["id", "client", "sensor"]),
    (
        "SELECT id, iri, email, person FROM event_actors",
        "event_actors",
        &["id", "iri", "email", "person"],
    ),
    (
        "SELECT seq, source, actor, event_ms, send_ms, received_ms, changed_ms, body FROM event_log",
        "event_log",
        &["seq", "source", "actor", "event_ms", "send_ms", "received_ms", "changed_ms", "body"],
    ),
    ("SELECT hash, seq FROM event_ids", "event_ids", &["hash", "seq"]),
    (
        "SELECT id, course, subject, app FROM event_contexts",
        "fact_contexts",
        &["id", "course", "subject", "app"],
    ),
    (
        "SELECT actor, bucket, context, seq % 2, sum(events), sum(xp), sum(total_questions), \
         sum(correct_questions), sum(mastered_units), sum(active), sum(inactive), sum(waste), \
         sum(unknown), sum(anti_pattern) FROM event_facts WHERE events > 0 \
         GROUP BY actor, bucket, context, seq % 2",
        "facts",
        &[
            "actor",
            "bucket",
            "context",
            "shard",
            "events",
            "xp",
            "total_questions",
            "correct_questions",
            "mastered_units",
            "active",
            "inactive",
            "waste",
            "unknown",
            "anti_pattern",
        ],
    ),
];

#[test]
fn migrated_facts_stay_and_can_be_corrected_and_split() {
    let all = migrations();
    let former: Vec<Migration> = all.iter().filter(|one| one.version < 10).copied().collect();
    let folder = tempfile::tempdir().unwrap();
    let file = StoreLocation::Sqlite(folder.path().join("now.db"));
    let now = Db::open(&file, &all).unwrap();
    let mut random = RandomStream::seeded(31);
    let mut activities: Vec<CustomEvent> = (0..60).map(|number| one(&mut random, number)).collect();
    let events = |activities: &[CustomEvent], sent: &str| {
        activities.iter().map(|one| one.sent(sent)).collect::<Vec<_>>()
    };
    // A few at a time, with their text in their rows, as it was then.
    for few in activities.chunks(8) {
        send(&now, &events(few, SENT));
    }
    let copies =
        COPIED.map(|(query, table, columns)| (read(&now, query, columns.len()), table, columns));
    let wanted = rows(&now);
    for one in activities.iter_mut().step_by(2) {
        one.items.push(serde_json::json!({"type": "masteredUnits", "value": 3}));
        one.subject = "Reading".into();
    }
    send(&now, &events(&activities, LATER));
    let corrected = rows(&now);
    assert_ne!(corrected, wanted);
    lyceum_testkit::both_stores(&former, |target| {
        let db = Db::open(target, &former).unwrap();
        db.write_blocking(|tx| {
            copies.iter().try_for_each(|(cells, table, columns)| {
                let values: Vec<Value<'_>> = cells.iter().map(value).collect();
                tx.insert_rows(table, columns, &values, "").map(drop)
            })?;
            count_on(tx)
        })
        .unwrap();
        drop(db);
        let db = Db::open(target, &all).unwrap();
        assert_eq!(rows(&db), wanted);
        send(&db, &events(&activities, LATER));
        assert_eq!(rows(&db), corrected);
        rebuild(&db);
        assert_eq!(rows(&db), corrected, "taken apart");
    });
}

fn one(random: &mut RandomStream, number: u64) -> CustomEvent {
    let minute = random.below(60);
    CustomEvent::activity(
        number,
        &format!("u-{}", number % 7),
        &format!("2026-03-10T12:{minute:02}:00Z"),
    )
}

fn read(db: &Db, query: &str, width: usize) -> Vec<Param> {
    let mut cells = Vec::new();
    db.read_blocking(|tx| {
        tx.query(query, &[], |row| {
            for at in 0..width {
                cells.push(match row.cell(at)? {
                    Value::Int(number) => Param::Int(number),
                    Value::Text(text) => Param::Text(text.to_owned()),
                    other => panic!("{query} answers {other:?}"),
                });
            }
            Ok(true)
        })
    })
    .unwrap();
    cells
}

fn value(cell: &Param) -> Value<'_> {
    match cell {
        Param::Int(number) => (*number).into(),
        Param::Text(text) => text.into(),
        Param::Real(number) => (*number).into(),
    }
}

/// New numbers follow the copied ones.
fn count_on(tx: &mut Tx<'_>) -> lyceum_core::Result<()> {
    if tx.dialect() == SqlDialect::Sqlite {
        return Ok(());
    }
    for (table, column) in [("event_sources", "id"), ("event_actors", "id"), ("event_log", "seq")] {
        let sql = format!("SELECT setval(pg_get_serial_sequence('{table}', '{column}'), 1000)");
        tx.query(&sql, &[], |_| Ok(true))?;
    }
    Ok(())
}
