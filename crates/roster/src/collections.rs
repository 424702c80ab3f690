//! The collections of OneRoster 1.2: whole kinds, parts of kinds, and what belongs to a record.

use crate::kind::{OrganizationPath, RecordKind};
use crate::kinds::{ACADEMIC_SESSION, ALL, ORG, USER};
use crate::record::{ListLink, Record};

/// A set of records of one kind that has its own path.
#[derive(Clone, Copy, Debug)]
pub struct Collection {
    /// Its path, which is also the name of its counter: `students`.
    pub path: &'static str,
    /// The kind of its records.
    pub kind: &'static RecordKind,
    /// The records of the kind that belong to it.
    pub part: CollectionPart,
    /// The wrapper key of a single record that clients of the platform expect in addition to the kind's.
    pub platform_one: Option<&'static str>,
    /// The collection key that clients of the platform expect in addition to the kind's.
    pub platform_many: Option<&'static str>,
}

/// A part of a kind's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectionPart {
    /// All of them.
    Whole,
    /// The records whose `type` is this word.
    OfType(&'static str),
    /// Users who have this role somewhere.
    WithRole(&'static str),
}

const fn part(path: &'static str, kind: &'static RecordKind, part: CollectionPart) -> Collection {
    Collection { path, kind, part, platform_one: None, platform_many: None }
}

/// Parts of kinds that have their own path.
pub static PARTS: &[Collection] = &[
    part("schools", &ORG, CollectionPart::OfType("school")),
    part("students", &USER, CollectionPart::WithRole("student")),
    part("teachers", &USER, CollectionPart::WithRole("teacher")),
    Collection {
        platform_one: Some("term"),
        platform_many: Some("terms"),
        ..part("terms", &ACADEMIC_SESSION, CollectionPart::OfType("term"))
    },
    Collection {
        platform_one: Some("gradingPeriod"),
        platform_many: Some("gradingPeriods"),
        ..part("gradingPeriods", &ACADEMIC_SESSION, CollectionPart::OfType("gradingPeriod"))
    },
];

/// The paths of the collections that count the record while it is in use: its kind's and those of the parts
/// that it belongs to.
pub(crate) fn counting(record: &Record) -> Vec<&'static str> {
    let parts = PARTS.iter().filter(|part| part.kind == record.kind && part.part.holds(record));
    std::iter::once(record.kind.path).chain(parts.map(|part| part.path)).collect()
}

/// The count of a collection's records that belong to an organization: `users@org-1`.
pub(crate) fn count_of_organization(collection: &str, organization: &str) -> String {
    format!("{collection}@{organization}")
}

/// The counts of its organization that include the record while it is in use. A user with roles at several
/// organizations is in none, because it would be counted twice.
pub(crate) fn counting_by_organization(record: &Record) -> Vec<String> {
    let organization = match record.kind.organization {
        OrganizationPath::School => record.column("school"),
        OrganizationPath::Roles => {
            let mut orgs = record.links.iter().filter(|link| link.field == "user.roles.org");
            let first = orgs.next();
            first.filter(|_| orgs.next().is_none()).map(|link| link.value.as_str())
        }
        _ => None,
    };
    let Some(organization) = organization else { return Vec::new() };
    let collections = counting(record).into_iter();
    collections.map(|path| count_of_organization(path, organization)).collect()
}

impl CollectionPart {
    fn holds(self, record: &Record) -> bool {
        match self {
            Self::Whole => true,
            Self::OfType(word) => record.column("type") == Some(word),
            Self::WithRole(role) => {
                let is_role =
                    |link: &ListLink| link.field == "user.roles.role" && link.value == role;
                record.links.iter().any(is_role)
            }
        }
    }
}

/// Every collection: the kinds, then their parts.
pub fn all() -> impl Iterator<Item = Collection> {
    ALL.iter().map(|kind| part(kind.path, kind, CollectionPart::Whole)).chain(PARTS.iter().copied())
}

/// The collection of that path.
pub fn at(path: &str) -> Option<Collection> {
    all().find(|collection| collection.path == path)
}

/// A collection inside a record: the records that belong to the class, school or user of the path.
#[derive(Clone, Copy, Debug)]
pub struct ScopedCollection {
    /// The path, whose parameters name kinds: `/classes/{classSourcedId}/students`.
    pub path: &'static str,
    /// The path of the collection that it is a part of.
    pub of: &'static str,
    /// The collection of records in it.
    pub belongs: ScopePath,
    /// Whether the standard defines it.
    pub standard: bool,
}

/// The relation of a record to those of the path, in the order of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopePath {
    /// Its reference of this name points there.
    ByField(&'static str),
    /// A reference of this link field points there.
    ByLink(&'static str),
    /// A user with this role at that organization.
    ByRoleAt(&'static str),
    /// A user enrolled in that class, in this role or in any.
    Enrolled(Option<&'static str>),
    /// A class in which that user is enrolled, in this role or in any.
    ClassOf(Option<&'static str>),
    /// A course that the school owns or that one of its classes teaches.
    CourseOfSchool,
    /// A session of the school: its own, or one of its classes'.
    SessionOfSchool,
    /// A grading period inside that term.
    GradingPeriodOf,
    /// A category that the class uses, or that no class uses yet.
    CategoryOfClass,
    /// A result in a line item of that class.
    ResultOfClass,
    /// A result of that student in a line item of that class.
    ResultOfStudentInClass,
    /// A result in the line item, which belongs to the class.
    ResultOfLineItemInClass,
    /// A score scale of a class of the school.
    ScoreScaleOfSchool,
    /// A resource that the record names, or that a component of the course has.
    ResourceOf,
    /// A user who is an agent of that user.
    AgentOf,
}

const fn scoped(path: &'static str, of: &'static str, belongs: ScopePath) -> ScopedCollection {
    ScopedCollection { path, of, belongs, standard: true }
}

const fn beyond(path: &'static str, of: &'static str, belongs: ScopePath) -> ScopedCollection {
    ScopedCollection { path, of, belongs, standard: false }
}

/// The scoped collections of the rostering service.
pub static ROSTERING: &[ScopedCollection] = &[
    scoped("/classes/{classSourcedId}/students", "students", ScopePath::Enrolled(Some("student"))),
    scoped("/classes/{classSourcedId}/teachers", "teachers", ScopePath::Enrolled(Some("teacher"))),
    beyond("/classes/{classSourcedId}/enrollments", "enrollments", ScopePath::ByField("class")),
    scoped("/courses/{courseSourcedId}/classes", "classes", ScopePath::ByField("course")),
    scoped("/schools/{schoolSourcedId}/classes", "classes", ScopePath::ByField("school")),
    scoped("/schools/{schoolSourcedId}/courses", "courses", ScopePath::CourseOfSchool),
    scoped("/schools/{schoolSourcedId}/enrollments", "enrollments", ScopePath::ByField("school")),
    scoped("/schools/{schoolSourcedId}/students", "students", ScopePath::ByRoleAt("student")),
    scoped("/schools/{schoolSourcedId}/teachers", "teachers", ScopePath::ByRoleAt("teacher")),
    scoped("/schools/{schoolSourcedId}/terms", "terms", ScopePath::SessionOfSchool),
    scoped(
        "/schools/{schoolSourcedId}/classes/{classSourcedId}/enrollments",
        "enrollments",
        ScopePath::ByField("class"),
    ),
    scoped(
        "/schools/{schoolSourcedId}/classes/{classSourcedId}/students",
        "students",
        ScopePath::Enrolled(Some("student")),
    ),
    scoped(
        "/schools/{schoolSourcedId}/classes/{classSourcedId}/teachers",
        "teachers",
        ScopePath::Enrolled(Some("teacher")),
    ),
    scoped("/students/{studentSourcedId}/classes", "classes", ScopePath::ClassOf(Some("student"))),
    scoped("/teachers/{teacherSourcedId}/classes", "classes", ScopePath::ClassOf(Some("teacher"))),
    scoped("/terms/{termSourcedId}/classes", "classes", ScopePath::ByLink("class.terms")),
    scoped("/terms/{termSourcedId}/gradingPeriods", "gradingPeriods", ScopePath::GradingPeriodOf),
    scoped("/users/{userSourcedId}/classes", "classes", ScopePath::ClassOf(None)),
    beyond("/users/{userSourcedId}/agents", "users", ScopePath::AgentOf),
    beyond("/users/{userSourcedId}/agentFor", "users", ScopePath::ByLink("user.agents")),
];

/// The scoped collections of the gradebook service.
pub static GRADEBOOK: &[ScopedCollection] = &[
    scoped("/classes/{classSourcedId}/categories", "categories", ScopePath::CategoryOfClass),
    scoped("/classes/{classSourcedId}/lineItems", "lineItems", ScopePath::ByField("class")),
    scoped("/classes/{classSourcedId}/results", "results", ScopePath::ResultOfClass),
    scoped("/classes/{classSourcedId}/scoreScales", "scoreScales", ScopePath::ByField("class")),
    scoped(
        "/classes/{classSourcedId}/lineItems/{lineItemSourcedId}/results",
        "results",
        ScopePath::ResultOfLineItemInClass,
    ),
    scoped(
        "/classes/{classSourcedId}/students/{studentSourcedId}/results",
        "results",
        ScopePath::ResultOfStudentInClass,
    ),
    beyond("/lineItems/{lineItemSourcedId}/results", "results", ScopePath::ByField("lineItem")),
    beyond("/schools/{schoolSourcedId}/lineItems", "lineItems", ScopePath::ByField("school")),
    scoped("/schools/{schoolSourcedId}/scoreScales", "scoreScales", ScopePath::ScoreScaleOfSchool),
];

/// The scoped collections of the resources service; each is served under `/resources` too, where
/// the published clients look.
pub static RESOURCES: &[ScopedCollection] = &[
    scoped("/classes/{classSourcedId}/resources", "resources", ScopePath::ResourceOf),
    scoped("/courses/{courseSourcedId}/resources", "resources", ScopePath::ResourceOf),
    scoped("/users/{userSourcedId}/resources", "resources", ScopePath::ResourceOf),
];

/// The kind that a path parameter such as `schoolSourcedId` names.
pub fn named_by(parameter: &str) -> Option<&'static RecordKind> {
    crate::kinds::by_name(parameter.strip_suffix("SourcedId")?)
}
