//! The days of enrollments, which have columns beside the record.

use lyceum_roster::repository;
use lyceum_store::{Db, Migration};
use lyceum_testkit::{both_stores, records};
use serde_json::{Value, json};

use crate::kit::with_columns_of_days;
use crate::migrations;

#[test]
fn an_update_fills_the_columns_of_the_days() {
    let days = [
        ("both", json!({ "beginDate": "2025-09-01", "endDate": "2026-06-30" })),
        ("begins", json!({ "beginDate": "2026-01-16" })),
        ("ends", json!({ "endDate": "2026-01-14" })),
        ("none", json!({})),
        ("noted", json!({ "metadata": { "endDate": "2020-01-01", "note": "\"beginDate\": 'ü'" } })),
    ];
    let earlier: Vec<Migration> =
        migrations().into_iter().filter(|one| one.version < 121).collect();
    both_stores(&earlier, |target| {
        let db = Db::open(target, &earlier).unwrap();
        with_columns_of_days(&db, || {
            records::school(&db, "s", "School");
            records::course(&db, "c", "s", "Math");
            records::class(&db, "k", "c", "s");
            for (id, members) in &days {
                records::student(&db, id, "s", "3");
                let mut enrollment = json!({
                    "sourcedId": format!("e-{id}"), "user": { "sourcedId": id }, "role": "student",
                    "class": { "sourcedId": "k" }, "school": { "sourcedId": "s" },
                });
                enrollment.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
                records::create(&db, "enrollments", &enrollment);
            }
            let deleted = json!({ "status": "tobedeleted" });
            records::patch(&db, "enrollments", "e-ends", &deleted).unwrap();
        });
        drop(db);
        let db = Db::open(target, &migrations()).unwrap();
        let report = db.read_blocking(|tx| repository::check(tx, |_, _| {})).unwrap();
        assert_eq!(report.faults, [""; 0]);
        let sql = "SELECT sourced_id, begin_date, end_date FROM enrollments ORDER BY seq";
        let stored =
            db.read_blocking(|tx| tx.rows::<(String, Option<String>, Option<String>)>(sql, &[]));
        for ((id, members), (stored_id, begin, end)) in days.iter().zip(stored.unwrap()) {
            let day = |name: &str| members.get(name).and_then(Value::as_str).map(str::to_owned);
            assert_eq!(stored_id, format!("e-{id}"));
            assert_eq!((begin, end), (day("beginDate"), day("endDate")), "{id}");
        }
    });
}
