//! The types of events: what each may do, to what, and the profiles that they belong to.

use crate::words::words;

/// A type of event.
pub(crate) struct EventType {
    pub(crate) name: &'static str,
    /// The closed list of its actions.
    pub(crate) actions: &'static [&'static str],
    /// Members whose types it limits: the member, the actions with which it does (none: with all), the types.
    members: &'static [(&'static str, &'static [&'static str], &'static [&'static str])],
}

const RESOURCE: &[&str] = &["DigitalResource"];
const FRAME: &[&str] = &["Frame"];
const TOOL: &[&str] = &["SoftwareApplication"];
const FROM: &[&str] = &["DigitalResource", "SoftwareApplication"];

/// A table of types of events: the name, the actions, and the members whose types are limited, with an action first.
macro_rules! events {
    ($($name:ident: $actions:expr, {
        $($member:ident $(($($action:ident)+))?: $types:expr),*
    })+) => {
        &[$(EventType {
            name: stringify!($name),
            actions: $actions,
            members: &[$((stringify!($member), &[$($(stringify!($action)),+)?], $types)),*],
        }),+]
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
        generated(Commented): &["Comment"], generated(Ranked): &["Rating"], target: FRAME
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
        actor(LoggedIn LoggedOut): &["Person"], actor(TimedOut): TOOL,
        object(LoggedIn LoggedOut): TOOL, object(TimedOut): &["Session"],
        generated: &["Session"], target: RESOURCE, referrer: FROM
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
    // The grading profile has views of results.
    ViewEvent: words![Viewed], { object: &["DigitalResource", "Result"], target: RESOURCE }
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
    /// The types to which it limits a member of an event with that action.
    pub(crate) fn types(&self, action: &str, member: &str) -> Option<&'static [&'static str]> {
        let limits = |(known, actions, _): &&(&str, &[&str], _)| {
            *known == member && (actions.is_empty() || actions.contains(&action))
        };
        self.members.iter().find(limits).map(|(.., types)| *types)
    }
}

/// The type of event of that name.
pub(crate) fn event_type(name: &str) -> Option<&'static EventType> {
    EVENTS.iter().find(|known| known.name == name)
}

/// The names of all types of events, those of the custom profile first.
pub fn event_types() -> Vec<&'static str> {
    let custom = CUSTOM.iter().map(|known| known.name);
    custom.chain(EVENTS.iter().map(|known| known.name)).collect()
}

/// The platform's name in the custom profile, as clients write it: `ServiceProfile`,
/// `TimebackProfile`.
const PREFIXES: [&str; 2] = ["Service", "Timeback"];

/// Whether a name of the custom profile is the term, in either spelling.
pub(crate) fn is_custom(name: &str, term: &str) -> bool {
    PREFIXES.iter().any(|prefix| name.strip_prefix(prefix) == Some(term))
}

/// A type of event of the custom profile.
pub(crate) struct CustomType {
    pub(crate) name: &'static str,
    pub(crate) action: &'static str,
    /// The collection that it generates, and the metrics in it.
    pub(crate) collection: &'static str,
    pub(crate) metrics: &'static [&'static str],
}

const CUSTOM: &[CustomType] = &[
    CustomType {
        name: "ActivityEvent",
        action: "Completed",
        collection: "ActivityMetricsCollection",
        metrics: words![xpEarned totalQuestions correctQuestions masteredUnits],
    },
    CustomType {
        name: "TimeSpentEvent",
        action: "SpentTime",
        collection: "TimeSpentMetricsCollection",
        metrics: words![active inactive waste unknown anti-pattern],
    },
];

/// The type of event of the custom profile of that name.
pub(crate) fn custom_type(name: &str) -> Option<&'static CustomType> {
    CUSTOM.iter().find(|known| known.name == name)
}
