//! Compiles filters to SQL: fields are columns or members of the metadata.

use lyceum_core::Result;
use lyceum_core::filter::{FilterExpression, FilterOperator, FilterValue, refused};
use lyceum_core::time::Timestamp;
use lyceum_store::{Param, Sql, SqlDialect, dialect};

/// The comparison of a field.
enum Field<'f> {
    /// A text column. `true`: without distinguishing upper and lower case of A-Z.
    Column(&'static str, bool),
    /// An instant in a column.
    Instant(&'static str),
    /// The number of the version.
    Version,
    /// A boolean of the JSON form.
    Flag(&'static str),
    /// A member of the metadata.
    Metadata(Vec<&'f str>),
}

const FIELDS: &str = "identifier, title, type, qtiVersion, version, timeDependent, adaptive, \
                      createdAt, updatedAt and metadata.<name>";

fn field(name: &str) -> Result<Field<'_>> {
    Ok(match name {
        "identifier" => Field::Column("t.identifier", true),
        "title" => Field::Column("t.title", false),
        "type" => Field::Column("t.type", false),
        "qtiVersion" => Field::Column("t.qti_version", true),
        "createdAt" => Field::Instant("t.created_at"),
        "updatedAt" => Field::Instant("t.updated_at"),
        "version" => Field::Version,
        "timeDependent" => Field::Flag("timeDependent"),
        "adaptive" => Field::Flag("adaptive"),
        _ => match name.strip_prefix("metadata.") {
            Some(path) => Field::Metadata(path.split('.').collect()),
            None => {
                return Err(refused(format!("there is no field '{name}'; use one of {FIELDS}")));
            }
        },
    })
}

/// Checks that a filter can be compiled. Errors: `BadFilter` for unknown fields and unsuitable values.
pub(crate) fn check(expr: &FilterExpression) -> Result<()> {
    // A filter that compiles for one SQL dialect also compiles for the other.
    compile(&mut Sql::new(SqlDialect::Sqlite), expr)
}

/// Appends the condition. `t` is the table of documents.
pub(super) fn compile(sql: &mut Sql, expr: &FilterExpression) -> Result<()> {
    match expr {
        FilterExpression::And(parts) => sql.joined(parts, " AND ", compile),
        FilterExpression::Or(parts) => sql.joined(parts, " OR ", compile),
        FilterExpression::Clause(name, op, literal) => clause(sql, name, *op, literal),
    }
}

fn clause(sql: &mut Sql, name: &str, op: FilterOperator, literal: &FilterValue) -> Result<()> {
    let text = &literal.text;
    let (expr, param) = match field(name)? {
        Field::Column(column, true) if op != FilterOperator::Contains => {
            (column.to_owned(), text.as_str().into())
        }
        Field::Column(column, _) => folded(column, text),
        Field::Instant(_) if op == FilterOperator::Contains => {
            return Err(refused(format!(
                "'{name}' is an instant, but `~` compares texts; use another operator"
            )));
        }
        Field::Instant(column) => match text.parse::<Timestamp>() {
            Ok(instant) => (column.to_owned(), Param::Text(instant.to_string())),
            Err(_) => {
                let like = "2026-01-15T08:00:00Z or 2026-01-15";
                return Err(refused(format!(
                    "'{name}' is an instant such as {like}; '{text}' is not"
                )));
            }
        },
        Field::Version => match text.parse::<i64>() {
            Ok(number) if op != FilterOperator::Contains => {
                ("t.version".to_owned(), Param::Int(number))
            }
            _ => return Err(refused("'version' must be compared with a whole number")),
        },
        Field::Flag(flag) => folded(&dialect::json_text(sql.dialect, "t.json", &[flag])?, text),
        Field::Metadata(path) => {
            let member = dialect::json_text(sql.dialect, "t.metadata", &path)
                .map_err(|problem| refused(format!("'{name}': {}", problem.message)))?;
            match (!literal.quoted).then(|| text.parse::<f64>().ok()).flatten() {
                Some(number) if op != FilterOperator::Contains => {
                    (dialect::number(sql.dialect, &member), Param::Real(number))
                }
                _ => folded(&member, text),
            }
        }
    };
    sql.compare(&expr, op, param);
    Ok(())
}

/// A comparison that does not distinguish upper and lower case of A-Z (docs/decisions/006).
fn folded(expr: &str, text: &str) -> (String, Param) {
    (format!("lower({expr})"), Param::Text(text.to_ascii_lowercase()))
}
