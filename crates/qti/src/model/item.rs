//! Items and stimuli.

use crate::model::{
    Declaration, Interaction, OutcomeDeclaration, ResponseDeclaration, ResponseProcessing, Rule,
    TemplateDeclaration,
};

/// The version of the standard that a document was written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QtiVersion {
    /// QTI 2.1.
    V2p1,
    /// QTI 2.2.
    V2p2,
    /// QTI 3.0.
    V3p0,
}

impl QtiVersion {
    /// Its number.
    pub fn name(self) -> &'static str {
        match self {
            Self::V2p1 => "2.1",
            Self::V2p2 => "2.2",
            Self::V3p0 => "3.0",
        }
    }
}

/// A question with all that is needed to show and to score it (`qti-assessment-item`).
#[derive(Clone, Debug)]
pub struct Item {
    /// Its name.
    pub identifier: Box<str>,
    /// Its title, not shown to candidates.
    pub title: Box<str>,
    /// A shorter title.
    pub label: Option<Box<str>>,
    /// The language of its text.
    pub language: Option<Box<str>>,
    /// The version that it was written in; the model is that of 3.0.
    pub version: QtiVersion,
    /// Whether outcomes live on from attempt to attempt.
    pub adaptive: bool,
    /// Whether the time that an answer takes is measured for scoring.
    pub time_dependent: bool,
    /// Variables that the delivery sets.
    pub contexts: Vec<Declaration>,
    /// Variables that answers go into.
    pub responses: Vec<ResponseDeclaration>,
    /// Variables that processing sets, the built-in ones not among them.
    pub outcomes: Vec<OutcomeDeclaration>,
    /// Variables that make the item many.
    pub templates: Vec<TemplateDeclaration>,
    /// The rules that set template variables.
    pub template_processing: Vec<Rule>,
    /// The stimuli that belong to the question.
    pub stimuli: Vec<StimulusRef>,
    /// Its stylesheets.
    pub stylesheets: Vec<Stylesheet>,
    /// The places where a learner answers, in the order of the body.
    pub interactions: Vec<Interaction>,
    /// The feedback after an answer: inline, block and modal.
    pub feedback: Vec<Feedback>,
    /// Texts for certain readers.
    pub rubrics: Vec<Rubric>,
    /// The response processing; `None` if there is none.
    pub processing: Option<ResponseProcessing>,
}

impl Item {
    /// The response variable with that name.
    pub fn response(&self, identifier: &str) -> Option<&ResponseDeclaration> {
        self.responses.iter().find(|r| &*r.declaration.identifier == identifier)
    }

    /// The outcome variable with that name.
    pub fn outcome(&self, identifier: &str) -> Option<&OutcomeDeclaration> {
        self.outcomes.iter().find(|o| &*o.declaration.identifier == identifier)
    }
}

/// A stimulus that an item refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StimulusRef {
    /// Its name.
    pub identifier: Box<str>,
    /// Where it lies.
    pub href: Box<str>,
    /// Its title.
    pub title: Option<Box<str>>,
}

/// A stylesheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stylesheet {
    /// Where it lies.
    pub href: Box<str>,
    /// Its media type.
    pub media_type: Box<str>,
}

/// Where feedback stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FeedbackKind {
    /// Inside a line.
    Inline,
    /// Between paragraphs.
    Block,
    /// In a separate window.
    Modal,
    /// Of a test or a test part.
    Test {
        /// Only when it is over, rather than during it.
        at_end: bool,
    },
}

/// Feedback that is shown if an outcome has, or does not have, a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// Where it stands.
    pub kind: FeedbackKind,
    /// The outcome variable that decides.
    pub outcome: Box<str>,
    /// The value that it is compared with.
    pub identifier: Box<str>,
    /// Whether it is shown when the outcome has the value, or hidden then.
    pub show: bool,
    /// The title of a modal feedback.
    pub title: Option<Box<str>>,
    /// Its content as XML.
    pub content: String,
    /// The line where its element begins.
    pub line: u32,
}

/// A text for certain readers (`qti-rubric-block`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rubric {
    /// The readers: `candidate`, `scorer`, ….
    pub views: Vec<Box<str>>,
    /// `instructions`, `scoring` or `navigation`.
    pub usage: Option<Box<str>>,
    /// Its content as text.
    pub text: String,
}

/// A text or picture that several items share (`qti-assessment-stimulus`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stimulus {
    /// Its name.
    pub identifier: Box<str>,
    /// Its title.
    pub title: Box<str>,
    /// A shorter title.
    pub label: Option<Box<str>>,
    /// The language of its text.
    pub language: Option<Box<str>>,
    /// The version that it was written in.
    pub version: QtiVersion,
    /// Its stylesheets.
    pub stylesheets: Vec<Stylesheet>,
    /// Its content as XML.
    pub content: String,
}
