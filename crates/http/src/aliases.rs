//! Other spellings of paths that existing clients use. They are replaced before routing, so that each handler exists
//! only once.

use std::borrow::Cow;

/// Names that existing clients have for areas, and ours. Both match complete segments only.
const AREAS: [(&str, &str); 3] =
    [("/powerpath", "/adaptive"), ("/edubridge", "/bridge"), ("/api/timeback", "/api/lms")];

/// Short paths and the paths that they stand for. The API document lists both.
const SHORT: [(&str, &str); 7] = [
    ("/items", "/assessment-items"),
    ("/badges", "/ims/ob/v3p0/badges"),
    ("/assertions", "/ims/ob/v3p0/assertions"),
    ("/clr", "/ims/clr/v2p0/clr"),
    ("/finalStudentAssessmentResponse", "/adaptive/finalStudentAssessmentResponse"),
    ("/getAssessmentProgress", "/adaptive/getAssessmentProgress"),
    ("/placement/getNextPlacementTest", "/adaptive/placement/getNextPlacementTest"),
];

/// The paths of assessment content, which may follow `/qti`.
const CONTENT: [&str; 8] = [
    "/assessment-items",
    "/items",
    "/assessment-tests",
    "/assessment-banks",
    "/stimuli",
    "/validate",
    "/lesson",
    "/question",
];

/// Replaces aliases in a path by the spelling of the route tables.
pub(crate) fn canonical(path: &str) -> Cow<'_, str> {
    let content = path.strip_prefix("/qti");
    let content = content.filter(|rest| CONTENT.iter().any(|base| below(rest, base).is_some()));
    let path = content.unwrap_or(path);
    for (alias, name) in AREAS.into_iter().chain(SHORT) {
        if let Some(rest) = below(path, alias) {
            return Cow::Owned(format!("{name}{rest}"));
        }
    }
    Cow::Borrowed(path)
}

/// The short form of a path; `None` if it has none.
pub(crate) fn short(path: &str) -> Option<String> {
    SHORT.into_iter().find_map(|(short, name)| Some(format!("{short}{}", below(path, name)?)))
}

/// The rest of the path after the base; `None` if the path is not below the base.
fn below<'p>(path: &'p str, base: &str) -> Option<&'p str> {
    path.strip_prefix(base).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn only_whole_segments_at_the_start_are_aliases() {
        assert_eq!(canonical("/edubridge/enrollments"), "/bridge/enrollments");
        assert_eq!(canonical("/powerpath"), "/adaptive");
        assert_eq!(canonical("/api/timeback/xp"), "/api/lms/xp");
        assert_eq!(canonical("/edubridges"), "/edubridges");
        assert_eq!(canonical("/clr/a/achievements"), "/ims/clr/v2p0/clr/a/achievements");
        assert_eq!(canonical("/users/edubridge"), "/users/edubridge");
        assert_eq!(canonical("/getAssessmentProgress"), "/adaptive/getAssessmentProgress");
        assert_eq!(canonical("/placement/getCurrentLevel"), "/placement/getCurrentLevel");
    }

    #[test]
    fn assessment_content_is_at_the_root_and_below_qti() {
        assert_eq!(canonical("/items/a"), "/assessment-items/a");
        assert_eq!(canonical("/qti/items"), "/assessment-items");
        assert_eq!(canonical("/qti/stimuli/a"), "/stimuli/a");
        assert_eq!(canonical("/qti/health"), "/qti/health");
        assert_eq!(canonical("/qti/qti/stimuli"), "/qti/qti/stimuli");
    }
}
