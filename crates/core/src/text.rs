//! Bytes and texts as others read them.

use std::fmt::{Display, Write};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What stands in a segment of a path, and in a value of a query, as it is (RFC 3986, 2.3).
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The bytes as hexadecimal digits in lower case.
pub fn hex(bytes: impl AsRef<[u8]>) -> String {
    let bytes = bytes.as_ref();
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A text as a segment of a path or a value of a query: percent-encoded.
pub fn segment(text: &str) -> impl Display {
    utf8_percent_encode(text, UNRESERVED)
}
