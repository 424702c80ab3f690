//! Alignments as clients send and read them.

use lyceum_core::{Problem, ProblemKind, Result, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Statement;
use crate::fault::{Faults, Path};
use crate::limits;
use crate::record::{ItemIdentifier, is_uuid};
use crate::repository::Alignment;

/// The reason why a record covers an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AlignmentSource {
    /// The record is aligned to the item.
    Alignment,
    /// The record itself names the item.
    Record,
}

/// A record that covers an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CoveringRecord {
    /// The kind of record.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// The item, or an item below it.
    #[schemars(with = "ItemIdentifier")]
    pub item: String,
    /// Why the record covers the item.
    pub source: AlignmentSource,
}

/// The records that cover an item.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Coverage {
    /// The identifier of the item.
    #[schemars(with = "ItemIdentifier")]
    pub sourced_id: String,
    /// The records.
    pub coverage: Vec<CoveringRecord>,
    /// False if searching for records that name the item themselves took too long; they are missing then.
    pub complete: bool,
}

/// An item that a record covers, as clients read it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CoveredItem {
    /// The identifier of the item.
    #[schemars(with = "ItemIdentifier")]
    sourced_id: String,
    /// The item's address.
    uri: Option<String>,
    /// The item's code, such as `3.NF.A.1`.
    human_coding_scheme: Option<String>,
    /// The item's text.
    full_statement: Option<String>,
    /// Why the record covers the item.
    source: AlignmentSource,
}

impl From<Statement> for CoveredItem {
    fn from(Statement { item, body, is_named_by_record }: Statement) -> Self {
        let text = |name: &str| body[name].as_str().map(str::to_owned);
        Self {
            uri: text("uri"),
            human_coding_scheme: text("humanCodingScheme"),
            full_statement: text("fullStatement"),
            source: if is_named_by_record {
                AlignmentSource::Record
            } else {
                AlignmentSource::Alignment
            },
            sourced_id: item,
        }
    }
}

/// The items that a record covers, as clients read them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CoveredItems {
    /// The kind of record.
    pub kind: String,
    /// The record's id.
    pub id: String,
    /// The items.
    pub items: Vec<CoveredItem>,
}

/// The items to which a record is to be aligned.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ItemList {
    /// The identifiers of the items.
    #[schemars(with = "Vec<ItemIdentifier>")]
    items: Vec<String>,
}

impl ItemList {
    /// Errors: `Invalid` for texts that are not UUIDs; `TooLarge` above [`limits::ALIGNMENT_MAX_RECORDS`].
    pub fn checked(self) -> Result<Vec<String>> {
        check_count(self.items.len(), "items")?;
        let mut faults = Faults::default();
        for (index, _) in self.items.iter().enumerate().filter(|(_, item)| !is_uuid(item)) {
            faults.add(Path::Record("items", Some(index)), "must be the UUID of a CFItem");
        }
        faults.refuse().map(|()| self.items)
    }
}

/// Alignments.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct AlignmentList {
    /// The alignments, in the order in which they were added.
    pub alignments: Vec<Alignment>,
}

impl AlignmentList {
    /// Errors: `TooLarge` above [`limits::ALIGNMENT_MAX_RECORDS`].
    pub fn checked(self) -> Result<Vec<Alignment>> {
        check_count(self.alignments.len(), "alignments").map(|()| self.alignments)
    }
}

fn check_count(count: usize, what: &str) -> Result<()> {
    let most = limits::ALIGNMENT_MAX_RECORDS;
    if count <= most {
        return Ok(());
    }
    Err(Problem::new(ProblemKind::TooLarge, message!("a request has at most {most} {what}")))
}

/// The number of alignments in a request, and how many of them were new.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AddedAlignments {
    /// Alignments in the request.
    pub sent: usize,
    /// Alignments that did not exist before.
    pub added: u64,
}
