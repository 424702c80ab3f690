//! Writes results directly as the JSON that is sent, so that no value needs more memory than its text.

use rusqlite::Statement;
use rusqlite::types::ValueRef;
use serde::Serialize;

use super::server_error;
use crate::limits::D1_RESULT_MAX_BYTES;

/// The format of rows in an answer.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum RowFormat {
    /// `{columns, rows}`.
    Rows,
    /// An object per row.
    Objects,
}

/// The metadata that D1 reports about a statement.
#[derive(Serialize)]
pub(super) struct StatementMeta {
    pub(super) served_by: &'static str,
    pub(super) duration: f64,
    pub(super) changes: u64,
    pub(super) last_row_id: i64,
    pub(super) changed_db: bool,
    pub(super) size_after: i64,
    pub(super) rows_read: usize,
    pub(super) rows_written: u64,
}

/// The results of the statements of one request.
pub(super) struct Results {
    format: RowFormat,
    text: Vec<u8>,
}

impl Results {
    pub(super) fn new(format: RowFormat) -> Self {
        Self { format, text: b"[".to_vec() }
    }

    /// Writes the rows and returns their number.
    ///
    /// Errors: all results together are larger than [`D1_RESULT_MAX_BYTES`].
    pub(super) fn rows(&mut self, statement: &mut Statement<'_>) -> rusqlite::Result<usize> {
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        self.word(r#"{"success":true,"results":"#);
        let (open, close) = match self.format {
            RowFormat::Rows => {
                self.word(r#"{"columns":"#);
                self.json(&names);
                self.word(r#","rows":["#);
                ("[", "]")
            }
            RowFormat::Objects => {
                self.word("[");
                ("{", "}")
            }
        };
        let mut rows = statement.raw_query();
        let mut count = 0;
        while let Some(row) = rows.next()? {
            self.word(open);
            for (index, name) in names.iter().enumerate() {
                if self.format == RowFormat::Objects {
                    self.json(name);
                    self.word(":");
                }
                self.cell(row.get_ref(index)?);
                self.word(",");
                if self.text.len() > D1_RESULT_MAX_BYTES {
                    let message =
                        format!("the results are larger than {D1_RESULT_MAX_BYTES} bytes");
                    return Err(server_error(&message));
                }
            }
            self.close(close);
            self.word(",");
            count += 1;
        }
        self.close(if self.format == RowFormat::Rows { "]}" } else { "]" });
        Ok(count)
    }

    /// Completes a statement's result.
    pub(super) fn meta(&mut self, meta: &StatementMeta) {
        self.word(r#","meta":"#);
        self.json(meta);
        self.word("},");
    }

    /// The complete list.
    pub(super) fn end(mut self) -> Vec<u8> {
        self.close("]");
        self.text
    }

    fn cell(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => self.word("null"),
            ValueRef::Integer(number) => self.json(&number),
            ValueRef::Real(number) => self.json(&number),
            ValueRef::Text(text) => self.json(&String::from_utf8_lossy(text)),
            ValueRef::Blob(blob) => self.json(blob),
        }
    }

    fn word(&mut self, word: &str) {
        self.text.extend_from_slice(word.as_bytes());
    }

    /// Closes a list or object, and removes the comma after its last entry.
    fn close(&mut self, word: &str) {
        if self.text.last() == Some(&b',') {
            self.text.pop();
        }
        self.word(word);
    }

    fn json(&mut self, value: &(impl Serialize + ?Sized)) {
        serde_json::to_writer(&mut self.text, value).expect("results are JSON");
    }
}
