//! Template processing: one item made many.

use std::borrow::Cow;

use lyceum_core::random::RandomStream;

use super::machine::{RuleMachine, RuleStop};
use super::variables::{Variable, VariableKind, Variables};
use crate::limits::QTI_TEMPLATE_MAX_ATTEMPTS;
use crate::model::Item;
use crate::value::Value;

/// The values that template processing set. The same item and random stream give the same values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variant {
    values: Vec<(Box<str>, Value)>,
    corrects: Vec<(Box<str>, Value)>,
    defaults: Vec<(Box<str>, Value)>,
}

/// Runs template processing. A constraint that is not true starts it over, a bounded number of
/// times; after that, and for an item without it, variables have their defaults.
pub fn variant(item: &Item, random: &mut RandomStream) -> Variant {
    for _ in 0..QTI_TEMPLATE_MAX_ATTEMPTS {
        let mut machine = RuleMachine::new(Variables::of_item(item), random, None);
        if !matches!(machine.run(&item.template_processing), Err(RuleStop::Constraint)) {
            return Variant::of(machine.done().0);
        }
    }
    Variant::of(Variables::of_item(item))
}

impl Variant {
    fn of(variables: Variables<'_>) -> Self {
        let mut variant = Self::default();
        for variable in variables.into_list() {
            let name: Box<str> = variable.name.into();
            if variable.sort == VariableKind::Template {
                variant.values.push((name, variable.value.into_owned()));
                continue;
            }
            if let Cow::Owned(correct) = variable.correct {
                variant.corrects.push((name.clone(), correct));
            }
            if let Cow::Owned(default) = variable.default {
                variant.defaults.push((name, default));
            }
        }
        variant
    }

    /// The value of a template variable.
    pub fn get(&self, name: &str) -> Option<&Value> {
        of(&self.values, name)
    }

    /// The correct value of a response in this variant, if template processing set it.
    pub fn correct(&self, name: &str) -> Option<&Value> {
        of(&self.corrects, name)
    }

    pub(super) fn apply<'i>(&'i self, variable: &mut Variable<'i>) {
        if let Some(value) =
            self.get(variable.name).filter(|_| variable.sort == VariableKind::Template)
        {
            variable.value = Cow::Borrowed(value);
        }
        if let Some(correct) = self.correct(variable.name) {
            variable.correct = Cow::Borrowed(correct);
        }
        if let Some(default) = of(&self.defaults, variable.name) {
            variable.default = Cow::Borrowed(default);
        }
    }
}

fn of<'v>(values: &'v [(Box<str>, Value)], name: &str) -> Option<&'v Value> {
    values.iter().find(|(own, _)| &**own == name).map(|(_, value)| value)
}
