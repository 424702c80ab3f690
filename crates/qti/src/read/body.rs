//! Reads the content of a body: interactions, feedback, rubrics.

use std::collections::HashSet;

use super::{
    DocumentReader, area, boolean, count, identifier, inner_xml, line, number, rubric, text, words,
};
use crate::model::{
    Choice, Feedback, FeedbackKind, Interaction, InteractionDetails, InteractionKind as Kind, Item,
    TextDetails,
};
use crate::xml::Element;

impl DocumentReader<'_> {
    /// Reads everything inside a body into the item.
    pub(super) fn body(&mut self, body: Element<'_>, item: &mut Item) {
        for element in
            body.descendants().filter(|e| e.space() == crate::xml::ElementNamespace::Qti3)
        {
            match element.name() {
                "qti-feedback-inline" => {
                    item.feedback.push(feedback(element, FeedbackKind::Inline));
                }
                "qti-feedback-block" => item.feedback.push(feedback(element, FeedbackKind::Block)),
                "qti-rubric-block" => item.rubrics.push(rubric(element)),
                name => {
                    if let Some(kind) = Kind::of_element(name) {
                        item.interactions.push(self.interaction(element, kind));
                    }
                }
            }
        }
    }

    fn interaction(&mut self, element: Element<'_>, kind: Kind) -> Interaction {
        let (choices, targets) = self.offers(element, kind);
        let (min, max) = range(element, kind, choices.len());
        if max.is_some_and(|max| max < min) {
            self.wrong(
                element,
                format!(
                    "a minimum of {min} and a maximum of {} exclude each other",
                    max.unwrap_or(0)
                ),
                "raise the maximum (0 means any number) or lower the minimum",
            );
        }
        Interaction {
            kind,
            response: identifier(element, "response-identifier"),
            prompt: element.first("qti-prompt").map(Element::deep_text).unwrap_or_default(),
            choices,
            targets,
            min,
            max,
            shuffle: boolean(element, "shuffle").unwrap_or(false),
            details: self.details(element, kind),
            line: line(element),
        }
    }

    /// Choices and what they are put on.
    fn offers(&mut self, element: Element<'_>, kind: Kind) -> (Vec<Choice>, Vec<Choice>) {
        let mut offers = |names: &[&str]| -> Vec<Choice> {
            let inside = element.descendants().skip(1).filter(|e| names.contains(&e.name()));
            inside.map(|choice| self.choice(choice)).collect()
        };
        let (choices, targets) = match kind {
            Kind::Choice | Kind::Order => (offers(&["qti-simple-choice"]), Vec::new()),
            Kind::InlineChoice => (offers(&["qti-inline-choice"]), Vec::new()),
            Kind::Hottext => (offers(&["qti-hottext"]), Vec::new()),
            Kind::Hotspot | Kind::GraphicOrder => (offers(&["qti-hotspot-choice"]), Vec::new()),
            Kind::Associate => (offers(&["qti-simple-associable-choice"]), Vec::new()),
            Kind::GraphicAssociate => (offers(&["qti-associable-hotspot"]), Vec::new()),
            Kind::GapMatch => (offers(&["qti-gap-text", "qti-gap-img"]), offers(&["qti-gap"])),
            Kind::GraphicGapMatch => {
                (offers(&["qti-gap-text", "qti-gap-img"]), offers(&["qti-associable-hotspot"]))
            }
            Kind::Match => {
                let mut sets = element
                    .all("qti-simple-match-set")
                    .map(|set| set.elements().map(|choice| self.choice(choice)).collect());
                (sets.next().unwrap_or_default(), sets.next().unwrap_or_default())
            }
            _ => (Vec::new(), Vec::new()),
        };
        let mut seen = HashSet::with_capacity(choices.len() + targets.len());
        for choice in choices.iter().chain(&targets) {
            if !seen.insert(&*choice.identifier) {
                self.wrong(
                    element,
                    format!("two choices have the identifier '{}'", choice.identifier),
                    "give each choice its own identifier",
                );
            }
        }
        (choices, targets)
    }

    fn choice(&mut self, element: Element<'_>) -> Choice {
        let area = area(element);
        if area.is_some() {
            self.check_area(element);
        }
        let gap = element.name() == "qti-gap";
        Choice {
            identifier: identifier(element, "identifier"),
            text: shown_text(element),
            fixed: boolean(element, "fixed").unwrap_or(false),
            match_min: count(element, "match-min").unwrap_or(0),
            // A gap takes one choice; 0 is any number.
            match_max: match gap {
                true => Some(1),
                false => count(element, "match-max").filter(|max| *max > 0),
            },
            match_group: words(element, "match-group"),
            required: boolean(element, "required").unwrap_or(false),
            area,
        }
    }

    fn details(&mut self, element: Element<'_>, kind: Kind) -> InteractionDetails {
        match kind {
            Kind::TextEntry | Kind::ExtendedText => {
                InteractionDetails::Text(Box::new(TextDetails {
                    base: count(element, "base").unwrap_or(10),
                    pattern: element
                        .attribute("pattern-mask")
                        .filter(|mask| !mask.is_empty())
                        .and_then(|mask| self.compiled(element, mask)),
                    string_identifier: text(element, "string-identifier"),
                    expected_length: count(element, "expected-length"),
                    expected_lines: count(element, "expected-lines"),
                    placeholder: text(element, "placeholder-text"),
                    format: text(element, "format"),
                }))
            }
            Kind::Slider => {
                let (lower, upper) = (
                    number(element, "lower-bound").unwrap_or(0.0),
                    number(element, "upper-bound").unwrap_or(0.0),
                );
                if lower > upper {
                    self.wrong(
                        element,
                        format!("the scale begins at {lower} and ends at {upper}"),
                        "write the lower number as lower-bound",
                    );
                }
                InteractionDetails::Slider {
                    lower,
                    upper,
                    step: number(element, "step").unwrap_or(1.0),
                }
            }
            Kind::Upload => InteractionDetails::Upload(words(element, "type")),
            Kind::PortableCustom => InteractionDetails::Module {
                type_identifier: identifier(element, "custom-interaction-type-identifier"),
                module: text(element, "module"),
            },
            _ => InteractionDetails::None,
        }
    }
}

/// The text of a choice without its feedback, or the words for its picture.
fn shown_text(element: Element<'_>) -> String {
    let mut words = Vec::new();
    for child in element.children() {
        match child {
            crate::xml::ChildNode::Text(text, _) => {
                words.extend(text.split_whitespace().map(str::to_owned));
            }
            crate::xml::ChildNode::Element(inner) if inner.speaks_for_itself() => {}
            crate::xml::ChildNode::Element(inner) => words.push(match inner.attribute("alt") {
                Some(alt) => alt.to_owned(),
                None => shown_text(inner),
            }),
        }
    }
    words.retain(|word| !word.is_empty());
    words.join(" ")
}

/// The minimum and maximum number of choices, with the defaults of the schema.
fn range(element: Element<'_>, kind: Kind, choices: usize) -> (u32, Option<u32>) {
    let some =
        |name: &str, default: Option<u32>| count(element, name).or(default).filter(|max| *max > 0);
    match kind {
        Kind::Choice | Kind::Hotspot | Kind::Hottext | Kind::PositionObject => {
            (count(element, "min-choices").unwrap_or(0), some("max-choices", Some(1)))
        }
        Kind::SelectPoint => {
            (count(element, "min-choices").unwrap_or(0), some("max-choices", None))
        }
        Kind::Order | Kind::GraphicOrder => {
            // Where nothing is said, all of them are ordered.
            let all = u32::try_from(choices).unwrap_or(u32::MAX);
            let limit = count(element, "min-choices").or(count(element, "max-choices"));
            let min =
                count(element, "min-choices").unwrap_or(if limit.is_some() { 0 } else { all });
            (min, some("max-choices", None).or(Some(all)))
        }
        Kind::InlineChoice => {
            let required = boolean(element, "required").unwrap_or(false);
            (count(element, "min-choices").unwrap_or(u32::from(required)), Some(1))
        }
        Kind::Associate | Kind::GraphicAssociate | Kind::Match => {
            (count(element, "min-associations").unwrap_or(0), some("max-associations", Some(1)))
        }
        // Authors leave the maximum out and mean every gap.
        Kind::GapMatch | Kind::GraphicGapMatch => {
            (count(element, "min-associations").unwrap_or(0), some("max-associations", None))
        }
        Kind::ExtendedText => {
            (count(element, "min-strings").unwrap_or(0), some("max-strings", None))
        }
        Kind::Media => (count(element, "min-plays").unwrap_or(0), some("max-plays", None)),
        _ => (0, None),
    }
}

pub(super) fn feedback(element: Element<'_>, kind: FeedbackKind) -> Feedback {
    let content = match kind {
        FeedbackKind::Inline => inner_xml(element),
        _ => inner_xml(element.first("qti-content-body").unwrap_or(element)),
    };
    Feedback {
        kind,
        outcome: identifier(element, "outcome-identifier"),
        identifier: identifier(element, "identifier"),
        show: element.attribute("show-hide") != Some("hide"),
        title: text(element, "title"),
        content,
        line: line(element),
    }
}
