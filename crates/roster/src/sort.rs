//! The order of a list. It is total: records that are equal in it follow the order in which they
//! came, which is also the order of lists that ask for none.

use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::{Param, Row, Sql, SqlDialect, dialect};

use crate::kind::{FieldType, RecordKind};

/// An order.
#[derive(Clone, Debug)]
pub struct SortOrder {
    field: Option<&'static str>,
    is_number: bool,
    /// The expression that is compared, over table `t`; a constant for the default order.
    pub(crate) key: String,
    /// Whether it runs backwards.
    pub descending: bool,
}

/// Replaces a missing number, so that it sorts before all others.
const BEFORE_ALL_NUMBERS: &str = "-1e308";

impl SortOrder {
    /// Reads `sort` and `orderBy`. Errors: `BadSelection` naming a field that the kind lacks.
    pub fn by(
        kind: &'static RecordKind,
        field: Option<&str>,
        descending: bool,
        store: SqlDialect,
    ) -> Result<Self> {
        let Some(name) = field else {
            return Ok(Self { field: None, is_number: false, key: "''".into(), descending });
        };
        let (field, is_number, key) = match name {
            "sourcedId" => ("sourcedId", false, "t.sourced_id".to_owned()),
            "status" => ("status", false, "t.status".to_owned()),
            "dateLastModified" => ("dateLastModified", false, "t.date_last_modified".to_owned()),
            name => declared(kind, name, store)?,
        };
        Ok(Self { field: Some(field), is_number, key, descending })
    }

    /// Whether records come in the order of their creation.
    pub(crate) fn is_default(&self) -> bool {
        self.field.is_none()
    }

    /// Whether records come in the order in which they changed.
    pub(crate) fn is_by_change(&self) -> bool {
        self.field == Some("dateLastModified")
    }

    /// Whether an index gives the order.
    pub(crate) fn is_cheap(&self) -> bool {
        matches!(self.field, None | Some("sourcedId" | "dateLastModified"))
    }

    /// Its name in cursors: a cursor of another order is refused.
    pub(crate) fn name(&self) -> String {
        format!("{}{}", if self.descending { "-" } else { "" }, self.field.unwrap_or_default())
    }

    /// Reads the key of a row for a cursor.
    pub(crate) fn read_key(&self, row: &Row<'_>, column: usize) -> Result<String> {
        if self.is_number {
            Ok(row.opt_real(column)?.map(|number| number.to_string()).unwrap_or_default())
        } else {
            Ok(row.opt_text(column)?.unwrap_or_default().to_owned())
        }
    }

    /// Appends a key that a cursor holds.
    pub(crate) fn bind_key(&self, sql: &mut Sql, key: &str) -> Result<()> {
        let param = if self.is_number {
            Param::Real(key.parse().map_err(|_| {
                Problem::new(
                    ProblemKind::BadSelection,
                    "the cursor is damaged; start again without a cursor",
                )
            })?)
        } else {
            Param::Text(key.to_owned())
        };
        sql.bind(param);
        Ok(())
    }
}

fn declared(
    kind: &'static RecordKind,
    name: &str,
    store: SqlDialect,
) -> Result<(&'static str, bool, String)> {
    let (head, rest) = name.split_once('.').unwrap_or((name, ""));
    let head = head.strip_suffix("SourcedId").unwrap_or(head);
    let unknown = || {
        Problem::new(
            ProblemKind::BadSelection,
            message!(
                "{one} cannot be sorted by '{name}'; send one of their fields",
                one = kind.one
            ),
        )
    };
    let field = kind.field(head).ok_or_else(unknown)?;
    let column = if field.platform { "t.extra" } else { "t.body" };
    let path = [field.name];
    Ok(match (field.ty, field.column_name()) {
        (FieldType::Reference(_), Some(column)) if matches!(rest, "" | "sourcedId") => {
            (field.name, false, format!("COALESCE(t.{column}, '')"))
        }
        (FieldType::Number | FieldType::Integer, _) if rest.is_empty() => {
            let number = dialect::number(store, &dialect::json_text(store, column, &path)?);
            (field.name, true, format!("COALESCE({number}, {BEFORE_ALL_NUMBERS})"))
        }
        (FieldType::Secret, _) => return Err(unknown()),
        (_, Some(column)) if rest.is_empty() => {
            (field.name, false, format!("COALESCE(t.{column}, '')"))
        }
        (
            FieldType::Text
            | FieldType::Uri
            | FieldType::Flag
            | FieldType::Date
            | FieldType::Instant
            | FieldType::Word(_)
            | FieldType::Texts
            | FieldType::Grades,
            _,
        ) if rest.is_empty() => {
            let text = dialect::json_text(store, column, &path)?;
            (field.name, false, format!("COALESCE({text}, '')"))
        }
        _ => return Err(unknown()),
    })
}
