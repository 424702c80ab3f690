//! An item as JSON.

use serde_json::{Map, Value as Json, json};

use super::content::content;
use crate::model::{
    ExpressionKind, Feedback, FeedbackKind, InteractionKind as Kind, Item, ResponseProcessing,
    ResponseTemplate, Rule, RuleKind, VariableTarget,
};
use crate::value::Scalar;
use crate::{DocumentContent, Faults, another, parsed, read_document};

/// The item as clients read it: `{identifier, title, type, qtiVersion, timeDependent, adaptive,
/// responseDeclarations, outcomeDeclarations, responseProcessing?, modalFeedback, feedbackInline,
/// feedbackBlock, rubrics, stimulus?, content, rawXml, qtiXml, interactionTypes}`. What the service
/// adds (`metadata`, `createdAt`, `updatedAt`) is not among them. Errors: it is not an item.
pub fn item_json(xml: &str) -> Result<Map<String, Json>, Faults> {
    let (document, version) = parsed(xml)?;
    let item = match read_document(&document, version)?.content {
        DocumentContent::Item(item) => item,
        other => return Err(another("qti-assessment-item", &other)),
    };
    let mut object = Map::new();
    let mut put = |name: &str, value: Json| drop(object.insert(name.to_owned(), value));
    put("identifier", json!(item.identifier));
    put("title", json!(item.title));
    put("type", json!(kind(&item)));
    put("interactionTypes", item.interactions.iter().map(|i| i.kind.name()).collect());
    put("qtiVersion", json!(item.version.name()));
    put("timeDependent", json!(item.time_dependent));
    put("adaptive", json!(item.adaptive));
    put("responseDeclarations", responses(&item));
    put("outcomeDeclarations", outcomes(&item));
    if let Some(processing) = &item.processing {
        put("responseProcessing", processing_json(&item, processing));
    }
    put("modalFeedback", feedback(&item, FeedbackKind::Modal));
    put("feedbackInline", feedback(&item, FeedbackKind::Inline));
    put("feedbackBlock", feedback(&item, FeedbackKind::Block));
    let rubric = |rubric: &crate::model::Rubric| json!({"use": rubric.usage, "view": rubric.views.join(" "), "body": rubric.text});
    put("rubrics", item.rubrics.iter().map(rubric).collect());
    if let Some(stimulus) = item.stimuli.first() {
        put(
            "stimulus",
            json!({"identifier": stimulus.identifier, "href": stimulus.href, "title": stimulus.title}),
        );
    }
    put("content", content(document.root()));
    put("rawXml", json!(xml));
    put("qtiXml", json!(xml));
    Ok(object)
}

/// The type of an item is that of its first interaction. Clients know 17 of the 22; for the others
/// the one that is nearest to it.
fn kind(item: &Item) -> &'static str {
    match item.interactions.first().map(|interaction| interaction.kind) {
        None | Some(Kind::Custom | Kind::PortableCustom) => Kind::ExtendedText.name(),
        Some(Kind::GapMatch) => Kind::Match.name(),
        Some(Kind::PositionObject) => Kind::SelectPoint.name(),
        Some(Kind::EndAttempt) => Kind::Choice.name(),
        Some(kind) => kind.name(),
    }
}

fn responses(item: &Item) -> Json {
    let declaration = |response: &crate::model::ResponseDeclaration| {
        let own = &response.declaration;
        let correct = response.correct.scalars().iter().map(|scalar| json!(scalar.to_string()));
        let mut object = json!({
            "identifier": own.identifier,
            "cardinality": own.cardinality.name(),
            "baseType": own.base_type.map(crate::value::BaseType::name),
            "correctResponse": {"value": correct.collect::<Json>()},
        });
        if let Some(mapping) = &response.mapping {
            let entry = |entry: &crate::model::MapEntry| {
                json!({"mapKey": entry.key.to_string(), "mappedValue": entry.mapped,
                       "caseSensitive": entry.case_sensitive})
            };
            object["mapping"] = json!({
                "defaultValue": mapping.default, "lowerBound": mapping.lower,
                "upperBound": mapping.upper,
                "mapEntries": mapping.entries.iter().map(entry).collect::<Json>(),
            });
        }
        object
    };
    item.responses.iter().map(declaration).collect()
}

fn outcomes(item: &Item) -> Json {
    let declaration = |outcome: &crate::model::OutcomeDeclaration| {
        let own = &outcome.declaration;
        json!({
            "identifier": own.identifier,
            "cardinality": own.cardinality.name(),
            "baseType": own.base_type.map(crate::value::BaseType::name),
        })
    };
    item.outcomes.iter().map(declaration).collect()
}

fn feedback(item: &Item, kind: FeedbackKind) -> Json {
    let one = |feedback: &Feedback| {
        let mut object = json!({
            "outcomeIdentifier": feedback.outcome,
            "identifier": feedback.identifier,
            "showHide": if feedback.show { "show" } else { "hide" },
            "content": feedback.content,
        });
        if kind == FeedbackKind::Modal {
            object["title"] = json!(feedback.title.as_deref().unwrap_or_default());
        }
        object
    };
    item.feedback.iter().filter(|feedback| feedback.kind == kind).map(one).collect()
}

/// Which response is processed how, and the words that feedback is chosen by.
fn processing_json(item: &Item, processing: &ResponseProcessing) -> Json {
    let template = processing.template.as_deref().and_then(ResponseTemplate::of);
    let maps = matches!(
        template,
        Some(
            ResponseTemplate::MapResponse
                | ResponseTemplate::MapResponsePoint
                | ResponseTemplate::Cc2MapResponse
        )
    );
    let response = item.responses.first().map_or("RESPONSE", |r| &*r.declaration.identifier);
    let found = words(&processing.rules);
    let (outcome, right, wrong) = match &found {
        Some((outcome, right, wrong)) => (&**outcome, &**right, &**wrong),
        None => ("FEEDBACK", "CORRECT", "INCORRECT"),
    };
    let mut object = json!({
        "templateType": if maps || maps_in(&processing.rules) { "map_response" } else { "match_correct" },
        "responseDeclarationIdentifier": response,
        "outcomeIdentifier": outcome,
        "correctResponseIdentifier": right,
        "incorrectResponseIdentifier": wrong,
    });
    if let Some((outcome, variable)) = inline(&processing.rules) {
        object["inlineFeedback"] =
            json!({"outcomeIdentifier": outcome, "variableIdentifier": variable});
    }
    object
}

fn maps_in(rules: &[Rule]) -> bool {
    rules.iter().any(|rule| match &rule.kind {
        RuleKind::Set { expression, .. } => matches!(
            expression.kind,
            ExpressionKind::MapResponse(_) | ExpressionKind::MapResponsePoint(_)
        ),
        RuleKind::Condition { branches, otherwise } => {
            branches.iter().any(|(_, rules)| maps_in(rules)) || maps_in(otherwise)
        }
        RuleKind::Fragment(rules) => maps_in(rules),
        _ => false,
    })
}

/// The outcome that a condition sets to one identifier or, otherwise, to another.
fn words(rules: &[Rule]) -> Option<(Box<str>, Box<str>, Box<str>)> {
    rules.iter().find_map(|rule| {
        let RuleKind::Condition { branches, otherwise } = &rule.kind else { return None };
        let (outcome, right) = identifier_set(&branches.first()?.1)?;
        let (_, wrong) = identifier_set(otherwise).filter(|(other, _)| *other == outcome)?;
        Some((outcome, right, wrong))
    })
}

fn identifier_set(rules: &[Rule]) -> Option<(Box<str>, Box<str>)> {
    rules.iter().find_map(|rule| match &rule.kind {
        RuleKind::Set { target: VariableTarget::Outcome, identifier, expression } => {
            match &expression.kind {
                ExpressionKind::BaseValue(value) => match value.single() {
                    Some(Scalar::Identifier(word)) => Some((identifier.clone(), word.clone())),
                    _ => None,
                },
                _ => None,
            }
        }
        _ => None,
    })
}

/// An outcome that is set to what a variable holds: what inline feedback is chosen by.
fn inline(rules: &[Rule]) -> Option<(&str, &str)> {
    rules.iter().find_map(|rule| match &rule.kind {
        RuleKind::Set { target: VariableTarget::Outcome, identifier: outcome, expression } => {
            match &expression.kind {
                ExpressionKind::Variable { identifier, .. } => Some((&**outcome, &**identifier)),
                _ => None,
            }
        }
        _ => None,
    })
}
