//! The kinds of records that can be aligned.

use lyceum_assessment as assessment;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_roster::kinds as roster_kinds;

/// A kind of record that can be aligned.
#[derive(Clone, Copy, Debug)]
pub enum AlignedKind {
    /// A record of the rosters, the gradebook or the resources.
    Roster(&'static lyceum_roster::kind::RecordKind),
    /// A question or a test.
    Content(assessment::ContentKind, &'static str),
    /// Something that another system stores. Its ids are not checked.
    Named(&'static str),
}

/// Every kind, in the order of answers.
pub fn kinds() -> [AlignedKind; 9] {
    [
        AlignedKind::Roster(&roster_kinds::COURSE),
        AlignedKind::Roster(&roster_kinds::COURSE_COMPONENT),
        AlignedKind::Roster(&roster_kinds::RESOURCE),
        AlignedKind::Roster(&roster_kinds::COMPONENT_RESOURCE),
        AlignedKind::Roster(&roster_kinds::LINE_ITEM),
        AlignedKind::Roster(&roster_kinds::ASSESSMENT_LINE_ITEM),
        AlignedKind::Content(assessment::ContentKind::Item, "assessmentItem"),
        AlignedKind::Content(assessment::ContentKind::Test, "assessmentTest"),
        AlignedKind::Named("achievement"),
    ]
}

impl AlignedKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Roster(kind) => kind.one,
            Self::Content(_, name) | Self::Named(name) => name,
        }
    }

    /// The kind with the name. Errors: `NotFound` with the known names.
    pub fn from_name(name: &str) -> Result<Self> {
        kinds().into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let names = kinds().map(Self::name).join(", ");
            let message = message!(
                "records of the kind '{name}' cannot be aligned to a standard; use one of {names}"
            );
            Problem::new(ProblemKind::NotFound, message)
        })
    }
}
