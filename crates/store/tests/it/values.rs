use lyceum_core::ProblemKind;
use lyceum_store::{Db, Tx, Value};
use proptest::prelude::*;

use crate::{on_both, wait};

type Thing = (Option<i64>, Option<f64>, Option<String>, Option<Vec<u8>>);

fn things() -> impl Strategy<Value = Vec<Thing>> {
    let text = "[^\0]{0,40}";
    let real = proptest::num::f64::NORMAL | proptest::num::f64::ZERO;
    let thing = (
        any::<Option<i64>>(),
        proptest::option::of(real),
        proptest::option::of(text),
        any::<Option<Vec<u8>>>(),
    );
    let few_or_many = prop_oneof![0..20_usize, 100..130_usize];
    few_or_many.prop_flat_map(move |count| proptest::collection::vec(thing.clone(), count))
}

fn row<'a>(id: &'a String, (number, share, body, bytes): &'a Thing) -> [Value<'a>; 5] {
    [id.into(), (*number).into(), (*share).into(), body.as_ref().into(), bytes.as_deref().into()]
}

const COLUMNS: [&str; 5] = ["id", "number", "share", "body", "bytes"];

fn insert(db: &Db, things: Vec<Thing>, in_bulk: bool) {
    wait(db.write(move |tx| {
        tx.execute("DELETE FROM things", &[])?;
        let ids: Vec<String> = (0..things.len()).map(|at| format!("thing-{at:05}")).collect();
        let rows: Vec<_> = ids.iter().zip(&things).map(|(id, thing)| row(id, thing)).collect();
        if in_bulk {
            let inserted = tx.insert_rows("things", &COLUMNS, rows.as_flattened(), "")?;
            assert_eq!(inserted, things.len() as u64);
            return Ok(());
        }
        for row in rows {
            let sql = "INSERT INTO things (id, number, share, body, bytes) \
                       VALUES ($1, $2, $3, $4, $5)";
            assert_eq!(tx.execute(sql, &row)?, 1);
        }
        Ok(())
    }))
    .unwrap();
}

fn stored(db: &Db) -> Vec<Thing> {
    let read =
        |tx: &mut Tx<'_>| tx.rows("SELECT number, share, body, bytes FROM things ORDER BY id", &[]);
    wait(db.read(read)).unwrap()
}

#[test]
fn values_are_read_as_they_were_stored() {
    on_both(|db| {
        proptest!(ProptestConfig::with_cases(24), |(things in things(), in_bulk: bool)| {
            insert(db, things.clone(), in_bulk);
            prop_assert_eq!(stored(db), things);
        });
    });
}

#[test]
fn bulk_inserts_write_all_chunks_and_handle_conflicts() {
    on_both(|db| {
        let all: Vec<Thing> = (0..2500).map(|n| (Some(n), None, None, None)).collect();
        insert(db, all.clone(), true);
        assert_eq!(stored(db), all);
        let again = wait(db.write(|tx| {
            let values = ["thing-00001".into(), 7.into(), "new".into(), 8.into()];
            let values: [Value<'_>; 4] = values;
            tx.insert_rows("things", &["id", "number"], &values, "ON CONFLICT (id) DO NOTHING")
        }));
        assert_eq!(again.unwrap(), 1);
        let nulls = wait(db.write(|tx| {
            let nulls = [Value::Null, Value::Null];
            tx.execute("CREATE TABLE nulls (a BIGINT, b BIGINT)", &[])?;
            tx.insert_rows("nulls", &["a"], &nulls, "")
        }));
        assert_eq!(nulls.unwrap(), 2);
    });
}

#[test]
fn rows_are_updated_if_their_keys_match() {
    on_both(|db| {
        insert(db, (0..2500).map(|_| (Some(1), Some(0.5), None, None)).collect(), true);
        let mut numbers = Vec::new();
        let numbered = db.read_blocking(|tx| {
            tx.query("SELECT seq FROM things", &[], |row| {
                numbers.push(row.int(0)?);
                Ok(true)
            })
        });
        numbered.unwrap();
        let update = |numbers: &[i64], was: i64| {
            let row = |seq: &i64| ["new".into(), Value::Null, Value::Int(*seq), Value::Int(was)];
            let values: Vec<Value<'_>> = numbers.iter().flat_map(row).collect();
            let keys = ["seq", "number"];
            db.write_blocking(|tx| tx.update_rows("things", &["body", "share"], &keys, &values))
                .unwrap()
        };
        assert_eq!(update(&numbers[..2400], 2), 0, "no row has that number");
        assert_eq!(update(&numbers[..2400], 1), 2400);
        assert_eq!(update(&numbers[2400..2401], 1), 1, "one alone");
        let changed = stored(db).into_iter().filter(|(.., body, _)| body.as_deref() == Some("new"));
        assert_eq!(changed.count(), 2401);
    });
}

#[test]
fn the_same_sql_has_the_same_result_on_both_stores() {
    on_both(|db| {
        insert(db, (1..=3).map(|n| (Some(n), None, None, None)).collect(), true);
        let answers = wait(db.read(|tx| {
            tx.query_one(
                "WITH big AS (SELECT number FROM things WHERE number >= $1) \
                 SELECT SUM(number), AVG(number), COUNT(*), MAX(number) = $2, \
                 EXISTS (SELECT 1 FROM big WHERE number > $1 AND number < $2) FROM big",
                &[2.into(), 3.into()],
                |row| Ok((row.int(0)?, row.real(1)?, row.int(2)?, row.int(3)?, row.int(4)?)),
            )
        }));
        assert_eq!(answers.unwrap(), Some((5, 2.5, 2, 1, 0)));
        let returned = wait(db.write(|tx| {
            tx.query_one(
                "INSERT INTO things (id, number) VALUES ($1, $2) ON CONFLICT (id) \
                 DO UPDATE SET number = things.number + excluded.number RETURNING number",
                &["thing-00001".into(), 40.into()],
                |row| row.int(0),
            )
        }));
        assert_eq!(returned.unwrap(), Some(42));
    });
}

#[test]
fn text_orders_by_bytes() {
    on_both(|db| {
        let sorted = ["A", "B", "a", "b", "Ä", "ß", "€", "😀"];
        let mixed = ["ß", "b", "😀", "A", "Ä", "a", "€", "B"];
        wait(db.write(move |tx| tx.insert_rows("things", &["id"], &mixed.map(Value::Text), "")))
            .unwrap();
        let read = |tx: &mut Tx<'_>| {
            let mut ids = Vec::new();
            tx.query("SELECT id FROM things ORDER BY id", &[], |row| {
                ids.push(row.text(0)?.to_owned());
                Ok(true)
            })?;
            Ok(ids)
        };
        assert_eq!(wait(db.read(read)).unwrap(), sorted);
    });
}

#[test]
fn a_column_read_as_another_type_is_an_internal_error() {
    on_both(|db| {
        let read = |tx: &mut Tx<'_>| tx.query_one("SELECT 'text'", &[], |row| row.int(0));
        assert_eq!(wait(db.read(read)).unwrap_err().kind, ProblemKind::Internal);
        let read =
            |tx: &mut Tx<'_>| tx.query_one("SELECT CAST(NULL AS BIGINT)", &[], |row| row.int(0));
        assert_eq!(wait(db.read(read)).unwrap_err().kind, ProblemKind::Internal);
    });
}

#[test]
fn text_that_one_store_cannot_store_is_refused_by_both() {
    on_both(|db| {
        let add = "INSERT INTO things (id) VALUES ($1)";
        let refused = wait(db.write(move |tx| tx.execute(add, &["a\0b".into()]))).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::Invalid);
        assert!(refused.message.contains("U+0000"), "{refused}");
        for good in [0, 200] {
            let in_bulk = wait(db.write(move |tx| {
                let ids: Vec<String> = (0..good).map(|at| format!("thing-{at}")).collect();
                let mut ids: Vec<Value<'_>> = ids.iter().map(Value::from).collect();
                ids.push("\0".into());
                tx.insert_rows("things", &["id"], &ids, "")
            }));
            assert_eq!(in_bulk.unwrap_err().kind, ProblemKind::Invalid);
        }
        let sql = "SELECT count(*) FROM things";
        let kept = wait(db.read(move |tx| tx.query_one(sql, &[], |row| row.int(0)))).unwrap();
        assert_eq!(kept, Some(0));
    });
}
