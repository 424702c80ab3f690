//! The terms of Caliper 1.2: entities with their members, events with their actions, profiles.
//!
//! Taken from the information model of the specification. A test compares the tables with the official
//! JSON schemas, property by property; `tests/it/schema_differences.tsv` lists where they differ, with the
//! specification's text. Where a schema is looser than the text, the text holds.

use crate::words::{IDENTIFIERS, METRICS, ROLES};

/// The values that a member may have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MemberShape {
    /// Text.
    Text,
    /// A list of text.
    Texts,
    /// `true` or `false`.
    Truth,
    /// Text, or `true` or `false`.
    TextOrTruth,
    /// A whole number, zero or more.
    Whole,
    /// A number.
    Number,
    /// A UTC instant of ISO 8601.
    Instant,
    /// A duration of ISO 8601.
    Duration,
    /// An object whose members are free.
    Free,
    /// One of the words.
    Word(&'static [&'static str]),
    /// A list of the words.
    Words(&'static [&'static str]),
    /// An entity of one of the types or a narrower one, or its IRI.
    Entity(&'static [&'static str]),
    /// A list of them.
    Entities(&'static [&'static str]),
    /// A value that has no id of its own, of the type.
    Part(&'static str),
    /// A list of them, or of IRIs.
    Parts(&'static str),
}

use MemberShape::{
    Duration, Entities, Entity, Free, Instant, Number, Part, Parts, Text, TextOrTruth, Texts,
    Truth, Whole, Word, Words,
};

/// A member of an entity.
pub(crate) type EntityMember = (&'static str, MemberShape);

/// A type of entity.
pub(crate) struct EntityType {
    pub(crate) name: &'static str,
    /// The broader types that it is one of.
    pub(crate) is_a: &'static [&'static str],
    /// The members that the broader types do not have.
    pub(crate) members: &'static [EntityMember],
    /// Those that it must have beside `id` and `type`.
    pub(crate) required: &'static [&'static str],
}

const ANY: &[&str] = &["Entity"];
const AGENT: &[&str] = &["Agent"];
const PERSON: &[&str] = &["Person"];
const RESOURCE: &[&str] = &["DigitalResource"];
const RESPONSE: &[&str] = &["Response"];
const QUESTION: &[&str] = &["Question"];
const ANNOTATION: &[&str] = &["Annotation"];
const SCALE: &[&str] = &["Scale"];
const MEDIA: &[&str] = &["MediaObject"];
/// What "includes or incorporates" a resource "as a part of its whole".
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
        name: Text, description: Text, dateCreated: Instant, dateModified: Instant,
        isPartOf: Entity(ANY), otherIdentifiers: Parts("SystemIdentifier"), extensions: Free
    }
    Agent: ANY, {}
    Person: AGENT, {}
    SoftwareApplication: AGENT, { host: Text, ipAddress: Text, userAgent: Text, version: Text }
    Organization: AGENT, { subOrganizationOf: Entity(&["Organization"]), members: Entities(AGENT) }
    Group: &["Organization"], {}
    CourseOffering: &["Organization"], { courseNumber: Text, academicSession: Text }
    CourseSection: &["CourseOffering"], { category: Text }
    AggregateMeasure: ANY, [metric metricValue] {
        metric: Word(METRICS), metricValue: Number, maxMetricValue: Number, startedAtTime: Instant,
        endedAtTime: Instant
    }
    Annotation: ANY, { annotator: Entity(PERSON), annotated: Entity(RESOURCE) }
    BookmarkAnnotation: ANNOTATION, { bookmarkNotes: Text }
    HighlightAnnotation: ANNOTATION, {
        selection: Part("TextPositionSelector"), selectionText: Text
    }
    SharedAnnotation: ANNOTATION, { withAgents: Entities(AGENT) }
    TagAnnotation: ANNOTATION, { tags: Texts }
    Attempt: ANY, {
        assignee: Entity(PERSON), assignable: Entity(RESOURCE), count: Whole,
        startedAtTime: Instant, endedAtTime: Instant, duration: Duration
    }
    Collection: ANY, { items: Entities(ANY) }
    AggregateMeasureCollection: &["Collection"], { items: Entities(&["AggregateMeasure"]) }
    Survey: &["Collection"], { items: Entities(&["Questionnaire"]) }
    // What a resource may be a part of is narrower than what a collection may.
    DigitalResourceCollection: &["DigitalResource", "Collection"], { items: Entities(RESOURCE) }
    Assessment: &["AssignableDigitalResource", "DigitalResourceCollection"], {
        items: Entities(&["AssessmentItem"])
    }
    Forum: &["DigitalResourceCollection"], { items: Entities(&["Thread"]) }
    Questionnaire: &["DigitalResourceCollection"], { items: Entities(&["QuestionnaireItem"]) }
    Thread: &["DigitalResourceCollection"], { items: Entities(&["Message"]) }
    Comment: ANY, { commenter: Entity(PERSON), commentedOn: Entity(ANY), value: Text }
    DigitalResource: ANY, {
        isPartOf: Entity(WHOLES), creators: Entities(AGENT),
        learningObjectives: Entities(&["LearningObjective"]),
        alignedLearningObjective: Entities(&["LearningObjective"]), datePublished: Instant,
        keywords: Texts, mediaType: Text, objectType: TextOrTruth, storageName: Text, version: Text,
        dateToActivate: Instant, dateToShow: Instant, dateToStartOn: Instant, dateToSubmit: Instant,
        maxAttempts: Whole, maxSubmits: Whole, maxScore: Number
    }
    AssignableDigitalResource: RESOURCE, {}
    AssessmentItem: &["AssignableDigitalResource"], { isTimeDependent: Truth }
    Chapter: RESOURCE, {}
    Document: RESOURCE, {}
    Frame: RESOURCE, { index: Whole }
    Link: ANY, {}
    LtiLink: RESOURCE, { messageType: Text, LtiMessageType: Text }
    MediaLocation: RESOURCE, { currentTime: Duration }
    MediaObject: RESOURCE, { duration: Duration }
    AudioObject: MEDIA, { muted: Truth, volumeLevel: Text, volumeMax: Text, volumeMin: Text }
    ImageObject: MEDIA, {}
    VideoObject: MEDIA, {}
    Message: RESOURCE, {
        replyTo: Entity(&["Message"]), body: Text, attachments: Entities(RESOURCE)
    }
    Page: RESOURCE, {}
    Question: RESOURCE, { questionPosed: Text }
    DateTimeQuestion: QUESTION, {
        minDateTime: Instant, minLabel: Text, maxDateTime: Instant, maxLabel: Text
    }
    MultiselectQuestion: QUESTION, { points: Whole, itemLabels: Texts, itemValues: Texts }
    OpenEndedQuestion: QUESTION, {}
    RatingScaleQuestion: QUESTION, { scale: Entity(SCALE) }
    QuestionnaireItem: RESOURCE, { question: Entity(QUESTION), categories: Texts, weight: Number }
    Reading: RESOURCE, {}
    SurveyInvitation: RESOURCE, {
        rater: Entity(PERSON), survey: Entity(&["Survey"]), sentCount: Whole, dateSent: Instant
    }
    WebPage: RESOURCE, {}
    epubChapter: RESOURCE, {}
    epubPart: RESOURCE, {}
    epubSubChapter: RESOURCE, {}
    epubVolume: RESOURCE, {}
    LearningObjective: ANY, {}
    Membership: ANY, {
        member: Entity(AGENT), organization: Entity(&["Organization"]), roles: Words(ROLES),
        status: Word(&["Active", "Inactive"])
    }
    Query: ANY, { creator: Entity(PERSON), searchTarget: Entity(ANY), searchTerms: Text }
    Rating: ANY, {
        rater: Entity(PERSON), rated: Entity(ANY), question: Entity(QUESTION), selections: Texts,
        scale: Entity(SCALE), ratingComment: Entity(&["Comment"])
    }
    Response: ANY, {
        attempt: Entity(&["Attempt"]), startedAtTime: Instant, endedAtTime: Instant,
        duration: Duration
    }
    DateTimeResponse: RESPONSE, { dateTimeSelected: Instant }
    FillinBlankResponse: RESPONSE, { values: Texts }
    MultipleChoiceResponse: RESPONSE, { value: Text }
    MultipleResponseResponse: RESPONSE, { values: Texts }
    MultiselectResponse: RESPONSE, { selections: Texts }
    OpenEndedResponse: RESPONSE, { value: Text }
    RatingScaleResponse: RESPONSE, { selections: Texts }
    SelectTextResponse: RESPONSE, { values: Texts }
    TrueFalseResponse: RESPONSE, { value: Text }
    Result: ANY, {
        attempt: Entity(&["Attempt"]), maxResultScore: Number, resultScore: Number,
        normalScore: Number, penaltyScore: Number, extraCreditScore: Number, totalScore: Number,
        curvedTotalScore: Number, curveFactor: Number, comment: Text, scoredBy: Entity(AGENT)
    }
    Scale: ANY, {}
    LikertScale: SCALE, { scalePoints: Whole, itemLabels: Texts, itemValues: Texts }
    MultiselectScale: SCALE, {
        scalePoints: Whole, itemLabels: Texts, itemValues: Texts, isOrderedSelection: Truth,
        orderedSelection: Truth, minSelections: Whole, maxSelections: Whole
    }
    NumericScale: SCALE, {
        minValue: Number, minLabel: Text, maxValue: Number, maxLabel: Text, step: Number
    }
    Score: ANY, {
        attempt: Entity(&["Attempt"]), maxScore: Number, scoreGiven: Number,
        scoredBy: Entity(AGENT), comment: Text
    }
    SearchResponse: ANY, {
        searchProvider: Entity(&["SoftwareApplication"]), searchTarget: Entity(ANY),
        query: Entity(&["Query"]), searchResultsItemCount: Whole, searchResults: Entities(ANY)
    }
    Session: ANY, {
        user: Entity(PERSON), client: Entity(&["SoftwareApplication"]), startedAtTime: Instant,
        endedAtTime: Instant, duration: Duration
    }
    LtiSession: &["Session"], { messageParameters: Free }
};

/// Values that have no id of their own.
pub(crate) const PARTS: &[EntityType] = types! {
    SystemIdentifier: &[], [identifier identifierType] {
        identifier: Text, identifierType: Word(IDENTIFIERS),
        source: Entity(&["SoftwareApplication"]), extensions: Free
    }
    TextPositionSelector: &[], [start end] { start: Whole, end: Whole }
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

    /// What a member holds; a narrower type's word goes before a broader one's.
    pub(crate) fn member(&self, name: &str) -> Option<MemberShape> {
        let own = self.members.iter().find(|(known, _)| *known == name).map(|(_, shape)| *shape);
        own.or_else(|| self.is_a.iter().find_map(|broader| entity_type(broader)?.member(name)))
    }
}
