//! Items and stimuli as HTML for browsers of students.
//!
//! `address_of` in these functions returns the address on this server for the address of a file, as a document has it;
//! see [`lyceum_qti::candidate_html`].

use lyceum_core::random::RandomStream;
use lyceum_core::{Problem, Result};
use lyceum_qti::model::Item;
use lyceum_qti::{CandidateSession, variant};
use lyceum_store::Tx;

use crate::body::Object;
use crate::files::{self, ContentNames};
use crate::scoring::{ScoredAnswer, score_answer};
use crate::{AnswerScore, ContentKind, Reference, StoredDocument, repository};

/// An item with everything that a student reads beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemPage {
    /// The item.
    pub item: StoredDocument,
    /// Its files.
    pub files: ContentNames,
    /// The stimuli that it refers to, in its order, each with its files.
    pub stimuli: Vec<(StoredDocument, ContentNames)>,
}

/// Reads an item and its stimuli. Errors: `NotFound`.
pub fn item_page(tx: &mut Tx<'_>, identifier: &str) -> Result<ItemPage> {
    let item = repository::require(tx, ContentKind::Item, identifier)?;
    let stimuli = stimuli(tx, &lyceum_qti::read_item(&item.xml)?)?;
    let files = files::names(tx, ContentKind::Item, &[identifier])?.remove(identifier);
    Ok(ItemPage { item, files: files.unwrap_or_default(), stimuli })
}

/// The identifiers of the stimuli that an item refers to, in its order.
pub fn stimulus_identifiers(tx: &mut Tx<'_>, item: &Item) -> Result<Vec<String>> {
    let references: Vec<Reference> = item
        .stimuli
        .iter()
        .map(|stimulus| Reference {
            kind: ContentKind::Stimulus,
            identifier: stimulus.identifier.to_string(),
            href: stimulus.href.to_string(),
        })
        .collect();
    if references.is_empty() {
        return Ok(Vec::new());
    }
    let targets = repository::resolved(tx, &references)?;
    Ok(targets.into_iter().map(|(_, identifier)| identifier).collect())
}

/// The stimuli that an item refers to, in its order, each with its files. Stimuli that are not stored are left out.
pub fn stimuli(tx: &mut Tx<'_>, item: &Item) -> Result<Vec<(StoredDocument, ContentNames)>> {
    let mut stimuli = Vec::new();
    for identifier in stimulus_identifiers(tx, item)? {
        stimuli.extend(repository::find(tx, ContentKind::Stimulus, &identifier)?);
    }
    let identifiers: Vec<&str> = stimuli.iter().map(|found| found.identifier.as_str()).collect();
    let mut names = files::names(tx, ContentKind::Stimulus, &identifiers)?;
    let with_files = |stimulus: StoredDocument| {
        let files = names.remove(&stimulus.identifier).unwrap_or_default();
        (stimulus, files)
    };
    Ok(stimuli.into_iter().map(with_files).collect())
}

/// An item before an answer. The seed selects the same variant as in [`crate::respond`], and the order of shuffled
/// choices.
pub fn candidate_html(
    xml: &str,
    seed: u64,
    address_of: &dyn Fn(&str) -> Option<String>,
) -> Result<String> {
    let item = lyceum_qti::read_item(xml)?;
    let mut random = RandomStream::seeded(seed);
    let variant = (!item.templates.is_empty()).then(|| variant(&item, &mut random));
    let view = CandidateSession { outcomes: None, variant: variant.as_ref(), seed };
    Ok(lyceum_qti::candidate_html(xml, view, address_of)?)
}

/// Scores responses as [`crate::respond`] does, and renders the item, whose text is `xml`, with the feedback that they
/// select. Errors: as [`crate::respond`].
pub fn answered_html(
    (item, xml): (&Item, &str),
    responses: &Object,
    seed: u64,
    address_of: &dyn Fn(&str) -> Option<String>,
) -> Result<(AnswerScore, String)> {
    let ScoredAnswer { scored, outcomes, variant } = score_answer(item, responses, seed)?;
    let view = CandidateSession { outcomes: outcomes.as_ref(), variant: variant.as_ref(), seed };
    let html = lyceum_qti::candidate_html(xml, view, address_of)?;
    Ok((scored, html))
}

/// A stimulus, as items that refer to it show it.
pub fn stimulus_html(xml: &str, address_of: &dyn Fn(&str) -> Option<String>) -> Result<String> {
    lyceum_qti::stimulus_html(xml, address_of).map_err(Problem::from)
}
