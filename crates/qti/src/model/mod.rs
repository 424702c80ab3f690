//! The content of documents, independent of their notation.

mod declaration;
mod interaction;
mod item;
mod processing;
mod test;

pub use declaration::{
    AreaMapEntry, AreaMapping, Declaration, InterpolationEntry, LookupTable, MapEntry, Mapping,
    OutcomeDeclaration, ResponseDeclaration, TemplateDeclaration,
};
pub use interaction::{Choice, Interaction, InteractionDetails, InteractionKind, TextDetails};
pub use item::{
    Feedback, FeedbackKind, Item, QtiVersion, Rubric, Stimulus, StimulusRef, Stylesheet,
};
pub use processing::{
    Area, Expression, ExpressionKind, ItemSubset, MathFunction, Operator, Parameter,
    ResponseProcessing, ResponseTemplate, Rounding, Rule, RuleKind, SessionNumber, Shape,
    Statistic, Tolerance, Tolerances, VariableTarget,
};
pub use test::{
    AdaptiveSelection, BranchRule, ItemRef, ItemSessionControl, Navigation, Ordering, Section,
    SectionMember, SectionRef, Selection, Submission, Test, TestPart, TimeLimits, VariableMapping,
};
