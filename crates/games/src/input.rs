//! Requests, read: faults with their paths, texts and pages within their limits.

use lyceum_core::{Detail, Problem, ProblemKind, Result, limits};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A JSON body as what it should be; an empty one is an empty object.
///
/// Errors: `Malformed` for what is no JSON; `Invalid` with the path of what does not fit.
pub fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T> {
    let body = if body.is_empty() { b"{}" } else { body };
    let value: Value = serde_json::from_slice(body).map_err(|error| {
        Problem::new(
            ProblemKind::Malformed,
            format!(
                "the body is not JSON at line {}, column {}: {error}",
                error.line(),
                error.column()
            ),
        )
    })?;
    if !value.is_object() {
        return Err(Problem::new(ProblemKind::Malformed, "the body must be a JSON object"));
    }
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        Problem::invalid(path, error.inner().to_string())
    })
}

/// Members of JSON that nobody here looks into.
pub type Metadata = Map<String, Value>;

/// The faults of a request.
#[derive(Default)]
pub(crate) struct Faults(Vec<Detail>);

impl Faults {
    /// Notes a fault unless the rule holds.
    pub(crate) fn unless(&mut self, holds: bool, path: &str, message: impl Into<String>) {
        if !holds {
            self.0.push(Detail { path: path.into(), message: message.into() });
        }
    }

    /// A text that people read.
    pub(crate) fn text(&mut self, path: &str, text: &str) {
        let most = limits::GAME_TEXT_MAX_BYTES;
        let fits = !text.trim().is_empty() && text.len() <= most;
        self.unless(fits, path, format!("must be 1 to {most} bytes long"));
    }

    /// Correct answers of questions; names the value and what to do.
    pub(crate) fn counts(&mut self, path: &str, correct: f64, total: f64) {
        let message = format!(
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
        self.unless(fits, "metadata", format!("must be at most {most} bytes of JSON"));
    }

    /// Errors: `Invalid` with every fault.
    pub(crate) fn none(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Problem::invalid_all(self.0)) }
    }
}

/// JSON as it is stored.
pub(crate) fn text_of(metadata: &Metadata) -> String {
    serde_json::to_string(metadata).expect("JSON has text keys")
}

/// Which part of a list is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// How many at most.
    pub limit: i64,
    /// Behind how many.
    pub offset: i64,
}

impl Page {
    /// The page that the query's `limit` (else `usual`) and `offset` name; a larger limit is served
    /// at [`limits::GAME_PAGE_MAX_RECORDS`].
    ///
    /// Errors: `Invalid` for what is no such number.
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
                    let message = format!("must be a whole number from {least} up");
                    return Err(Problem::invalid(name, message));
                }
            };
        }
        page.limit = page.limit.min(limits::GAME_PAGE_MAX_RECORDS);
        Ok(page)
    }
}
