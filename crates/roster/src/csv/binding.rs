//! The requirements for cells in OneRoster's CSV binding 1.2.1, in addition to the rules of the API. The standard
//! export follows them, and so must an import with `--strict`.

use lyceum_core::limits::SOURCED_ID_MAX_CHARS;
use lyceum_core::time::parse_date;

use super::cell::CellError;
use super::files::{BEYOND_THE_STANDARD, COMMON, CsvFile};

/// Columns that must not be empty, by file, besides `sourcedId`.
const REQUIRED: &[(&str, &[&str])] = &[
    ("academicSessions", &["title", "type", "startDate", "endDate", "schoolYear"]),
    ("categories", &["title"]),
    ("classes", &["title", "courseSourcedId", "classType", "schoolSourcedId", "termSourcedIds"]),
    ("classResources", &["classSourcedId", "resourceSourcedId"]),
    ("courses", &["title", "orgSourcedId"]),
    ("courseResources", &["courseSourcedId", "resourceSourcedId"]),
    ("demographics", &[]),
    ("enrollments", &["classSourcedId", "schoolSourcedId", "userSourcedId", "role"]),
    ("lineItemLearningObjectiveIds", &["lineItemSourcedId", "source", "learningObjectiveId"]),
    (
        "lineItems",
        &[
            "title",
            "assignDate",
            "dueDate",
            "classSourcedId",
            "categorySourcedId",
            "academicSessionSourcedId",
            "schoolSourcedId",
        ],
    ),
    ("lineItemScoreScales", &["lineItemSourcedId", "scoreScaleSourcedId"]),
    ("orgs", &["name", "type"]),
    ("resources", &["vendorResourceId"]),
    ("resultLearningObjectiveIds", &["resultSourcedId", "source", "learningObjectiveId"]),
    ("results", &["lineItemSourcedId", "studentSourcedId", "scoreStatus", "scoreDate"]),
    ("resultScoreScales", &["resultSourcedId", "scoreScaleSourcedId"]),
    ("roles", &["userSourcedId", "roleType", "role", "orgSourcedId"]),
    (
        "scoreScales",
        &["title", "type", "orgSourcedId", "courseSourcedId", "classSourcedId", "scoreScaleValue"],
    ),
    ("userProfiles", &["userSourcedId", "profileType", "vendorId", "credentialType", "username"]),
    ("userResources", &["userSourcedId", "resourceSourcedId"]),
    ("users", &["enabledUser", "username", "givenName", "familyName"]),
];

/// Columns with a calendar date.
const DATES: &[&str] =
    &["startDate", "endDate", "beginDate", "birthDate", "scoreDate", "assignDate", "dueDate"];

/// Whether the file is part of the standard.
pub(super) fn has(file: &CsvFile) -> bool {
    !BEYOND_THE_STANDARD.contains(&file.name)
}

/// Whether the cell must not be empty.
pub(super) fn requires(file: &CsvFile, header: &str) -> bool {
    header == COMMON[0]
        || REQUIRED.iter().any(|(name, headers)| *name == file.name && headers.contains(&header))
}

/// Whether the column has a calendar date although its field is an instant.
pub(super) fn is_day(file: &CsvFile, header: &str) -> bool {
    file.name == "lineItems" && matches!(header, "assignDate" | "dueDate")
}

/// Whether the text is a GUID: 1 to 255 of `0-9 A-Z a-z . - _ / @`.
pub(super) fn is_guid(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= SOURCED_ID_MAX_CHARS
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_/@".contains(&byte))
}

/// The rule of the binding that a cell breaks. `status` and `dateLastModified` depend on the kind of file and are
/// checked elsewhere.
pub(super) fn unfit(file: &CsvFile, header: &str, cell: &str) -> Option<CellError> {
    let unfit = |problem: &'static str, remedy: &'static str| {
        Some(CellError { problem: problem.into(), remedy: remedy.into() })
    };
    if cell.is_empty() {
        return requires(file, header)
            .then(|| unfit("is required by OneRoster 1.2", "fill the cell"))
            .flatten();
    }
    if cell.contains(['\r', '\n']) {
        return unfit("has a line break, which OneRoster 1.2 forbids", "write it on one line");
    }
    let guids = match header {
        _ if header == COMMON[0] || header.ends_with("SourcedId") => vec![cell],
        _ if header.ends_with("SourcedIds") => cell.split(',').map(str::trim).collect(),
        _ => Vec::new(),
    };
    if !guids.iter().all(|guid| is_guid(guid)) {
        let problem = "is not a OneRoster 1.2 GUID";
        return unfit(problem, "use only 1 to 255 letters, digits and . - _ / @");
    }
    if DATES.contains(&header) && parse_date(cell).is_none() {
        return unfit("is not a date", "write the date as 2026-01-15");
    }
    if header == "schoolYear" && !(cell.len() == 4 && cell.bytes().all(|it| it.is_ascii_digit())) {
        return unfit("is not a year", "write the year as four digits");
    }
    None
}
