//! Pictures, sound and video. A browser loads them only from the page's own server or out of the document.

use super::{HtmlWriter, is_secure};
use crate::xml::Element;

/// The kinds of files that a page shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MediaKind {
    Picture,
    Audio,
    Video,
}

impl MediaKind {
    fn of_type(media_type: &str) -> Option<Self> {
        match media_type.split('/').next()?.trim() {
            "image" => Some(Self::Picture),
            "audio" => Some(Self::Audio),
            "video" => Some(Self::Video),
            _ => None,
        }
    }

    /// The prefix of its media types.
    fn family(self) -> &'static str {
        match self {
            Self::Picture => "image/",
            Self::Audio => "audio/",
            Self::Video => "video/",
        }
    }
}

impl HtmlWriter<'_> {
    pub(super) fn media(&mut self, element: Element<'_>) {
        match element.name() {
            "img" => {
                let alt = element.attribute("alt").unwrap_or_default();
                self.picture(element, element.attribute("src"), alt);
            }
            "picture" => {
                if let Some(img) = element.first("img") {
                    self.media(img);
                }
            }
            "object" => self.object(element),
            "audio" => self.player(element, MediaKind::Audio, element.attribute("src")),
            "video" => self.player(element, MediaKind::Video, element.attribute("src")),
            // Sources and tracks are written with their players.
            _ => {}
        }
    }

    fn object(&mut self, element: Element<'_>) {
        let data = element.attribute("data");
        match MediaKind::of_type(element.attribute("type").unwrap_or_default()) {
            Some(MediaKind::Picture) => self.picture(element, data, &element.deep_text()),
            Some(kind) => self.player(element, kind, data),
            None => self.children(element),
        }
    }

    fn picture(&mut self, element: Element<'_>, source: Option<&str>, alt: &str) {
        let source = source.unwrap_or_default().trim();
        let Some(address) = self.address(source, MediaKind::Picture) else {
            return self.missing(element, source, alt, "Open the picture");
        };
        self.out.push_str("<img");
        self.attribute("src", &address);
        self.attribute("alt", alt);
        for name in ["width", "height"] {
            if let Some(value) = element.attribute(name) {
                self.attribute(name, value);
            }
        }
        self.common(element, &[]);
        self.out.push('>');
    }

    fn player(&mut self, element: Element<'_>, kind: MediaKind, source: Option<&str>) {
        let of_element = source.into_iter().map(|source| (source, None));
        let of_children =
            element.all("source").filter_map(|s| Some((s.attribute("src")?, s.attribute("type"))));
        let sources: Vec<_> = of_element.chain(of_children).collect();
        let loaded: Vec<_> = sources
            .iter()
            .filter_map(|(source, media_type)| Some((self.address(source, kind)?, *media_type)))
            .collect();
        if loaded.is_empty() {
            let source = sources.first().map_or("", |(source, _)| source);
            let text = element.deep_text();
            return self.missing(element, source, &text, "Open the recording");
        }
        let name = if kind == MediaKind::Audio { "audio" } else { "video" };
        self.out.extend(["<", name, " controls preload=\"metadata\""]);
        let poster = element.attribute("poster");
        if let Some(poster) = poster.and_then(|poster| self.address(poster, MediaKind::Picture)) {
            self.attribute("poster", &poster);
        }
        for attribute in ["width", "height", "loop"] {
            if let Some(value) = element.attribute(attribute) {
                self.attribute(attribute, value);
            }
        }
        self.common(element, &[]);
        self.out.push('>');
        for (address, media_type) in loaded {
            self.out.push_str("<source");
            self.attribute("src", &address);
            if let Some(media_type) = media_type {
                self.attribute("type", media_type);
            }
            self.out.push('>');
        }
        element.all("track").for_each(|track| self.track(track));
        self.out.extend(["</", name, ">"]);
    }

    fn track(&mut self, track: Element<'_>) {
        let source = track.attribute("src").unwrap_or_default();
        let Some(address) = (self.address_of)(source) else { return };
        self.out.push_str("<track");
        self.attribute("src", &address);
        for name in ["kind", "srclang", "label", "default"] {
            if let Some(value) = track.attribute(name) {
                self.attribute(name, value);
            }
        }
        self.out.push('>');
    }

    /// A recording that a catalog refers to (`qti-file-href`).
    pub(super) fn file_reference(&mut self, element: Element<'_>) {
        let media_type = element.attribute("mime-type").unwrap_or_default();
        let address = MediaKind::of_type(media_type)
            .and_then(|kind| self.address(element.text().trim(), kind));
        if let Some(address) = address {
            self.out.push_str("<qti-file-href");
            self.attribute("mime-type", media_type);
            self.attribute("href", &address);
            self.out.push_str("></qti-file-href>");
        }
    }

    /// The address from which a page loads a file: on the page's own server, or in the document itself.
    fn address(&self, source: &str, kind: MediaKind) -> Option<String> {
        let source = source.trim();
        let data = source.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:"));
        match data {
            Some(_) => {
                let media_type = source[5..].trim_start().to_ascii_lowercase();
                media_type.starts_with(kind.family()).then(|| source.to_owned())
            }
            None => (self.address_of)(source),
        }
    }

    /// The description of a file that the server does not have, with a link if it is on another server.
    fn missing(&mut self, element: Element<'_>, source: &str, text: &str, open: &str) {
        let message = format!("browsers of students load no file from '{source}'");
        self.left_out.warning(element, message, "store the file with the document");
        self.out.push_str("<span");
        self.common(element, &["qti-missing-file".to_owned()]);
        for name in ["width", "height"] {
            if let Some(value) = element.attribute(name) {
                self.attribute(&["data-", name].concat(), value);
            }
        }
        self.out.push('>');
        self.text(text);
        if is_secure(source) {
            self.out.push_str(" <a");
            self.outside(source);
            self.out.extend([">", open, "</a>"]);
        }
        self.out.push_str("</span>");
    }
}
