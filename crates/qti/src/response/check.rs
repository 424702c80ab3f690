//! Answers against the rules of their interactions: how many, which, how often, of what form.

use std::collections::{HashMap, HashSet};

use lyceum_core::{Message, message};

use super::{ResponseFault, Responses};
use crate::model::{Choice, Interaction, InteractionDetails, InteractionKind as Kind, Item};
use crate::printed::in_base;
use crate::value::{Scalar, Value};

/// The errors for which a delivery engine refuses responses that it validates (`validate-responses`). An answer that
/// follows all rules has no errors. A missing answer follows them if no answer is required. Without validation, an
/// answer all of whose faults are [`ResponseFault::is_scored`] is invalid and scored.
pub fn check(item: &Item, responses: &Responses) -> Vec<ResponseFault> {
    let mut faults = Vec::new();
    for interaction in &item.interactions {
        let value = responses.get(&interaction.response).unwrap_or(&Value::Null);
        ResponseCheck { interaction, value, faults: &mut faults }.run();
    }
    faults
}

struct ResponseCheck<'c> {
    interaction: &'c Interaction,
    value: &'c Value,
    faults: &'c mut Vec<ResponseFault>,
}

impl ResponseCheck<'_> {
    fn run(&mut self) {
        match self.interaction.kind {
            Kind::Choice | Kind::Hotspot | Kind::Hottext | Kind::InlineChoice => {
                self.number("choices");
                self.known_once();
            }
            Kind::Order | Kind::GraphicOrder => {
                if !self.value.is_null() || self.interaction.min == 0 {
                    self.number("choices");
                }
                self.known_once();
            }
            Kind::Associate
            | Kind::GraphicAssociate
            | Kind::Match
            | Kind::GapMatch
            | Kind::GraphicGapMatch => {
                self.number("associations");
                self.pairs();
            }
            Kind::SelectPoint | Kind::PositionObject => self.number("points"),
            Kind::TextEntry | Kind::ExtendedText => self.text(),
            Kind::Slider => self.slider(),
            Kind::Media => self.plays(),
            Kind::Upload => self.upload(),
            Kind::Custom | Kind::Drawing | Kind::EndAttempt | Kind::PortableCustom => {}
        }
    }

    /// A rule of the interaction that the answer breaks, though each of its values is one.
    fn breach(&mut self, message: impl Into<Message>, remedy: impl Into<Message>) {
        self.faults.push(ResponseFault::of_scored(&self.interaction.response, message, remedy));
    }

    /// More than the interaction allows.
    fn excess(&mut self, message: impl Into<Message>, remedy: impl Into<Message>) {
        let fault = ResponseFault::of_scored(&self.interaction.response, message, remedy);
        self.faults.push(ResponseFault { is_excess: true, ..fault });
    }

    fn fault(&mut self, message: impl Into<Message>, remedy: impl Into<Message>) {
        self.faults.push(ResponseFault::new(&self.interaction.response, message, remedy));
    }

    /// Checks that the number of values is what the interaction requires.
    fn number(&mut self, what: &str) {
        let count = self.value.scalars().len();
        let (min, max) = (self.interaction.min, self.interaction.max);
        if count < min as usize {
            self.breach(
                message!("{count} {what}, but the minimum is {min}"),
                message!("give at least {min}"),
            );
        } else if let Some(max) = max.filter(|max| count > *max as usize) {
            self.excess(
                message!("{count} {what}, but the maximum is {max}"),
                message!("give at most {max}"),
            );
        }
    }

    fn known_once(&mut self) {
        let known: HashSet<&str> = identifiers(&self.interaction.choices);
        let mut seen = HashSet::new();
        for scalar in self.value.scalars() {
            let name = scalar.text().unwrap_or_default();
            if !known.contains(name) {
                self.unknown(name);
            } else if !seen.insert(name) {
                self.fault(message!("'{name}' is chosen twice"), "choose it once");
            }
        }
    }

    fn unknown(&mut self, name: &str) {
        let known = self.interaction.choices.iter().chain(&self.interaction.targets);
        let known: Vec<&str> = known.map(|choice| &*choice.identifier).take(20).collect();
        let remedy = message!("choose one of {known}", known = known.join(", "));
        self.fault(message!("'{name}' is not a choice"), remedy);
    }

    /// Pairs: both ends must be there, be allowed to meet, and be in as many pairs as they may.
    fn pairs(&mut self) {
        let interaction = self.interaction;
        let directed = !matches!(interaction.kind, Kind::Associate | Kind::GraphicAssociate);
        let sources = by_name(&interaction.choices);
        let targets = match directed {
            true => by_name(&interaction.targets),
            false => by_name(&interaction.choices),
        };
        let mut uses: HashMap<&str, u32> = HashMap::new();
        let mut seen: Vec<&Scalar> = Vec::new();
        for scalar in self.value.scalars() {
            let (Scalar::Pair(a, b) | Scalar::DirectedPair(a, b)) = scalar else { continue };
            let (Some(from), Some(to)) = (sources.get(&**a), targets.get(&**b)) else {
                let name = if sources.contains_key(&**a) { b } else { a };
                self.unknown(name);
                continue;
            };
            if !may_meet(from, to) {
                self.breach(
                    message!("'{a}' and '{b}' must not be paired"),
                    "pair choices of the same match group",
                );
            }
            if seen.contains(&scalar) {
                self.fault(message!("'{a}' and '{b}' are paired twice"), "pair them once");
            }
            seen.push(scalar);
            *uses.entry(a).or_default() += 1;
            *uses.entry(b).or_default() += 1;
        }
        self.uses(&uses);
    }

    fn uses(&mut self, uses: &HashMap<&str, u32>) {
        let interaction = self.interaction;
        for choice in interaction.choices.iter().chain(&interaction.targets) {
            let name = &choice.identifier;
            let count = uses.get(&**name).copied().unwrap_or(0);
            if let Some(max) = choice.match_max.filter(|max| count > *max) {
                self.excess(
                    message!("'{name}' is in {count} pairs, but the maximum is {max}"),
                    message!("use it in at most {max}"),
                );
            }
            let min = choice.match_min.max(u32::from(choice.required));
            if count < min {
                self.breach(
                    message!("'{name}' is in {count} pairs, but the minimum is {min}"),
                    message!("use it in at least {min}"),
                );
            }
        }
    }

    fn text(&mut self) {
        let InteractionDetails::Text(details) = &self.interaction.details else { return };
        if self.interaction.kind == Kind::ExtendedText && self.interaction.max != Some(0) {
            self.number("texts");
        }
        let Some(pattern) = &details.pattern else { return };
        for scalar in self.value.scalars().iter().filter(|_| !self.value.is_null()) {
            let text = match scalar {
                Scalar::Integer(number) => in_base(*number, details.base),
                scalar => scalar.to_string(),
            };
            if !pattern.matches(&text) {
                let remedy =
                    message!("write it so that it matches {source}", source = pattern.source());
                self.faults.push(ResponseFault::of_scored(
                    &self.interaction.response,
                    message!("'{text}' does not have the required form", text = shortened(&text)),
                    remedy,
                ));
            }
        }
    }

    fn slider(&mut self) {
        let InteractionDetails::Slider { lower, upper, step } = self.interaction.details else {
            return;
        };
        let Some(number) = self.value.as_number() else { return };
        if !(lower..=upper).contains(&number) {
            let remedy = message!("choose from {lower} to {upper}");
            return self.fault(message!("{number} is outside of the scale"), remedy);
        }
        let steps = (number - lower) / step;
        if step > 0.0 && (steps - steps.round()).abs() > 1e-6 {
            let remedy = message!("choose {lower} plus a whole number of steps of {step}");
            self.fault(message!("{number} lies between two steps"), remedy);
        }
    }

    fn plays(&mut self) {
        let (min, max) = (self.interaction.min, self.interaction.max);
        let Some(Scalar::Integer(plays)) = self.value.single() else { return };
        if *plays < i64::from(min) {
            self.breach(
                message!("it was played {plays} times, but must be played at least {min} times"),
                "play it again",
            );
        } else if let Some(max) = max.filter(|max| *plays > i64::from(*max)) {
            self.breach(
                message!("it was played {plays} times, but may be played at most {max} times"),
                "play it less often",
            );
        }
    }

    fn upload(&mut self) {
        let InteractionDetails::Upload(types) = &self.interaction.details else { return };
        let Some(Scalar::File(file)) = self.value.single() else { return };
        let allowed = |wanted: &str| match wanted.strip_suffix("/*") {
            Some(family) => file.media_type.split('/').next() == Some(family),
            None => file.media_type == wanted,
        };
        let is_comparable = !types.is_empty() && !file.media_type.is_empty();
        if is_comparable && !types.iter().any(|wanted| allowed(wanted)) {
            let remedy = message!("upload a file of the type {types}", types = types.join(", "));
            self.fault(message!("a file of the type {file.media_type}"), remedy);
        }
    }
}

fn identifiers(choices: &[Choice]) -> HashSet<&str> {
    choices.iter().map(|choice| &*choice.identifier).collect()
}

fn by_name(choices: &[Choice]) -> HashMap<&str, &Choice> {
    choices.iter().map(|choice| (&*choice.identifier, choice)).collect()
}

/// A match group names what a choice may be paired with; if one of them has such, it decides.
fn may_meet(from: &Choice, to: &Choice) -> bool {
    let names = |group: &[Box<str>], other: &Choice| {
        group.is_empty()
            || group.contains(&other.identifier)
            || group.iter().any(|name| other.match_group.contains(name))
    };
    names(&from.match_group, to) && names(&to.match_group, from)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
