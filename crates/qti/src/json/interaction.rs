//! The interaction of an item that comes as JSON, and how its answer is processed.

use lyceum_core::problem::Detail;

use super::item_from::{choices, outcome_of};
use super::write::{JsonObject, XmlWriter};
use crate::model::{InteractionKind as Kind, ResponseTemplate};

/// Writes an interaction: `{responseIdentifier, shuffle?, maxChoices?, attributes?,
/// questionStructure: {prompt?, choices?, sourceChoices?, targetChoices?, object?}}`.
pub(super) fn interaction_xml(
    writer: &mut XmlWriter,
    faults: &mut Vec<Detail>,
    interaction: &JsonObject<'_>,
    kind: Kind,
) {
    let name = format!("qti-{}-interaction", kind.name());
    let structure = interaction.object("questionStructure");
    let prompt = structure
        .as_ref()
        .and_then(|structure| structure.markup("prompt", faults))
        .filter(|prompt| !prompt.text.is_empty());
    let inline = matches!(kind, Kind::TextEntry | Kind::InlineChoice | Kind::EndAttempt);
    if inline {
        if let Some(prompt) = &prompt {
            writer.around("div", &[], prompt);
        }
        writer.open("p", &[]);
    }
    let attributes = attributes(interaction, kind);
    let attributes: Vec<(&str, Option<String>)> =
        attributes.iter().map(|(name, value)| (&**name, Some(value.clone()))).collect();
    writer.open(&name, &attributes);
    if let Some(prompt) = prompt.filter(|_| !inline) {
        writer.around("qti-prompt", &[], &prompt);
    }
    if let Some(structure) = &structure {
        object(writer, structure);
        offers(writer, faults, structure, kind);
    }
    writer.close(&name);
    if inline {
        writer.close("p");
    }
}

/// The attributes of the interaction: first those that clients send as members, then those in `attributes`.
fn attributes(interaction: &JsonObject<'_>, kind: Kind) -> Vec<(String, String)> {
    let mut all = vec![(
        "response-identifier".to_owned(),
        interaction.text("responseIdentifier").unwrap_or_default(),
    )];
    let mut put = |name: &str, value: Option<String>| {
        if let Some(value) = value
            && !all.iter().any(|(own, _)| own == name)
        {
            all.push((name.to_owned(), value));
        }
    };
    let shuffles = matches!(
        kind,
        Kind::Associate
            | Kind::Choice
            | Kind::GapMatch
            | Kind::InlineChoice
            | Kind::Match
            | Kind::Order
    );
    put("shuffle", interaction.text("shuffle").filter(|_| shuffles));
    let most = match kind {
        Kind::Choice
        | Kind::GraphicOrder
        | Kind::Hotspot
        | Kind::Hottext
        | Kind::Order
        | Kind::PositionObject
        | Kind::SelectPoint => Some("max-choices"),
        Kind::Associate
        | Kind::GapMatch
        | Kind::GraphicAssociate
        | Kind::GraphicGapMatch
        | Kind::Match => Some("max-associations"),
        _ => None,
    };
    if let Some(most) = most {
        put(most, interaction.text("maxChoices").or_else(|| interaction.text("maxAssociations")));
    }
    if let Some(more) = interaction.object("attributes") {
        for name in more.object.keys() {
            let written = match name.as_str() {
                "placeholder" => "placeholder-text",
                other => other,
            };
            put(written, more.text(name));
        }
    }
    if kind == Kind::Media {
        put("autostart", Some("false".into()));
    }
    all
}

/// The picture that an interaction lies on.
fn object(writer: &mut XmlWriter, structure: &JsonObject<'_>) {
    if let Some(object) = structure.object("object") {
        let text = |name: &str| object.text(name);
        writer.empty(
            "object",
            &[
                ("data", text("data")),
                ("type", text("type")),
                ("width", text("width")),
                ("height", text("height")),
            ],
        );
    }
}

fn offers(
    writer: &mut XmlWriter,
    faults: &mut Vec<Detail>,
    structure: &JsonObject<'_>,
    kind: Kind,
) {
    let choices = structure.list("choices");
    let mut all = |writer: &mut XmlWriter, choices: &[JsonObject<'_>], name: &str| {
        for choice in choices {
            offer(writer, faults, choice, name);
        }
    };
    match kind {
        Kind::Choice | Kind::Order => all(writer, &choices, "qti-simple-choice"),
        Kind::InlineChoice => all(writer, &choices, "qti-inline-choice"),
        Kind::Associate => all(writer, &choices, "qti-simple-associable-choice"),
        Kind::Hotspot | Kind::GraphicOrder => all(writer, &choices, "qti-hotspot-choice"),
        Kind::GraphicAssociate => all(writer, &choices, "qti-associable-hotspot"),
        Kind::Hottext => {
            writer.open("p", &[]);
            all(writer, &choices, "qti-hottext");
            writer.close("p");
        }
        Kind::Match => {
            for set in ["sourceChoices", "targetChoices"] {
                writer.open("qti-simple-match-set", &[]);
                all(writer, &structure.list(set), "qti-simple-associable-choice");
                writer.close("qti-simple-match-set");
            }
        }
        Kind::GapMatch => {
            all(writer, &choices, "qti-gap-text");
            writer.open("p", &[]);
            all(writer, &structure.list("targetChoices"), "qti-gap");
            writer.close("p");
        }
        Kind::GraphicGapMatch => {
            all(writer, &choices, "qti-gap-text");
            all(writer, &structure.list("targetChoices"), "qti-associable-hotspot");
        }
        _ => {}
    }
}

fn offer(writer: &mut XmlWriter, faults: &mut Vec<Detail>, choice: &JsonObject<'_>, name: &str) {
    let identifier = choice.required("identifier", faults);
    let matched =
        matches!(name, "qti-simple-associable-choice" | "qti-gap-text" | "qti-associable-hotspot");
    let fixed =
        matches!(name, "qti-simple-choice" | "qti-inline-choice" | "qti-simple-associable-choice");
    let most = choice.text("matchMax").unwrap_or_else(|| "1".into());
    writer.open(
        name,
        &[
            ("identifier", Some(identifier.clone())),
            ("fixed", choice.text("fixed").filter(|_| fixed)),
            ("shape", choice.text("shape")),
            ("coords", choice.text("coords")),
            ("match-max", Some(most).filter(|_| matched)),
        ],
    );
    if !name.contains("hotspot") && name != "qti-gap" {
        writer.markup(&choice.markup("content", faults).unwrap_or_default());
        let feedback = choice.markup("feedbackInline", faults);
        if let Some(feedback) = feedback.filter(|markup| !markup.text.is_empty()) {
            writer.around(
                "qti-feedback-inline",
                &[
                    ("outcome-identifier", Some(outcome_of(choice))),
                    ("identifier", Some(identifier)),
                    ("show-hide", Some("show".into())),
                ],
                &feedback,
            );
        }
    }
    writer.close(name);
}

/// Writes response processing: a template if it is enough, else rules that also set what feedback
/// is chosen by.
pub(super) fn processing_xml(writer: &mut XmlWriter, item: &JsonObject<'_>, response: &str) {
    let processing = item.object("responseProcessing");
    let text_of = |name: &str| processing.as_ref().and_then(|p| p.text(name));
    let maps = text_of("templateType").as_deref() == Some("map_response");
    let response = text_of("responseDeclarationIdentifier").unwrap_or_else(|| response.to_owned());
    let inline = processing.as_ref().and_then(|p| p.object("inlineFeedback"));
    let mut copies: Vec<(String, String)> = Vec::new();
    if let Some(inline) = &inline
        && let (Some(outcome), Some(variable)) =
            (inline.text("outcomeIdentifier"), inline.text("variableIdentifier"))
    {
        copies.push((outcome, variable));
    }
    for choice in choices(item).iter().filter(|choice| choice.text("feedbackInline").is_some()) {
        let copy = (outcome_of(choice), response.clone());
        if !copies.iter().any(|(outcome, _)| *outcome == copy.0) {
            copies.push(copy);
        }
    }
    let words = text_of("outcomeIdentifier").filter(|_| {
        text_of("correctResponseIdentifier").is_some()
            && text_of("incorrectResponseIdentifier").is_some()
    });
    let rules =
        InteractionRules { response: &response, maps, words: words.as_deref(), copies: &copies };
    if response == "RESPONSE" && copies.is_empty() && words.is_none() {
        let wanted =
            if maps { ResponseTemplate::MapResponse } else { ResponseTemplate::MatchCorrect };
        let name = ResponseTemplate::ALL
            .iter()
            .find(|(_, own)| *own == wanted)
            .map_or("", |(name, _)| name);
        let address = format!("https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/{name}.xml");
        return writer.empty("qti-response-processing", &[("template", Some(address))]);
    }
    writer.open("qti-response-processing", &[]);
    let correct = text_of("correctResponseIdentifier").unwrap_or_default();
    rules.write(writer, &correct, &text_of("incorrectResponseIdentifier").unwrap_or_default());
    writer.close("qti-response-processing");
}

struct InteractionRules<'r> {
    response: &'r str,
    maps: bool,
    /// The outcome that says whether the answer was right.
    words: Option<&'r str>,
    /// Outcomes that hold what a variable holds.
    copies: &'r [(String, String)],
}

impl InteractionRules<'_> {
    fn write(&self, writer: &mut XmlWriter, right: &str, wrong: &str) {
        let variable = |name: &str| Some(name.to_owned());
        writer.open("qti-response-condition", &[]);
        writer.open("qti-response-if", &[]);
        writer.open("qti-match", &[]);
        writer.empty("qti-variable", &[("identifier", variable(self.response))]);
        writer.empty("qti-correct", &[("identifier", variable(self.response))]);
        writer.close("qti-match");
        self.branch(writer, "1", right);
        writer.close("qti-response-if");
        writer.open("qti-response-else", &[]);
        self.branch(writer, "0", wrong);
        writer.close("qti-response-else");
        writer.close("qti-response-condition");
        if self.maps {
            writer.open("qti-set-outcome-value", &[("identifier", Some("SCORE".into()))]);
            writer.empty("qti-map-response", &[("identifier", variable(self.response))]);
            writer.close("qti-set-outcome-value");
        }
        for (outcome, name) in self.copies {
            writer.open("qti-set-outcome-value", &[("identifier", variable(outcome))]);
            writer.empty("qti-variable", &[("identifier", variable(name))]);
            writer.close("qti-set-outcome-value");
        }
    }

    fn branch(&self, writer: &mut XmlWriter, score: &str, word: &str) {
        let mut set = |outcome: &str, base_type: &str, value: &str| {
            writer.open("qti-set-outcome-value", &[("identifier", Some(outcome.to_owned()))]);
            writer.open("qti-base-value", &[("base-type", Some(base_type.to_owned()))]);
            crate::xml::escape(value, false, &mut writer.xml);
            writer.close("qti-base-value");
            writer.close("qti-set-outcome-value");
        };
        if !self.maps {
            set("SCORE", "float", score);
        }
        if let Some(outcome) = self.words {
            set(outcome, "identifier", word);
        }
    }
}
