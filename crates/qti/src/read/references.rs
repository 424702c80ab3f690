//! Names inside an item that must be the names of something.

use std::collections::{HashMap, HashSet};

use super::DocumentReader;
use crate::model::{Declaration, InteractionKind, Item, ResponseDeclaration};
use crate::validate::near;
use crate::value::{BaseType, Cardinality};
use crate::xml::{Element, ElementNamespace};

/// Outcomes and responses that every item has without declaring them (QTI 3.0, 2.11).
const BUILT_IN: [&str; 4] = ["completionStatus", "completion_status", "numAttempts", "duration"];

impl DocumentReader<'_> {
    /// Checks the names of variables and the shapes of responses.
    pub(super) fn references(&mut self, root: Element<'_>, item: &Item) {
        let declared = DeclaredNames::of(item);
        self.unique(root);
        for element in root.descendants().filter(|e| e.space() == ElementNamespace::Qti3) {
            for (attribute, kinds) in references(element.name()) {
                let Some(name) = element.attribute(attribute).map(str::trim) else { continue };
                self.reference(element, name, kinds, &declared);
            }
        }
        self.shapes(root, item);
    }

    fn unique(&mut self, root: Element<'_>) {
        let mut seen = HashSet::new();
        let declarations = root.elements().filter(|e| e.name().ends_with("-declaration"));
        for element in declarations {
            let Some(name) = element.attribute("identifier").map(str::trim) else { continue };
            if !seen.insert(name) {
                self.wrong(
                    element,
                    format!("two variables have the name '{name}'"),
                    "give each variable its own name",
                );
            }
        }
    }

    fn reference(
        &mut self,
        element: Element<'_>,
        name: &str,
        kinds: &'static [NameKind],
        declared: &DeclaredNames<'_>,
    ) {
        if name.is_empty() || declared.has(name, kinds) || self.found.is_full() {
            return;
        }
        let known = kinds.iter().flat_map(|kind| declared.names(*kind).iter().copied());
        let remedy = near(name, known).unwrap_or_else(|| match kinds {
            [NameKind::Response] => "declare it with qti-response-declaration".into(),
            [NameKind::Outcome] => "declare it with qti-outcome-declaration".into(),
            [NameKind::Template] => "declare it with qti-template-declaration".into(),
            _ => "declare the variable".into(),
        });
        let what = match kinds {
            [NameKind::Response] => "response variable",
            [NameKind::Outcome] => "outcome variable",
            [NameKind::Template] => "template variable",
            _ => "variable",
        };
        let message = format!("there is no {what} '{name}'");
        // The schema accepts it, and what is not declared is only not computed or not shown.
        match kinds {
            [NameKind::Outcome] => self.found.warning(element, message, remedy),
            _ => self.wrong(element, message, remedy),
        }
    }

    /// Whether each interaction's response has the shape of its answers.
    fn shapes(&mut self, root: Element<'_>, item: &Item) {
        let elements: Vec<Element<'_>> = root
            .descendants()
            .filter(|e| InteractionKind::of_element(e.name()).is_some())
            .collect();
        let named = |response| (&*declaration_of(response).identifier, response);
        let responses: HashMap<_, _> = item.responses.iter().map(named).collect();
        for (interaction, element) in item.interactions.iter().zip(elements) {
            let Some(&response) = responses.get(&*interaction.response) else { continue };
            let declaration = &response.declaration;
            if !interaction.kind.takes(declaration.cardinality, declaration.base_type) {
                self.found.warning(
                    element,
                    format!(
                        "the response '{}' of cardinality '{}' and base type '{}' does not fit a {} \
                         interaction",
                        interaction.response,
                        declaration.cardinality.name(),
                        declaration.base_type.map_or("none", BaseType::name),
                        interaction.kind.name(),
                    ),
                    "declare it as the standard says for this interaction",
                );
            }
            if declaration.cardinality == Cardinality::Single
                && interaction.max.is_none_or(|max| max > 1)
                && matches!(interaction.kind.name(), "choice" | "hotspot" | "hottext")
            {
                self.found.warning(
                    element,
                    format!(
                        "the interaction allows several choices, but '{}' can contain only one",
                        interaction.response
                    ),
                    "write cardinality=\"multiple\" or max-choices=\"1\"",
                );
            }
        }
        self.correct(root, item);
    }

    /// Whether the correct responses name choices that there are. No learner could give another one.
    fn correct(&mut self, root: Element<'_>, item: &Item) {
        let mut offers: HashMap<&str, Vec<&str>> = HashMap::new();
        for interaction in item.interactions.iter().filter(|one| !one.choices.is_empty()) {
            let all = interaction.choices.iter().chain(&interaction.targets);
            let names = offers.entry(&interaction.response).or_default();
            names.extend(all.map(|choice| &*choice.identifier));
        }
        let elements = root.all("qti-response-declaration");
        for (response, element) in item.responses.iter().zip(elements) {
            let name = &*declaration_of(response).identifier;
            let Some(known) = offers.get(name) else { continue };
            let of_name: HashSet<&str> = known.iter().copied().collect();
            let texts: Vec<String> =
                response.correct.scalars().iter().map(ToString::to_string).collect();
            let words = texts.iter().flat_map(|text| text.split_whitespace());
            for word in words.filter(|word| !of_name.contains(word)) {
                if self.found.is_full() {
                    return;
                }
                self.wrong(
                    element,
                    format!(
                        "the correct response of '{name}' is '{word}', but no choice has this \
                         identifier"
                    ),
                    near(word, known.iter().copied())
                        .unwrap_or_else(|| "write the identifier of a choice".into()),
                );
            }
        }
    }
}

fn declaration_of(response: &ResponseDeclaration) -> &Declaration {
    &response.declaration
}

/// Sorts of names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NameKind {
    Response,
    Outcome,
    Template,
    Context,
}

/// The attributes of an element that are references, with the kinds of names that they may contain.
fn references(element: &str) -> &'static [(&'static str, &'static [NameKind])] {
    use NameKind::{Context, Outcome, Response, Template};
    match element {
        "qti-variable" | "qti-default" => {
            &[("identifier", &[Response, Outcome, Template, Context])]
        }
        "qti-correct"
        | "qti-map-response"
        | "qti-map-response-point"
        | "qti-set-correct-response" => &[("identifier", &[Response])],
        "qti-set-outcome-value" | "qti-lookup-outcome-value" => &[("identifier", &[Outcome])],
        "qti-set-template-value" => &[("identifier", &[Template])],
        "qti-set-default-value" => &[("identifier", &[Response, Outcome])],
        "qti-feedback-inline" | "qti-feedback-block" | "qti-modal-feedback" => {
            &[("outcome-identifier", &[Outcome])]
        }
        "qti-template-inline" | "qti-template-block" => &[("template-identifier", &[Template])],
        "qti-printed-variable" => &[("identifier", &[Outcome, Template, Response, Context])],
        name if name.ends_with("-interaction") => {
            &[("response-identifier", &[Response]), ("string-identifier", &[Response])]
        }
        _ => &[],
    }
}

struct DeclaredNames<'i> {
    responses: HashSet<&'i str>,
    outcomes: HashSet<&'i str>,
    templates: HashSet<&'i str>,
    contexts: HashSet<&'i str>,
}

impl<'i> DeclaredNames<'i> {
    fn of(item: &'i Item) -> Self {
        Self {
            responses: item.responses.iter().map(|r| &*r.declaration.identifier).collect(),
            outcomes: item.outcomes.iter().map(|o| &*o.declaration.identifier).collect(),
            templates: item.templates.iter().map(|t| &*t.declaration.identifier).collect(),
            contexts: item.contexts.iter().map(|c| &*c.identifier).collect(),
        }
    }

    fn names(&self, kind: NameKind) -> &HashSet<&'i str> {
        match kind {
            NameKind::Response => &self.responses,
            NameKind::Outcome => &self.outcomes,
            NameKind::Template => &self.templates,
            NameKind::Context => &self.contexts,
        }
    }

    fn has(&self, name: &str, kinds: &[NameKind]) -> bool {
        let built_in = kinds.iter().any(|k| matches!(k, NameKind::Outcome | NameKind::Response))
            && BUILT_IN.contains(&name);
        // QTI_CONTEXT exists without a declaration.
        built_in
            || name == "QTI_CONTEXT"
            || kinds.iter().any(|kind| self.names(*kind).contains(name))
    }
}
