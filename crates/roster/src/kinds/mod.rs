//! The kinds of record, one declaration each.

mod academic_session;
mod assessment_line_item;
mod assessment_result;
mod category;
mod class;
mod component_resource;
mod course;
mod course_component;
mod demographics;
mod enrollment;
mod line_item;
mod org;
mod resource;
mod result;
mod score_scale;
mod shared;
mod user;

pub use academic_session::ACADEMIC_SESSION;
pub use assessment_line_item::ASSESSMENT_LINE_ITEM;
pub use assessment_result::ASSESSMENT_RESULT;
pub use category::CATEGORY;
pub use class::CLASS;
pub use component_resource::COMPONENT_RESOURCE;
pub use course::COURSE;
pub use course_component::COURSE_COMPONENT;
pub use demographics::DEMOGRAPHICS;
pub use enrollment::ENROLLMENT;
pub use line_item::LINE_ITEM;
pub use org::ORG;
pub use resource::RESOURCE;
pub use result::RESULT;
pub use score_scale::SCORE_SCALE;
pub use user::USER;

use crate::kind::RecordKind;

/// Every kind, each after those that it mostly refers to.
pub static ALL: &[&RecordKind] = &[
    &ORG,
    &ACADEMIC_SESSION,
    &RESOURCE,
    &COURSE,
    &COURSE_COMPONENT,
    &COMPONENT_RESOURCE,
    &CLASS,
    &USER,
    &DEMOGRAPHICS,
    &ENROLLMENT,
    &CATEGORY,
    &SCORE_SCALE,
    &LINE_ITEM,
    &RESULT,
    &ASSESSMENT_LINE_ITEM,
    &ASSESSMENT_RESULT,
];

/// The kind of that name, also by the names that OneRoster 1.1 gave to its parts.
pub fn by_name(one: &str) -> Option<&'static RecordKind> {
    let one = match one {
        "student" | "teacher" | "guardian" => "user",
        "school" | "district" => "org",
        "term" | "gradingPeriod" | "schoolYear" => "academicSession",
        other => other,
    };
    ALL.iter().copied().find(|kind| kind.one == one)
}

mod prelude {
    pub(super) use super::shared::*;
    pub(super) use crate::kind::{
        Field, FieldType, OrganizationPath, RecordKind, Service, Vocabulary, closed_vocabulary,
        field, flag, open, reference, references, text, title, word,
    };
    pub(super) use crate::rules::KindRules;
}
