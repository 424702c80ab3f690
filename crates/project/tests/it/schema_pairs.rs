//! Random pairs of schemas with rows. Applying the difference either gives the wanted schema and keeps the shared
//! data, or changes nothing.

use std::collections::BTreeMap;

use lyceum_project::schema::{self, Consent, Schema, diff, push};
use proptest::prelude::*;
use rusqlite::Connection;
use rusqlite::types::Value;

/// Declared columns by number, in tables by number.
type Tables = BTreeMap<u8, BTreeMap<u8, Column>>;

#[derive(Clone, Debug, PartialEq)]
struct Column {
    declared: &'static str,
    rest: &'static str,
    refers_to: Option<u8>,
    indexed: bool,
}

fn columns() -> impl Strategy<Value = Column> {
    let declared = prop::sample::select(vec!["TEXT", "INTEGER", "REAL", "BLOB"]);
    let rest = prop::sample::select(vec![
        "",
        "",
        "DEFAULT NULL",
        "NOT NULL DEFAULT 7",
        "DEFAULT (1 + 1)",
        "UNIQUE",
        "COLLATE NOCASE",
        "CHECK (1)",
        "DEFAULT 'it''s, (odd'",
    ]);
    (declared, rest, prop::option::weighted(0.2, 0..4_u8), any::<bool>()).prop_map(
        |(declared, rest, refers_to, indexed)| Column { declared, rest, refers_to, indexed },
    )
}

fn tables() -> impl Strategy<Value = Tables> {
    prop::collection::btree_map(
        0..4_u8,
        prop::collection::btree_map(0..5_u8, columns(), 0..4),
        0..4,
    )
}

fn ddl(tables: &Tables) -> String {
    let mut ddl = Vec::new();
    for (table, columns) in tables {
        let mut parts = vec!["id INTEGER PRIMARY KEY".to_owned()];
        for (n, Column { declared, rest, refers_to, .. }) in columns {
            let reference = refers_to.filter(|to| tables.contains_key(to) && rest.is_empty());
            let reference = reference
                .map_or(String::new(), |to| format!(" REFERENCES t{to} (id) ON DELETE CASCADE"));
            parts.push(format!("c{n} {declared} {rest}{reference}"));
        }
        ddl.push(format!("CREATE TABLE t{table} ({});\n", parts.join(", ")));
        for (n, _) in columns.iter().filter(|(_, column)| column.indexed) {
            ddl.push(format!("CREATE INDEX i{table}_{n} ON t{table} (c{n});\n"));
        }
    }
    ddl.concat()
}

/// Writes three rows per table. Every value is the number of its row, which is an id in every table.
fn fill(connection: &Connection, tables: &Tables) {
    for (table, columns) in tables {
        for row in 1..=3 {
            let names: Vec<_> = columns.keys().map(|n| format!(", c{n}")).collect();
            let values = format!(", {row}").repeat(columns.len());
            let sql = format!("INSERT INTO t{table} (id{}) VALUES ({row}{values})", names.concat());
            connection.execute(&sql, []).unwrap();
        }
    }
}

fn cells(connection: &Connection, table: u8, column: u8) -> Vec<Value> {
    let sql = format!("SELECT c{column} FROM t{table} ORDER BY id");
    let mut statement = connection.prepare(&sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_push_gives_the_wanted_schema_and_keeps_shared_data(old in tables(), new in tables()) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("app.db");
        let connection = Connection::open(&file).unwrap();
        connection.pragma_update(None, "synchronous", "off").unwrap();
        connection.pragma_update(None, "foreign_keys", "off").unwrap();
        connection.execute_batch(&ddl(&old)).unwrap();
        fill(&connection, &old);
        let kept = |old: &Tables, new: &Tables| -> Vec<(u8, u8)> {
            let both = old.iter().filter_map(|(table, columns)| Some((table, columns, new.get(table)?)));
            both.flat_map(|(table, columns, others)| {
                columns.iter().filter_map(|(n, column)| {
                    (others.get(n)?.declared == column.declared).then_some((*table, *n))
                }).collect::<Vec<_>>()
            }).collect()
        };
        let kept = kept(&old, &new);
        let before: Vec<_> = kept.iter().map(|(table, n)| cells(&connection, *table, *n)).collect();
        drop(connection);

        let (was, wanted) = (schema::read(&file).unwrap(), Schema::of(&ddl(&new)).unwrap());
        let pushed = push(&file, &wanted, &[], Consent::MayLose, &folder.path().join("copy.db"));
        let connection = Connection::open(&file).unwrap();
        let after: Vec<_> = match &pushed {
            Ok(_) => kept.iter().map(|(table, n)| cells(&connection, *table, *n)).collect(),
            // Rows may refer to a new, empty table. Then nothing changes.
            Err(refused) => {
                prop_assert!(refused.message.contains("would refer to rows"), "{}", refused.message);
                prop_assert_eq!(schema::read(&file).unwrap(), was);
                return Ok(());
            }
        };
        prop_assert_eq!(after, before);
        let now = schema::read(&file).unwrap();
        prop_assert!(diff(&now, &wanted, &[]).unwrap().is_empty());
        prop_assert_eq!(now, wanted);
    }
}
