//! The topics: what can happen to which objects, what a message about it contains, and who may read it.

use lyceum_access::Scope::{
    AdaptiveRead, CredentialsRead, DemographicsRead, EventsRead, GradebookRead,
    ObCredentialReadonly, OrAssessmentReadonly, OrGradebookCoreReadonly, OrGradebookReadonly,
    OrResourceCoreReadonly, OrResourceReadonly, OrRosterCoreReadonly, OrRosterDemographicsReadonly,
    OrRosterReadonly, ProjectsRead, ResourcesRead, RosterRead,
};
use lyceum_access::{Rights, Scope};

/// The topic of Caliper events.
pub const CALIPER_EVENT: &str = "caliper.event";

/// The topics of one kind of object.
#[derive(Debug)]
pub struct TopicGroup {
    /// The kind of object, the first part of the topic.
    pub subject: &'static str,
    /// The actions that can happen to it: the second part of each topic.
    pub actions: &'static [&'static str],
    /// The member `object` of the message.
    pub object: &'static str,
    /// The member `data` of the message.
    pub data: &'static str,
    /// The scopes of the route that reads the object: a reader has one of them.
    pub scopes: &'static [Scope],
}

impl TopicGroup {
    /// Whether these rights read the objects.
    pub(crate) fn is_read_with(&self, rights: Rights) -> bool {
        self.scopes.iter().any(|scope| rights.allow(*scope))
    }
}

const RECORD_ACTIONS: &[&str] = &["created", "updated", "deleted"];
const SOURCED_ID: &str = "sourcedId";
const RECORD: &str = "the OneRoster record after the change";

const ROSTER: &[Scope] = &[OrRosterReadonly, OrRosterCoreReadonly, RosterRead];
const DEMOGRAPHICS: &[Scope] = &[OrRosterDemographicsReadonly, DemographicsRead];
const GRADEBOOK: &[Scope] = &[OrGradebookReadonly, OrGradebookCoreReadonly, GradebookRead];
const ASSESSMENT: &[Scope] = &[OrAssessmentReadonly, GradebookRead];
const RESOURCES: &[Scope] = &[OrResourceReadonly, OrResourceCoreReadonly, ResourcesRead];

const fn record(subject: &'static str, scopes: &'static [Scope]) -> TopicGroup {
    TopicGroup { subject, actions: RECORD_ACTIONS, object: SOURCED_ID, data: RECORD, scopes }
}

/// All topics.
pub const TOPICS: &[TopicGroup] = &[
    record("org", ROSTER),
    record("academicSession", ROSTER),
    record("resource", RESOURCES),
    record("course", ROSTER),
    record("courseComponent", ROSTER),
    record("componentResource", ROSTER),
    record("class", ROSTER),
    TopicGroup {
        subject: "user",
        actions: &["created", "updated", "deleted", "erased"],
        object: SOURCED_ID,
        data: "the OneRoster record after the change; of `user.erased`, the `pseudonym` that replaces the user",
        scopes: ROSTER,
    },
    record("demographics", DEMOGRAPHICS),
    record("enrollment", ROSTER),
    record("category", GRADEBOOK),
    record("scoreScale", GRADEBOOK),
    record("lineItem", GRADEBOOK),
    record("result", GRADEBOOK),
    record("assessmentLineItem", ASSESSMENT),
    record("assessmentResult", ASSESSMENT),
    TopicGroup {
        subject: "caliper",
        actions: &["event"],
        object: "id of the event",
        data: "the Caliper event as it was sent; a correction is another message with the same object",
        scopes: &[EventsRead],
    },
    TopicGroup {
        subject: "attempt",
        actions: &["completed"],
        object: "student/lesson/number of the attempt",
        data: "student, lesson, attempt, score, xp, mastered, totalQuestions, correctQuestions, startedAt, completedAt",
        scopes: &[AdaptiveRead],
    },
    TopicGroup {
        subject: "badge",
        actions: &["issued", "revoked"],
        object: "id of the badge",
        data: "id, learner, revoked, reason, credential",
        scopes: &[ObCredentialReadonly, CredentialsRead],
    },
    TopicGroup {
        subject: "deployment",
        actions: &["created", "rolledBack"],
        object: "slug of the project",
        data: "project, version, madeBy",
        scopes: &[ProjectsRead],
    },
];

/// The names of all topics, such as `user.created`.
pub fn names() -> impl Iterator<Item = String> {
    let names_of = |group: &'static TopicGroup| {
        group.actions.iter().map(move |action| format!("{}.{action}", group.subject))
    };
    TOPICS.iter().flat_map(names_of)
}

/// The group of a topic; `None` if no release had it.
pub(crate) fn group(topic: &str) -> Option<&'static TopicGroup> {
    let (subject, _) = topic.split_once('.')?;
    TOPICS.iter().find(|group| group.subject == subject)
}

/// Whether these rights read the objects of all topics.
pub fn are_all_read_with(rights: Rights) -> bool {
    TOPICS.iter().all(|group| group.is_read_with(rights))
}
