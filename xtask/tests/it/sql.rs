//! Where SQL may stand.

use crate::{refuse, rust_sources};

#[test]
fn sql_is_only_in_its_modules() {
    let mut breaches = Vec::new();
    for source in rust_sources().filter(|source| !may_speak_sql(&source.path)) {
        // What follows is the file's own tests, which may look into tables.
        let code = source.text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for (index, line) in code.lines().enumerate() {
            if speaks_sql(line) {
                breaches.push(format!("{}:{}: {}", source.path, index + 1, line.trim()));
            }
        }
    }
    refuse(
        &breaches,
        "only lyceum-store and modules named sql… or repository… contain SQL",
        "both stores must understand every statement, and a change of a table must find all its statements",
        "move the statement into a function of the crate's repository module",
    );
}

/// The store, the modules for it, tests, and the bench (whose bare anchor is the raw store).
fn may_speak_sql(path: &str) -> bool {
    let free = ["crates/store/", "crates/testkit/", "bench/", "xtask/tests/"];
    free.iter().any(|folder| path.starts_with(folder))
        || path.split('/').any(|part| part.starts_with("sql") || part.starts_with("repository"))
        || path.contains("/migrations")
        || path.contains("/tests/")
}

fn speaks_sql(line: &str) -> bool {
    if line.trim_start().starts_with("//") || !line.contains('"') && !line.contains(" FROM ") {
        return false;
    }
    ["SELECT ", "INSERT INTO ", "DELETE FROM ", "CREATE TABLE ", "CREATE INDEX "]
        .iter()
        .any(|keyword| line.contains(keyword))
        || line.contains("UPDATE ") && line.contains(" SET ")
}

#[test]
fn the_rule_sees_sql() {
    assert!(speaks_sql(r#"    tx.execute("DELETE FROM client WHERE id = $1", &[id.into()])?;"#));
    assert!(speaks_sql(r#"    let sql = format!("UPDATE {table} SET status = $1");"#));
    assert!(speaks_sql("         SELECT id FROM client \\"));
    assert!(!speaks_sql("/// SELECT one of the choices \"here\"."));
    assert!(!speaks_sql(r#"    bail!("an update of the set failed")"#));
}
