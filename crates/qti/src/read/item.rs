//! Items and stimuli.

use super::body::feedback;
use super::{DocumentReader, boolean, identifier, inner_xml, stylesheets, text};
use crate::model::{
    FeedbackKind, Item, ResponseProcessing, ResponseTemplate, Stimulus, StimulusRef,
};
use crate::xml::Element;

/// Reads an item.
pub(crate) fn item(reader: &mut DocumentReader<'_>, root: Element<'_>) -> Item {
    let mut item = Item {
        identifier: identifier(root, "identifier"),
        title: identifier(root, "title"),
        label: text(root, "label"),
        language: text(root, "xml:lang"),
        version: reader.version,
        adaptive: boolean(root, "adaptive").unwrap_or(false),
        time_dependent: boolean(root, "time-dependent").unwrap_or(false),
        contexts: Vec::new(),
        responses: Vec::new(),
        outcomes: Vec::new(),
        templates: Vec::new(),
        template_processing: Vec::new(),
        stimuli: Vec::new(),
        stylesheets: stylesheets(root),
        interactions: Vec::new(),
        feedback: Vec::new(),
        rubrics: Vec::new(),
        processing: None,
    };
    for element in root.elements() {
        match element.name() {
            "qti-context-declaration" => item.contexts.push(reader.declaration(element)),
            "qti-response-declaration" => item.responses.push(reader.response(element)),
            "qti-outcome-declaration" => item.outcomes.push(reader.outcome(element)),
            "qti-template-declaration" => item.templates.push(reader.template(element)),
            "qti-template-processing" => item.template_processing = reader.rules(element),
            "qti-assessment-stimulus-ref" => item.stimuli.push(StimulusRef {
                identifier: identifier(element, "identifier"),
                href: identifier(element, "href"),
                title: text(element, "title"),
            }),
            "qti-item-body" => reader.body(element, &mut item),
            "qti-response-processing" => item.processing = Some(reader.processing(element)),
            "qti-modal-feedback" => {
                item.feedback.push(feedback(element, FeedbackKind::Modal));
            }
            _ => {}
        }
    }
    reader.references(root, &item);
    item
}

/// Reads a stimulus.
pub(crate) fn stimulus(reader: &mut DocumentReader<'_>, root: Element<'_>) -> Stimulus {
    Stimulus {
        identifier: identifier(root, "identifier"),
        title: identifier(root, "title"),
        label: text(root, "label"),
        language: text(root, "xml:lang"),
        version: reader.version,
        stylesheets: stylesheets(root),
        content: root.first("qti-stimulus-body").map(inner_xml).unwrap_or_default(),
    }
}

impl DocumentReader<'_> {
    fn processing(&mut self, element: Element<'_>) -> ResponseProcessing {
        let template = text(element, "template").filter(|address| !address.trim().is_empty());
        let rules = self.rules(element);
        if let Some(address) = &template
            && ResponseTemplate::of(address).is_none()
            && rules.is_empty()
        {
            self.found.warning(
                element,
                format!("the template '{address}' is not a template of the standard"),
                "use match_correct, map_response or map_response_point, or write the rules in \
                 the item",
            );
        }
        ResponseProcessing { template, rules }
    }
}
