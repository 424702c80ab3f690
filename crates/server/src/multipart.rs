//! Forms with files (RFC 7578).

use bytes::Bytes;

/// The media types of a form with a file; one without is a plain form.
pub(crate) const MEDIA: &[&str] = &["multipart/form-data", "application/x-www-form-urlencoded"];

/// A field of a form.
pub(crate) struct Part {
    /// Its name.
    pub(crate) name: String,
    /// The name of the file that it is; none for a plain field.
    pub(crate) file: Option<String>,
    /// What it holds.
    pub(crate) body: Bytes,
}

impl Part {
    /// Name and text of a plain field; none for a file.
    pub(crate) fn field(&self) -> Option<(String, String)> {
        let text = String::from_utf8_lossy(&self.body).into_owned();
        self.file.is_none().then(|| (self.name.clone(), text))
    }
}

/// The parts of a body of that media type; none where it is no such form.
pub(crate) fn parts(media: &str, body: &Bytes) -> Option<Vec<Part>> {
    let (_, boundary) = media.split_once("boundary=")?;
    let boundary = boundary.split(';').next().unwrap_or_default().trim().trim_matches('"');
    let find = |from: usize, wanted: &str| {
        memchr::memmem::find(body.get(from..)?, wanted.as_bytes()).map(|at| from + at)
    };
    let (begin, end) = (format!("--{boundary}\r\n"), format!("\r\n--{boundary}"));
    let mut parts = Vec::new();
    let mut next = find(0, &begin);
    while let Some(start) = next {
        let head = start + begin.len();
        let content = find(head, "\r\n\r\n")? + 4;
        // A part may be empty: its end then shares the blank line.
        let stop = find(content - 2, &end)?;
        let of_head = String::from_utf8_lossy(&body[head..content]).into_owned();
        parts.push(Part {
            name: parameter(&of_head, "name").unwrap_or_default(),
            file: parameter(&of_head, "filename"),
            body: if content <= stop { body.slice(content..stop) } else { Bytes::new() },
        });
        next = find(stop, &begin).filter(|next| *next == stop + 2);
    }
    (!parts.is_empty()).then_some(parts)
}

/// A quoted parameter of `Content-Disposition`.
fn parameter(head: &str, name: &str) -> Option<String> {
    let wanted = format!(" {name}=\"");
    let line =
        head.lines().find(|line| line.to_ascii_lowercase().starts_with("content-disposition:"))?;
    let (_, rest) = line.split_once(&wanted)?;
    Some(rest.split('"').next().unwrap_or_default().to_owned())
}
