//! The languages in which pages are shown.

use std::fmt;
use std::str::FromStr;

use crate::Message;
use crate::messages::must_be_one_of;

/// A language in which pages are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English, in which the pages are written.
    #[default]
    English,
    /// Spanish.
    Spanish,
    /// English with a mark around each translated text. Tests request it to find texts that are not translated. Its tag
    /// is `en-XA`, and no account can have it.
    Marked,
}

impl Language {
    /// The languages that people can choose.
    pub const ALL: [Self; 2] = [Self::English, Self::Spanish];

    /// Its tag (BCP 47).
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Spanish => "es",
            Self::Marked => "en-XA",
        }
    }

    /// Its own name.
    pub fn name(self) -> &'static str {
        match self {
            Self::English | Self::Marked => "English",
            Self::Spanish => "Español",
        }
    }

    /// The language that a browser prefers, from its header `Accept-Language` (RFC 9110, 12.5.4); `None` if the header
    /// names none of the languages.
    pub fn preferred(header: &str) -> Option<Self> {
        let ranges = header.split(',').filter_map(|range| {
            let mut parts = range.split(';').map(str::trim);
            let language = Self::of_range(parts.next()?)?;
            let quality = parts.find_map(|part| part.strip_prefix("q="));
            let quality: f64 = quality.map_or(Some(1.0), |text| text.parse().ok())?;
            (quality > 0.0).then_some((language, quality))
        });
        // Of equal qualities, the first one counts.
        let best = ranges.reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map(|(language, _)| language)
    }

    /// The language of a range such as `es-MX`.
    fn of_range(range: &str) -> Option<Self> {
        if range.eq_ignore_ascii_case(Self::Marked.tag()) {
            return Some(Self::Marked);
        }
        let primary = range.split('-').next().unwrap_or_default();
        Self::ALL.into_iter().find(|language| language.tag().eq_ignore_ascii_case(primary))
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.tag())
    }
}

impl FromStr for Language {
    type Err = Message;

    fn from_str(text: &str) -> Result<Self, Message> {
        let known = Self::ALL.into_iter().find(|language| language.tag() == text);
        known.ok_or_else(|| must_be_one_of(&Self::ALL.map(Self::tag), text))
    }
}

/// Marks a text of a domain crate that pages show, so that the test of the catalogue finds it. The pages translate it.
#[macro_export]
macro_rules! phrase {
    ($english:literal) => {
        $english
    };
}

#[cfg(test)]
mod tests {
    use super::Language::{self, English, Marked, Spanish};

    #[test]
    fn the_preferred_language_is_the_best_known_one() {
        for (header, language) in [
            ("es", Some(Spanish)),
            ("es-MX,es;q=0.9,en;q=0.8", Some(Spanish)),
            ("de,en-GB;q=0.5,es;q=0.7", Some(Spanish)),
            ("en, es", Some(English)),
            ("ES", Some(Spanish)),
            ("es;q=0, en;q=0.1", Some(English)),
            ("en-XA", Some(Marked)),
            ("de, fr;q=0.5", None),
            ("*", None),
            ("est", None),
            ("es;q=much", None),
            ("", None),
        ] {
            assert_eq!(Language::preferred(header), language, "{header}");
        }
    }
}
