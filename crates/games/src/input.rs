//! Requests: faults with their paths, texts and pages within their limits.

use lyceum_core::{Detail, Message, Problem, Result, message};
use serde_json::{Map, Value};

use crate::limits;

/// Members of JSON that nobody here looks into.
pub type Metadata = Map<String, Value>;

/// The errors found in a request.
#[derive(Default)]
pub(crate) struct Faults(Vec<Detail>);

impl Faults {
    /// Records an error unless the rule holds.
    pub(crate) fn unless(&mut self, holds: bool, path: &str, message: impl Into<Message>) {
        if !holds {
            self.0.push(Detail { path: path.into(), message: message.into() });
        }
    }

    /// Checks the length of a text for people.
    pub(crate) fn text(&mut self, path: &str, text: &str) {
        let most = limits::GAME_TEXT_MAX_CHARS;
        let fits = !text.trim().is_empty() && text.chars().count() <= most;
        self.unless(fits, path, message!("must have 1 to {most} characters"));
    }

    /// Checks the number of correct answers against the number of questions.
    pub(crate) fn counts(&mut self, path: &str, correct: f64, total: f64) {
        let message = message!(
            "must not be more than totalQuestions: got {correct} correct of {total}. Send how many \
             of the {total} questions were answered right"
        );
        self.unless(correct <= total, path, message);
    }

    pub(crate) fn opt_text(&mut self, path: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(path, text);
        }
    }

    pub(crate) fn metadata(&mut self, metadata: &Metadata) {
        let most = limits::GAME_METADATA_MAX_BYTES;
        let fits = text_of(metadata).len() <= most;
        self.unless(fits, "metadata", message!("must have at most {most} bytes as JSON"));
    }

    /// Errors: `Invalid` with all errors found.
    pub(crate) fn into_result(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Problem::invalid_all(self.0)) }
    }
}

/// JSON in its stored form.
pub(crate) fn text_of(metadata: &Metadata) -> String {
    serde_json::to_string(metadata).expect("JSON objects have string keys")
}

/// A page of a list.
#[derive(Clone, Copy, Debug)]
pub struct PageRequest {
    /// The maximum number of records.
    pub limit: i64,
    /// The number of records to skip.
    pub offset: i64,
}

impl PageRequest {
    /// Reads `limit` (by default `usual`) and `offset` from the query. A larger limit is lowered to
    /// [`limits::GAME_PAGE_MAX_RECORDS`].
    ///
    /// Errors: `Invalid` if a value is not a whole number in its range.
    pub fn of<'a>(
        usual: i64,
        query: impl Iterator<Item = (std::borrow::Cow<'a, str>, std::borrow::Cow<'a, str>)>,
    ) -> Result<Self> {
        let mut page = Self { limit: usual, offset: 0 };
        for (name, value) in query {
            let (least, place) = match name.as_ref() {
                "limit" => (1, &mut page.limit),
                "offset" => (0, &mut page.offset),
                _ => continue,
            };
            *place = match value.parse() {
                Ok(number) if number >= least => number,
                _ => {
                    let message = message!("must be a whole number of at least {least}");
                    return Err(Problem::invalid(name, message));
                }
            };
        }
        page.limit = page.limit.min(limits::GAME_PAGE_MAX_RECORDS);
        Ok(page)
    }
}
