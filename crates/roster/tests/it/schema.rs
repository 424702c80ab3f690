//! The migrations make the columns that the declarations ask for, and no others.

use std::collections::BTreeSet;

use lyceum_roster::kinds;
use lyceum_store::SqlDialect;

use crate::kit::both;

#[test]
fn columns_follow_the_declarations() {
    both(|db| {
        for kind in kinds::ALL {
            let declared =
                ["seq", "sourced_id", "status", "date_last_modified", "source_modified", "version"]
                    .into_iter()
                    .chain(["body", "extra"])
                    .map(str::to_owned)
                    .chain(kind.columns().map(|(_, name)| name))
                    .collect::<BTreeSet<String>>();
            let sql = match db.dialect() {
                SqlDialect::Sqlite => "SELECT name FROM pragma_table_info($1)",
                SqlDialect::Postgres => {
                    "SELECT CAST(column_name AS TEXT) FROM information_schema.columns \
                     WHERE table_name = $1"
                }
            };
            let mut created = BTreeSet::new();
            db.read_blocking(|tx| {
                tx.query(sql, &[kind.table.into()], |row| {
                    created.insert(row.text(0)?.to_owned());
                    Ok(true)
                })
            })
            .unwrap();
            assert_eq!(created, declared, "table {}", kind.table);
        }
    });
}
