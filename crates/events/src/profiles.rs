//! The types of events: what each may do, to what, and the profiles that they belong to.

use crate::words::words;

/// A type of event. Empty lists: anything.
pub(crate) struct EventType {
    pub(crate) name: &'static str,
    /// The closed list of its actions.
    pub(crate) actions: &'static [&'static str],
    /// The types of its object.
    pub(crate) object: &'static [&'static str],
    /// The types of what it generates.
    pub(crate) generated: &'static [&'static str],
    /// The types of its target.
    pub(crate) target: &'static [&'static str],
    /// The types of its referrer.
    pub(crate) referrer: &'static [&'static str],
    /// Members whose types an action narrows: the actions, the member, the types.
    pub(crate) by_action:
        &'static [(&'static [&'static str], &'static str, &'static [&'static str])],
}

const ANY: &[&str] = &["Entity"];
const RESOURCE: &[&str] = &["DigitalResource"];
const FRAME: &[&str] = &["Frame"];
const TOOL: &[&str] = &["SoftwareApplication"];
const FROM: &[&str] = &["DigitalResource", "SoftwareApplication"];

/// A type of event with any members.
const fn event(name: &'static str, actions: &'static [&'static str]) -> EventType {
    let (object, generated, target, referrer) = (ANY, ANY, ANY, ANY);
    EventType { name, actions, object, generated, target, referrer, by_action: &[] }
}

/// A table of types of events: the name, the actions, and the members whose types are limited.
macro_rules! events {
    ($($name:ident: $actions:expr, { $($member:ident: $types:expr),* })+) => {
        &[$(EventType { $($member: $types,)* ..event(stringify!($name), $actions) }),+]
    };
}

/// Every type of event of the standard profiles.
pub(crate) const EVENTS: &[EventType] = events! {
    Event: ACTIONS, {}
    AnnotationEvent: words![Bookmarked Highlighted Shared Tagged], {
        object: RESOURCE, generated: &["Annotation"], target: FRAME
    }
    AssessmentEvent: words![Started Paused Resumed Restarted Reset Submitted], {
        object: &["Assessment"], generated: &["Attempt"]
    }
    AssessmentItemEvent: words![Started Skipped Completed], {
        object: &["AssessmentItem"], generated: &["Attempt", "Response"],
        referrer: &["AssessmentItem"]
    }
    AssignableEvent: words![Activated Deactivated Started Completed Submitted Reviewed], {
        object: &["AssignableDigitalResource"], generated: &["Attempt"], target: FRAME
    }
    FeedbackEvent: words![Commented Ranked], {
        generated: &["Comment", "Rating"], target: FRAME,
        by_action: &[
            (&["Commented"], "generated", &["Comment"]),
            (&["Ranked"], "generated", &["Rating"]),
        ]
    }
    ForumEvent: words![Subscribed Unsubscribed], { object: &["Forum"] }
    GradeEvent: words![Graded], { object: &["Attempt"], generated: &["Score", "Result"] }
    MediaEvent: words![
        Started Ended Paused Resumed Restarted ForwardedTo JumpedTo Rewound ChangedResolution
        ChangedSize ChangedSpeed ChangedVolume EnabledClosedCaptioning DisabledClosedCaptioning
        EnteredFullScreen ExitedFullScreen Muted Unmuted OpenedPopout ClosedPopout
    ], { object: &["MediaObject"], target: &["MediaLocation"] }
    MessageEvent: words![MarkedAsRead MarkedAsUnread Posted], { object: &["Message"] }
    NavigationEvent: words![NavigatedTo], { object: FROM, target: RESOURCE, referrer: FROM }
    OutcomeEvent: words![Graded], { object: &["Attempt"], generated: &["Result", "Score"] }
    QuestionnaireEvent: words![Started Submitted], { object: &["Questionnaire"] }
    QuestionnaireItemEvent: words![Started Skipped Completed], {
        object: &["QuestionnaireItem"], generated: &["Response"]
    }
    ReadingEvent: ACTIONS, { object: RESOURCE }
    ResourceManagementEvent: words![
        Archived Copied Created Deleted Described Downloaded Modified Printed Published Restored
        Retrieved Saved Unpublished Uploaded
    ], { object: RESOURCE, generated: RESOURCE }
    SearchEvent: words![Searched], { generated: &["SearchResponse"] }
    SessionEvent: words![LoggedIn LoggedOut TimedOut], {
        object: &["SoftwareApplication", "Session"], generated: &["Session"], target: RESOURCE,
        referrer: FROM,
        by_action: &[
            (&["LoggedIn", "LoggedOut"], "actor", &["Person"]),
            (&["LoggedIn", "LoggedOut"], "object", TOOL),
            (&["TimedOut"], "actor", TOOL),
            (&["TimedOut"], "object", &["Session"]),
        ]
    }
    SurveyEvent: words![OptedIn OptedOut], { object: &["Survey"] }
    SurveyInvitationEvent: words![Accepted Declined Sent], { object: &["SurveyInvitation"] }
    ThreadEvent: words![MarkedAsRead MarkedAsUnread], { object: &["Thread"] }
    ToolLaunchEvent: words![Launched Returned], {
        object: TOOL, generated: RESOURCE, target: &["Link", "LtiLink"]
    }
    ToolUseEvent: words![Used], {
        object: TOOL, generated: &["AggregateMeasureCollection"], target: TOOL
    }
    ViewEvent: words![Viewed], { object: RESOURCE, target: RESOURCE }
};

/// The profiles of the standard.
pub(crate) const PROFILES: &[&str] = words![
    AnnotationProfile AssessmentProfile AssignableProfile FeedbackProfile ForumProfile
    GeneralProfile GradingProfile MediaProfile ReadingProfile ResourceManagementProfile
    SearchProfile SessionProfile SurveyProfile ToolLaunchProfile ToolUseProfile
];

/// Every action of the standard.
const ACTIONS: &[&str] = words![
    Abandoned Accepted Activated Added Archived Attached Bookmarked ChangedResolution ChangedSize
    ChangedSpeed ChangedVolume Classified ClosedPopout Commented Completed Copied Created
    Deactivated Declined Deleted Described DisabledClosedCaptioning Disliked Downloaded
    EnabledClosedCaptioning Ended EnteredFullScreen ExitedFullScreen ForwardedTo Graded Hid
    Highlighted Identified JumpedTo Launched Liked Linked LoggedIn LoggedOut MarkedAsRead
    MarkedAsUnread Modified Muted NavigatedTo OpenedPopout OptedIn OptedOut Paused Posted Printed
    Published Questioned Ranked Recommended Removed Reset Restarted Restored Resumed Retrieved
    Returned Reviewed Rewound Saved Searched Sent Shared Showed Skipped Started Submitted Subscribed
    Tagged TimedOut Unmuted Unpublished Unsubscribed Uploaded Used Viewed
];

impl EventType {
    /// The types that may stand in a member of an event with that action.
    pub(crate) fn types(&self, action: &str, member: &str) -> &'static [&'static str] {
        let narrowed = self
            .by_action
            .iter()
            .find(|(actions, narrowed, _)| *narrowed == member && actions.contains(&action));
        match (narrowed, member) {
            (Some((.., types)), _) => types,
            (None, "actor") => &["Agent"],
            (None, "object") => self.object,
            (None, "generated") => self.generated,
            (None, "target") => self.target,
            (None, "referrer") => self.referrer,
            (None, _) => ANY,
        }
    }
}

/// The type of event of that name.
pub(crate) fn event_type(name: &str) -> Option<&'static EventType> {
    EVENTS.iter().find(|known| known.name == name)
}

/// The platform's name in the custom profile, as clients write it: `ServiceProfile`,
/// `TimebackProfile`.
const PREFIXES: [&str; 2] = ["Service", "Timeback"];

/// Whether a name of the custom profile is the term, in either spelling.
pub(crate) fn is_custom(name: &str, term: &str) -> bool {
    PREFIXES.iter().any(|prefix| name.strip_prefix(prefix) == Some(term))
}

/// The types of events of the custom profile, with their action, the collection that they
/// generate and the metrics in it.
pub(crate) const CUSTOM: [(&str, &str, &str, &[&str]); 2] = [
    (
        "ActivityEvent",
        "Completed",
        "ActivityMetricsCollection",
        &["xpEarned", "totalQuestions", "correctQuestions", "masteredUnits"],
    ),
    (
        "TimeSpentEvent",
        "SpentTime",
        "TimeSpentMetricsCollection",
        &["active", "inactive", "waste", "unknown", "anti-pattern"],
    ),
];
