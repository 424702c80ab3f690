//! Names that real clients send for the same things. Applied before routing: handlers exist once.

use std::borrow::Cow;

/// What a path may begin with, and what it means. Whole segments only.
const PATHS: [(&str, &str); 3] =
    [("/powerpath", "/adaptive"), ("/edubridge", "/bridge"), ("/api/timeback", "/api/lms")];

/// The path in the spelling of the route tables.
pub(crate) fn canonical(path: &str) -> Cow<'_, str> {
    for (alias, name) in PATHS {
        if let Some(rest) = path.strip_prefix(alias)
            && (rest.is_empty() || rest.starts_with('/'))
        {
            return Cow::Owned(format!("{name}{rest}"));
        }
    }
    Cow::Borrowed(path)
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
        assert_eq!(canonical("/users/edubridge"), "/users/edubridge");
    }
}
