//! Rows read as values.

use lyceum_core::ProblemKind;
use lyceum_store::{FromRow, Tx, columns};

use crate::{on_both, wait};

#[derive(Debug, PartialEq)]
struct Thing {
    name: String,
    number: Option<u32>,
}

columns!(Thing { name: "t.id", number: "t.number" });

#[test]
fn a_row_is_read_as_its_declared_types() {
    on_both(|db| {
        let read = |tx: &mut Tx<'_>| {
            let sql = "INSERT INTO things (id, number) VALUES ('a', 1), ('b', NULL), ('c', -1)";
            tx.execute(sql, &[])?;
            let sql = format!(
                "SELECT {}, o.share, {} FROM things t LEFT JOIN things o ON o.id > 'b' AND t.id = 'a' \
                 WHERE t.id < 'c' ORDER BY t.id",
                Thing::COLUMNS,
                Thing::COLUMNS.replace("t.", "o.")
            );
            tx.rows::<(Thing, Option<f64>, Option<Thing>)>(&sql.replace("o.number", "7"), &[])
        };
        let thing = |name: &str, number| Thing { name: name.to_owned(), number };
        let rows = wait(db.write(read)).unwrap();
        assert_eq!(rows[0], (thing("a", Some(1)), None, Some(thing("c", Some(7)))));
        assert_eq!(rows[1], (thing("b", None), None, None), "a join without a match");
    });
}

fn refused<T: for<'r> FromRow<'r>>(tx: &mut Tx<'_>, columns: &str) {
    let sql = format!("SELECT {columns} FROM things t");
    let problem = tx.row::<T>(&sql, &[]).map(drop).unwrap_err();
    assert_eq!(problem.kind, ProblemKind::Internal, "{columns}");
}

#[test]
fn a_row_of_other_types_is_refused() {
    on_both(|db| {
        let refuse = |tx: &mut Tx<'_>| {
            tx.execute("INSERT INTO things (id, number) VALUES ('a', -1)", &[])?;
            refused::<(String,)>(tx, "t.id, t.number");
            refused::<(String, i64, i64)>(tx, "t.id, t.number");
            refused::<i64>(tx, "t.id");
            refused::<String>(tx, "t.body");
            refused::<Thing>(tx, Thing::COLUMNS);
            Ok(())
        };
        wait(db.write(refuse)).unwrap();
    });
}
