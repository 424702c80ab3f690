//! The only SQL of the crate except that of filters: put, get, list, references.
//!
//! A kind's table holds a record's canonical JSON beside its columns; `roster_link` holds list
//! members and multi-valued references. [`put`](self::put) writes all of them together.

mod announce;
mod belongs;
mod changed;
mod check;
mod classes;
mod cost;
mod course;
mod credentials;
mod cursor;
mod delete;
mod erase;
mod followers;
mod former;
mod imported;
pub(crate) mod imports;
mod learners;
mod list;
mod moves;
mod names;
mod organizations;
mod people;
mod purge;
mod put;
mod reach;
mod read;
mod references;
mod referrers;
mod sources;
mod targets;
mod walk;

pub use belongs::PathScope;
pub use changed::{changed, numbered, removed};
pub use check::{CheckReport, check};
pub(crate) use classes::courses_of_classes;
pub use classes::{
    ActiveClass, ClassMember, MemberCounts, active_classes, class_counts, class_sizes,
    classes_of_member, in_class, students_by_class,
};
pub use cost::{IndexProbe, ListCost, cost};
pub use course::{
    LessonState, PlacedLesson, RecordTexts, component_resources, components, lesson_state,
    lock_user, placed_in, placed_with_word, resources, test_outs,
};
pub use credentials::{Credential, add_credential, credential};
pub(crate) use cursor::until_of;
pub use delete::delete;
pub use erase::{RedactedRecords, erase_references, erase_user, redact_records};
pub use former::of_former_students;
pub(crate) use imported::{each_active, last_number, mark_imported, with_numbers};
pub(crate) use learners::first_users_with_usernames;
pub use learners::{
    ListedStudent, OwnGoal, each_learning, has_student_with_email, learners, own_goals, student,
    users_with_emails, users_with_username,
};
pub use list::{ListQuery, RecordPage, list};
pub use names::{NameSearch, find_by_name};
pub(crate) use organizations::{check_depth, hold_still};
pub use people::UserSelection;
pub use purge::{PurgeReport, purge};
pub use put::{
    Creation, WriteOutcome, WrittenRecord, create, create_all, present, put_all, replace, upsert,
};
pub(crate) use put::{add, expect, overwrite, put_among};
pub use reach::{
    RecordUse, each_user_within, each_within, find_within, ids_within, is_within, refers_within,
    require_within,
};
pub(crate) use read::{are_in_use, is_empty};
pub use read::{each, find, find_in, first_user_with_email, in_use, learning, mentioning, page};
pub(crate) use references::check_all;
pub use references::{linked, missing, referring_to, referring_to_both, require};
pub(crate) use sources::source_times;
pub(crate) use targets::{IdsByKind, child_of_another_course, depend_on, of_school, unfit};
