//! Conditions and ranges, as R2 defines them.

use super::request::{Condition, Etag, RangeRequest};
use super::{R2Fault, R2Object};

impl Condition {
    /// Whether the condition holds for the object, or for a missing object.
    pub(crate) fn holds(&self, object: Option<&R2Object>) -> bool {
        let Some(object) = object else {
            return self.etag_matches.is_none() && self.uploaded_after.is_none();
        };
        let is_any = |etags: &[Etag], is_weak: bool| {
            etags.iter().any(|etag| match etag {
                Etag::Wildcard => true,
                Etag::Strong { value } => *value == object.etag,
                Etag::Weak { value } => is_weak && *value == object.etag,
            })
        };
        let instant = |milliseconds: i64| match self.seconds_granularity {
            true => milliseconds.div_euclid(1000),
            false => milliseconds,
        };
        let matches = self.etag_matches.as_ref().map(|etags| is_any(etags, false));
        let differs = self.etag_does_not_match.as_ref().map(|etags| !is_any(etags, true));
        let uploaded = instant(object.uploaded);
        // An entity tag is more exact than a time: if it matches, the time is ignored.
        let is_after = self
            .uploaded_after
            .is_none_or(|after| instant(after) < uploaded || differs == Some(true));
        let is_before = self
            .uploaded_before
            .is_none_or(|before| uploaded < instant(before) || matches == Some(true));
        matches != Some(false) && differs != Some(false) && is_after && is_before
    }
}

/// The requested bytes: offset and length. A header that cannot be read, or that asks for several
/// ranges, selects all bytes.
pub(super) fn range(
    asked: Option<RangeRequest>,
    header: Option<&str>,
    size: u64,
) -> Result<(u64, u64), R2Fault> {
    if let Some(header) = header {
        return Ok(of_header(header, size).unwrap_or((0, size)));
    }
    let Some(asked) = asked else { return Ok((0, size)) };
    let whole = i64::try_from(size).unwrap_or(i64::MAX);
    let (offset, length) = match asked.suffix {
        Some(suffix) if suffix <= 0 => return Err(R2Fault::BadRange),
        Some(suffix) => (whole - suffix.min(whole), suffix.min(whole)),
        None => {
            let offset = asked.offset.unwrap_or_default();
            (offset, asked.length.unwrap_or(whole - offset))
        }
    };
    if offset < 0 || offset > whole || length <= 0 {
        return Err(R2Fault::BadRange);
    }
    let length = length.min(whole - offset);
    Ok((offset.unsigned_abs(), length.unsigned_abs()))
}

/// The single range of a `Range` header (RFC 9110, 14.2), limited to the object's size.
pub(crate) fn of_header(header: &str, size: u64) -> Option<(u64, u64)> {
    let (unit, range) = header.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let (first, last) = range.trim().split_once('-')?;
    match (first.trim(), last.trim()) {
        ("", suffix) => {
            let suffix: u64 = suffix.parse().ok()?;
            (suffix > 0 && suffix < size).then(|| (size - suffix, suffix))
        }
        (first, "") => {
            let first: u64 = first.parse().ok()?;
            (first < size).then(|| (first, size - first))
        }
        (first, last) => {
            let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
            (first <= last && first < size).then(|| (first, last.min(size - 1) - first + 1))
        }
    }
}
