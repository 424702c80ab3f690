//! Limits a backend's SQL to its own database: it cannot reach the file, other files (also those of
//! temporary tables) or the transaction that it runs in.

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

/// Pragmas that read the schema, and those whose effect ends with the transaction.
const PRAGMAS: [&str; 12] = [
    "defer_foreign_keys",
    "foreign_key_check",
    "foreign_key_list",
    "foreign_keys",
    "index_info",
    "index_list",
    "index_xinfo",
    "optimize",
    "quick_check",
    "table_info",
    "table_list",
    "table_xinfo",
];

pub(super) fn authorize(context: AuthContext<'_>) -> Authorization {
    let is_allowed = match context.action {
        AuthAction::Attach { .. }
        | AuthAction::Detach { .. }
        | AuthAction::Transaction { .. }
        | AuthAction::Savepoint { .. }
        | AuthAction::CreateTempIndex { .. }
        | AuthAction::CreateTempTable { .. }
        | AuthAction::CreateTempTrigger { .. }
        | AuthAction::CreateTempView { .. }
        | AuthAction::Unknown { .. } => false,
        AuthAction::Pragma { pragma_name, .. } => {
            PRAGMAS.contains(&pragma_name.to_ascii_lowercase().as_str())
        }
        AuthAction::Function { function_name } => {
            !function_name.eq_ignore_ascii_case("load_extension")
        }
        AuthAction::CreateVtable { module_name, .. } => {
            let module = module_name.to_ascii_lowercase();
            ["fts5", "fts5vocab", "rtree"].contains(&module.as_str())
        }
        _ => true,
    };
    if is_allowed { Authorization::Allow } else { Authorization::Deny }
}
