//! The values of variables: eleven base types, four cardinalities, NULL.

mod json;
mod text;

pub use json::{from_json, to_json};
pub(crate) use text::float;
pub use text::parse;

/// The type of a single value (QTI 3.0 information model, `BaseType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are those of the standard")]
pub enum BaseType {
    Boolean,
    DirectedPair,
    Duration,
    File,
    Float,
    Identifier,
    Integer,
    Pair,
    Point,
    String,
    Uri,
}

impl BaseType {
    /// All of them, with the names of the standard.
    pub const ALL: [(&'static str, Self); 11] = [
        ("boolean", Self::Boolean),
        ("directedPair", Self::DirectedPair),
        ("duration", Self::Duration),
        ("file", Self::File),
        ("float", Self::Float),
        ("identifier", Self::Identifier),
        ("integer", Self::Integer),
        ("pair", Self::Pair),
        ("point", Self::Point),
        ("string", Self::String),
        ("uri", Self::Uri),
    ];

    /// The type with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(own, _)| *own == name).map(|(_, base_type)| *base_type)
    }

    /// The name in the standard.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, own)| *own == self).map_or("", |(name, _)| name)
    }

    /// Whether it is an integer or a float.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Float)
    }
}

/// The number of values that a variable can contain (QTI 3.0 information model, Cardinality).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Cardinality {
    /// A value.
    Single,
    /// Values without an order.
    Multiple,
    /// Values in an order.
    Ordered,
    /// Values with names, each of its own type.
    Record,
}

impl Cardinality {
    /// All of them, with the names of the standard.
    pub const ALL: [(&'static str, Self); 4] = [
        ("single", Self::Single),
        ("multiple", Self::Multiple),
        ("ordered", Self::Ordered),
        ("record", Self::Record),
    ];

    /// The cardinality with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(own, _)| *own == name).map(|(_, cardinality)| *cardinality)
    }

    /// The name in the standard.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, own)| *own == self).map_or("", |(name, _)| name)
    }
}

/// A value that is not NULL.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are those of the standard")]
pub enum Scalar {
    Boolean(bool),
    Integer(i64),
    Float(f64),
    String(Box<str>),
    Identifier(Box<str>),
    Uri(Box<str>),
    /// Two identifiers without an order.
    Pair(Box<str>, Box<str>),
    /// From the first to the second.
    DirectedPair(Box<str>, Box<str>),
    /// Horizontal and vertical, in pixels from the left upper corner.
    Point(i64, i64),
    /// Seconds.
    Duration(f64),
    /// An upload; its content is opaque here.
    File(Box<UploadedFile>),
}

/// An upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadedFile {
    /// As the learner called it.
    pub name: String,
    /// Its media type.
    pub media_type: String,
    /// Its content or where it lies, as the delivery engine gave it.
    pub data: String,
}

impl Scalar {
    /// Its type.
    pub fn base_type(&self) -> BaseType {
        match self {
            Self::Boolean(_) => BaseType::Boolean,
            Self::Integer(_) => BaseType::Integer,
            Self::Float(_) => BaseType::Float,
            Self::String(_) => BaseType::String,
            Self::Identifier(_) => BaseType::Identifier,
            Self::Uri(_) => BaseType::Uri,
            Self::Pair(..) => BaseType::Pair,
            Self::DirectedPair(..) => BaseType::DirectedPair,
            Self::Point(..) => BaseType::Point,
            Self::Duration(_) => BaseType::Duration,
            Self::File(_) => BaseType::File,
        }
    }

    /// The number that it is.
    #[expect(clippy::cast_precision_loss, reason = "the standard turns integers into floats")]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(integer) => Some(*integer as f64),
            Self::Float(float) => Some(*float),
            _ => None,
        }
    }

    /// The text that it is: of a string, an identifier or an address.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::String(text) | Self::Identifier(text) | Self::Uri(text) => Some(text),
            _ => None,
        }
    }
}

/// Equality as `qti-match` means it: a pair has no order, numbers compare by value.
impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Boolean(a), Self::Boolean(b)) => a == b,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Pair(a, b), Self::Pair(c, d)) => (a == c && b == d) || (a == d && b == c),
            (Self::DirectedPair(a, b), Self::DirectedPair(c, d)) => a == c && b == d,
            (Self::Point(a, b), Self::Point(c, d)) => a == c && b == d,
            (Self::Duration(a), Self::Duration(b)) => a == b,
            (Self::File(a), Self::File(b)) => a == b,
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => a == b,
                _ => self.text().is_some() && self.text() == other.text(),
            },
        }
    }
}

/// A field of a record.
pub type RecordField = (Box<str>, Option<Scalar>);

/// The value of a variable. An empty container is NULL, and containers contain no NULL.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// No value.
    #[default]
    Null,
    /// A value.
    Single(Scalar),
    /// Values without an order; one may come several times.
    Multiple(Vec<Scalar>),
    /// Values in their order.
    Ordered(Vec<Scalar>),
    /// Named values.
    Record(Vec<RecordField>),
}

impl Value {
    /// An integer.
    pub fn integer(value: i64) -> Self {
        Self::Single(Scalar::Integer(value))
    }

    /// A float; NULL for a value that is not a number.
    pub fn float(value: f64) -> Self {
        match value.is_nan() {
            true => Self::Null,
            false => Self::Single(Scalar::Float(value)),
        }
    }

    /// A boolean.
    pub fn boolean(value: bool) -> Self {
        Self::Single(Scalar::Boolean(value))
    }

    /// A string.
    pub fn string(value: impl Into<Box<str>>) -> Self {
        Self::Single(Scalar::String(value.into()))
    }

    /// An identifier.
    pub fn identifier(value: impl Into<Box<str>>) -> Self {
        Self::Single(Scalar::Identifier(value.into()))
    }

    /// A container of that cardinality; NULL when it is empty. Of several values for a single, the
    /// first.
    pub fn container(cardinality: Cardinality, values: Vec<Scalar>) -> Self {
        if values.is_empty() {
            return Self::Null;
        }
        match cardinality {
            Cardinality::Multiple => Self::Multiple(values),
            Cardinality::Ordered => Self::Ordered(values),
            Cardinality::Single | Cardinality::Record => {
                values.into_iter().next().map_or(Self::Null, Self::Single)
            }
        }
    }

    /// Whether there is no value. (A string without characters is NULL too: QTI 3.0, 2.10.2.)
    pub fn is_null(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Single(Scalar::String(text)) => text.is_empty(),
            Self::Multiple(values) | Self::Ordered(values) => values.is_empty(),
            Self::Record(fields) => fields.is_empty(),
            Self::Single(_) => false,
        }
    }

    /// Its values in order; empty for a record.
    pub fn scalars(&self) -> &[Scalar] {
        match self {
            Self::Single(one) => std::slice::from_ref(one),
            Self::Multiple(values) | Self::Ordered(values) => values,
            Self::Null | Self::Record(_) => &[],
        }
    }

    /// The one value that it holds.
    pub fn single(&self) -> Option<&Scalar> {
        match self {
            Self::Single(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The number of values; `None` for NULL.
    pub fn cardinality(&self) -> Option<Cardinality> {
        match self {
            Self::Null => None,
            Self::Single(_) => Some(Cardinality::Single),
            Self::Multiple(_) => Some(Cardinality::Multiple),
            Self::Ordered(_) => Some(Cardinality::Ordered),
            Self::Record(_) => Some(Cardinality::Record),
        }
    }

    /// The one number that it is.
    pub fn as_number(&self) -> Option<f64> {
        self.single().and_then(Scalar::number)
    }

    /// The one boolean that it is.
    pub fn as_boolean(&self) -> Option<bool> {
        match self.single() {
            Some(Scalar::Boolean(value)) => Some(*value),
            _ => None,
        }
    }
}
