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

const fn entity(
    name: &'static str,
    is_a: &'static [&'static str],
    members: &'static [EntityMember],
) -> EntityType {
    EntityType { name, is_a, members, required: &[] }
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

/// Members of what lasts.
const TIMES: [EntityMember; 3] =
    [("startedAtTime", Instant), ("endedAtTime", Instant), ("duration", Duration)];
const LABELS: [EntityMember; 2] = [("itemLabels", Texts), ("itemValues", Texts)];

/// Every type of entity.
pub(crate) const TYPES: &[EntityType] = &[
    entity(
        "Entity",
        &[],
        &[
            ("name", Text),
            ("description", Text),
            ("dateCreated", Instant),
            ("dateModified", Instant),
            ("isPartOf", Entity(ANY)),
            ("otherIdentifiers", Parts("SystemIdentifier")),
            ("extensions", Free),
        ],
    ),
    entity("Agent", ANY, &[]),
    entity("Person", AGENT, &[]),
    entity(
        "SoftwareApplication",
        AGENT,
        &[("host", Text), ("ipAddress", Text), ("userAgent", Text), ("version", Text)],
    ),
    entity(
        "Organization",
        AGENT,
        &[("subOrganizationOf", Entity(&["Organization"])), ("members", Entities(AGENT))],
    ),
    entity("Group", &["Organization"], &[]),
    entity(
        "CourseOffering",
        &["Organization"],
        &[("courseNumber", Text), ("academicSession", Text)],
    ),
    entity("CourseSection", &["CourseOffering"], &[("category", Text)]),
    EntityType {
        required: &["metric", "metricValue"],
        ..entity(
            "AggregateMeasure",
            ANY,
            &[
                ("metric", Word(METRICS)),
                ("metricValue", Number),
                ("maxMetricValue", Number),
                TIMES[0],
                TIMES[1],
            ],
        )
    },
    entity("Annotation", ANY, &[("annotator", Entity(PERSON)), ("annotated", Entity(RESOURCE))]),
    entity("BookmarkAnnotation", ANNOTATION, &[("bookmarkNotes", Text)]),
    entity(
        "HighlightAnnotation",
        ANNOTATION,
        &[("selection", Part("TextPositionSelector")), ("selectionText", Text)],
    ),
    entity("SharedAnnotation", ANNOTATION, &[("withAgents", Entities(AGENT))]),
    entity("TagAnnotation", ANNOTATION, &[("tags", Texts)]),
    entity(
        "Attempt",
        ANY,
        &[
            ("assignee", Entity(PERSON)),
            ("assignable", Entity(RESOURCE)),
            ("count", Whole),
            TIMES[0],
            TIMES[1],
            TIMES[2],
        ],
    ),
    entity("Collection", ANY, &[("items", Entities(ANY))]),
    entity(
        "AggregateMeasureCollection",
        &["Collection"],
        &[("items", Entities(&["AggregateMeasure"]))],
    ),
    entity("Survey", &["Collection"], &[("items", Entities(&["Questionnaire"]))]),
    entity(
        "DigitalResourceCollection",
        // What a resource may be a part of is narrower than what a collection may.
        &["DigitalResource", "Collection"],
        &[("items", Entities(RESOURCE))],
    ),
    entity(
        "Assessment",
        &["AssignableDigitalResource", "DigitalResourceCollection"],
        &[("items", Entities(&["AssessmentItem"]))],
    ),
    entity("Forum", &["DigitalResourceCollection"], &[("items", Entities(&["Thread"]))]),
    entity(
        "Questionnaire",
        &["DigitalResourceCollection"],
        &[("items", Entities(&["QuestionnaireItem"]))],
    ),
    entity("Thread", &["DigitalResourceCollection"], &[("items", Entities(&["Message"]))]),
    entity(
        "Comment",
        ANY,
        &[("commenter", Entity(PERSON)), ("commentedOn", Entity(ANY)), ("value", Text)],
    ),
    entity(
        "DigitalResource",
        ANY,
        &[
            ("isPartOf", Entity(WHOLES)),
            ("creators", Entities(AGENT)),
            ("learningObjectives", Entities(&["LearningObjective"])),
            ("alignedLearningObjective", Entities(&["LearningObjective"])),
            ("datePublished", Instant),
            ("keywords", Texts),
            ("mediaType", Text),
            ("objectType", TextOrTruth),
            ("storageName", Text),
            ("version", Text),
            ("dateToActivate", Instant),
            ("dateToShow", Instant),
            ("dateToStartOn", Instant),
            ("dateToSubmit", Instant),
            ("maxAttempts", Whole),
            ("maxSubmits", Whole),
            ("maxScore", Number),
        ],
    ),
    entity("AssignableDigitalResource", RESOURCE, &[]),
    entity("AssessmentItem", &["AssignableDigitalResource"], &[("isTimeDependent", Truth)]),
    entity("Chapter", RESOURCE, &[]),
    entity("Document", RESOURCE, &[]),
    entity("Frame", RESOURCE, &[("index", Whole)]),
    entity("Link", ANY, &[]),
    entity("LtiLink", RESOURCE, &[("messageType", Text), ("LtiMessageType", Text)]),
    entity("MediaLocation", RESOURCE, &[("currentTime", Duration)]),
    entity("MediaObject", RESOURCE, &[TIMES[2]]),
    entity(
        "AudioObject",
        MEDIA,
        &[("muted", Truth), ("volumeLevel", Text), ("volumeMax", Text), ("volumeMin", Text)],
    ),
    entity("ImageObject", MEDIA, &[]),
    entity("VideoObject", MEDIA, &[]),
    entity(
        "Message",
        RESOURCE,
        &[("replyTo", Entity(&["Message"])), ("body", Text), ("attachments", Entities(RESOURCE))],
    ),
    entity("Page", RESOURCE, &[]),
    entity("Question", RESOURCE, &[("questionPosed", Text)]),
    entity(
        "DateTimeQuestion",
        QUESTION,
        &[
            ("minDateTime", Instant),
            ("minLabel", Text),
            ("maxDateTime", Instant),
            ("maxLabel", Text),
        ],
    ),
    entity("MultiselectQuestion", QUESTION, &[("points", Whole), LABELS[0], LABELS[1]]),
    entity("OpenEndedQuestion", QUESTION, &[]),
    entity("RatingScaleQuestion", QUESTION, &[("scale", Entity(SCALE))]),
    entity(
        "QuestionnaireItem",
        RESOURCE,
        &[("question", Entity(QUESTION)), ("categories", Texts), ("weight", Number)],
    ),
    entity("Reading", RESOURCE, &[]),
    entity(
        "SurveyInvitation",
        RESOURCE,
        &[
            ("rater", Entity(PERSON)),
            ("survey", Entity(&["Survey"])),
            ("sentCount", Whole),
            ("dateSent", Instant),
        ],
    ),
    entity("WebPage", RESOURCE, &[]),
    entity("epubChapter", RESOURCE, &[]),
    entity("epubPart", RESOURCE, &[]),
    entity("epubSubChapter", RESOURCE, &[]),
    entity("epubVolume", RESOURCE, &[]),
    entity("LearningObjective", ANY, &[]),
    entity(
        "Membership",
        ANY,
        &[
            ("member", Entity(AGENT)),
            ("organization", Entity(&["Organization"])),
            ("roles", Words(ROLES)),
            ("status", Word(&["Active", "Inactive"])),
        ],
    ),
    entity(
        "Query",
        ANY,
        &[("creator", Entity(PERSON)), ("searchTarget", Entity(ANY)), ("searchTerms", Text)],
    ),
    entity(
        "Rating",
        ANY,
        &[
            ("rater", Entity(PERSON)),
            ("rated", Entity(ANY)),
            ("question", Entity(QUESTION)),
            ("selections", Texts),
            ("scale", Entity(SCALE)),
            ("ratingComment", Entity(&["Comment"])),
        ],
    ),
    entity("Response", ANY, &[("attempt", Entity(&["Attempt"])), TIMES[0], TIMES[1], TIMES[2]]),
    entity("DateTimeResponse", RESPONSE, &[("dateTimeSelected", Instant)]),
    entity("FillinBlankResponse", RESPONSE, &[("values", Texts)]),
    entity("MultipleChoiceResponse", RESPONSE, &[("value", Text)]),
    entity("MultipleResponseResponse", RESPONSE, &[("values", Texts)]),
    entity("MultiselectResponse", RESPONSE, &[("selections", Texts)]),
    entity("OpenEndedResponse", RESPONSE, &[("value", Text)]),
    entity("RatingScaleResponse", RESPONSE, &[("selections", Texts)]),
    entity("SelectTextResponse", RESPONSE, &[("values", Texts)]),
    entity("TrueFalseResponse", RESPONSE, &[("value", Text)]),
    entity(
        "Result",
        ANY,
        &[
            ("attempt", Entity(&["Attempt"])),
            ("maxResultScore", Number),
            ("resultScore", Number),
            ("normalScore", Number),
            ("penaltyScore", Number),
            ("extraCreditScore", Number),
            ("totalScore", Number),
            ("curvedTotalScore", Number),
            ("curveFactor", Number),
            ("comment", Text),
            ("scoredBy", Entity(AGENT)),
        ],
    ),
    entity("Scale", ANY, &[]),
    entity("LikertScale", SCALE, &[("scalePoints", Whole), LABELS[0], LABELS[1]]),
    entity(
        "MultiselectScale",
        SCALE,
        &[
            ("scalePoints", Whole),
            LABELS[0],
            LABELS[1],
            ("isOrderedSelection", Truth),
            ("orderedSelection", Truth),
            ("minSelections", Whole),
            ("maxSelections", Whole),
        ],
    ),
    entity(
        "NumericScale",
        SCALE,
        &[
            ("minValue", Number),
            ("minLabel", Text),
            ("maxValue", Number),
            ("maxLabel", Text),
            ("step", Number),
        ],
    ),
    entity(
        "Score",
        ANY,
        &[
            ("attempt", Entity(&["Attempt"])),
            ("maxScore", Number),
            ("scoreGiven", Number),
            ("scoredBy", Entity(AGENT)),
            ("comment", Text),
        ],
    ),
    entity(
        "SearchResponse",
        ANY,
        &[
            ("searchProvider", Entity(&["SoftwareApplication"])),
            ("searchTarget", Entity(ANY)),
            ("query", Entity(&["Query"])),
            ("searchResultsItemCount", Whole),
            ("searchResults", Entities(ANY)),
        ],
    ),
    entity(
        "Session",
        ANY,
        &[
            ("user", Entity(PERSON)),
            ("client", Entity(&["SoftwareApplication"])),
            TIMES[0],
            TIMES[1],
            TIMES[2],
        ],
    ),
    entity("LtiSession", &["Session"], &[("messageParameters", Free)]),
];

/// Values that have no id of their own.
pub(crate) const PARTS: &[EntityType] = &[
    EntityType {
        required: &["identifier", "identifierType"],
        ..entity(
            "SystemIdentifier",
            &[],
            &[
                ("identifier", Text),
                ("identifierType", Word(IDENTIFIERS)),
                ("source", Entity(&["SoftwareApplication"])),
                ("extensions", Free),
            ],
        )
    },
    EntityType {
        required: &["start", "end"],
        ..entity("TextPositionSelector", &[], &[("start", Whole), ("end", Whole)])
    },
];

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
