//! Parts of a file (RFC 9110, 14).

use http::{HeaderMap, HeaderName, header};

/// The requested part of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum FileRange {
    /// The whole file.
    Whole,
    /// An offset and a number of bytes.
    Part(u64, u64),
    /// A range that the file does not have.
    Unsatisfiable,
}

/// The part of a file that a request asks for. If `If-Range` names another tag than this strong one, the file has changed
/// since the client received its first part, and the result is the whole file.
pub fn range_of(headers: &HeaderMap, tag: &str, size: u64) -> FileRange {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let is_same = text(header::IF_RANGE).is_none_or(|seen| seen == tag);
    requested_range(text(header::RANGE).filter(|_| is_same), size)
}

/// Parses `FileRange`. If it is not valid or names several parts, the result is the whole file.
fn requested_range(header: Option<&str>, size: u64) -> FileRange {
    let range = header.and_then(|header| header.trim().strip_prefix("bytes="));
    let Some((first, last)) = range.and_then(|range| range.trim().split_once('-')) else {
        return FileRange::Whole;
    };
    match (first.trim(), last.trim()) {
        ("", suffix) => match suffix.parse::<u64>() {
            Ok(0) => FileRange::Unsatisfiable,
            Ok(_) if size == 0 => FileRange::Unsatisfiable,
            Ok(suffix) => FileRange::Part(size - suffix.min(size), suffix.min(size)),
            Err(_) => FileRange::Whole,
        },
        (first, last) => {
            let last = if last.is_empty() { Ok(u64::MAX) } else { last.parse() };
            match (first.parse::<u64>(), last) {
                (Ok(first), Ok(last)) if first > last => FileRange::Whole,
                (Ok(first), Ok(_)) if first >= size => FileRange::Unsatisfiable,
                (Ok(first), Ok(last)) => FileRange::Part(first, last.min(size - 1) - first + 1),
                _ => FileRange::Whole,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        let range_of = |header| requested_range(Some(header), 10);
        assert_eq!(range_of("bytes=2-4"), FileRange::Part(2, 3));
        assert_eq!(range_of("bytes=2-"), FileRange::Part(2, 8));
        assert_eq!(range_of("bytes=2-99"), FileRange::Part(2, 8));
        assert_eq!(range_of("bytes=-3"), FileRange::Part(7, 3));
        assert_eq!(range_of("bytes=-99"), FileRange::Part(0, 10));
        assert_eq!(range_of("bytes=10-"), FileRange::Unsatisfiable);
        assert_eq!(range_of("bytes=-0"), FileRange::Unsatisfiable);
        for whole in ["bytes=4-2", "bytes=0-1,3-4", "rows=1-2", "bytes=x-", "bytes"] {
            assert_eq!(range_of(whole), FileRange::Whole, "{whole}");
        }
        assert_eq!(requested_range(Some("bytes=0-"), 0), FileRange::Unsatisfiable);
        assert_eq!(requested_range(None, 10), FileRange::Whole);
    }
}
