//! Errors in a document: what is wrong, where, and how to fix it.

use std::fmt;

use lyceum_core::problem::Detail;
use lyceum_core::{Message, Problem, ProblemKind, message};

/// A place in a document.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
pub struct DocumentPlace {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

impl DocumentPlace {
    /// The place of a byte of the text.
    pub(crate) fn of(source: &str, at: usize) -> Self {
        let mut at = at.min(source.len());
        while !source.is_char_boundary(at) {
            at -= 1;
        }
        Self { line: 1, column: 1 }.after(&source[..at])
    }

    /// The place behind a text that begins here.
    pub(crate) fn after(self, text: &str) -> Self {
        let count = |n: usize| u32::try_from(n).expect("the size limit is below 4 GiB");
        match text.rsplit_once('\n') {
            None => Self { column: self.column + count(text.chars().count()), ..self },
            Some((lines, last)) => Self {
                line: self.line + 1 + count(lines.bytes().filter(|b| *b == b'\n').count()),
                column: 1 + count(last.chars().count()),
            },
        }
    }
}

/// The severity of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The document is refused.
    Error,
    /// The document is accepted; the author should know about the error.
    Warning,
}

/// An error in a document.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct DocumentFault {
    /// Where it is.
    #[serde(flatten)]
    pub place: DocumentPlace,
    /// The element or attribute, as a path of names from the root; empty where the text is not
    /// well-formed.
    pub path: String,
    /// The error.
    pub message: String,
    /// How to fix it.
    pub remedy: String,
    /// Whether the document is refused for it.
    pub severity: Severity,
}

impl DocumentFault {
    /// The fault for a client, as one sentence at its path.
    pub fn detail(&self) -> Detail {
        Detail { path: self.path.clone(), message: Message::untranslated(self.to_string()) }
    }

    pub(crate) fn at(
        place: DocumentPlace,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            place,
            path: String::new(),
            message: message.into(),
            remedy: remedy.into(),
            severity: Severity::Error,
        }
    }
}

impl fmt::Display for DocumentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}, column {}: {}; {}",
            self.place.line, self.place.column, self.message, self.remedy
        )
    }
}

/// The errors in a document, in the order of its text.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Faults(pub Vec<DocumentFault>);

impl Faults {
    /// Whether the document is refused.
    pub fn refuse(&self) -> bool {
        self.0.iter().any(|fault| fault.severity == Severity::Error)
    }
}

impl From<DocumentFault> for Faults {
    fn from(fault: DocumentFault) -> Self {
        Self(vec![fault])
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

/// The problem for a caller of the service: malformed, with each fault as a detail.
impl From<Faults> for Problem {
    fn from(faults: Faults) -> Self {
        let message = match faults.0.split_first() {
            None => "the document was rejected".into(),
            Some((first, [])) => first.detail().message,
            Some((first, more)) => message!("{first} (and {n} more)", n = more.len()),
        };
        let details = faults.0.iter().map(DocumentFault::detail);
        let places = faults.0.iter().map(|fault| (fault.place.line, fault.place.column));
        Self {
            details: details.collect(),
            places: places.collect(),
            ..Self::new(ProblemKind::Malformed, message)
        }
    }
}
