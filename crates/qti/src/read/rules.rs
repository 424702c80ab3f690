//! Rules of response, outcome and template processing: one shape for the three.

use super::{DocumentReader, identifier, line, name};
use crate::model::{Rule, RuleKind, VariableTarget};
use crate::xml::Element;

impl DocumentReader<'_> {
    /// The rules inside an element; expressions among them are skipped.
    pub(super) fn rules(&mut self, parent: Element<'_>) -> Vec<Rule> {
        parent.elements().filter_map(|element| self.rule(element)).collect()
    }

    fn rule(&mut self, element: Element<'_>) -> Option<Rule> {
        let mut set = |target| RuleKind::Set {
            target,
            identifier: identifier(element, "identifier"),
            expression: self.expression_in(element),
        };
        let kind = match element.name() {
            "qti-set-outcome-value" => set(VariableTarget::Outcome),
            "qti-set-template-value" => set(VariableTarget::Template),
            "qti-set-default-value" => set(VariableTarget::Default),
            "qti-set-correct-response" => set(VariableTarget::Correct),
            "qti-lookup-outcome-value" => RuleKind::Lookup {
                identifier: identifier(element, "identifier"),
                expression: self.expression_in(element),
            },
            "qti-response-condition" | "qti-outcome-condition" | "qti-template-condition" => {
                self.condition(element)
            }
            "qti-response-processing-fragment" | "qti-outcome-processing-fragment" => {
                RuleKind::Fragment(self.rules(element))
            }
            "qti-exit-response" | "qti-exit-test" | "qti-exit-template" => RuleKind::Exit,
            "qti-template-constraint" => RuleKind::Constraint(self.expression_in(element)),
            "include" => {
                self.found.warning(
                    element,
                    "xi:include is not supported, because it could refer to any file",
                    "write the rules here",
                );
                return None;
            }
            _ => return None,
        };
        Some(Rule { name: name(element), line: line(element), kind })
    }

    fn condition(&mut self, element: Element<'_>) -> RuleKind {
        let (mut branches, mut otherwise) = (Vec::new(), Vec::new());
        for branch in element.elements() {
            if branch.name().ends_with("-if") {
                branches.push((self.expression_in(branch), self.rules(branch)));
            } else if branch.name().ends_with("-else") {
                otherwise = self.rules(branch);
            }
        }
        RuleKind::Condition { branches, otherwise }
    }
}
