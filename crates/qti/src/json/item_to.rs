//! An item as JSON.

use serde_json::{Map, Value as Json};

use super::content::content;
use super::form::{
    CorrectResponse, FeedbackForm, InlineFeedbackForm, ItemForm, MapEntryForm, MappingForm,
    OutcomeForm, ProcessingForm, ResponseForm, RubricForm, StimulusReferenceForm, with_xml,
};
use crate::model::{
    ExpressionKind, Feedback, FeedbackKind, InteractionKind as Kind, Item, MapEntry,
    OutcomeDeclaration, ResponseDeclaration, ResponseProcessing, ResponseTemplate, Rule, RuleKind,
    VariableTarget,
};
use crate::value::Scalar;
use crate::{DocumentContent, Faults, another, parsed, read_document};

/// An item as clients read it: an [`ItemForm`] with the XML. Errors: the document is not an item.
pub fn item_json(xml: &str) -> Result<Map<String, Json>, Faults> {
    let (document, version) = parsed(xml)?;
    let item = match read_document(&document, version)?.content {
        DocumentContent::Item(item) => item,
        other => return Err(another("qti-assessment-item", &other)),
    };
    let rubric = |rubric: &crate::model::Rubric| RubricForm {
        usage: rubric.usage.as_deref().map(str::to_owned),
        view: rubric.views.join(" "),
        body: rubric.text.clone(),
    };
    let form = ItemForm {
        identifier: item.identifier.to_string(),
        title: item.title.to_string(),
        interaction_type: kind(&item),
        interaction_types: item.interactions.iter().map(|i| i.kind.name()).collect(),
        qti_version: item.version.name(),
        time_dependent: item.time_dependent,
        adaptive: item.adaptive,
        response_declarations: item.responses.iter().map(response).collect(),
        outcome_declarations: item.outcomes.iter().map(outcome).collect(),
        response_processing: item.processing.as_ref().map(|rules| processing(&item, rules)),
        modal_feedback: feedback(&item, FeedbackKind::Modal),
        feedback_inline: feedback(&item, FeedbackKind::Inline),
        feedback_block: feedback(&item, FeedbackKind::Block),
        rubrics: item.rubrics.iter().map(rubric).collect(),
        stimulus: item.stimuli.first().map(|stimulus| StimulusReferenceForm {
            identifier: stimulus.identifier.to_string(),
            href: stimulus.href.to_string(),
            title: stimulus.title.as_deref().map(str::to_owned),
        }),
        content: content(document.root()),
    };
    Ok(with_xml(&form, xml))
}

/// The type of an item is the name of its first interaction. Clients know 17 of the 22 interactions; the others have the
/// name of a similar one.
fn kind(item: &Item) -> &'static str {
    match item.interactions.first().map(|interaction| interaction.kind) {
        None | Some(Kind::Custom | Kind::PortableCustom) => Kind::ExtendedText.name(),
        Some(Kind::GapMatch) => Kind::Match.name(),
        Some(Kind::PositionObject) => Kind::SelectPoint.name(),
        Some(Kind::EndAttempt) => Kind::Choice.name(),
        Some(kind) => kind.name(),
    }
}

fn response(response: &ResponseDeclaration) -> ResponseForm {
    let own = &response.declaration;
    let entry = |entry: &MapEntry| MapEntryForm {
        map_key: entry.key.to_string(),
        mapped_value: entry.mapped,
        case_sensitive: entry.case_sensitive,
    };
    let mapping = response.mapping.as_ref().map(|mapping| MappingForm {
        default_value: mapping.default,
        lower_bound: mapping.lower,
        upper_bound: mapping.upper,
        map_entries: mapping.entries.iter().map(entry).collect(),
    });
    let correct = response.correct.scalars().iter().map(ToString::to_string);
    ResponseForm {
        identifier: own.identifier.to_string(),
        cardinality: own.cardinality,
        base_type: own.base_type,
        correct_response: CorrectResponse { value: correct.collect() },
        mapping,
    }
}

fn outcome(outcome: &OutcomeDeclaration) -> OutcomeForm {
    let own = &outcome.declaration;
    OutcomeForm {
        identifier: own.identifier.to_string(),
        cardinality: own.cardinality,
        base_type: own.base_type,
    }
}

fn feedback(item: &Item, kind: FeedbackKind) -> Vec<FeedbackForm> {
    let form = |feedback: &Feedback| FeedbackForm {
        outcome_identifier: feedback.outcome.to_string(),
        identifier: feedback.identifier.to_string(),
        show_hide: if feedback.show { "show" } else { "hide" },
        content: feedback.content.clone(),
        title: (kind == FeedbackKind::Modal)
            .then(|| feedback.title.as_deref().unwrap_or_default().to_owned()),
    };
    item.feedback.iter().filter(|feedback| feedback.kind == kind).map(form).collect()
}

/// The processing of the first response, and the values of the outcome that chooses feedback.
fn processing(item: &Item, processing: &ResponseProcessing) -> ProcessingForm {
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
    let found = two_identifiers(&processing.rules);
    let (outcome, right, wrong) = match &found {
        Some((outcome, right, wrong)) => (&**outcome, &**right, &**wrong),
        None => ("FEEDBACK", "CORRECT", "INCORRECT"),
    };
    let maps = maps || maps_in(&processing.rules);
    let inline_feedback = inline(&processing.rules).map(|(outcome, variable)| InlineFeedbackForm {
        outcome_identifier: outcome.to_owned(),
        variable_identifier: variable.to_owned(),
    });
    ProcessingForm {
        template_type: if maps { "map_response" } else { "match_correct" },
        response_declaration_identifier: response.to_owned(),
        outcome_identifier: outcome.to_owned(),
        correct_response_identifier: right.to_owned(),
        incorrect_response_identifier: wrong.to_owned(),
        inline_feedback,
    }
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
fn two_identifiers(rules: &[Rule]) -> Option<(Box<str>, Box<str>, Box<str>)> {
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
