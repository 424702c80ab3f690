//! The variables of an item or a test.

use crate::model::Area;
use crate::value::{BaseType, Cardinality, Scalar, Value};

/// The members that all variables have.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// Its name.
    pub identifier: Box<str>,
    /// The number of values that it can contain.
    pub cardinality: Cardinality,
    /// The type of its values; `None` for a record.
    pub base_type: Option<BaseType>,
    /// Its default value.
    pub default: Value,
}

/// A variable that a learner's answer goes into.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseDeclaration {
    /// The members that all variables have.
    pub declaration: Declaration,
    /// The correct response; NULL if it is missing.
    pub correct: Value,
    /// Points for values.
    pub mapping: Option<Mapping>,
    /// Points for places.
    pub area_mapping: Option<AreaMapping>,
}

/// A variable that processing sets.
#[derive(Clone, Debug, PartialEq)]
pub struct OutcomeDeclaration {
    /// The members that all variables have.
    pub declaration: Declaration,
    /// The roles that may see it; empty if the document names none.
    pub views: Vec<Box<str>>,
    /// The meaning of its value, for people.
    pub interpretation: Option<Box<str>>,
    /// The most that it can be.
    pub normal_maximum: Option<f64>,
    /// The least that it can be.
    pub normal_minimum: Option<f64>,
    /// From where on the candidate has mastered it.
    pub mastery_value: Option<f64>,
    /// `human` or `externalMachine`, if this processing does not set it.
    pub external_scored: Option<Box<str>>,
    /// The table that `qti-lookup-outcome-value` looks into.
    pub lookup: Option<LookupTable>,
}

/// A variable that makes one item many.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateDeclaration {
    /// The members that all variables have.
    pub declaration: Declaration,
    /// Whether `object` parameters are filled with it.
    pub param_variable: bool,
    /// Whether names in `MathML` are filled with it.
    pub math_variable: bool,
}

/// Points for values (`qti-mapping`).
#[derive(Clone, Debug, PartialEq)]
pub struct Mapping {
    /// The entries in their order.
    pub entries: Vec<MapEntry>,
    /// For a value without an entry.
    pub default: f64,
    /// The sum is never less.
    pub lower: Option<f64>,
    /// The sum is never more.
    pub upper: Option<f64>,
}

/// Points for one value.
#[derive(Clone, Debug, PartialEq)]
pub struct MapEntry {
    /// The value.
    pub key: Scalar,
    /// Its points.
    pub mapped: f64,
    /// Whether capital and small letters differ; the default of QTI 3 is that they do not.
    pub case_sensitive: bool,
}

/// Points for places (`qti-area-mapping`).
#[derive(Clone, Debug, PartialEq)]
pub struct AreaMapping {
    /// The entries in their order.
    pub entries: Vec<AreaMapEntry>,
    /// For a point in no area.
    pub default: f64,
    /// The sum is never less.
    pub lower: Option<f64>,
    /// The sum is never more.
    pub upper: Option<f64>,
}

/// Points for one area.
#[derive(Clone, Debug, PartialEq)]
pub struct AreaMapEntry {
    /// The area.
    pub area: Area,
    /// Its points.
    pub mapped: f64,
}

/// The table of `qti-lookup-outcome-value`. Targets have the outcome's base type.
#[derive(Clone, Debug, PartialEq)]
pub enum LookupTable {
    /// From an integer to a value.
    Match {
        /// Source and target.
        entries: Vec<(i64, Value)>,
        /// For a source without an entry.
        default: Value,
    },
    /// From ranges of numbers to values, the highest range first.
    Interpolation {
        /// The entries in their order.
        entries: Vec<InterpolationEntry>,
        /// For a source below every range.
        default: Value,
    },
}

/// A range from a number upwards.
#[derive(Clone, Debug, PartialEq)]
pub struct InterpolationEntry {
    /// Where the range begins.
    pub source: f64,
    /// Whether it holds its beginning.
    pub include_boundary: bool,
    /// The value for the range.
    pub target: Value,
}
