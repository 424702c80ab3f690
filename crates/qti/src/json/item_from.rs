//! JSON becomes an item.

use lyceum_core::messages::must_be_one_of;
use lyceum_core::problem::Detail;
use lyceum_core::{Problem, message};
use serde_json::{Map, Value as Json};

use super::write::{JsonObject, NAMESPACE, WrittenXml, XmlWriter};
use crate::model::InteractionKind as Kind;

/// An item as XML from the form that clients send: `{identifier, title, interaction?,
/// preInteraction?, postInteraction?, responseDeclarations?, outcomeDeclarations?,
/// responseProcessing?, modalFeedback?, feedbackInline?, feedbackBlock?, rubrics?, stimulus?, …}`. Texts
/// that are shown are HTML.
/// Declarations and processing that are missing follow from the rest. Whether the XML is a valid item
/// is for the caller to check. Errors: members that are missing, each by its path; HTML that QTI does not
/// allow, with line and column.
pub fn item_xml(json: &Map<String, Json>) -> Result<WrittenXml, Problem> {
    let item = JsonObject::new(json);
    let mut output = JsonItem { writer: XmlWriter::default(), faults: Vec::new() };
    output.item(&item);
    output.writer.finish(output.faults)
}

struct JsonItem {
    writer: XmlWriter,
    faults: Vec<Detail>,
}

#[expect(clippy::unnecessary_wraps, reason = "attributes are optional")]
fn some(value: &str) -> Option<String> {
    Some(value.to_owned())
}

impl JsonItem {
    fn item(&mut self, item: &JsonObject<'_>) {
        let flag = |name: &str| Some(item.text(name).unwrap_or_else(|| "false".into()));
        let identifier = item.required("identifier", &mut self.faults);
        let title = item.required("title", &mut self.faults);
        self.writer.open(
            "qti-assessment-item",
            &[
                ("xmlns", some(NAMESPACE)),
                ("identifier", Some(identifier)),
                ("title", Some(title)),
                ("adaptive", flag("adaptive")),
                ("time-dependent", flag("timeDependent")),
            ],
        );
        let interaction = item.object("interaction");
        let response = interaction.as_ref().map_or_else(
            || "RESPONSE".to_owned(),
            |i| i.required("responseIdentifier", &mut self.faults),
        );
        self.responses(item, interaction.as_ref(), &response);
        self.outcomes(item);
        if let Some(stimulus) = item.object("stimulus") {
            let identifier = stimulus.required("identifier", &mut self.faults);
            let href = stimulus.text("href").unwrap_or_else(|| format!("stimuli/{identifier}"));
            self.writer.empty(
                "qti-assessment-stimulus-ref",
                &[
                    ("identifier", Some(identifier)),
                    ("href", Some(href)),
                    ("title", stimulus.text("title")),
                ],
            );
        }
        self.body(item, interaction.as_ref());
        super::interaction::processing_xml(&mut self.writer, item, &response);
        for feedback in item.list("modalFeedback") {
            self.feedback("qti-modal-feedback", &feedback);
        }
        self.writer.close("qti-assessment-item");
    }

    fn responses(
        &mut self,
        item: &JsonObject<'_>,
        interaction: Option<&JsonObject<'_>>,
        response: &str,
    ) {
        let declared = item.list("responseDeclarations");
        for declaration in &declared {
            let identifier = declaration.required("identifier", &mut self.faults);
            let cardinality = declaration.text("cardinality").unwrap_or_else(|| "single".into());
            self.writer.open(
                "qti-response-declaration",
                &[
                    ("identifier", Some(identifier.clone())),
                    ("cardinality", Some(cardinality)),
                    ("base-type", declaration.text("baseType")),
                ],
            );
            let correct = declaration.object("correctResponse").map(|c| c.texts("value"));
            let correct = correct.unwrap_or_default();
            if interaction.is_some() && identifier == response {
                self.key(item, declaration, &correct);
            }
            if !correct.is_empty() {
                self.writer.open("qti-correct-response", &[]);
                for value in &correct {
                    self.writer.text("qti-value", value);
                }
                self.writer.close("qti-correct-response");
            }
            self.mapping(item, declaration, &correct);
            self.writer.close("qti-response-declaration");
        }
        if let Some(interaction) = interaction.filter(|_| declared.is_empty()) {
            let kind = interaction.text("type").or_else(|| item.text("type")).unwrap_or_default();
            let several = interaction.text("maxChoices").is_some_and(|max| max != "1");
            let kind = Kind::of_name(&kind).unwrap_or(Kind::Choice);
            let (cardinality, base_type) = kind.usual_response(several);
            self.writer.empty(
                "qti-response-declaration",
                &[
                    ("identifier", some(response)),
                    ("cardinality", some(cardinality.name())),
                    ("base-type", some(base_type.name())),
                ],
            );
        }
    }

    /// Checks that the correct values are identifiers of choices.
    fn key(&mut self, item: &JsonObject<'_>, declaration: &JsonObject<'_>, correct: &[String]) {
        let structure = item.object("interaction").and_then(|i| i.object("questionStructure"));
        let offered: Vec<String> = ["choices", "sourceChoices", "targetChoices"]
            .iter()
            .flat_map(|list| structure.as_ref().map(|s| s.list(list)).unwrap_or_default())
            .filter_map(|choice| choice.text("identifier"))
            .collect();
        let is_unknown = |word: &&str| !offered.iter().any(|name| name == *word);
        let mut words = correct.iter().flat_map(|value| value.split_whitespace());
        if let Some(word) = words.find(is_unknown).filter(|_| !offered.is_empty()) {
            let known: Vec<&str> = offered.iter().map(String::as_str).collect();
            self.faults.push(Detail {
                path: format!("{}.value", declaration.path("correctResponse")),
                message: must_be_one_of(&known, word),
            });
        }
    }

    /// The mapping as sent; where the response is to be mapped and has none, a point a correct value.
    fn mapping(&mut self, item: &JsonObject<'_>, declaration: &JsonObject<'_>, correct: &[String]) {
        let sent = declaration.object("mapping");
        let processing = item.object("responseProcessing");
        let mapped =
            processing.and_then(|p| p.text("templateType")).as_deref() == Some("map_response");
        if sent.is_none() && (!mapped || correct.is_empty()) {
            return;
        }
        let number = |name: &str| sent.as_ref().and_then(|mapping| mapping.text(name));
        self.writer.open(
            "qti-mapping",
            &[
                ("lower-bound", number("lowerBound")),
                ("upper-bound", number("upperBound")),
                ("default-value", Some(number("defaultValue").unwrap_or_else(|| "0".into()))),
            ],
        );
        let mut entry = |key: Option<String>, value: Option<String>, case: Option<String>| {
            let attributes = [("map-key", key), ("mapped-value", value), ("case-sensitive", case)];
            self.writer.empty("qti-map-entry", &attributes);
        };
        match &sent {
            Some(mapping) => mapping.list("mapEntries").iter().for_each(|e| {
                entry(e.text("mapKey"), e.text("mappedValue"), e.text("caseSensitive"));
            }),
            None => correct.iter().for_each(|value| entry(some(value), some("1"), None)),
        }
        self.writer.close("qti-mapping");
    }

    /// The outcomes as sent, and those that feedback and processing name beside them.
    fn outcomes(&mut self, item: &JsonObject<'_>) {
        let mut outcomes: Vec<(String, String, Option<String>)> = Vec::new();
        for declared in item.list("outcomeDeclarations") {
            let cardinality = declared.text("cardinality").unwrap_or_else(|| "single".into());
            let identifier = declared.required("identifier", &mut self.faults);
            outcomes.push((identifier, cardinality, declared.text("baseType")));
        }
        let mut add = |name: Option<String>, cardinality: &str, base_type: &str| {
            if let Some(name) = name.filter(|name| !outcomes.iter().any(|o| o.0 == *name)) {
                outcomes.push((name, cardinality.to_owned(), some(base_type)));
            }
        };
        add(some("SCORE"), "single", "float");
        if let Some(processing) = item.object("responseProcessing") {
            add(processing.text("outcomeIdentifier"), "single", "identifier");
            let inline = processing.object("inlineFeedback");
            add(inline.and_then(|i| i.text("outcomeIdentifier")), "multiple", "identifier");
        }
        for list in ["modalFeedback", "feedbackInline", "feedbackBlock"] {
            for feedback in item.list(list) {
                add(feedback.text("outcomeIdentifier"), "single", "identifier");
            }
        }
        for choice in choices(item) {
            if choice.text("feedbackInline").is_some() {
                add(Some(outcome_of(&choice)), "multiple", "identifier");
            }
        }
        for (identifier, cardinality, base_type) in outcomes {
            self.writer.empty(
                "qti-outcome-declaration",
                &[
                    ("identifier", Some(identifier)),
                    ("cardinality", Some(cardinality)),
                    ("base-type", base_type),
                ],
            );
        }
    }

    fn body(&mut self, item: &JsonObject<'_>, interaction: Option<&JsonObject<'_>>) {
        self.writer.open("qti-item-body", &[]);
        let begin = self.writer.xml.len();
        for rubric in item.list("rubrics") {
            let (usage, view) = (rubric.text("use"), rubric.text("view"));
            let body = rubric.markup("body", &mut self.faults).unwrap_or_default();
            self.writer.open("qti-rubric-block", &[("use", usage), ("view", view)]);
            self.writer.around("qti-content-body", &[], &body);
            self.writer.close("qti-rubric-block");
        }
        let before = item.markup("preInteraction", &mut self.faults);
        if let Some(before) = before.filter(|markup| !markup.text.is_empty()) {
            self.writer.around("div", &[], &before);
        }
        if let Some(interaction) = interaction {
            let kind = interaction.text("type").or_else(|| item.text("type"));
            let kind = kind.unwrap_or_default();
            match Kind::ALL.iter().find(|(name, _)| *name == kind) {
                Some((_, kind)) => {
                    super::interaction::interaction_xml(
                        &mut self.writer,
                        &mut self.faults,
                        interaction,
                        *kind,
                    );
                }
                None => self.faults.push(Detail {
                    path: interaction.path("type"),
                    message: message!(
                        "must be the name of an interaction such as 'choice' (got '{kind}')"
                    ),
                }),
            }
        }
        let after = item.markup("postInteraction", &mut self.faults);
        if let Some(after) = after.filter(|markup| !markup.text.is_empty()) {
            self.writer.around("div", &[], &after);
        }
        for feedback in item.list("feedbackInline") {
            self.writer.open("p", &[]);
            self.feedback("qti-feedback-inline", &feedback);
            self.writer.close("p");
        }
        for feedback in item.list("feedbackBlock") {
            self.feedback("qti-feedback-block", &feedback);
        }
        // Clients create items that they fill later, and QTI requires content in a body.
        if self.writer.xml.len() == begin {
            self.writer.empty("div", &[]);
        }
        self.writer.close("qti-item-body");
    }

    fn feedback(&mut self, name: &str, feedback: &JsonObject<'_>) {
        let show = feedback.text("showHide").unwrap_or_else(|| "show".into());
        let title = feedback.text("title").filter(|title| !title.is_empty());
        let classes = feedback.texts("class").join(" ");
        self.writer.open(
            name,
            &[
                (
                    "outcome-identifier",
                    Some(feedback.required("outcomeIdentifier", &mut self.faults)),
                ),
                ("identifier", Some(feedback.required("identifier", &mut self.faults))),
                ("show-hide", Some(show)),
                ("title", title.filter(|_| name == "qti-modal-feedback")),
                ("class", Some(classes).filter(|classes| !classes.is_empty())),
            ],
        );
        let content = feedback.markup("content", &mut self.faults).unwrap_or_default();
        match name {
            "qti-feedback-inline" => self.writer.markup(&content),
            _ => self.writer.around("qti-content-body", &[], &content),
        }
        self.writer.close(name);
    }
}

/// The choices of the interaction.
pub(super) fn choices<'j>(item: &JsonObject<'j>) -> Vec<JsonObject<'j>> {
    let structure = item.object("interaction").and_then(|i| i.object("questionStructure"));
    structure.map(|structure| structure.list("choices")).unwrap_or_default()
}

/// The outcome that decides on the feedback of a choice.
pub(super) fn outcome_of(choice: &JsonObject<'_>) -> String {
    choice.text("feedbackOutcomeIdentifier").unwrap_or_else(|| "FEEDBACK-INLINE".into())
}
