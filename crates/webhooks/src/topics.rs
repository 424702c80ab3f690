//! The topics: what can happen to which objects, and what a message about it contains.

/// The topic of Caliper events.
pub const CALIPER_EVENT: &str = "caliper.event";

/// The topics of one kind of object.
#[derive(Debug)]
pub struct TopicGroup {
    /// The kind of object, the first part of the topic.
    pub subject: &'static str,
    /// What can happen to it: the second part of each topic.
    pub actions: &'static [&'static str],
    /// The member `object` of the message.
    pub object: &'static str,
    /// The member `data` of the message.
    pub data: &'static str,
}

const RECORD_ACTIONS: &[&str] = &["created", "updated", "deleted"];
const SOURCED_ID: &str = "sourcedId";
const RECORD: &str = "the OneRoster record after the change";

const fn record(subject: &'static str) -> TopicGroup {
    TopicGroup { subject, actions: RECORD_ACTIONS, object: SOURCED_ID, data: RECORD }
}

/// All topics.
pub const TOPICS: &[TopicGroup] = &[
    record("org"),
    record("academicSession"),
    record("resource"),
    record("course"),
    record("courseComponent"),
    record("componentResource"),
    record("class"),
    TopicGroup {
        subject: "user",
        actions: &["created", "updated", "deleted", "erased"],
        object: SOURCED_ID,
        data: "the OneRoster record after the change; of `user.erased`, the `pseudonym` that replaces the user",
    },
    record("demographics"),
    record("enrollment"),
    record("category"),
    record("scoreScale"),
    record("lineItem"),
    record("result"),
    record("assessmentLineItem"),
    record("assessmentResult"),
    TopicGroup {
        subject: "caliper",
        actions: &["event"],
        object: "id of the event",
        data: "the Caliper event as it was sent; a correction is another message with the same object",
    },
    TopicGroup {
        subject: "attempt",
        actions: &["completed"],
        object: "student/lesson/number of the attempt",
        data: "student, lesson, attempt, score, xp, mastered, totalQuestions, correctQuestions, startedAt, completedAt",
    },
    TopicGroup {
        subject: "badge",
        actions: &["issued", "revoked"],
        object: "id of the badge",
        data: "id, learner, revoked, reason, credential",
    },
    TopicGroup {
        subject: "deployment",
        actions: &["created", "rolledBack"],
        object: "slug of the project",
        data: "project, version, madeBy",
    },
];

/// The names of all topics, such as `user.created`.
pub fn names() -> impl Iterator<Item = String> {
    let names_of = |group: &'static TopicGroup| {
        group.actions.iter().map(move |action| format!("{}.{action}", group.subject))
    };
    TOPICS.iter().flat_map(names_of)
}
