//! The values that attributes and texts may have.

/// The type of an attribute's value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Type {
    Text,
    /// An identifier that no other element has (`xs:ID`).
    Id,
    /// The `Id` of another element.
    IdRef,
    Identifier,
    Identifiers,
    Boolean,
    /// A boolean attribute of HTML, which is true if it is present (`controls="controls"`); QTI writes `true`.
    Flag,
    Integer,
    /// An integer from 0.
    Count,
    Number,
    /// A number from 0.
    Positive,
    Uri,
    Mime,
    Mimes,
    Coordinates,
    Length,
    Base,
    Cardinality,
    IntegerOrVariable,
    NumberOrVariable,
    Tolerance,
    Views,
    OneOf(&'static str),
}

const BASE_TYPES: &str =
    "boolean|directedPair|duration|file|float|identifier|integer|pair|point|string|uri";
const CARDINALITIES: &str = "single|multiple|ordered|record";
const VIEWS: &str = "author|candidate|proctor|scorer|testConstructor|tutor";

impl Type {
    pub(super) fn from_name(name: &'static str) -> Self {
        match name {
            "text" => Self::Text,
            "id" => Self::Id,
            "idref" => Self::IdRef,
            "identifier" => Self::Identifier,
            "identifiers" => Self::Identifiers,
            "boolean" => Self::Boolean,
            "flag" => Self::Flag,
            "integer" => Self::Integer,
            "count" => Self::Count,
            "number" => Self::Number,
            "positive" => Self::Positive,
            "uri" => Self::Uri,
            "mime" => Self::Mime,
            "mimes" => Self::Mimes,
            "coords" => Self::Coordinates,
            "length" => Self::Length,
            "base-type" => Self::Base,
            "cardinality" => Self::Cardinality,
            "integer-or-variable" => Self::IntegerOrVariable,
            "number-or-variable" => Self::NumberOrVariable,
            "tolerance" => Self::Tolerance,
            "views" => Self::Views,
            values if values.contains('|') || values.starts_with(char::is_uppercase) => {
                Self::OneOf(values)
            }
            other => panic!("no type {other}"),
        }
    }

    /// Whether a value has this type.
    pub(crate) fn allows(self, value: &str) -> bool {
        let trimmed = value.trim();
        let one_of = |values: &str| values.split('|').any(|v| v == trimmed);
        match self {
            Self::Text => true,
            Self::Uri => !is_script(trimmed),
            Self::Id | Self::IdRef | Self::Identifier => is_name(trimmed),
            Self::Identifiers => trimmed.split_whitespace().all(is_name),
            Self::Boolean | Self::Flag => matches!(trimmed, "true" | "false" | "1" | "0"),
            Self::Integer => is_integer(trimmed),
            Self::Count => is_integer(trimmed) && !trimmed.starts_with('-'),
            Self::Number => is_number(trimmed),
            Self::Positive => is_number(trimmed) && !trimmed.starts_with('-'),
            Self::Mime => {
                trimmed.split_once('/').is_some_and(|(a, b)| !a.is_empty() && !b.is_empty())
            }
            Self::Mimes => trimmed.split_whitespace().all(|one| Self::Mime.allows(one)),
            Self::Coordinates => is_coordinates(trimmed),
            Self::Length => {
                let digits = trimmed.strip_suffix('%').unwrap_or(trimmed);
                !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
            }
            Self::Base => one_of(BASE_TYPES),
            Self::Cardinality => one_of(CARDINALITIES),
            Self::IntegerOrVariable => is_integer(trimmed) || is_name(trimmed),
            Self::NumberOrVariable => is_number(trimmed) || is_name(trimmed),
            Self::Tolerance => {
                let words = trimmed.split_whitespace();
                let count = words.clone().count();
                (1..=2).contains(&count) && words.into_iter().all(|w| is_number(w) || is_name(w))
            }
            Self::Views => {
                trimmed.split_whitespace().all(|view| VIEWS.split('|').any(|v| v == view))
            }
            Self::OneOf(values) => one_of(values),
        }
    }

    /// The expected value, for messages.
    pub(crate) fn description(self) -> String {
        match self {
            Self::Text => "a text".into(),
            Self::Uri => "an address that does not run a script".into(),
            Self::Id | Self::Identifier => {
                "an identifier: a letter or '_' first, then letters, digits, '.', '-', '_'".into()
            }
            Self::IdRef => "the id of another element".into(),
            Self::Identifiers => "identifiers separated by spaces".into(),
            Self::Boolean | Self::Flag => "true or false".into(),
            Self::Integer => "a whole number".into(),
            Self::Count => "a whole number of at least 0".into(),
            Self::Number => "a number".into(),
            Self::Positive => "a number of at least 0".into(),
            Self::Mime => "a media type such as image/png".into(),
            Self::Mimes => "media types separated by spaces".into(),
            Self::Coordinates => "whole numbers separated by commas: 3 for a circle, 4 for a \
                                  rectangle or ellipse, 6 or more for a polygon"
                .into(),
            Self::Length => "a whole number of pixels or a percentage".into(),
            Self::Base => format!("one of {}", BASE_TYPES.replace('|', ", ")),
            Self::Cardinality => format!("one of {}", CARDINALITIES.replace('|', ", ")),
            Self::IntegerOrVariable => "a whole number or the name of a variable".into(),
            Self::NumberOrVariable => "a number or the name of a variable".into(),
            Self::Tolerance => "one or two numbers or names of variables".into(),
            Self::Views => format!("some of {}", VIEWS.replace('|', ", ")),
            Self::OneOf(values) => format!("one of {}", values.replace('|', ", ")),
        }
    }
}

/// A name without a colon (`xs:NCName`).
pub(crate) fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && characters.all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '·'))
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

fn is_number(text: &str) -> bool {
    crate::value::float(text).is_some()
}

fn is_coordinates(text: &str) -> bool {
    let mut count = 0;
    let all = text.split(',').all(|part| {
        count += 1;
        Type::Length.allows(part) && part.trim() == part
    });
    all && (matches!(count, 3 | 4) || (count >= 6 && count % 2 == 0))
}

/// Whether a browser would run an address as a script, or show it as a new page. Browsers skip white space
/// and control characters in the name of a scheme.
fn is_script(address: &str) -> bool {
    let skipped = |c: &char| c.is_ascii_whitespace() || c.is_ascii_control();
    let start: String =
        address.chars().filter(|c| !skipped(c)).take(20).collect::<String>().to_ascii_lowercase();
    let shown = ["data:image/", "data:audio/", "data:video/", "data:font/"];
    start.starts_with("javascript:")
        || start.starts_with("vbscript:")
        || start.starts_with("data:") && !shown.iter().any(|prefix| start.starts_with(prefix))
}
