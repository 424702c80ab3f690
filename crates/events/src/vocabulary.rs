//! The terms of Caliper 1.2: entities with their members, events with their actions, profiles.
//!
//! Taken from the information model of the specification. A test compares the tables with the official
//! JSON schemas, property by property; `tests/it/schema_differences.tsv` lists where they differ, with the
//! specification's text. Where a schema is looser than the text, the text holds.

use crate::check::{instant, is_duration};
use crate::tree::{Tree, is_whole};
use crate::words::{IDENTIFIERS, METRICS, ROLES};

/// The values that a member may have.
#[derive(Clone, Copy)]
pub(crate) enum MemberShape {
    /// A value that the function accepts, and what messages call it.
    Plain(&'static str, fn(&Tree<'_>) -> bool),
    /// A word of the list.
    Word(&'static [&'static str]),
    /// An entity of one of the types or a narrower one, or its IRI.
    Entity(&'static [&'static str]),
    /// A value that has no id of its own, of the type.
    Part(&'static str),
    /// The same, or an IRI.
    PartOrIri(&'static str),
    /// A list of values.
    List(&'static Self),
}

use MemberShape::{Entity, List, Part, PartOrIri, Plain, Word};

const TEXT: MemberShape = Plain("a string", |value| value.as_str().is_some());
const TEXTS: MemberShape = List(&TEXT);
const TRUTH: MemberShape = Plain("true or false", |value| matches!(value, Tree::Truth(_)));
const TEXT_OR_TRUTH: MemberShape =
    Plain("a string, true or false", |value| matches!(value, Tree::Text(_) | Tree::Truth(_)));
/// Zero or more.
const WHOLE: MemberShape = Plain("a whole number", is_whole);
const NUMBER: MemberShape = Plain("a number", |value| matches!(value, Tree::Number(_)));
/// UTC, as in ISO 8601.
const INSTANT: MemberShape = Plain("an instant such as 2026-01-15T08:00:00.000Z", |value| {
    value.as_str().and_then(instant).is_some()
});
/// As in ISO 8601.
const DURATION: MemberShape =
    Plain("a duration such as PT5M30S", |value| value.as_str().is_some_and(is_duration));
/// An object with any members.
const FREE: MemberShape = Plain("an object", |value| value.as_object().is_some());

/// A type of entity.
pub(crate) struct EntityType {
    pub(crate) name: &'static str,
    /// The broader types that it is one of.
    pub(crate) is_a: &'static [&'static str],
    /// The members that the broader types do not have.
    pub(crate) members: &'static [(&'static str, MemberShape)],
    /// The members that it must have beside `id` and `type`.
    pub(crate) required: &'static [&'static str],
}

const ANY: &[&str] = &["Entity"];
const AGENT: &[&str] = &["Agent"];
const PERSON: &[&str] = &["Person"];
const ORGANIZATION: &[&str] = &["Organization"];
const RESOURCE: &[&str] = &["DigitalResource"];
const RESPONSE: &[&str] = &["Response"];
const QUESTION: &[&str] = &["Question"];
const ANNOTATION: &[&str] = &["Annotation"];
const SCALE: &[&str] = &["Scale"];
const MEDIA: &[&str] = &["MediaObject"];
/// Types of objects of which each "includes or incorporates" a resource "as a part of its whole".
const WHOLES: &[&str] = &["DigitalResource", "Collection", "Organization", "SoftwareApplication"];

/// A table of types: the name, the broader types, the members that it must have, and all members that the broader types do
/// not have.
macro_rules! types {
    ($($name:ident: $is_a:expr, $([$($required:ident)+])? { $($member:ident: $shape:expr),* })+) => {
        &[$(EntityType {
            name: stringify!($name),
            is_a: $is_a,
            members: &[$((stringify!($member), $shape)),*],
            required: &[$($(stringify!($required)),+)?],
        }),+]
    };
}

/// Every type of entity.
pub(crate) const TYPES: &[EntityType] = types! {
    Entity: &[], {
        name: TEXT, description: TEXT, dateCreated: INSTANT, dateModified: INSTANT,
        isPartOf: Entity(ANY), otherIdentifiers: List(&PartOrIri("SystemIdentifier")),
        extensions: FREE
    }
    Agent: ANY, {}
    Person: AGENT, {}
    SoftwareApplication: AGENT, { host: TEXT, ipAddress: TEXT, userAgent: TEXT, version: TEXT }
    Organization: AGENT, { subOrganizationOf: Entity(ORGANIZATION), members: List(&Entity(AGENT)) }
    Group: ORGANIZATION, {}
    CourseOffering: ORGANIZATION, { courseNumber: TEXT, academicSession: TEXT }
    CourseSection: &["CourseOffering"], { category: TEXT }
    AggregateMeasure: ANY, [metric metricValue] {
        metric: Word(METRICS), metricValue: NUMBER, maxMetricValue: NUMBER, startedAtTime: INSTANT,
        endedAtTime: INSTANT
    }
    Annotation: ANY, { annotator: Entity(PERSON), annotated: Entity(RESOURCE) }
    BookmarkAnnotation: ANNOTATION, { bookmarkNotes: TEXT }
    HighlightAnnotation: ANNOTATION, {
        selection: Part("TextPositionSelector"), selectionText: TEXT
    }
    SharedAnnotation: ANNOTATION, { withAgents: List(&Entity(AGENT)) }
    TagAnnotation: ANNOTATION, { tags: TEXTS }
    Attempt: ANY, {
        assignee: Entity(PERSON), assignable: Entity(RESOURCE), count: WHOLE,
        startedAtTime: INSTANT, endedAtTime: INSTANT, duration: DURATION
    }
    Collection: ANY, { items: List(&Entity(ANY)) }
    AggregateMeasureCollection: &["Collection"], { items: List(&Entity(&["AggregateMeasure"])) }
    Survey: &["Collection"], { items: List(&Entity(&["Questionnaire"])) }
    // What a resource may be a part of is narrower than what a collection may.
    DigitalResourceCollection: &["DigitalResource", "Collection"], {
        items: List(&Entity(RESOURCE))
    }
    Assessment: &["AssignableDigitalResource", "DigitalResourceCollection"], {
        items: List(&Entity(&["AssessmentItem"]))
    }
    Forum: &["DigitalResourceCollection"], { items: List(&Entity(&["Thread"])) }
    Questionnaire: &["DigitalResourceCollection"], { items: List(&Entity(&["QuestionnaireItem"])) }
    Thread: &["DigitalResourceCollection"], { items: List(&Entity(&["Message"])) }
    Comment: ANY, { commenter: Entity(PERSON), commentedOn: Entity(ANY), value: TEXT }
    DigitalResource: ANY, {
        isPartOf: Entity(WHOLES), creators: List(&Entity(AGENT)),
        learningObjectives: List(&Entity(&["LearningObjective"])),
        alignedLearningObjective: List(&Entity(&["LearningObjective"])), datePublished: INSTANT,
        keywords: TEXTS, mediaType: TEXT, objectType: TEXT_OR_TRUTH, storageName: TEXT,
        version: TEXT, dateToActivate: INSTANT, dateToShow: INSTANT, dateToStartOn: INSTANT,
        dateToSubmit: INSTANT, maxAttempts: WHOLE, maxSubmits: WHOLE, maxScore: NUMBER
    }
    AssignableDigitalResource: RESOURCE, {}
    AssessmentItem: &["AssignableDigitalResource"], { isTimeDependent: TRUTH }
    Chapter: RESOURCE, {}
    Document: RESOURCE, {}
    Frame: RESOURCE, { index: WHOLE }
    Link: ANY, {}
    LtiLink: RESOURCE, { messageType: TEXT, LtiMessageType: TEXT }
    MediaLocation: RESOURCE, { currentTime: DURATION }
    MediaObject: RESOURCE, { duration: DURATION }
    AudioObject: MEDIA, { muted: TRUTH, volumeLevel: TEXT, volumeMax: TEXT, volumeMin: TEXT }
    ImageObject: MEDIA, {}
    VideoObject: MEDIA, {}
    Message: RESOURCE, {
        replyTo: Entity(&["Message"]), body: TEXT, attachments: List(&Entity(RESOURCE))
    }
    Page: RESOURCE, {}
    Question: RESOURCE, { questionPosed: TEXT }
    DateTimeQuestion: QUESTION, {
        minDateTime: INSTANT, minLabel: TEXT, maxDateTime: INSTANT, maxLabel: TEXT
    }
    MultiselectQuestion: QUESTION, { points: WHOLE, itemLabels: TEXTS, itemValues: TEXTS }
    OpenEndedQuestion: QUESTION, {}
    RatingScaleQuestion: QUESTION, { scale: Entity(SCALE) }
    QuestionnaireItem: RESOURCE, { question: Entity(QUESTION), categories: TEXTS, weight: NUMBER }
    Reading: RESOURCE, {}
    SurveyInvitation: RESOURCE, {
        rater: Entity(PERSON), survey: Entity(&["Survey"]), sentCount: WHOLE, dateSent: INSTANT
    }
    WebPage: RESOURCE, {}
    epubChapter: RESOURCE, {}
    epubPart: RESOURCE, {}
    epubSubChapter: RESOURCE, {}
    epubVolume: RESOURCE, {}
    LearningObjective: ANY, {}
    Membership: ANY, {
        member: Entity(AGENT), organization: Entity(ORGANIZATION), roles: List(&Word(ROLES)),
        status: Word(&["Active", "Inactive"])
    }
    Query: ANY, { creator: Entity(PERSON), searchTarget: Entity(ANY), searchTerms: TEXT }
    Rating: ANY, {
        rater: Entity(PERSON), rated: Entity(ANY), question: Entity(QUESTION), selections: TEXTS,
        scale: Entity(SCALE), ratingComment: Entity(&["Comment"])
    }
    Response: ANY, {
        attempt: Entity(&["Attempt"]), startedAtTime: INSTANT, endedAtTime: INSTANT,
        duration: DURATION
    }
    DateTimeResponse: RESPONSE, { dateTimeSelected: INSTANT }
    FillinBlankResponse: RESPONSE, { values: TEXTS }
    MultipleChoiceResponse: RESPONSE, { value: TEXT }
    MultipleResponseResponse: RESPONSE, { values: TEXTS }
    MultiselectResponse: RESPONSE, { selections: TEXTS }
    OpenEndedResponse: RESPONSE, { value: TEXT }
    RatingScaleResponse: RESPONSE, { selections: TEXTS }
    SelectTextResponse: RESPONSE, { values: TEXTS }
    TrueFalseResponse: RESPONSE, { value: TEXT }
    Result: ANY, {
        attempt: Entity(&["Attempt"]), maxResultScore: NUMBER, resultScore: NUMBER,
        normalScore: NUMBER, penaltyScore: NUMBER, extraCreditScore: NUMBER, totalScore: NUMBER,
        curvedTotalScore: NUMBER, curveFactor: NUMBER, comment: TEXT, scoredBy: Entity(AGENT)
    }
    Scale: ANY, {}
    LikertScale: SCALE, { scalePoints: WHOLE, itemLabels: TEXTS, itemValues: TEXTS }
    MultiselectScale: SCALE, {
        scalePoints: WHOLE, itemLabels: TEXTS, itemValues: TEXTS, isOrderedSelection: TRUTH,
        orderedSelection: TRUTH, minSelections: WHOLE, maxSelections: WHOLE
    }
    NumericScale: SCALE, {
        minValue: NUMBER, minLabel: TEXT, maxValue: NUMBER, maxLabel: TEXT, step: NUMBER
    }
    Score: ANY, {
        attempt: Entity(&["Attempt"]), maxScore: NUMBER, scoreGiven: NUMBER,
        scoredBy: Entity(AGENT), comment: TEXT
    }
    SearchResponse: ANY, {
        searchProvider: Entity(&["SoftwareApplication"]), searchTarget: Entity(ANY),
        query: Entity(&["Query"]), searchResultsItemCount: WHOLE, searchResults: List(&Entity(ANY))
    }
    Session: ANY, {
        user: Entity(PERSON), client: Entity(&["SoftwareApplication"]), startedAtTime: INSTANT,
        endedAtTime: INSTANT, duration: DURATION
    }
    LtiSession: &["Session"], { messageParameters: FREE }
};

/// Values that have no id of their own.
pub(crate) const PARTS: &[EntityType] = types! {
    SystemIdentifier: &[], [identifier identifierType] {
        identifier: TEXT, identifierType: Word(IDENTIFIERS),
        source: Entity(&["SoftwareApplication"]), extensions: FREE
    }
    TextPositionSelector: &[], [start end] { start: WHOLE, end: WHOLE }
};

/// A type of entity by its name.
pub(crate) fn entity_type(name: &str) -> Option<&'static EntityType> {
    TYPES.iter().find(|known| known.name == name)
}

/// A type of value by its name.
pub(crate) fn part_type(name: &str) -> Option<&'static EntityType> {
    PARTS.iter().find(|known| known.name == name)
}

impl EntityType {
    /// Whether it is the other type or a narrower one.
    pub(crate) fn is(&self, other: &str) -> bool {
        let broader = |name: &&str| entity_type(name).is_some_and(|known| known.is(other));
        self.name == other || self.is_a.iter().any(broader)
    }

    /// The shape of a member's value; a narrower type's word goes before a broader one's.
    pub(crate) fn member(&self, name: &str) -> Option<MemberShape> {
        let own = self.members.iter().find(|(known, _)| *known == name).map(|(_, shape)| *shape);
        own.or_else(|| self.is_a.iter().find_map(|broader| entity_type(broader)?.member(name)))
    }
}
