//! Questions and correct answers in words.

use lyceum_core::random::RandomStream;
use lyceum_core::{Problem, Result};
use lyceum_qti::{CandidateSession, ItemWords, variant};

/// A variant of an item in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuestionWords {
    /// The words of the variant.
    pub words: ItemWords,
    /// The correct answer; empty if the item declares none.
    pub correct: String,
}

/// The words of the variant that the seed selects, as in [`crate::candidate`]. Errors: `Invalid` for an item that cannot be
/// read.
pub fn question_words(xml: &str, seed: u64) -> Result<QuestionWords> {
    let item = lyceum_qti::read_item(xml)?;
    let mut random = RandomStream::seeded(seed);
    let variant = (!item.templates.is_empty()).then(|| variant(&item, &mut random));
    let session = CandidateSession { outcomes: None, variant: variant.as_ref(), seed };
    let words = lyceum_qti::item_words(&lyceum_qti::candidate_view(xml, session)?)
        .map_err(|fault| Problem::internal(fault.to_string()))?;
    let correct = item.responses.iter().filter_map(|response| {
        let name = &response.declaration.identifier;
        let of_variant = variant.as_ref().and_then(|variant| variant.correct(name));
        let values = of_variant.unwrap_or(&response.correct).scalars();
        let values: Vec<String> =
            values.iter().map(|value| words.value(name, &value.to_string())).collect();
        (!values.is_empty()).then(|| values.join(", "))
    });
    let correct = correct.collect::<Vec<_>>().join("; ");
    Ok(QuestionWords { words, correct })
}
