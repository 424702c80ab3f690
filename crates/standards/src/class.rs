//! The classes of CASE 1.1 (information model, section 5): one declaration each. Everything reads
//! them: checks, the two dialects, filters, the API document.

/// A class of record, or of an object inside one.
#[derive(Debug)]
pub struct Class {
    /// Its name and wrapper key: `CFItem`.
    pub name: &'static str,
    /// The key of lists of it: `CFItems`.
    pub list: &'static str,
    /// The link to what it belongs to, which only a record read by itself carries.
    pub owner: Option<&'static str>,
    /// Its members.
    pub fields: &'static [Field],
}

/// A member of a class.
#[derive(Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// The type of its value.
    pub ty: Type,
    /// Whether it is required.
    pub required: bool,
    /// Whether it came with version 1.1.
    pub is_new: bool,
}

/// The type of a member's value.
#[derive(Clone, Copy, Debug)]
pub enum Type {
    /// Text.
    Text,
    /// An absolute URI.
    Uri,
    /// A UUID in small letters.
    Uuid,
    /// An RFC 3339 instant.
    Instant,
    /// A date as 2026-01-15.
    Date,
    /// A whole number of 32 bits.
    Integer,
    /// A number.
    Number,
    /// A list of texts.
    Texts,
    /// A word of the list, or where the vocabulary is open a word behind `ext:`.
    Word(&'static [&'static str], bool),
    /// An object of any members.
    Extensions,
    /// A list of such.
    ExtensionList,
    /// An object of the class.
    Object(&'static Class),
    /// A list of such.
    Objects(&'static Class),
}

use Type::{
    Date, ExtensionList, Extensions, Instant, Integer, Number, Object, Objects, Text, Texts, Uri,
    Uuid, Word,
};

const fn field(name: &'static str, ty: Type) -> Field {
    Field { name, ty, required: false, is_new: false }
}

impl Field {
    const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    const fn new_in_v1p1(self) -> Self {
        Self { is_new: true, ..self }
    }
}

const IDENTIFIER: Field = field("identifier", Uuid).required();
const URI: Field = field("uri", Uri).required();
const CHANGED: Field = field("lastChangeDateTime", Instant).required();
const EXTENSIONS: Field = field("extensions", Extensions).new_in_v1p1();
const TITLE: Field = field("title", Text).required();
const DESCRIPTION: Field = field("description", Text);
const HIERARCHY: Field = field("hierarchyCode", Text).required();

impl Class {
    /// The member of that name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

const fn class(name: &'static str, list: &'static str, fields: &'static [Field]) -> Class {
    Class { name, list, owner: None, fields }
}

/// A link to a record of CASE.
pub static LINK: Class = class("LinkURI", "", &[TITLE, IDENTIFIER, URI]);

/// A link to a node, which need not be a record of CASE.
pub static NODE: Class = class(
    "LinkGenURI",
    "",
    &[
        TITLE,
        field("identifier", Text).required(),
        URI,
        field("targetType", Word(&["CASE"], true)).new_in_v1p1(),
    ],
);

/// A framework, apart from what is in it.
pub static DOCUMENT: Class = Class {
    name: "CFDocument",
    list: "CFDocuments",
    owner: Some("CFPackageURI"),
    fields: &[
        IDENTIFIER,
        URI,
        field("frameworkType", Text).new_in_v1p1(),
        field("caseVersion", Word(&["1.1"], false)).new_in_v1p1(),
        field("creator", Text).required(),
        TITLE,
        CHANGED,
        field("officialSourceURL", Uri),
        field("publisher", Text),
        DESCRIPTION,
        field("subject", Texts),
        field("subjectURI", Objects(&LINK)),
        field("language", Text),
        field("version", Text),
        field("adoptionStatus", Text),
        field("statusStartDate", Date),
        field("statusEndDate", Date),
        field("licenseURI", Object(&LINK)),
        field("notes", Text),
        EXTENSIONS,
    ],
};

/// A standard, competency or other statement.
pub static ITEM: Class = Class {
    name: "CFItem",
    list: "CFItems",
    owner: Some("CFDocumentURI"),
    fields: &[
        IDENTIFIER,
        field("fullStatement", Text).required(),
        field("alternativeLabel", Text),
        field("CFItemType", Text),
        URI,
        field("humanCodingScheme", Text),
        field("listEnumeration", Text),
        field("abbreviatedStatement", Text),
        field("conceptKeywords", Texts),
        field("conceptKeywordsURI", Object(&LINK)),
        field("notes", Text),
        field("subject", Texts).new_in_v1p1(),
        field("subjectURI", Objects(&LINK)).new_in_v1p1(),
        field("language", Text),
        field("educationLevel", Texts),
        field("CFItemTypeURI", Object(&LINK)),
        field("licenseURI", Object(&LINK)),
        field("statusStartDate", Date),
        field("statusEndDate", Date),
        CHANGED,
        EXTENSIONS,
    ],
};

/// The type of associations that make the tree.
pub const CHILD_OF: &str = "isChildOf";

/// The types of associations that version 1.0 has.
pub const TYPES_OF_V1P0: &[&str] = &[
    CHILD_OF,
    "isPeerOf",
    "isPartOf",
    "exactMatchOf",
    "precedes",
    "isRelatedTo",
    "replacedBy",
    "exemplar",
    "hasSkillLevel",
];

const TYPES: &[&str] = &[
    CHILD_OF,
    "isPeerOf",
    "isPartOf",
    "exactMatchOf",
    "precedes",
    "isRelatedTo",
    "replacedBy",
    "exemplar",
    "hasSkillLevel",
    "isTranslationOf",
];

/// An association: the relation of one node to another.
pub static ASSOCIATION: Class = Class {
    name: "CFAssociation",
    list: "CFAssociations",
    owner: Some("CFDocumentURI"),
    fields: &[
        IDENTIFIER,
        field("associationType", Word(TYPES, true)).required(),
        field("sequenceNumber", Integer),
        URI,
        field("originNodeURI", Object(&NODE)).required(),
        field("destinationNodeURI", Object(&NODE)).required(),
        field("CFAssociationGroupingURI", Object(&LINK)),
        CHANGED,
        field("notes", Text).new_in_v1p1(),
        EXTENSIONS,
    ],
};

/// A concept.
pub static CONCEPT: Class = class(
    "CFConcept",
    "CFConcepts",
    &[IDENTIFIER, URI, TITLE, field("keywords", Text), HIERARCHY, DESCRIPTION, CHANGED, EXTENSIONS],
);

/// A subject.
pub static SUBJECT: Class = class(
    "CFSubject",
    "CFSubjects",
    &[IDENTIFIER, URI, TITLE, HIERARCHY, DESCRIPTION, CHANGED, EXTENSIONS],
);

/// A licence.
pub static LICENSE: Class = class(
    "CFLicense",
    "CFLicenses",
    &[
        IDENTIFIER,
        URI,
        TITLE,
        DESCRIPTION,
        field("licenseText", Text).required(),
        CHANGED,
        EXTENSIONS,
    ],
);

/// A type of items.
pub static ITEM_TYPE: Class = class(
    "CFItemType",
    "CFItemTypes",
    &[
        IDENTIFIER,
        URI,
        TITLE,
        field("description", Text).required(),
        HIERARCHY,
        field("typeCode", Text),
        CHANGED,
        EXTENSIONS,
    ],
);

/// A group of associations.
pub static GROUPING: Class = class(
    "CFAssociationGrouping",
    "CFAssociationGroupings",
    &[IDENTIFIER, URI, TITLE, DESCRIPTION, CHANGED, EXTENSIONS],
);

/// A rubric.
pub static RUBRIC: Class = class(
    "CFRubric",
    "CFRubrics",
    &[
        IDENTIFIER,
        URI,
        field("title", Text),
        DESCRIPTION,
        CHANGED,
        field("CFRubricCriteria", Objects(&CRITERION)),
        EXTENSIONS,
    ],
);

static CRITERION: Class = class(
    "CFRubricCriterion",
    "",
    &[
        IDENTIFIER,
        URI,
        field("category", Text),
        DESCRIPTION,
        field("CFItemURI", Object(&LINK)),
        field("weight", Number),
        field("position", Integer),
        field("rubricId", Uuid),
        CHANGED,
        field("CFRubricCriterionLevels", Objects(&LEVEL)),
        EXTENSIONS,
    ],
);

static LEVEL: Class = class(
    "CFRubricCriterionLevel",
    "",
    &[
        IDENTIFIER,
        URI,
        DESCRIPTION,
        field("quality", Text),
        field("score", Number),
        field("feedback", Text),
        field("position", Integer),
        field("rubricCriterionId", Uuid),
        CHANGED,
        field("extensions", ExtensionList).new_in_v1p1(),
    ],
);

/// The lists in the `CFDefinitions` of a package, in the order of the standard.
pub static DEFINITIONS: [&Class; 5] = [&CONCEPT, &SUBJECT, &LICENSE, &ITEM_TYPE, &GROUPING];
