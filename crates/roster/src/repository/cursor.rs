//! Cursors of lists: where a page ended.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};

use super::list::ListQuery;
use crate::sort::SortOrder;

/// Where a page ended.
pub(super) struct ListCursor {
    /// The number of its last record.
    pub(super) seq: i64,
    /// See [`ListQuery::until`].
    pub(super) until: Option<Timestamp>,
    /// The value of its last record that the order compares.
    pub(super) key: String,
}

/// The cursor behind a record.
pub(super) fn text(query: &ListQuery, key: &str, seq: i64) -> String {
    let until = query.until.map(|until| until.to_string()).unwrap_or_default();
    URL_SAFE_NO_PAD.encode(format!("{}\n{seq}\n{until}\n{key}", query.sort.name()))
}

/// The instant up to which the walk goes that the cursor continues. Errors: `BadSelection`.
pub(crate) fn until_of(sort: &SortOrder, cursor: &str) -> Result<Option<Timestamp>> {
    if cursor.is_empty() { Ok(None) } else { Ok(read(sort, cursor)?.until) }
}

/// Reads a cursor of a list in this order. Errors: `BadSelection`.
pub(super) fn read(sort: &SortOrder, cursor: &str) -> Result<ListCursor> {
    let broken = || {
        Problem::new(
            ProblemKind::BadSelection,
            "the cursor does not come from this list; start again without a cursor",
        )
    };
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| broken())?;
    let text = String::from_utf8(bytes).map_err(|_| broken())?;
    let mut parts = text.splitn(4, '\n');
    let fits = parts.next() == Some(sort.name().as_str());
    let seq = parts.next().and_then(|seq| seq.parse().ok());
    let until = match parts.next() {
        Some("") => Some(None),
        Some(until) => until.parse().ok().map(Some),
        None => None,
    };
    match (fits, seq, until, parts.next()) {
        (true, Some(seq), Some(until), Some(key)) if !key.contains('\0') => {
            Ok(ListCursor { seq, until, key: key.to_owned() })
        }
        _ => Err(broken()),
    }
}
