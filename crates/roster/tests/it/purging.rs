//! A purge leaves no reference to a record that is gone: the check finds nothing afterwards.

use lyceum_core::Reach;
use lyceum_core::time::Timestamp;
use lyceum_roster::kinds;
use lyceum_roster::repository::{self, PurgeReport};
use lyceum_roster::write;
use lyceum_store::{Db, SqlDialect, Tx};
use serde_json::{Value, json};

use crate::kit::{both, collection, create, object, rules};

fn day(number: i64) -> Timestamp {
    rules().now.plus_seconds(number * 86_400)
}

fn delete(db: &Db, path: &str, id: &str, at: Timestamp) {
    db.write_blocking(|tx| {
        write::delete(tx, collection(path), id, at, false, None, &Reach::Everything)
    })
    .unwrap();
}

/// Purges every kind in batches of two, as the command line does with larger ones.
fn purge(db: &Db, before: Timestamp) -> PurgeReport {
    let mut sum = PurgeReport::default();
    for kind in kinds::ALL.iter().rev() {
        let mut after = Some(i64::MIN);
        while let Some(from) = after {
            let (purged, next) = db
                .write_blocking(|tx| repository::purge(tx, kind, (before, before), from, 2))
                .unwrap();
            sum.removed += purged.removed;
            sum.kept += purged.kept;
            after = next;
        }
    }
    let checked = db.read_blocking(|tx| repository::check(tx, |_, _| {})).unwrap();
    assert_eq!(checked.faults, Vec::<String>::new(), "after {sum:?}");
    sum
}

fn is_stored(db: &Db, kind: &str, id: &str) -> bool {
    let kind = kinds::by_name(kind).unwrap();
    db.read_blocking(|tx| repository::find(tx, kind, id)).unwrap().is_some()
}

fn id(value: &Value) -> &str {
    value["sourcedId"].as_str().unwrap()
}

fn org(id: &str, others: &Value) -> Value {
    let mut org = json!({"sourcedId": id, "name": id, "type": "school"});
    org.as_object_mut().unwrap().extend(object(others.clone()));
    org
}

fn user(id: &str, agents: &[&str]) -> Value {
    let agents: Vec<Value> = agents.iter().map(|id| json!({"sourcedId": id})).collect();
    json!({"sourcedId": id, "enabledUser": true, "givenName": "A", "familyName": "B",
        "agents": agents,
        "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}]})
}

#[test]
fn a_record_stays_while_one_that_was_marked_later_refers_to_it() {
    both(|db| {
        create(db, "orgs", org("s", &json!({})));
        create(db, "users", user("ann", &[]));
        delete(db, "orgs", "s", day(1));
        delete(db, "users", "ann", day(5));
        assert_eq!(purge(db, day(3)), PurgeReport { removed: 0, kept: 1 });
        assert_eq!(purge(db, day(6)), PurgeReport { removed: 2, kept: 0 });
    });
}

#[test]
fn a_record_stays_while_a_marked_one_that_stays_refers_to_it() {
    both(|db| {
        // `below` stays for `ann`, and so `s` and `top` stay, which were made before it.
        create(db, "orgs", org("top", &json!({})));
        create(db, "orgs", org("s", &json!({"parent": {"sourcedId": "top"}})));
        create(db, "orgs", org("below", &json!({"parent": {"sourcedId": "s"}})));
        create(db, "orgs", org("alone", &json!({"parent": {"sourcedId": "top"}})));
        create(
            db,
            "courses",
            json!({"sourcedId": "c", "title": "c", "org": {"sourcedId": "below"}}),
        );
        for id in ["top", "s", "below", "alone"] {
            delete(db, "orgs", id, day(1));
        }
        assert_eq!(purge(db, day(3)), PurgeReport { removed: 1, kept: 3 });
        assert!(!is_stored(db, "org", "alone"));
        delete(db, "courses", "c", day(4));
        assert_eq!(purge(db, day(5)), PurgeReport { removed: 4, kept: 0 });
    });
}

#[test]
fn records_that_refer_to_each_other_are_purged_together() {
    both(|db| {
        create(db, "orgs", org("s", &json!({})));
        let update = |path: &str, value: Value| {
            db.write_blocking(|tx| {
                write::put(
                    tx,
                    collection(path),
                    id(&value),
                    object(value.clone()),
                    None,
                    false,
                    &rules(),
                )
                .map(drop)
            })
            .unwrap();
        };
        // A child and both parents name each other; so do a district and its schools.
        for id in ["mum", "dad", "child"] {
            create(db, "users", user(id, &[]));
        }
        update("users", user("child", &["mum", "dad"]));
        update("users", user("mum", &["child"]));
        update("users", user("dad", &["child", "dad"]));
        create(db, "demographics", json!({"sourcedId": "child", "birthDate": "2015-02-03"}));
        create(db, "orgs", org("d", &json!({"children": [{"sourcedId": "s"}]})));
        update("orgs", org("s", &json!({"parent": {"sourcedId": "d"}})));
        for id in ["mum", "dad", "child"] {
            delete(db, "users", id, day(1));
        }
        delete(db, "orgs", "d", day(1));
        delete(db, "orgs", "s", day(1));
        assert_eq!(
            purge(db, day(2)),
            PurgeReport { removed: 0, kept: 5 },
            "the demographics are in use, and with them the family and its orgs"
        );
        delete(db, "demographics", "child", day(2));
        assert_eq!(purge(db, day(3)), PurgeReport { removed: 6, kept: 0 });
    });
}

#[test]
fn deleting_a_user_with_what_refers_to_it_deletes_the_demographics() {
    both(|db| {
        create(db, "orgs", org("s", &json!({})));
        create(db, "users", user("ann", &[]));
        create(db, "demographics", json!({"sourcedId": "ann", "birthDate": "2015-02-03"}));
        db.write_blocking(|tx| {
            write::delete(tx, collection("users"), "ann", day(1), true, None, &Reach::Everything)
        })
        .unwrap();
        assert_eq!(purge(db, day(2)), PurgeReport { removed: 2, kept: 0 });
    });
}

#[test]
fn a_purge_keeps_a_record_to_which_a_running_import_refers() {
    both(|db| {
        create(db, "orgs", org("purged", &json!({})));
        delete(db, "orgs", "purged", rules().now);
        let role =
            json!({"roleType": "primary", "role": "student", "org": {"sourcedId": "purged"}});
        let new = object(json!({"sourcedId": "imported", "enabledUser": true, "givenName": "A",
            "familyName": "B", "roles": [role]}));
        let later = rules().now.plus_seconds(1);
        let purge = || {
            db.write_blocking(|tx| {
                repository::purge(tx, &kinds::ORG, (later, later), i64::MIN, 1000)
            })
        };
        let waits = "SELECT count(*) FROM pg_stat_activity \
                     WHERE datname = current_database() AND wait_event_type = 'Lock'";
        if db.dialect() == SqlDialect::Sqlite {
            return; // one write follows the other
        }
        std::thread::scope(|scope| {
            let (purging, imported) = db
                .write_blocking(|tx| {
                    write::create(tx, collection("users"), new.clone(), &rules())?;
                    // The purge sees nothing of that: it ends, or waits for this.
                    let purging = scope.spawn(purge);
                    let is_waiting = || {
                        let count = |tx: &mut Tx<'_>| tx.query_one(waits, &[], |row| row.int(0));
                        db.read_blocking(count).unwrap() != Some(0)
                    };
                    while !purging.is_finished() && !is_waiting() {
                        std::thread::yield_now();
                    }
                    Ok((purging, true))
                })
                .unwrap();
            assert!(imported);
            let _ = purging.join().unwrap(); // it removed nothing, or was told to come again
        });
        let has = |kind, id| db.read_blocking(|tx| repository::find(tx, kind, id)).unwrap();
        assert!(has(&kinds::USER, "imported").is_some() && has(&kinds::ORG, "purged").is_some());
        assert_eq!(purge().unwrap().0.kept, 1);
    });
}
