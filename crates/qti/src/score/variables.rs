//! The variables of one session and what they hold.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Outcomes, ScoringInput};
use crate::model::{Declaration, Item, OutcomeDeclaration, ResponseDeclaration};
use crate::response::Responses;
use crate::value::{BaseType, Cardinality, Scalar, Value};

/// The names of the variables that every item has.
pub(crate) const COMPLETION: &str = "completionStatus";
pub(crate) const ATTEMPTS: &str = "numAttempts";
pub(crate) const DURATION: &str = "duration";

/// The kind of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VariableKind {
    Response,
    Outcome,
    Template,
    Context,
}

/// A variable and what it holds.
pub(crate) struct Variable<'i> {
    pub(crate) name: &'i str,
    pub(crate) sort: VariableKind,
    pub(crate) cardinality: Cardinality,
    pub(crate) base_type: Option<BaseType>,
    pub(crate) value: Cow<'i, Value>,
    pub(crate) default: Cow<'i, Value>,
    pub(crate) correct: Cow<'i, Value>,
    pub(crate) response: Option<&'i ResponseDeclaration>,
    pub(crate) outcome: Option<&'i OutcomeDeclaration>,
}

/// From how many variables on they are found by a table.
const FEW: usize = 16;

pub(crate) struct Variables<'i> {
    list: Vec<Variable<'i>>,
    table: HashMap<&'i str, usize>,
}

static NULL: Value = Value::Null;

impl<'i> Variable<'i> {
    fn of(sort: VariableKind, declaration: &'i Declaration) -> Self {
        Self {
            name: &declaration.identifier,
            sort,
            cardinality: declaration.cardinality,
            base_type: declaration.base_type,
            value: Cow::Borrowed(&declaration.default),
            default: Cow::Borrowed(&declaration.default),
            correct: Cow::Borrowed(&NULL),
            response: None,
            outcome: None,
        }
    }

    fn built_in(name: &'static str, sort: VariableKind, value: Value) -> Self {
        let base_type = value.single().map(Scalar::base_type);
        Self {
            name,
            sort,
            cardinality: Cardinality::Single,
            base_type,
            value: Cow::Owned(value),
            default: Cow::Borrowed(&NULL),
            correct: Cow::Borrowed(&NULL),
            response: None,
            outcome: None,
        }
    }

    /// The value as this variable holds it: integers become floats and whole floats integers, a
    /// single becomes a container of one. `None` if it cannot hold it.
    pub(crate) fn fitting(&self, value: Value) -> Option<Value> {
        if value.is_null() {
            return Some(Value::Null);
        }
        if self.cardinality == Cardinality::Record {
            return matches!(value, Value::Record(_)).then_some(value);
        }
        let wanted = self.base_type?;
        match (self.cardinality, value) {
            (Cardinality::Single, Value::Single(one)) => fitting(wanted, one).map(Value::Single),
            (Cardinality::Single, Value::Multiple(mut all) | Value::Ordered(mut all)) => {
                let one = all.pop().filter(|_| all.is_empty())?;
                fitting(wanted, one).map(Value::Single)
            }
            (_, Value::Record(_) | Value::Null) => None,
            (cardinality, Value::Single(one)) => {
                Some(Value::container(cardinality, vec![fitting(wanted, one)?]))
            }
            (cardinality, Value::Multiple(all) | Value::Ordered(all)) => {
                let all: Option<Vec<_>> = all.into_iter().map(|one| fitting(wanted, one)).collect();
                Some(Value::container(cardinality, all?))
            }
        }
    }
}

fn fitting(wanted: BaseType, scalar: Scalar) -> Option<Scalar> {
    Some(match (wanted, scalar) {
        (wanted, scalar) if scalar.base_type() == wanted => scalar,
        (BaseType::Float, scalar) => Scalar::Float(scalar.number()?),
        (BaseType::Integer, Scalar::Float(float)) => Scalar::Integer(whole_number(float)?),
        (BaseType::String, scalar) => Scalar::String(scalar.to_string().into()),
        (BaseType::Identifier, Scalar::String(text)) => Scalar::Identifier(text),
        (BaseType::Uri, Scalar::String(text)) => Scalar::Uri(text),
        (BaseType::Pair, Scalar::DirectedPair(a, b)) => Scalar::Pair(a, b),
        (BaseType::DirectedPair, Scalar::Pair(a, b)) => Scalar::DirectedPair(a, b),
        (BaseType::Duration, scalar) => Scalar::Duration(scalar.number()?),
        _ => return None,
    })
}

/// A float that is a whole number, as an integer.
#[expect(clippy::cast_possible_truncation, reason = "it is whole and below 2^63")]
pub(crate) fn whole_number(float: f64) -> Option<i64> {
    (float.fract() == 0.0 && float.abs() < 9.2e18).then_some(float as i64)
}

impl<'i> Variables<'i> {
    /// The variables before response processing: responses as given, outcomes as declared, or as
    /// they were where the item is adaptive.
    pub(crate) fn of_attempt(
        item: &'i Item,
        responses: &'i Responses,
        attempt: ScoringInput<'i>,
    ) -> Self {
        let mut list = Self::declared(item);
        for variable in &mut list {
            if let Some(variant) = attempt.variant {
                variant.apply(variable);
            }
            match variable.sort {
                VariableKind::Response => {
                    variable.value = Cow::Borrowed(responses.get(variable.name).unwrap_or(&NULL));
                }
                VariableKind::Outcome => {
                    let before = attempt.before.filter(|_| item.adaptive);
                    if let Some(before) = before.and_then(|b| b.get(variable.name)) {
                        variable.value = Cow::Borrowed(before);
                    } else if variable.default.is_null() {
                        variable.value = Cow::Owned(initial(variable));
                    } else {
                        variable.value = variable.default.clone();
                    }
                }
                VariableKind::Template | VariableKind::Context => {}
            }
        }
        let status = attempt.before.and_then(|b| b.get(COMPLETION)).cloned();
        let built_in = [
            (
                COMPLETION,
                VariableKind::Outcome,
                status.unwrap_or_else(|| Value::identifier("unknown")),
            ),
            (ATTEMPTS, VariableKind::Response, Value::integer(attempt.number.into())),
            (DURATION, VariableKind::Response, Value::Single(Scalar::Duration(attempt.duration_s))),
        ];
        for (name, sort, value) in built_in {
            if !list.iter().any(|variable| variable.name == name) {
                list.push(Variable::built_in(name, sort, value));
            }
        }
        Self::new(list)
    }

    /// The variables before template processing: as declared.
    pub(crate) fn of_item(item: &'i Item) -> Self {
        Self::new(Self::declared(item))
    }

    fn new(list: Vec<Variable<'i>>) -> Self {
        let table = match list.len() <= FEW {
            true => HashMap::new(),
            // The first of two with one name counts.
            false => list.iter().enumerate().rev().map(|(at, v)| (v.name, at)).collect(),
        };
        Self { list, table }
    }

    fn declared(item: &'i Item) -> Vec<Variable<'i>> {
        let count = item.responses.len() + item.outcomes.len() + item.templates.len() + 3;
        let mut list = Vec::with_capacity(count + item.contexts.len());
        list.extend(item.responses.iter().map(|response| Variable {
            correct: Cow::Borrowed(&response.correct),
            response: Some(response),
            ..Variable::of(VariableKind::Response, &response.declaration)
        }));
        list.extend(item.outcomes.iter().map(|outcome| Variable {
            outcome: Some(outcome),
            ..Variable::of(VariableKind::Outcome, &outcome.declaration)
        }));
        let templates = item.templates.iter();
        list.extend(templates.map(|t| Variable::of(VariableKind::Template, &t.declaration)));
        list.extend(
            item.contexts.iter().map(|context| Variable::of(VariableKind::Context, context)),
        );
        list
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Variable<'i>> {
        self.list.get(self.at(name)?)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Variable<'i>> {
        let at = self.at(name)?;
        self.list.get_mut(at)
    }

    fn at(&self, name: &str) -> Option<usize> {
        // As examples of the standard spell it.
        let name = if name == "completion_status" { COMPLETION } else { name };
        match self.list.len() <= FEW {
            true => self.list.iter().position(|variable| variable.name == name),
            false => self.table.get(name).copied(),
        }
    }

    pub(crate) fn into_list(self) -> Vec<Variable<'i>> {
        self.list
    }

    /// The current values of the outcomes in the order of their declarations. In an adaptive item, `completionStatus`
    /// is last.
    pub(crate) fn outcomes(self, item: &Item) -> Outcomes {
        let shown = |variable: &Variable<'_>| {
            variable.sort == VariableKind::Outcome && (item.adaptive || variable.name != COMPLETION)
        };
        let outcomes = self.list.into_iter().filter(shown);
        Outcomes::new(outcomes.map(|v| (v.name.into(), v.value.into_owned())).collect())
    }
}

/// Numeric outcomes begin at 0, others at NULL (QTI 2.1, 5.2; QTI 3.0, 2.10.3).
fn initial(variable: &Variable<'_>) -> Value {
    match (variable.cardinality, variable.base_type) {
        (Cardinality::Single, Some(BaseType::Integer)) => Value::integer(0),
        (Cardinality::Single, Some(BaseType::Float)) => Value::float(0.0),
        _ => Value::Null,
    }
}
