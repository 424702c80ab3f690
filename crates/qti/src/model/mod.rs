//! What a document says, apart from how it is written.

mod declaration;
mod interaction;
mod item;
mod processing;
mod test;

pub use declaration::{
    AreaMapEntry, AreaMapping, Declaration, InterpolationEntry, LookupTable, MapEntry, Mapping,
    OutcomeDeclaration, ResponseDeclaration, TemplateDeclaration,
};
pub use interaction::{Choice, Details, Interaction, InteractionKind, TextDetails};
pub use item::{Feedback, FeedbackKind, Item, Rubric, Stimulus, StimulusRef, Stylesheet, Version};
pub use processing::{
    Area, Bound, Expression, ExpressionKind, ItemSubset, MathFunction, Operator,
    ResponseProcessing, Rounding, Rule, RuleKind, SessionNumber, Shape, Statistic, Target,
    Template, Tolerance, Tolerances,
};
pub use test::{
    AdaptiveSelection, BranchRule, ItemRef, ItemSessionControl, Member, Navigation, Ordering,
    Section, SectionRef, Selection, Submission, Test, TestPart, TimeLimits, VariableMapping,
};
