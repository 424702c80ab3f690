//! Decides how long browsers may cache a file of a frontend.

/// Whether the name of a file contains a hash of its content, so that the content never changes. Build tools put the
/// hash after the last `-` or `.` of the name. It has at least eight letters and digits, mixed as in no word.
pub(super) fn is_hashed(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let Some((stem, _extension)) = name.rsplit_once('.') else { return false };
    // There may be a second extension, as in `index-B3kf9xQ1.js.map`.
    let stem =
        stem.rsplit_once('.').filter(|(_, end)| end.len() < 5).map_or(stem, |(stem, _)| stem);
    let Some((_, hash)) = stem.rsplit_once(['-', '.']) else { return false };
    let has = |is: fn(&u8) -> bool| hash.as_bytes().iter().any(is);
    let is_plain = hash.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
        || has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    hash.len() >= 8 && is_plain && is_mixed
}

/// The value of `Cache-Control`: cache for ever, or revalidate each time.
pub(super) fn control(path: &str) -> &'static str {
    if is_hashed(path) { "public, max-age=31536000, immutable" } else { "no-cache" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_in_file_names_are_distinguished_from_words() {
        for hashed in
            ["assets/index-B3kf9xQ1.js", "main.8d7f6a5b.css", "a-DiwrgTda.js", "x-B3kf9x_Q.js.map"]
        {
            assert!(is_hashed(hashed), "{hashed}");
        }
        for plain in [
            "index.html",
            "app-settings.js",
            "photo-20260101.png",
            "a-b.js",
            "LICENSE",
            "x-background.css",
        ] {
            assert!(!is_hashed(plain), "{plain}");
        }
    }
}
