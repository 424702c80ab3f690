//! Exports lists as CSV and JSON files.

use lyceum_core::{Problem, Result};
use serde_json::{Map, Value};

use crate::{Column, ExportFormat, Row};

/// An exported file, to which rows are added one by one.
pub struct ExportFile {
    columns: &'static [Column],
    form: Form,
}

enum Form {
    Csv(Box<csv::Writer<Vec<u8>>>),
    Json(Vec<u8>),
}

impl ExportFile {
    /// Creates a file without rows. Errors: `Internal`.
    pub fn new(columns: &'static [Column], export: ExportFormat) -> Result<Self> {
        let form = match export {
            ExportFormat::Csv => {
                let mut file = csv::Writer::from_writer(Vec::new());
                let keys = columns.iter().map(|column| column.key).filter(|key| !key.is_empty());
                file.write_record(keys).map_err(Problem::internal)?;
                Form::Csv(Box::new(file))
            }
            ExportFormat::Json => Form::Json(b"[".to_vec()),
        };
        Ok(Self { columns, form })
    }

    /// Adds a row. Errors: `Internal`.
    pub fn add(&mut self, row: &Row) -> Result<()> {
        let cells = self.columns.iter().zip(row).filter(|(column, _)| !column.key.is_empty());
        let values = cells.map(|(column, cell)| (column.key, &cell.value));
        match &mut self.form {
            Form::Csv(file) => {
                file.write_record(values.map(|(_, value)| plain(value))).map_err(Problem::internal)
            }
            Form::Json(file) => {
                if file.len() > 1 {
                    file.push(b',');
                }
                let values = values.map(|(key, value)| (key.to_owned(), value.clone()));
                let object: Map<String, Value> = values.collect();
                serde_json::to_writer(file, &object).map_err(Problem::internal)
            }
        }
    }

    /// Completes the file and returns its bytes. Errors: `Internal`.
    pub fn end(self) -> Result<Vec<u8>> {
        match self.form {
            Form::Csv(file) => file.into_inner().map_err(Problem::internal),
            Form::Json(mut file) => {
                file.push(b']');
                Ok(file)
            }
        }
    }
}

/// A value as text for a CSV cell. A value that a spreadsheet would run as a formula is marked as text.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) if text.starts_with(['=', '+', '-', '@', '\t', '\r']) => {
            format!("'{text}")
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
