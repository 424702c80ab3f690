//! The students who need attention now. Rules are data, and each gives a reason to help a student.
//!
//! Students who are behind come first. Today and the API read the same facts, so their sums are equal.

use lyceum_core::phrase;
use lyceum_core::text::folded;
use lyceum_core::time::Timestamp;
use lyceum_events::facts::Measure;

use crate::school_hours::SchoolDay;
use crate::today::StudentDay;

/// The value that a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleMeasure {
    /// XP, as a share of the part of the daily goal that is due by now.
    Pace,
    /// The highest number of failed attempts at one lesson that is not mastered yet.
    Failures,
    /// Correct answers, as a share of all answers.
    Accuracy,
    /// Wasted time, as a share of all measured time.
    Waste,
    /// Minutes since the last event of a student who has not reached the daily goal.
    Idle,
}

/// The condition under which a value is a reason to help.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RuleCondition {
    /// The value is below this.
    Below(f64),
    /// The value is above this.
    Above(f64),
    /// The value is at least this.
    From(f64),
}

/// The time that a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RulePeriod {
    /// The day so far.
    Today,
    /// The school hours of the student's organization so far. The daily goal is spread evenly over them.
    SchoolDay,
    /// The last so many minutes, during school hours.
    Minutes(i64),
}

/// A rule that gives a reason to help a student.
#[derive(Debug, PartialEq)]
pub struct NeedRule {
    /// The name in exports.
    pub id: &'static str,
    /// The title, in two or three words of English.
    pub title: &'static str,
    /// The value that the rule looks at.
    pub sign: RuleMeasure,
    /// The condition on the value.
    pub when: RuleCondition,
    /// The least amount that the value must be computed from: minutes, questions or attempts.
    pub least: f64,
    /// The time that the rule looks at.
    pub window: RulePeriod,
    /// The weight in comparison with the other rules.
    pub weight: u32,
}

/// The value of the rule whose students come before all others.
const BEHIND: RuleMeasure = RuleMeasure::Pace;

/// The rules, the heaviest first.
pub const RULES: &[NeedRule] = &[
    NeedRule {
        id: "behind",
        title: phrase!("Behind pace"),
        sign: RuleMeasure::Pace,
        when: RuleCondition::Below(0.75),
        least: 60.0,
        window: RulePeriod::SchoolDay,
        weight: 50,
    },
    NeedRule {
        id: "failures",
        title: phrase!("Failed repeatedly"),
        sign: RuleMeasure::Failures,
        when: RuleCondition::From(3.0),
        least: 3.0,
        window: RulePeriod::Today,
        weight: 40,
    },
    NeedRule {
        id: "inaccurate",
        title: phrase!("Many mistakes"),
        sign: RuleMeasure::Accuracy,
        when: RuleCondition::Below(0.65),
        least: 10.0,
        window: RulePeriod::Today,
        weight: 30,
    },
    NeedRule {
        id: "waste",
        title: phrase!("Time wasted"),
        sign: RuleMeasure::Waste,
        when: RuleCondition::Above(0.2),
        least: 10.0,
        window: RulePeriod::Today,
        weight: 20,
    },
    NeedRule {
        id: "idle",
        title: phrase!("Stopped"),
        sign: RuleMeasure::Idle,
        when: RuleCondition::From(10.0),
        least: 0.0,
        window: RulePeriod::Minutes(120),
        weight: 15,
    },
    NeedRule {
        id: "easy",
        title: phrase!("Too easy"),
        sign: RuleMeasure::Accuracy,
        when: RuleCondition::Above(0.97),
        least: 20.0,
        window: RulePeriod::Today,
        weight: 5,
    },
];

/// A rule's finding about a student.
#[derive(Clone, Debug, PartialEq)]
pub struct NeedReason {
    /// The rule.
    pub rule: &'static NeedRule,
    /// The value.
    pub value: f64,
    /// The total that the value was computed from.
    pub of: f64,
}

impl NeedReason {
    /// Whether the student is behind the pace of the daily goal.
    pub fn is_behind(&self) -> bool {
        self.rule.sign == BEHIND
    }
}

/// A student with the reasons to help.
#[derive(Clone, Debug)]
pub struct StudentInNeed {
    /// The student's day.
    pub day: StudentDay,
    /// The reasons, in order of weight, heaviest first.
    pub reasons: Vec<NeedReason>,
}

impl StudentInNeed {
    /// Whether the student is behind the pace of the daily goal.
    pub fn is_behind(&self) -> bool {
        self.reasons.iter().any(NeedReason::is_behind)
    }

    fn weight(&self) -> u32 {
        self.reasons.iter().map(|reason| reason.rule.weight).sum()
    }
}

/// The students who need attention now. Students behind their pace come first, then the others by the weight of their
/// reasons.
pub fn students_in_need(
    days: Vec<StudentDay>,
    rules: &'static [NeedRule],
    now: Timestamp,
) -> Vec<StudentInNeed> {
    let mut needs: Vec<StudentInNeed> = days
        .into_iter()
        .map(|day| StudentInNeed { reasons: reasons(&day, rules, now), day })
        .filter(|need| !need.reasons.is_empty())
        .collect();
    needs.sort_by_cached_key(|need| {
        let name = format!("{} {}", need.day.learner.family_name, need.day.learner.given_name);
        (std::cmp::Reverse((need.is_behind(), need.weight())), folded(&name))
    });
    needs
}

/// The reasons that the rules find in a student's day.
pub fn reasons(day: &StudentDay, rules: &'static [NeedRule], now: Timestamp) -> Vec<NeedReason> {
    let holds = |rule: &'static NeedRule| {
        let (value, of) = value(day, rule, now)?;
        let is_reason = match rule.when {
            RuleCondition::Below(limit) => value < limit,
            RuleCondition::Above(limit) => value > limit,
            RuleCondition::From(limit) => value >= limit,
        };
        (is_reason && of >= rule.least).then_some(NeedReason { rule, value, of })
    };
    rules.iter().filter_map(holds).collect()
}

/// A rule's value for a student, and the total that it is computed from. `None` if the rule does not apply.
#[expect(clippy::cast_precision_loss, reason = "a day's sums are small")]
fn value(day: &StudentDay, rule: &NeedRule, now: Timestamp) -> Option<(f64, f64)> {
    let sum_of = |measure| day.sums.of(measure) as f64 / 1000.0;
    let share = |part: f64, whole: f64| (whole > 0.0).then(|| (part / whole, whole));
    match rule.sign {
        RuleMeasure::Pace => {
            let SchoolDay { passed_ms, whole_ms, .. } = day.school_day?;
            let due = day.goal_xp as f64 * passed_ms as f64 / whole_ms as f64;
            let (share, _) = share(sum_of(Measure::Xp), due)?;
            Some((share, passed_ms as f64 / 60_000.0))
        }
        RuleMeasure::Failures => {
            day.failed.as_ref().map(|(_, count)| (*count as f64, *count as f64))
        }
        RuleMeasure::Accuracy => {
            share(sum_of(Measure::CorrectQuestions), sum_of(Measure::TotalQuestions))
        }
        RuleMeasure::Waste => {
            let measures = [Measure::Active, Measure::Inactive, Measure::Waste];
            let minutes: f64 = measures.into_iter().map(sum_of).sum::<f64>() / 60.0;
            share(sum_of(Measure::Waste) / 60.0, minutes)
        }
        RuleMeasure::Idle => {
            let minutes = (now.milliseconds() - day.last?.milliseconds()) as f64 / 60_000.0;
            let is_done = day.goal_xp > 0 && day.xp() >= day.goal_xp * 1000;
            let is_now = match rule.window {
                RulePeriod::Minutes(most) => day.is_in_school() && minutes <= most as f64,
                _ => true,
            };
            (is_now && !is_done).then_some((minutes, minutes))
        }
    }
}
