//! Credentials in images (Open Badges 3.0, 5.3): baked into PNG and SVG, and taken out again.

mod png;
mod svg;

use lyceum_core::problem::{Problem, ProblemKind, Result};
use lyceum_core::{Message, message};

use crate::limits::BAKED_IMAGE_MAX_BYTES;

pub(crate) use png::{SIGNATURE as PNG_SIGNATURE, write_chunk};

pub use png::bake as bake_png;
pub use svg::bake as bake_svg;

/// Whether the bytes may be an image: PNG, or text that begins with a tag.
pub fn is_image(bytes: &[u8]) -> bool {
    bytes.starts_with(&PNG_SIGNATURE) || trimmed(bytes).starts_with(b"<")
}

/// The credential in an image: JSON or a compact JWS. Errors: it is neither PNG nor SVG, it is
/// damaged or larger than the limit, or it holds no credential or more than one.
pub fn unbake(image: &[u8]) -> Result<String> {
    within_limit(image)?;
    if image.starts_with(&PNG_SIGNATURE) {
        return png::unbake(image);
    }
    match std::str::from_utf8(trimmed(image)) {
        Ok(text) if text.starts_with('<') => svg::unbake(text),
        _ => Err(malformed("the image is neither PNG nor SVG in UTF-8")),
    }
}

fn trimmed(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes).trim_ascii_start()
}

fn within_limit(image: &[u8]) -> Result<()> {
    match image.len() <= BAKED_IMAGE_MAX_BYTES {
        true => Ok(()),
        false => Err(Problem::new(
            ProblemKind::TooLarge,
            message!("an image of a badge has at most {BAKED_IMAGE_MAX_BYTES} bytes"),
        )),
    }
}

fn malformed(message: impl Into<Message>) -> Problem {
    Problem::new(ProblemKind::Malformed, message)
}
