//! The places where a learner answers.

use crate::model::Area;
use crate::pattern::Pattern;
use crate::value::{BaseType, Cardinality};

macro_rules! kinds {
    ($($kind:ident $name:literal $doc:literal,)*) => {
        /// The interactions of QTI 3.0.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum InteractionKind { $(#[doc = $doc] $kind,)* }

        impl InteractionKind {
            /// All of them, with the names of their elements less `qti-` and `-interaction`.
            pub const ALL: &'static [(&'static str, Self)] = &[$(($name, Self::$kind),)*];
        }
    };
}

kinds! {
    Associate "associate" "Pairs among choices.",
    Choice "choice" "One or some of a list.",
    Custom "custom" "Left to an extension (deprecated in QTI 3).",
    Drawing "drawing" "A picture that is drawn on.",
    EndAttempt "end-attempt" "A button that ends the attempt.",
    ExtendedText "extended-text" "A long text.",
    GapMatch "gap-match" "Texts or pictures into the gaps of a text.",
    GraphicAssociate "graphic-associate" "Pairs among places of a picture.",
    GraphicGapMatch "graphic-gap-match" "Texts or pictures onto places of a picture.",
    GraphicOrder "graphic-order" "Places of a picture in an order.",
    Hotspot "hotspot" "One or some places of a picture.",
    Hottext "hottext" "One or some parts of a text.",
    InlineChoice "inline-choice" "One of a list inside a line of text.",
    Match "match" "Pairs from one list to another.",
    Media "media" "Sound or video, counted as it plays.",
    Order "order" "A list brought into an order.",
    PortableCustom "portable-custom" "A module of its own (PCI).",
    PositionObject "position-object" "A picture put onto another.",
    SelectPoint "select-point" "Points on a picture.",
    Slider "slider" "A number on a scale.",
    TextEntry "text-entry" "A short text inside a line.",
    Upload "upload" "A file.",
}

impl InteractionKind {
    /// The kind of an element with that name, `qti-choice-interaction` for one.
    pub fn of_element(name: &str) -> Option<Self> {
        Self::of_name(name.strip_prefix("qti-")?.strip_suffix("-interaction")?)
    }

    /// The kind with that name, `choice` for one.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(own, _)| *own == name).map(|(_, kind)| *kind)
    }

    /// The name less `qti-` and `-interaction`.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, own)| *own == self).map_or("", |(name, _)| name)
    }

    /// Whether a response variable of that cardinality and base type can take its answers
    /// (QTI 3.0 information model, the section of each interaction).
    pub fn takes(self, cardinality: Cardinality, base_type: Option<BaseType>) -> bool {
        use BaseType as B;
        use Cardinality::{Multiple, Ordered, Record, Single};
        let any_count = matches!(cardinality, Single | Multiple | Ordered);
        match self {
            Self::Choice | Self::Hotspot | Self::Hottext => {
                any_count && base_type == Some(B::Identifier)
            }
            Self::InlineChoice => cardinality == Single && base_type == Some(B::Identifier),
            Self::Order | Self::GraphicOrder => {
                cardinality == Ordered && base_type == Some(B::Identifier)
            }
            Self::Associate | Self::GraphicAssociate => {
                any_count && matches!(base_type, Some(B::Pair))
            }
            Self::Match | Self::GapMatch | Self::GraphicGapMatch => {
                any_count && matches!(base_type, Some(B::DirectedPair))
            }
            Self::SelectPoint | Self::PositionObject => any_count && base_type == Some(B::Point),
            Self::Slider => cardinality == Single && base_type.is_some_and(BaseType::is_number),
            Self::TextEntry => {
                (cardinality == Single
                    && matches!(base_type, Some(B::String | B::Integer | B::Float)))
                    || cardinality == Record
            }
            Self::ExtendedText => {
                (any_count && matches!(base_type, Some(B::String | B::Integer | B::Float)))
                    || cardinality == Record
            }
            Self::Drawing | Self::Upload => cardinality == Single && base_type == Some(B::File),
            Self::EndAttempt => cardinality == Single && base_type == Some(B::Boolean),
            Self::Media => cardinality == Single && base_type == Some(B::Integer),
            Self::Custom | Self::PortableCustom => true,
        }
    }

    /// The cardinality and base type of a response that its author did not declare. `several`: the learner may give
    /// more than one answer.
    pub(crate) fn usual_response(self, several: bool) -> (Cardinality, BaseType) {
        let many = if several { Cardinality::Multiple } else { Cardinality::Single };
        match self {
            Self::Order | Self::GraphicOrder => (Cardinality::Ordered, BaseType::Identifier),
            Self::Associate | Self::GraphicAssociate => (Cardinality::Multiple, BaseType::Pair),
            Self::Match | Self::GapMatch | Self::GraphicGapMatch => {
                (Cardinality::Multiple, BaseType::DirectedPair)
            }
            Self::SelectPoint | Self::PositionObject => (many, BaseType::Point),
            Self::TextEntry | Self::ExtendedText => (Cardinality::Single, BaseType::String),
            Self::Slider => (Cardinality::Single, BaseType::Float),
            Self::Media => (Cardinality::Single, BaseType::Integer),
            Self::Drawing | Self::Upload => (Cardinality::Single, BaseType::File),
            Self::EndAttempt => (Cardinality::Single, BaseType::Boolean),
            _ => (many, BaseType::Identifier),
        }
    }
}

/// A place where a learner answers.
#[derive(Clone, Debug)]
pub struct Interaction {
    /// The kind of interaction.
    pub kind: InteractionKind,
    /// The response variable that takes the answer.
    pub response: Box<str>,
    /// The question as text; empty if it is missing.
    pub prompt: String,
    /// The elements to choose, order, pair or drag: the first set of a match.
    pub choices: Vec<Choice>,
    /// The targets for choices: gaps, places or the second set of a match.
    pub targets: Vec<Choice>,
    /// Choices, pairs, texts, points or plays at least.
    pub min: u32,
    /// Choices, pairs, texts, points or plays at most; `None` for any number.
    pub max: Option<u32>,
    /// Whether choices are shown in a random order.
    pub shuffle: bool,
    /// The members that only some interactions have.
    pub details: InteractionDetails,
    /// The line where its element begins.
    pub line: u32,
}

/// A thing that an interaction offers.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Its name in the answer.
    pub identifier: Box<str>,
    /// Its text.
    pub text: String,
    /// Whether it keeps its place when choices are shuffled.
    pub fixed: bool,
    /// Pairs that it is in at least.
    pub match_min: u32,
    /// Pairs that it is in at most; `None` for any number.
    pub match_max: Option<u32>,
    /// The choices with which it may be paired; empty means all.
    pub match_group: Vec<Box<str>>,
    /// A gap that must be filled.
    pub required: bool,
    /// Where on the picture it lies.
    pub area: Option<Area>,
}

/// The members that only some interactions have.
#[derive(Clone, Debug, Default)]
pub enum InteractionDetails {
    /// Nothing more.
    #[default]
    None,
    /// A text.
    Text(Box<TextDetails>),
    /// A scale.
    Slider {
        /// Its lower end.
        lower: f64,
        /// Its upper end.
        upper: f64,
        /// Between two values; 0 for any value.
        step: f64,
    },
    /// The media types that may be uploaded; empty for all.
    Upload(Vec<Box<str>>),
    /// A module.
    Module {
        /// Its type, an address.
        type_identifier: Box<str>,
        /// The module that it starts with.
        module: Option<Box<str>>,
    },
}

/// The form of a text entry.
#[derive(Clone, Debug)]
pub struct TextDetails {
    /// Of numbers, 10 where nothing is said.
    pub base: u32,
    /// The pattern that the answer must match.
    pub pattern: Option<Pattern>,
    /// The variable that takes the text itself, where the response is a number.
    pub string_identifier: Option<Box<str>>,
    /// Characters that the field has room for.
    pub expected_length: Option<u32>,
    /// Lines that the field has room for.
    pub expected_lines: Option<u32>,
    /// The placeholder of the empty field.
    pub placeholder: Option<Box<str>>,
    /// `plain`, `preformatted` or `xhtml`.
    pub format: Option<Box<str>>,
}
