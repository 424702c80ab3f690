//! Fields that several kinds share.

use crate::kind::{Field, FieldType, Vocabulary, VocabularyExtension, field, open, text, word};

const SOURCES: Vocabulary =
    Vocabulary { words: &["case", "unknown"], open: VocabularyExtension::Sources, platform: &[] };

/// The standards that a line item works towards.
pub(super) const LEARNING_OBJECTIVES: Field = field(
    "learningObjectiveSet",
    FieldType::Objects(&[
        word("source", SOURCES).required(),
        field("learningObjectiveIds", FieldType::Texts).required(),
    ]),
)
.doc("The learning objectives that it works towards.");

/// A student's scores in the standards of the line item.
pub(super) const LEARNING_OBJECTIVE_RESULTS: Field = field(
    "learningObjectiveSet",
    FieldType::Objects(&[
        word("source", SOURCES).required(),
        field(
            "learningObjectiveResults",
            FieldType::Objects(&[
                text("learningObjectiveId").required(),
                field("score", FieldType::Number),
                text("textScore"),
            ]),
        )
        .required(),
    ]),
)
.doc("The scores in the learning objectives.");

/// The state of grading.
pub(super) const SCORE_STATUS: Field = word(
    "scoreStatus",
    open(&["exempt", "fully graded", "not submitted", "partially graded", "submitted"]),
)
.required()
.column()
.doc("The state of grading.");
