//! Tests: which items, in which order, under which rules. What a session does with them is not
//! here.

use crate::model::{
    Declaration, Expression, Feedback, OutcomeDeclaration, QtiVersion, Rubric, Rule, Stylesheet,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A test (`qti-assessment-test`).
#[derive(Clone, Debug)]
pub struct Test {
    /// Its name.
    pub identifier: Box<str>,
    /// Its title.
    pub title: Box<str>,
    /// The version that it was written in.
    pub version: QtiVersion,
    /// Variables that the delivery sets.
    pub contexts: Vec<Declaration>,
    /// Variables that outcome processing sets.
    pub outcomes: Vec<OutcomeDeclaration>,
    /// Its time limits.
    pub time_limits: Option<TimeLimits>,
    /// Its stylesheets.
    pub stylesheets: Vec<Stylesheet>,
    /// Texts for certain readers.
    pub rubrics: Vec<Rubric>,
    /// Its parts, in their order; at least one.
    pub parts: Vec<TestPart>,
    /// The outcome processing of the test.
    pub outcome_processing: Vec<Rule>,
    /// The feedback of the test.
    pub feedback: Vec<Feedback>,
}

impl Test {
    /// The references to items, in the order of the text, each with its part and section.
    pub fn item_refs(&self) -> Vec<(&TestPart, &Section, &ItemRef)> {
        fn collect<'t>(
            part: &'t TestPart,
            section: &'t Section,
            refs: &mut Vec<(&'t TestPart, &'t Section, &'t ItemRef)>,
        ) {
            for member in &section.members {
                match member {
                    SectionMember::Item(item) => refs.push((part, section, item)),
                    SectionMember::Section(inner) => collect(part, inner, refs),
                    SectionMember::SectionRef(_) => {}
                }
            }
        }
        let mut refs = Vec::new();
        for part in &self.parts {
            for member in &part.sections {
                if let SectionMember::Section(section) = member {
                    collect(part, section, &mut refs);
                }
            }
        }
        refs
    }
}

impl Test {
    /// For each of [`Self::item_refs`], whether an answer that breaks the rules of an interaction is
    /// refused: what the reference says of it, else its sections from the innermost, else its part.
    pub fn validates(&self) -> Vec<bool> {
        fn validates(control: Option<ItemSessionControl>, around: bool) -> bool {
            control.and_then(|control| control.validate_responses).unwrap_or(around)
        }
        fn collect(members: &[SectionMember], around: bool, all: &mut Vec<bool>) {
            for member in members {
                match member {
                    SectionMember::Item(item) => all.push(validates(item.control, around)),
                    SectionMember::Section(inner) => {
                        collect(&inner.members, validates(inner.control, around), all);
                    }
                    SectionMember::SectionRef(_) => {}
                }
            }
        }
        let mut all = Vec::new();
        for part in &self.parts {
            // Items stand in sections alone, as for `item_refs`.
            for member in &part.sections {
                if let SectionMember::Section(section) = member {
                    let around = validates(part.control, false);
                    collect(&section.members, validates(section.control, around), &mut all);
                }
            }
        }
        all
    }
}

/// The way in which candidates move through a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "NavigationMode")]
pub enum Navigation {
    /// From item to item, and never back.
    Linear,
    /// In any order.
    Nonlinear,
}

/// When the answers of a part are processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "SubmissionMode")]
pub enum Submission {
    /// Each answer alone.
    Individual,
    /// All answers at the end of the part.
    Simultaneous,
}

/// A part of a test.
#[derive(Clone, Debug)]
pub struct TestPart {
    /// Its name.
    pub identifier: Box<str>,
    /// Its title.
    pub title: Option<Box<str>>,
    /// The navigation.
    pub navigation: Navigation,
    /// When answers are processed.
    pub submission: Submission,
    /// It is left out unless all are true.
    pub pre_conditions: Vec<Expression>,
    /// Where to go on after it.
    pub branch_rules: Vec<BranchRule>,
    /// The session control of its items.
    pub control: Option<ItemSessionControl>,
    /// Its time limits.
    pub time_limits: Option<TimeLimits>,
    /// Texts for certain readers.
    pub rubrics: Vec<Rubric>,
    /// Its sections and references to sections; no item.
    pub sections: Vec<SectionMember>,
    /// The feedback of the test.
    pub feedback: Vec<Feedback>,
}

/// A section of a test, or a separate document.
#[expect(clippy::struct_excessive_bools, reason = "the standard has these flags")]
#[derive(Clone, Debug)]
pub struct Section {
    /// Its name.
    pub identifier: Box<str>,
    /// Its title.
    pub title: Box<str>,
    /// Whether candidates see it as a section.
    pub visible: bool,
    /// Whether a selection must take it.
    pub required: bool,
    /// Whether it keeps its place when its siblings are shuffled.
    pub fixed: bool,
    /// Whether its members stay together when an invisible section is shuffled.
    pub keep_together: bool,
    /// It is left out unless all are true.
    pub pre_conditions: Vec<Expression>,
    /// Where to go on after it.
    pub branch_rules: Vec<BranchRule>,
    /// The session control of its items.
    pub control: Option<ItemSessionControl>,
    /// Its time limits.
    pub time_limits: Option<TimeLimits>,
    /// The selection of its members.
    pub selection: Option<Selection>,
    /// In what order.
    pub ordering: Option<Ordering>,
    /// The engine that chooses, in place of selection and ordering.
    pub adaptive: Option<AdaptiveSelection>,
    /// Texts for certain readers.
    pub rubrics: Vec<Rubric>,
    /// Items, sections and references to sections, in their order.
    pub members: Vec<SectionMember>,
}

/// A member of a section or part.
#[derive(Clone, Debug)]
pub enum SectionMember {
    /// An item.
    Item(Box<ItemRef>),
    /// A section.
    Section(Box<Section>),
    /// A section that lies elsewhere.
    SectionRef(SectionRef),
}

/// A section that lies elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionRef {
    /// Its name.
    pub identifier: Box<str>,
    /// Where it lies.
    pub href: Box<str>,
}

/// An item of a test.
#[derive(Clone, Debug)]
pub struct ItemRef {
    /// Its name in the test.
    pub identifier: Box<str>,
    /// Where the item lies.
    pub href: Box<str>,
    /// The categories of the item for outcome processing.
    pub categories: Vec<Box<str>>,
    /// Whether a selection must take it.
    pub required: bool,
    /// Whether it keeps its place when its siblings are shuffled.
    pub fixed: bool,
    /// It is left out unless all are true.
    pub pre_conditions: Vec<Expression>,
    /// Where to go on after it.
    pub branch_rules: Vec<BranchRule>,
    /// The session control of the item.
    pub control: Option<ItemSessionControl>,
    /// Its time limits.
    pub time_limits: Option<TimeLimits>,
    /// Other names for its outcomes.
    pub variable_mappings: Vec<VariableMapping>,
    /// Factors for its outcomes, by name.
    pub weights: Vec<(Box<str>, f64)>,
    /// Values for its template variables, by name.
    pub template_defaults: Vec<(Box<str>, Expression)>,
}

/// Another name for an outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableMapping {
    /// Its name in the item.
    pub source: Box<str>,
    /// Its name in the test.
    pub target: Box<str>,
}

/// Where to go on when an expression is true.
#[derive(Clone, Debug)]
pub struct BranchRule {
    /// A part, section or item that comes later, or `EXIT_TEST`, `EXIT_TESTPART`, `EXIT_SECTION`.
    pub target: Box<str>,
    /// When.
    pub expression: Expression,
}

/// The session control of items; `None` if the enclosing part or section decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ItemSessionControl {
    /// Attempts at most; 0 for any number.
    pub max_attempts: Option<u32>,
    /// Whether feedback is shown after an attempt.
    pub show_feedback: Option<bool>,
    /// Whether answers may be looked at when no attempt is left.
    pub allow_review: Option<bool>,
    /// Whether the right answers may be looked at then.
    pub show_solution: Option<bool>,
    /// Whether candidates may comment.
    pub allow_comment: Option<bool>,
    /// Whether an item may be left without an answer.
    pub allow_skipping: Option<bool>,
    /// Whether answers that break the rules of an interaction are refused.
    pub validate_responses: Option<bool>,
}

/// Time limits in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimeLimits {
    /// At least.
    pub min: Option<f64>,
    /// At most.
    pub max: Option<f64>,
    /// Whether an answer that comes later counts.
    pub allow_late: bool,
}

/// The selection of members of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The number of members to select.
    pub select: u32,
    /// Whether one may be taken twice.
    pub with_replacement: bool,
}

/// In what order they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ordering {
    /// A random one.
    pub shuffle: bool,
}

/// An engine that chooses the items while the test runs (computer adaptive testing).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdaptiveSelection {
    /// Where the engine is.
    pub engine: Box<str>,
    /// Where its settings lie.
    pub settings: Option<Box<str>>,
    /// Where usage data of the items lie.
    pub usage_data: Option<Box<str>>,
    /// Where metadata of the items lie.
    pub metadata: Option<Box<str>>,
}
