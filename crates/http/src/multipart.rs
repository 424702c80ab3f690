//! Forms with files (RFC 7578).

use std::convert::Infallible;
use std::future::ready;

use bytes::Bytes;
use futures_util::stream::once;
use multer::{Multipart, parse_boundary};

/// The media types of forms: with files, and plain.
pub const MEDIA: &[&str] = &["multipart/form-data", "application/x-www-form-urlencoded"];

/// A field of a form.
pub struct FormField {
    /// The name of the field.
    pub name: String,
    /// The name of the file; `None` for a plain field.
    pub file: Option<String>,
    /// The content.
    pub body: Bytes,
}

impl FormField {
    /// The name and text of a plain field; `None` for a file.
    pub fn field(&self) -> Option<(String, String)> {
        let text = String::from_utf8_lossy(&self.body).into_owned();
        self.file.is_none().then(|| (self.name.clone(), text))
    }
}

/// Parses the fields of a body with this media type; `None` if it is not a form with files.
pub async fn parts(media: &str, body: &Bytes) -> Option<Vec<FormField>> {
    let body = once(ready(Ok::<_, Infallible>(body.clone())));
    let mut form = Multipart::new(body, parse_boundary(media).ok()?);
    let mut parts = Vec::new();
    while let Some(field) = form.next_field().await.ok()? {
        let name = field.name().unwrap_or_default().to_owned();
        let file = field.file_name().map(str::to_owned);
        parts.push(FormField { name, file, body: field.bytes().await.ok()? });
    }
    (!parts.is_empty()).then_some(parts)
}
