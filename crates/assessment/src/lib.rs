//! Stored assessment content: items, tests and stimuli with their earlier versions, banks of tests, feedback
//! (docs/decisions/021).
//!
//! The XML is the document. Its JSON form is computed when the document is written, so reads and lists parse no XML. A
//! document is parsed before the transaction that writes it. A version number of an identifier is never reused.
//!
//! | what | where |
//! |---|---|
//! | items, tests, stimuli: the kinds of documents | `kind` |
//! | a checked document, a change, a stored document | `document`, `change`, `stored` |
//! | the types that describe documents in the API document | `description` |
//! | request bodies, list parameters, the fields of filters | `body`, `query`, `filter` |
//! | deleting by identifier only | `delete` |
//! | scoring responses, what students see of an item | `scoring` |
//! | the files of items and stimuli | `files` |
//! | items and stimuli as HTML for browsers of students | `html` |
//! | checking a document without storing it | `validate` |
//! | questions and answers as plain text | `words` |
//! | parts, sections and items of tests; banks | `structure`, `banks` |
//! | comments of people on lessons and questions | `feedback` |
//! | SQL | `repository` |
//! | limits | `limits` |

pub mod banks;
mod body;
mod change;
mod delete;
pub mod description;
mod document;
pub mod feedback;
pub mod files;
mod filter;
mod html;
mod kind;
pub mod limits;
mod query;
pub mod repository;
mod scoring;
mod stored;
pub mod structure;
pub mod validate;
mod words;

pub use lyceum_qti::json::{TestPart, TestSection};
use lyceum_store::{Migration, migration};

pub use body::{Object, parse, text};
pub use change::DocumentChange;
pub use delete::delete_any;
pub use document::{CheckedDocument, Metadata, Reference};
pub use html::{
    ItemPage, answered_html, candidate_html, item_page, stimuli, stimulus_html,
    stimulus_identifiers,
};
pub use kind::ContentKind;
pub use query::{Page, Parameters, Query};
pub use scoring::{
    AnswerScore, Chosen, ItemAnswer, Items, SentResponses, candidate, full_score, respond,
    respond_validated,
};
pub use stored::StoredDocument;
pub use words::{QuestionWords, question_words};

/// The tables of this crate.
pub const MIGRATIONS: &[Migration] = &[migration!(6, "assessment")];
