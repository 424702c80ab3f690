//! The inventory names every table of the database, so that a new table cannot be forgotten.

use std::collections::{BTreeMap, BTreeSet};

use lyceum_erasure::inventory::{Reference, TABLES, Treatment};
use lyceum_erasure::sql;
use lyceum_store::Db;
use lyceum_testkit::both_stores;
use lyceum_testserver::migrations;

/// Columns whose name says that they hold an id or an address of a person.
const OF_PERSONS: [&str; 10] = [
    "email",
    "learner",
    "made_by",
    "maker",
    "person",
    "person_id",
    "roster_user",
    "student",
    "student_id",
    "user_id",
];

#[test]
fn every_table_is_declared_with_columns_that_exist() {
    both_stores(&migrations(), |target| {
        let db = Db::open(target, &migrations()).unwrap();
        let columns: BTreeMap<String, BTreeSet<String>> = db
            .read_blocking(|tx| {
                let names = sql::table_names(tx)?;
                let columns_of = |name: String| Ok((name.clone(), sql::column_names(tx, &name)?));
                let all: Vec<(String, Vec<String>)> =
                    names.into_iter().map(columns_of).collect::<lyceum_core::Result<_>>()?;
                Ok(all
                    .into_iter()
                    .map(|(name, columns)| (name, columns.into_iter().collect()))
                    .collect())
            })
            .unwrap();
        let declared: BTreeSet<&str> = TABLES.iter().map(|table| table.name).collect();
        assert_eq!(declared.len(), TABLES.len(), "a table is declared twice");
        let stored: BTreeSet<&str> = columns.keys().map(String::as_str).collect();
        let missing: Vec<_> = stored.difference(&declared).collect();
        assert!(
            missing.is_empty(),
            "declare in crates/erasure/src/inventory.rs how these tables refer to a person, and what an erasure does \
             with their rows: {missing:?}"
        );
        assert_eq!(declared, stored, "a declared table does not exist");
        for table in TABLES {
            let has = |column: &str| columns[table.name].contains(column);
            let mut named: Vec<&str> = table.mentions.to_vec();
            match table.person {
                Reference::None | Reference::Crate => {}
                Reference::Column(columns) => named.extend(columns),
                Reference::Through { column, table: other, key } => {
                    named.push(column);
                    assert!(columns[other].contains(key), "{other}.{key}");
                    let at = |name| TABLES.iter().position(|table| table.name == name);
                    assert!(
                        table.treatment == Treatment::Crate || at(table.name) < at(other),
                        "'{}' must be treated before '{other}', through which its rows are found",
                        table.name
                    );
                    assert_ne!(
                        table.treatment,
                        Treatment::Pseudonymise(&[]),
                        "'{}' has no column to change: keep its rows, or delete them",
                        table.name
                    );
                }
            }
            if let Treatment::Pseudonymise(values) = table.treatment {
                named.extend(values.iter().map(|(column, _)| *column));
            }
            for column in OF_PERSONS.into_iter().filter(|column| has(column)) {
                assert!(
                    named.contains(&column)
                        || table.person == Reference::Crate
                        || table.treatment == Treatment::Crate,
                    "'{}.{column}' names a person, and the inventory does not say so",
                    table.name
                );
            }
            for column in named {
                assert!(has(column), "{}.{column} does not exist", table.name);
            }
        }
    });
}
