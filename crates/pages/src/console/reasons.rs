//! The reasons to help a student in words.

use lyceum_bridge::need::{NeedReason, NeedRule, RuleCondition, RuleMeasure, RulePeriod};
use lyceum_console::{t, words};

/// The finding of a rule about a student.
pub(super) fn finding(reason: &NeedReason) -> String {
    let share = || words::percent(reason.value * 100.0);
    let (number, of) = (reason.value.floor(), reason.of.round());
    match reason.rule.sign {
        RuleMeasure::Pace => t!("{share} of the XP due by now", share = share()),
        RuleMeasure::Failures => t!("{n} failed attempts at one lesson", n = number),
        RuleMeasure::Accuracy => {
            t!("{share} of {n} answers correct today", share = share(), n = of)
        }
        RuleMeasure::Waste => t!("{share} of {n} min wasted today", share = share(), n = of),
        RuleMeasure::Idle => t!("no activity for {n} min", n = number),
    }
}

/// The condition under which a rule gives a reason.
pub(super) fn condition(rule: &NeedRule) -> String {
    format!("{} {}{}", value(rule), period(rule), least(rule))
}

fn value(rule: &NeedRule) -> String {
    let (RuleCondition::Below(limit) | RuleCondition::Above(limit) | RuleCondition::From(limit)) =
        rule.when;
    let share = || {
        let share = words::percent(limit * 100.0);
        match rule.when {
            RuleCondition::Below(_) => t!("less than {share}", share = share),
            RuleCondition::Above(_) => t!("more than {share}", share = share),
            RuleCondition::From(_) => t!("at least {share}", share = share),
        }
    };
    match rule.sign {
        RuleMeasure::Failures => t!(
            "at least {n} failed attempts at a lesson that is not mastered, the last one",
            n = limit
        ),
        RuleMeasure::Idle => {
            t!("no activity for {n} minutes and the daily goal not reached,", n = limit)
        }
        RuleMeasure::Pace => t!("{share} of the XP due by then", share = share()),
        RuleMeasure::Accuracy => t!("{share} of the answers correct", share = share()),
        RuleMeasure::Waste => t!("{share} of the measured time wasted", share = share()),
    }
}

fn period(rule: &NeedRule) -> String {
    match rule.window {
        RulePeriod::Today => t!("today"),
        RulePeriod::SchoolDay => {
            t!("on school days; the goal is spread evenly over the school hours")
        }
        RulePeriod::Minutes(most) => {
            t!("seen in the last {n} minutes, during school hours", n = most)
        }
    }
}

fn least(rule: &NeedRule) -> String {
    match rule.sign {
        RuleMeasure::Accuracy => t!(", once there are {n} answers", n = rule.least),
        RuleMeasure::Waste => t!(", once {n} minutes are measured", n = rule.least),
        RuleMeasure::Pace => t!(", checked {n} minutes after school begins", n = rule.least),
        RuleMeasure::Failures | RuleMeasure::Idle => String::new(),
    }
}
