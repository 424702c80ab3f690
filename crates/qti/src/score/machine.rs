//! Runs rules over variables, counts steps, keeps the trace.

use std::borrow::Cow;

use lyceum_core::random::RandomStream;

use super::trace::Trace;
use super::variables::{VariableKind, Variables};
use crate::limits::QTI_STEPS_MAX_COUNT;
use crate::model::{Expression, LookupTable, Parameter, Rule, RuleKind, VariableTarget};
use crate::value::{Scalar, Value};

/// The reason why rules stopped before their end.
pub(crate) enum RuleStop {
    /// An exit rule.
    Exit,
    /// A template constraint that is not true.
    Constraint,
}

pub(crate) struct RuleMachine<'i, 'r> {
    pub(super) variables: Variables<'i>,
    pub(super) random: &'r mut RandomStream,
    steps: usize,
    trace: Option<Trace>,
}

impl<'i, 'r> RuleMachine<'i, 'r> {
    pub(crate) fn new(
        variables: Variables<'i>,
        random: &'r mut RandomStream,
        trace: Option<Trace>,
    ) -> Self {
        Self { variables, random, steps: 0, trace }
    }

    pub(crate) fn done(self) -> (Variables<'i>, Option<Trace>) {
        (self.variables, self.trace)
    }

    /// Runs rules to their end or to an exit.
    pub(crate) fn run_all(&mut self, rules: &[Rule]) {
        drop(self.run(rules));
    }

    pub(crate) fn run(&mut self, rules: &[Rule]) -> Result<(), RuleStop> {
        rules.iter().try_for_each(|rule| self.rule(rule))
    }

    fn rule(&mut self, rule: &Rule) -> Result<(), RuleStop> {
        let step = self.enter(rule.name, rule.line, "");
        let done = self.step(rule, step);
        self.leave();
        done
    }

    fn step(&mut self, rule: &Rule, step: Option<usize>) -> Result<(), RuleStop> {
        match &rule.kind {
            RuleKind::Condition { branches, otherwise } => {
                for (index, (expression, rules)) in branches.iter().enumerate() {
                    if truth(&self.evaluate(expression)) {
                        self.set_result(step, || match index {
                            0 => "if".to_owned(),
                            n => format!("else-if {n}"),
                        });
                        return self.run(rules);
                    }
                }
                self.set_result(step, || "else".to_owned());
                self.run(otherwise)
            }
            RuleKind::Set { target, identifier, expression } => {
                let value = self.evaluate(expression);
                self.set(*target, identifier, value, step);
                Ok(())
            }
            RuleKind::Lookup { identifier, expression } => {
                let source = self.evaluate(expression);
                let outcome = self.variables.get(identifier).and_then(|v| v.outcome);
                let value = match outcome.and_then(|o| o.lookup.as_ref()) {
                    Some(table) => looked_up(table, &source),
                    None => Value::Null,
                };
                self.set(VariableTarget::Outcome, identifier, value, step);
                Ok(())
            }
            RuleKind::Fragment(rules) => self.run(rules),
            RuleKind::Exit => Err(RuleStop::Exit),
            RuleKind::Constraint(expression) => match truth(&self.evaluate(expression)) {
                true => Ok(()),
                false => Err(RuleStop::Constraint),
            },
        }
    }

    fn set(&mut self, target: VariableTarget, identifier: &str, value: Value, step: Option<usize>) {
        let wanted = match target {
            VariableTarget::Outcome => &[VariableKind::Outcome][..],
            VariableTarget::Template => &[VariableKind::Template],
            VariableTarget::Correct => &[VariableKind::Response],
            VariableTarget::Default => &[VariableKind::Response, VariableKind::Outcome],
        };
        let variable = self.variables.get_mut(identifier);
        let Some(variable) = variable.filter(|v| wanted.contains(&v.sort)) else {
            return self.set_result(step, || format!("{identifier} is not declared for this"));
        };
        let shown = step.map(|_| value.to_string());
        let (text, value) = match variable.fitting(value) {
            Some(value) => (shown.map(|_| format!("{identifier} := {value}")), value),
            None => {
                let text = |value| format!("{identifier} := NULL, for it cannot hold {value}");
                (shown.map(text), Value::Null)
            }
        };
        let place = match target {
            VariableTarget::Outcome | VariableTarget::Template => &mut variable.value,
            VariableTarget::Correct => &mut variable.correct,
            VariableTarget::Default => &mut variable.default,
        };
        *place = Cow::Owned(value);
        self.set_result(step, || text.unwrap_or_default());
    }

    /// Counts work. Returns false after too much work; the result is NULL then.
    pub(super) fn charge(&mut self, work: usize) -> bool {
        self.steps = self.steps.saturating_add(work);
        self.steps <= QTI_STEPS_MAX_COUNT
    }

    /// The value of an expression, written to the trace.
    pub(crate) fn evaluate(&mut self, expression: &Expression) -> Value {
        if !self.charge(1) {
            return Value::Null;
        }
        let step = self.enter(expression.name, expression.line, expression.kind.about());
        let value = self.value(&expression.kind);
        self.set_result(step, || value.to_string());
        self.leave();
        value
    }

    /// A whole number written down or held by a variable.
    pub(super) fn integer(&self, bound: &Parameter<i64>) -> Option<i64> {
        match bound {
            Parameter::Literal(integer) => Some(*integer),
            Parameter::Variable(name) => match self.variables.get(name)?.value.single()? {
                Scalar::Integer(integer) => Some(*integer),
                scalar => super::variables::whole_number(scalar.number()?),
            },
        }
    }

    /// A number written down or held by a variable.
    pub(super) fn number(&self, bound: &Parameter<f64>) -> Option<f64> {
        match bound {
            Parameter::Literal(number) => Some(*number),
            Parameter::Variable(name) => self.variables.get(name)?.value.as_number(),
        }
    }

    fn enter(&mut self, name: &'static str, line: u32, about: &str) -> Option<usize> {
        self.trace.as_mut().and_then(|trace| trace.enter(name, line, about))
    }

    fn leave(&mut self) {
        if let Some(trace) = &mut self.trace {
            trace.leave();
        }
    }

    fn set_result(&mut self, step: Option<usize>, result: impl FnOnce() -> String) {
        if let (Some(trace), Some(step)) = (&mut self.trace, step) {
            trace.set_result(step, result());
        }
    }
}

/// Whether a condition holds: NULL does not; a number does unless it is 0, a text or container does
/// unless it is empty.
pub(super) fn truth(value: &Value) -> bool {
    match value {
        Value::Single(Scalar::Boolean(value)) => *value,
        Value::Single(scalar) if scalar.base_type().is_number() => scalar.number() != Some(0.0),
        other => !other.is_null(),
    }
}

/// QTI 3.0, lookupTable: the entry of the integer, or the first range that holds the number.
fn looked_up(table: &LookupTable, source: &Value) -> Value {
    match table {
        LookupTable::Match { entries, default } => {
            let source = source.as_number().and_then(super::variables::whole_number);
            let entry = entries.iter().find(|(own, _)| Some(*own) == source);
            entry.map_or(default, |(_, target)| target).clone()
        }
        LookupTable::Interpolation { entries, default } => {
            let holds = |begins: f64, included: bool, number: f64| match included {
                true => number >= begins,
                false => number > begins,
            };
            let entry = source.as_number().and_then(|number| {
                entries.iter().find(|e| holds(e.source, e.include_boundary, number))
            });
            entry.map_or(default, |entry| &entry.target).clone()
        }
    }
}
