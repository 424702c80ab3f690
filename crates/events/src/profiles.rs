//! The types of events: what each may do, to what, and the profiles that they belong to.

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

const fn event(
    name: &'static str,
    actions: &'static [&'static str],
    object: &'static [&'static str],
    generated: &'static [&'static str],
) -> EventType {
    EventType { name, actions, object, generated, target: ANY, referrer: ANY, by_action: &[] }
}

/// Every type of event of the standard profiles.
pub(crate) const EVENTS: &[EventType] = &[
    event("Event", ACTIONS, ANY, ANY),
    EventType {
        target: FRAME,
        ..event(
            "AnnotationEvent",
            &["Bookmarked", "Highlighted", "Shared", "Tagged"],
            RESOURCE,
            &["Annotation"],
        )
    },
    event(
        "AssessmentEvent",
        &["Started", "Paused", "Resumed", "Restarted", "Reset", "Submitted"],
        &["Assessment"],
        &["Attempt"],
    ),
    EventType {
        referrer: &["AssessmentItem"],
        ..event(
            "AssessmentItemEvent",
            &["Started", "Skipped", "Completed"],
            &["AssessmentItem"],
            &["Attempt", "Response"],
        )
    },
    EventType {
        target: FRAME,
        ..event(
            "AssignableEvent",
            &["Activated", "Deactivated", "Started", "Completed", "Submitted", "Reviewed"],
            &["AssignableDigitalResource"],
            &["Attempt"],
        )
    },
    EventType {
        target: FRAME,
        by_action: &[
            (&["Commented"], "generated", &["Comment"]),
            (&["Ranked"], "generated", &["Rating"]),
        ],
        ..event("FeedbackEvent", &["Commented", "Ranked"], ANY, &["Comment", "Rating"])
    },
    event("ForumEvent", &["Subscribed", "Unsubscribed"], &["Forum"], ANY),
    event("GradeEvent", &["Graded"], &["Attempt"], &["Score", "Result"]),
    EventType {
        target: &["MediaLocation"],
        ..event(
            "MediaEvent",
            &[
                "Started",
                "Ended",
                "Paused",
                "Resumed",
                "Restarted",
                "ForwardedTo",
                "JumpedTo",
                "Rewound",
                "ChangedResolution",
                "ChangedSize",
                "ChangedSpeed",
                "ChangedVolume",
                "EnabledClosedCaptioning",
                "DisabledClosedCaptioning",
                "EnteredFullScreen",
                "ExitedFullScreen",
                "Muted",
                "Unmuted",
                "OpenedPopout",
                "ClosedPopout",
            ],
            &["MediaObject"],
            ANY,
        )
    },
    event("MessageEvent", &["MarkedAsRead", "MarkedAsUnread", "Posted"], &["Message"], ANY),
    EventType {
        target: RESOURCE,
        referrer: FROM,
        ..event("NavigationEvent", &["NavigatedTo"], FROM, ANY)
    },
    event("OutcomeEvent", &["Graded"], &["Attempt"], &["Result", "Score"]),
    event("QuestionnaireEvent", &["Started", "Submitted"], &["Questionnaire"], ANY),
    event(
        "QuestionnaireItemEvent",
        &["Started", "Skipped", "Completed"],
        &["QuestionnaireItem"],
        &["Response"],
    ),
    event("ReadingEvent", ACTIONS, RESOURCE, ANY),
    event(
        "ResourceManagementEvent",
        &[
            "Archived",
            "Copied",
            "Created",
            "Deleted",
            "Described",
            "Downloaded",
            "Modified",
            "Printed",
            "Published",
            "Restored",
            "Retrieved",
            "Saved",
            "Unpublished",
            "Uploaded",
        ],
        RESOURCE,
        RESOURCE,
    ),
    event("SearchEvent", &["Searched"], ANY, &["SearchResponse"]),
    EventType {
        target: RESOURCE,
        referrer: FROM,
        by_action: &[
            (&["LoggedIn", "LoggedOut"], "actor", &["Person"]),
            (&["LoggedIn", "LoggedOut"], "object", TOOL),
            (&["TimedOut"], "actor", TOOL),
            (&["TimedOut"], "object", &["Session"]),
        ],
        ..event(
            "SessionEvent",
            &["LoggedIn", "LoggedOut", "TimedOut"],
            &["SoftwareApplication", "Session"],
            &["Session"],
        )
    },
    event("SurveyEvent", &["OptedIn", "OptedOut"], &["Survey"], ANY),
    event("SurveyInvitationEvent", &["Accepted", "Declined", "Sent"], &["SurveyInvitation"], ANY),
    event("ThreadEvent", &["MarkedAsRead", "MarkedAsUnread"], &["Thread"], ANY),
    EventType {
        target: &["Link", "LtiLink"],
        ..event("ToolLaunchEvent", &["Launched", "Returned"], TOOL, RESOURCE)
    },
    EventType {
        target: TOOL,
        ..event("ToolUseEvent", &["Used"], TOOL, &["AggregateMeasureCollection"])
    },
    EventType { target: RESOURCE, ..event("ViewEvent", &["Viewed"], RESOURCE, ANY) },
];

/// The profiles of the standard.
pub(crate) const PROFILES: &[&str] = &[
    "AnnotationProfile",
    "AssessmentProfile",
    "AssignableProfile",
    "FeedbackProfile",
    "ForumProfile",
    "GeneralProfile",
    "GradingProfile",
    "MediaProfile",
    "ReadingProfile",
    "ResourceManagementProfile",
    "SearchProfile",
    "SessionProfile",
    "SurveyProfile",
    "ToolLaunchProfile",
    "ToolUseProfile",
];

/// Every action of the standard.
const ACTIONS: &[&str] = &[
    "Abandoned",
    "Accepted",
    "Activated",
    "Added",
    "Archived",
    "Attached",
    "Bookmarked",
    "ChangedResolution",
    "ChangedSize",
    "ChangedSpeed",
    "ChangedVolume",
    "Classified",
    "ClosedPopout",
    "Commented",
    "Completed",
    "Copied",
    "Created",
    "Deactivated",
    "Declined",
    "Deleted",
    "Described",
    "DisabledClosedCaptioning",
    "Disliked",
    "Downloaded",
    "EnabledClosedCaptioning",
    "Ended",
    "EnteredFullScreen",
    "ExitedFullScreen",
    "ForwardedTo",
    "Graded",
    "Hid",
    "Highlighted",
    "Identified",
    "JumpedTo",
    "Launched",
    "Liked",
    "Linked",
    "LoggedIn",
    "LoggedOut",
    "MarkedAsRead",
    "MarkedAsUnread",
    "Modified",
    "Muted",
    "NavigatedTo",
    "OpenedPopout",
    "OptedIn",
    "OptedOut",
    "Paused",
    "Posted",
    "Printed",
    "Published",
    "Questioned",
    "Ranked",
    "Recommended",
    "Removed",
    "Reset",
    "Restarted",
    "Restored",
    "Resumed",
    "Retrieved",
    "Returned",
    "Reviewed",
    "Rewound",
    "Saved",
    "Searched",
    "Sent",
    "Shared",
    "Showed",
    "Skipped",
    "Started",
    "Submitted",
    "Subscribed",
    "Tagged",
    "TimedOut",
    "Unmuted",
    "Unpublished",
    "Unsubscribed",
    "Uploaded",
    "Used",
    "Viewed",
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
