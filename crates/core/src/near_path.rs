//! Guesses the path that a mistyped path was meant to be.

use crate::text::slips;

/// Paths of this length or longer are not compared, because a comparison takes time that grows with its square.
const PATH_MAX_BYTES: usize = 200;

/// The path that was probably meant: it differs from a pattern by at most two typing errors, or it lacks the
/// pattern's first segment, such as `/api`. A segment such as `{id}` or `:id` matches any segment, which the result
/// repeats. `None` if the path matches a pattern, or resembles none of them.
pub fn near_path<'p>(path: &str, patterns: impl IntoIterator<Item = &'p str>) -> Option<String> {
    if path.len() >= PATH_MAX_BYTES {
        return None;
    }
    let segments: Vec<_> = path.trim_end_matches('/').split('/').collect();
    // The number of typing errors; for a lacking beginning more than for any of them.
    let distance = |pattern: &str| -> Option<(usize, String)> {
        let parts: Vec<_> = pattern.split('/').collect();
        if parts.len() == segments.len() + 1 {
            let is_rest = segments.len() > 1 && matches_pattern(&parts[2..], &segments[1..]);
            let whole = parts[..2].iter().chain(&segments[1..]);
            return is_rest.then(|| (usize::MAX, whole.copied().collect::<Vec<_>>().join("/")));
        }
        if parts.len() != segments.len() {
            return None;
        }
        let filled = parts.iter().zip(&segments);
        let filled = filled.map(|(part, segment)| if is_any(part) { segment } else { part });
        let similar = filled.copied().collect::<Vec<_>>().join("/");
        let distance = strsim::damerau_levenshtein(&similar.to_lowercase(), &path.to_lowercase());
        let letters = parts.iter().filter(|part| !is_any(part)).map(|part| part.len()).sum();
        (distance <= slips(letters)).then_some((distance, similar))
    };
    let nearest = patterns.into_iter().filter_map(distance).min()?;
    (nearest.1 != path).then_some(nearest.1)
}

/// Whether segments match the parts of a pattern, of which at least one is a word.
fn matches_pattern(parts: &[&str], segments: &[&str]) -> bool {
    parts.iter().any(|part| !is_any(part))
        && parts.iter().zip(segments).all(|(part, segment)| is_any(part) || part == segment)
}

/// Whether the part of a pattern is a parameter.
fn is_any(part: &str) -> bool {
    part.starts_with([':', '{'])
}

#[cfg(test)]
mod tests {
    use super::near_path;

    #[test]
    fn typing_errors_and_missing_prefixes_are_found() {
        let patterns = [
            "/api/hello",
            "/api/users/:id",
            "/api/games/{gameId}/scores",
            "/api",
            "/console/keys/api/{id}",
        ];
        for (path, expected) in [
            ("/api/helo", Some("/api/hello")),
            ("/api/Hello", Some("/api/hello")),
            ("/api/user/7", Some("/api/users/7")),
            ("/api/games/rivers/score", Some("/api/games/rivers/scores")),
            ("/hello", Some("/api/hello")),
            ("/users/7", Some("/api/users/7")),
            ("/api/users/7", None),
            ("/goodbye", None),
            ("/api/goodbye", None),
            ("/favicon.ico", None),
            ("/7", None),
            ("/", None),
            ("", None),
        ] {
            assert_eq!(near_path(path, patterns).as_deref(), expected, "{path}");
        }
    }
}
