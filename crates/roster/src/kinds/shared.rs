//! Fields that several kinds share.

use crate::kind::{Field, Type, Vocabulary, VocabularyExtension, field, open, text, word};

const SOURCES: Vocabulary =
    Vocabulary { words: &["case", "unknown"], open: VocabularyExtension::Sources, platform: &[] };

/// The standards that a line item works towards.
pub(super) const LEARNING_OBJECTIVES: Field = field(
    "learningObjectiveSet",
    Type::Objects(&[
        word("source", SOURCES).required(),
        field("learningObjectiveIds", Type::Texts).required(),
    ]),
)
.doc("The learning objectives that it works towards.");

/// A student's scores in the standards of the line item.
pub(super) const LEARNING_OBJECTIVE_RESULTS: Field = field(
    "learningObjectiveSet",
    Type::Objects(&[
        word("source", SOURCES).required(),
        field(
            "learningObjectiveResults",
            Type::Objects(&[
                text("learningObjectiveId").required(),
                field("score", Type::Number),
                text("textScore"),
            ]),
        )
        .required(),
    ]),
)
.doc("The scores in the learning objectives.");

/// How far grading is.
pub(super) const SCORE_STATUS: Field = word(
    "scoreStatus",
    open(&["exempt", "fully graded", "not submitted", "partially graded", "submitted"]),
)
.required()
.column()
.doc("How far grading is.");
