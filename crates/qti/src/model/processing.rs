//! Rules and expressions, of items and of tests.

use crate::pattern::Pattern;
use crate::value::{BaseType, Value};

/// The rules that compute outcomes from responses (`qti-response-processing`).
#[derive(Clone, Debug)]
pub struct ResponseProcessing {
    /// The address of a template, as it stands.
    pub template: Option<Box<str>>,
    /// The rules; if there are some, the template is not used.
    pub rules: Vec<Rule>,
}

/// The standard's response processing templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResponseTemplate {
    /// `match_correct`: 1 for the correct response, else 0.
    MatchCorrect,
    /// `map_response`: the mapping's points.
    MapResponse,
    /// `map_response_point`: the area mapping's points.
    MapResponsePoint,
    /// `CC2_match`: as `match_correct`.
    Cc2Match,
    /// `CC2_match_basic`: MAXSCORE for the correct response, and FEEDBACKBASIC.
    Cc2MatchBasic,
    /// `CC2_map_response`: the mapping's points, and FEEDBACK.
    Cc2MapResponse,
}

impl ResponseTemplate {
    /// All of them, with the last segments of their addresses.
    pub const ALL: [(&'static str, Self); 6] = [
        ("match_correct", Self::MatchCorrect),
        ("map_response", Self::MapResponse),
        ("map_response_point", Self::MapResponsePoint),
        ("CC2_match", Self::Cc2Match),
        ("CC2_match_basic", Self::Cc2MatchBasic),
        ("CC2_map_response", Self::Cc2MapResponse),
    ];

    /// The template of an address: its last segment counts, with or without `.xml`, whatever the
    /// version before it.
    pub fn of(address: &str) -> Option<Self> {
        let last = address.trim().trim_end_matches('/').rsplit('/').next()?;
        let last = last.strip_suffix(".xml").unwrap_or(last);
        Self::ALL.iter().find(|(name, _)| *name == last).map(|(_, template)| *template)
    }
}

/// A step of processing.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The name of its element.
    pub name: &'static str,
    /// Where its element begins; 0 in a template.
    pub line: u32,
    /// The kind of rule.
    pub kind: RuleKind,
}

/// The kinds of rules.
#[derive(Clone, Debug)]
pub enum RuleKind {
    /// The rules of the first branch whose expression is true, else those of `otherwise`.
    Condition {
        /// `…-if` and `…-else-if`.
        branches: Vec<(Expression, Vec<Rule>)>,
        /// `…-else`.
        otherwise: Vec<Rule>,
    },
    /// Gives a variable a value.
    Set {
        /// The part of the variable.
        target: VariableTarget,
        /// The variable.
        identifier: Box<str>,
        /// The value.
        expression: Expression,
    },
    /// Gives an outcome what its table says for a value.
    Lookup {
        /// The outcome.
        identifier: Box<str>,
        /// The value to look up.
        expression: Expression,
    },
    /// Rules one after the other.
    Fragment(Vec<Rule>),
    /// Ends the processing.
    Exit,
    /// Starts template processing over if it is not true.
    Constraint(Expression),
}

/// The part of a variable that a rule sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VariableTarget {
    /// An outcome's value.
    Outcome,
    /// A template variable's value.
    Template,
    /// The default of a response or an outcome.
    Default,
    /// The correct response.
    Correct,
}

/// Something that has a value.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The name of its element.
    pub name: &'static str,
    /// Where its element begins; 0 in a template.
    pub line: u32,
    /// The kind of expression.
    pub kind: ExpressionKind,
}

/// The expressions of the standard, 64 in all: 18 without operands and 46 operators.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// `qti-base-value`
    BaseValue(Value),
    /// `qti-variable`
    Variable {
        /// The variable, in a test `item.variable`.
        identifier: Box<str>,
        /// The weight of the item that its value is multiplied with, in a test.
        weight: Option<Box<str>>,
    },
    /// `qti-correct`
    Correct(Box<str>),
    /// `qti-default`
    Default(Box<str>),
    /// `qti-map-response`
    MapResponse(Box<str>),
    /// `qti-map-response-point`
    MapResponsePoint(Box<str>),
    /// `qti-null`
    Null,
    /// `qti-math-constant`
    MathConstant(f64),
    /// `qti-random-integer`
    RandomInteger {
        /// The least.
        min: Parameter<i64>,
        /// The most.
        max: Parameter<i64>,
        /// Between two values.
        step: Parameter<i64>,
    },
    /// `qti-random-float`
    RandomFloat {
        /// The least.
        min: Parameter<f64>,
        /// The most.
        max: Parameter<f64>,
    },
    /// `qti-number-correct`, `-incorrect`, `-presented`, `-responded`, `-selected`
    Number(SessionNumber, ItemSubset),
    /// `qti-outcome-maximum`, `qti-outcome-minimum`
    OutcomeBound {
        /// The maximum, rather than the minimum.
        maximum: bool,
        /// The outcome of each item.
        outcome: Box<str>,
        /// The weight of each item.
        weight: Option<Box<str>>,
        /// The subset of items.
        items: ItemSubset,
    },
    /// `qti-test-variables`
    TestVariables {
        /// The variable of each item.
        variable: Box<str>,
        /// The weight of each item.
        weight: Option<Box<str>>,
        /// Only variables of this type.
        base_type: Option<BaseType>,
        /// The subset of items.
        items: ItemSubset,
    },
    /// An operator with its operands.
    Operator(Operator, Vec<Expression>),
}

impl ExpressionKind {
    /// The variable that it reads, or the function that it computes; empty where its name says all.
    pub(crate) fn about(&self) -> &str {
        match self {
            Self::Variable { identifier, .. } => identifier,
            Self::Correct(name)
            | Self::Default(name)
            | Self::MapResponse(name)
            | Self::MapResponsePoint(name) => name,
            Self::TestVariables { variable, .. } => variable,
            Self::OutcomeBound { outcome, .. } => outcome,
            Self::Operator(operator, _) => operator.about(),
            _ => "",
        }
    }
}

impl Operator {
    fn about(&self) -> &str {
        match self {
            Self::Custom(class, _) => class,
            Self::FieldValue(field) => field,
            Self::Math(function) => function.name(),
            Self::Stats(statistic) => statistic.name(),
            _ => "",
        }
    }
}

/// A number that is counted over the items of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the standard")]
pub enum SessionNumber {
    Correct,
    Incorrect,
    Presented,
    Responded,
    Selected,
}

/// Some items of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemSubset {
    /// Only those of this section.
    pub section: Option<Box<str>>,
    /// Only those with one of these categories.
    pub include: Vec<Box<str>>,
    /// Items with one of these categories are left out.
    pub exclude: Vec<Box<str>>,
}

/// A parameter: written down, or a variable's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter<T> {
    /// Written down.
    Literal(T),
    /// The name of a variable.
    Variable(Box<str>),
}

/// The operators of the standard.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are those of the standard")]
pub enum Operator {
    And,
    AnyN {
        min: Parameter<i64>,
        max: Parameter<i64>,
    },
    ContainerSize,
    Contains,
    /// Its class and its definition.
    Custom(Box<str>, Box<str>),
    Delete,
    Divide,
    DurationGte,
    DurationLt,
    Equal(Tolerance),
    EqualRounded(Rounding),
    FieldValue(Box<str>),
    Gcd,
    Gt,
    Gte,
    Index(Parameter<i64>),
    Inside(Area),
    IntegerDivide,
    IntegerModulus,
    IntegerToFloat,
    IsNull,
    Lcm,
    Lt,
    Lte,
    Match,
    Math(MathFunction),
    Max,
    Member,
    Min,
    Multiple,
    Not,
    Or,
    Ordered,
    /// A pattern, or the name of the variable that holds it.
    PatternMatch(Parameter<Pattern>),
    Power,
    Product,
    Random,
    Repeat(Parameter<i64>),
    Round,
    RoundTo(Rounding),
    Stats(Statistic),
    StringMatch {
        case_sensitive: bool,
        substring: bool,
    },
    Substring {
        case_sensitive: bool,
    },
    Subtract,
    Sum,
    Truncate,
}

/// The tolerance of a comparison (`qti-equal`).
#[derive(Clone, Debug, PartialEq)]
pub enum Tolerance {
    /// The same number.
    Exact,
    /// From `x - t0` to `x + t1`.
    Absolute(Tolerances),
    /// From `x·(1 - t0/100)` to `x·(1 + t1/100)`.
    Relative(Tolerances),
}

/// The two sides of a tolerance.
#[derive(Clone, Debug, PartialEq)]
pub struct Tolerances {
    /// Downwards.
    pub lower: Parameter<f64>,
    /// Upwards.
    pub upper: Parameter<f64>,
    /// Whether the lower end counts as equal.
    pub include_lower: bool,
    /// Whether the upper end counts as equal.
    pub include_upper: bool,
}

/// The rounding of a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounding {
    /// To significant figures, rather than to decimal places.
    pub significant: bool,
    /// The number of digits.
    pub figures: Parameter<i64>,
}

macro_rules! named {
    ($(#[$doc:meta])* $type:ident { $($kind:ident $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the names are those of the standard")]
        pub enum $type { $($kind,)* }

        impl $type {
            /// All of them, with the names of the standard.
            pub const ALL: &'static [(&'static str, Self)] = &[$(($name, Self::$kind),)*];

            /// The one with that name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().find(|(own, _)| *own == name).map(|(_, kind)| *kind)
            }

            /// Its name in the standard.
            pub fn name(self) -> &'static str {
                Self::ALL.iter().find(|(_, own)| *own == self).map_or("", |(name, _)| name)
            }
        }
    };
}

named! {
    /// The functions of `qti-math-operator`; angles are in radians.
    MathFunction {
        Sin "sin", Cos "cos", Tan "tan", Sec "sec", Csc "csc", Cot "cot",
        Asin "asin", Acos "acos", Atan "atan", Atan2 "atan2", Asec "asec", Acsc "acsc",
        Acot "acot", Sinh "sinh", Cosh "cosh", Tanh "tanh", Sech "sech", Csch "csch",
        Coth "coth", Log "log", Ln "ln", Exp "exp", Abs "abs", Signum "signum",
        Floor "floor", Ceil "ceil", ToDegrees "toDegrees", ToRadians "toRadians",
    }
}

named! {
    /// The functions of `qti-stats-operator`.
    Statistic {
        Mean "mean", SampleVariance "sampleVariance", SampleSd "sampleSD",
        PopVariance "popVariance", PopSd "popSD",
    }
}

named! {
    /// The forms of areas.
    Shape {
        Default "default", Rect "rect", Circle "circle", Ellipse "ellipse", Poly "poly",
    }
}

/// A part of a picture. Coordinates are in pixels from the left upper corner.
#[derive(Clone, Debug, PartialEq)]
pub struct Area {
    /// Its form.
    pub shape: Shape,
    /// `rect`: left, top, right, bottom; `circle`: centre, radius; `ellipse`: centre, horizontal and
    /// vertical radius; `poly`: its corners; `default`: none.
    pub coordinates: Vec<f64>,
}

impl Area {
    /// Whether a point lies in it; its edge counts.
    pub fn holds(&self, x: f64, y: f64) -> bool {
        match (self.shape, self.coordinates.as_slice()) {
            (Shape::Default, _) => true,
            (Shape::Rect, [left, top, right, bottom]) => {
                (*left..=*right).contains(&x) && (*top..=*bottom).contains(&y)
            }
            (Shape::Circle, [cx, cy, r, ..]) => (x - cx).hypot(y - cy) <= *r,
            (Shape::Ellipse, [cx, cy, rx, ry]) => {
                *rx > 0.0 && *ry > 0.0 && ((x - cx) / rx).powi(2) + ((y - cy) / ry).powi(2) <= 1.0
            }
            (Shape::Poly, corners) => in_polygon(corners, x, y),
            _ => false,
        }
    }
}

/// Even-odd rule; the edges count.
fn in_polygon(corners: &[f64], x: f64, y: f64) -> bool {
    let corners: Vec<(f64, f64)> = corners.chunks_exact(2).map(|c| (c[0], c[1])).collect();
    let edges = corners.iter().zip(corners.iter().cycle().skip(1));
    let mut inside = false;
    for (&(x1, y1), &(x2, y2)) in edges {
        let cross = (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1);
        let within =
            (x1.min(x2)..=x1.max(x2)).contains(&x) && (y1.min(y2)..=y1.max(y2)).contains(&y);
        if cross.abs() < f64::EPSILON && within {
            return true;
        }
        if (y1 > y) != (y2 > y) && x < (x2 - x1) * (y - y1) / (y2 - y1) + x1 {
            inside = !inside;
        }
    }
    inside
}
