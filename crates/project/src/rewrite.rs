//! Writes stored values into a config file. It replaces only literals and keeps everything else.

use lyceum_core::{Problem, Result, message};
use serde_json::Value;

use crate::config::Config;
use crate::places::line_and_column;
use crate::state::SCALARS;

/// A config file with other values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The new text of the file.
    pub text: String,
    /// The fields that were rewritten.
    pub fields: Vec<&'static str>,
    /// Fields that must be changed by hand.
    pub by_hand: Vec<ByHand>,
}

/// A field that a tool cannot rewrite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByHand {
    /// Its name.
    pub field: &'static str,
    /// Its line and column; `None` if the file does not contain it.
    pub place: Option<(usize, usize)>,
    /// Why it cannot be rewritten.
    pub why: &'static str,
}

impl Config {
    /// Rewrites the text of the file with these values of `name`, `description`, `emoji` and `platform`. A field with
    /// the value `None` must be removed by hand. Literals keep their kind of quotes.
    pub fn with(&self, values: &[(&str, Option<&str>)]) -> Rewritten {
        let mut edits = Vec::new();
        let mut rewritten = Rewritten { text: self.text.clone(), fields: vec![], by_hand: vec![] };
        for field in SCALARS {
            let Some((_, value)) = values.iter().find(|(name, _)| *name == field) else { continue };
            let literal = self.scalars.iter().find(|(name, _)| *name == field);
            let mut by_hand = |place, why| rewritten.by_hand.push(ByHand { field, place, why });
            match (literal, value) {
                (Some((_, span)), Some(value)) => {
                    edits.push((span.clone(), quoted(&self.text[span.clone()], value)));
                    rewritten.fields.push(field);
                }
                (Some((_, span)), None) => {
                    let place = line_and_column(&self.text, span.start);
                    by_hand(Some(place), "the server has none; remove it");
                }
                (None, _) => match self.expression(field) {
                    Some(at) => by_hand(Some(at), "it is built from an expression"),
                    None => by_hand(None, "it is not in the config"),
                },
            }
        }
        edits.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
        for (span, text) in edits {
            rewritten.text.replace_range(span, &text);
        }
        rewritten
    }

    /// Replaces the file's text, completely or not at all.
    ///
    /// Errors: the file cannot be written.
    pub fn replace(&self, text: &str) -> Result<()> {
        let failed = |error: std::io::Error| {
            let message = message!("cannot write '{file}': {error}", file = self.file.display());
            Problem::new(lyceum_core::ProblemKind::Internal, message)
        };
        let draft = self.file.with_extension("new");
        std::fs::write(&draft, text).map_err(failed)?;
        let permissions = std::fs::metadata(&self.file).map_err(failed)?.permissions();
        std::fs::set_permissions(&draft, permissions).map_err(failed)?;
        std::fs::rename(&draft, &self.file).map_err(failed)
    }
}

/// A text as a literal, with the quotes of the previous one.
fn quoted(former: &str, value: &str) -> String {
    let json = Value::from(value).to_string();
    let Some(quote @ ('\'' | '`')) = former.chars().next() else { return json };
    let inner = json[1..json.len() - 1].replace("\\\"", "\"");
    let inner = inner.replace(quote, &format!("\\{quote}"));
    let inner = if quote == '`' { inner.replace("${", "\\${") } else { inner };
    format!("{quote}{inner}{quote}")
}
