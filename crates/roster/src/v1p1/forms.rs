//! The 1.1 forms, one declaration for each kind (OneRoster 1.1, section 4).

use super::form::{FieldSource, FormField, RecordForm, WordMap};
use crate::kinds;

/// Every form.
pub(super) static ALL: &[&RecordForm] = &[
    &ORG,
    &ACADEMIC_SESSION,
    &COURSE,
    &CLASS,
    &USER,
    &DEMOGRAPHICS,
    &ENROLLMENT,
    &RESOURCE,
    &CATEGORY,
    &LINE_ITEM,
    &RESULT,
];

const fn same(name: &'static str) -> FormField {
    FormField { name, source: FieldSource::Same }
}

const fn word(name: &'static str, words: &'static WordMap) -> FormField {
    FormField { name, source: FieldSource::Word(words) }
}

const ORG: RecordForm = RecordForm {
    kind: &kinds::ORG,
    fields: &[
        same("name"),
        word("type", &ORG_TYPES),
        same("identifier"),
        same("parent"),
        same("children"),
    ],
};

const ORG_TYPES: WordMap = WordMap {
    words: &[
        ("department", &["department"]),
        ("district", &["district"]),
        ("local", &["local"]),
        ("national", &["national"]),
        ("school", &["school"]),
        ("state", &["state"]),
    ],
    other: Some("local"),
};

const ACADEMIC_SESSION: RecordForm = RecordForm {
    kind: &kinds::ACADEMIC_SESSION,
    fields: &[
        same("title"),
        same("startDate"),
        same("endDate"),
        word("type", &SESSION_TYPES),
        same("parent"),
        same("children"),
        same("schoolYear"),
    ],
};

const SESSION_TYPES: WordMap = WordMap {
    words: &[
        ("gradingPeriod", &["gradingPeriod"]),
        ("schoolYear", &["schoolYear"]),
        ("semester", &["semester"]),
        ("term", &["term"]),
    ],
    other: Some("term"),
};

const COURSE: RecordForm = RecordForm {
    kind: &kinds::COURSE,
    fields: &[
        same("title"),
        same("schoolYear"),
        same("courseCode"),
        same("grades"),
        same("subjects"),
        same("org"),
        same("subjectCodes"),
        same("resources"),
    ],
};

const CLASS: RecordForm = RecordForm {
    kind: &kinds::CLASS,
    fields: &[
        same("title"),
        same("classCode"),
        word("classType", &CLASS_TYPES),
        same("location"),
        same("grades"),
        same("subjects"),
        same("course"),
        same("school"),
        same("terms"),
        same("subjectCodes"),
        same("periods"),
        same("resources"),
    ],
};

const CLASS_TYPES: WordMap = WordMap {
    words: &[("homeroom", &["homeroom"]), ("scheduled", &["scheduled"])],
    other: Some("scheduled"),
};

const USER: RecordForm = RecordForm {
    kind: &kinds::USER,
    fields: &[
        FormField { name: "username", source: FieldSource::TextOrEmpty },
        same("userIds"),
        same("enabledUser"),
        same("givenName"),
        same("familyName"),
        same("middleName"),
        FormField { name: "role", source: FieldSource::Role(&ROLES) },
        same("identifier"),
        same("email"),
        same("sms"),
        same("phone"),
        same("agents"),
        FormField { name: "orgs", source: FieldSource::OrgsOfRoles },
        same("grades"),
    ],
};

/// Version 1.1 has one word for all administrators, and none for counselors.
const ROLES: WordMap = WordMap {
    words: &[
        (
            "administrator",
            &["districtAdministrator", "principal", "siteAdministrator", "systemAdministrator"],
        ),
        ("aide", &["aide", "counselor"]),
        ("guardian", &["guardian"]),
        ("parent", &["parent"]),
        ("proctor", &["proctor"]),
        ("relative", &["relative"]),
        ("student", &["student"]),
        ("teacher", &["teacher"]),
    ],
    other: Some("aide"),
};

const DEMOGRAPHICS: RecordForm = RecordForm {
    kind: &kinds::DEMOGRAPHICS,
    fields: &[
        same("birthDate"),
        word("sex", &SEXES),
        same("americanIndianOrAlaskaNative"),
        same("asian"),
        same("blackOrAfricanAmerican"),
        same("nativeHawaiianOrOtherPacificIslander"),
        same("white"),
        same("demographicRaceTwoOrMoreRaces"),
        same("hispanicOrLatinoEthnicity"),
        same("countryOfBirthCode"),
        same("stateOfBirthAbbreviation"),
        same("cityOfBirth"),
        same("publicSchoolResidenceStatus"),
    ],
};

const SEXES: WordMap =
    WordMap { words: &[("female", &["female"]), ("male", &["male"])], other: None };

const ENROLLMENT: RecordForm = RecordForm {
    kind: &kinds::ENROLLMENT,
    fields: &[
        same("user"),
        same("class"),
        same("school"),
        word("role", &ENROLLMENT_ROLES),
        same("primary"),
        same("beginDate"),
        same("endDate"),
    ],
};

const ENROLLMENT_ROLES: WordMap = WordMap {
    words: &[
        ("administrator", &["administrator"]),
        ("aide", &[]),
        ("proctor", &["proctor"]),
        ("student", &["student"]),
        ("teacher", &["teacher"]),
    ],
    other: Some("aide"),
};

const RESOURCE: RecordForm = RecordForm {
    kind: &kinds::RESOURCE,
    fields: &[
        same("title"),
        word("roles", &RESOURCE_ROLES),
        same("importance"),
        same("vendorResourceId"),
        same("vendorId"),
        same("applicationId"),
    ],
};

const RESOURCE_ROLES: WordMap = WordMap {
    words: &[
        ("administrator", &["administrator"]),
        ("aide", &["aide"]),
        ("guardian", &["guardian"]),
        ("parent", &["parent"]),
        ("proctor", &["proctor"]),
        ("relative", &["relative"]),
        ("student", &["student"]),
        ("teacher", &["teacher"]),
    ],
    other: None,
};

const CATEGORY: RecordForm = RecordForm { kind: &kinds::CATEGORY, fields: &[same("title")] };

const LINE_ITEM: RecordForm = RecordForm {
    kind: &kinds::LINE_ITEM,
    fields: &[
        same("title"),
        same("description"),
        same("assignDate"),
        same("dueDate"),
        same("class"),
        same("category"),
        same("gradingPeriod"),
        FormField { name: "resultValueMin", source: FieldSource::NumberOrZero },
        same("resultValueMax"),
    ],
};

const RESULT: RecordForm = RecordForm {
    kind: &kinds::RESULT,
    fields: &[
        same("lineItem"),
        same("student"),
        word("scoreStatus", &SCORE_STATUSES),
        same("score"),
        same("scoreDate"),
        same("comment"),
    ],
};

const SCORE_STATUSES: WordMap = WordMap {
    words: &[
        ("exempt", &["exempt"]),
        ("fully graded", &["fully graded"]),
        ("not submitted", &["not submitted"]),
        ("partially graded", &["partially graded"]),
        ("submitted", &["submitted"]),
    ],
    other: Some("submitted"),
};
