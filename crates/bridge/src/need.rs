//! The students who need attention now. Rules are data, and each gives a reason to help a student.

use jiff::civil::Weekday;
use lyceum_core::time::Timestamp;
use lyceum_events::facts::Measure;

use crate::today::StudentDay;
use crate::zone::Zone;

/// The value that a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
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
pub enum When {
    /// The value is below this.
    Below(f64),
    /// The value is above this.
    Above(f64),
    /// The value is at least this.
    From(f64),
}

/// The time that a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// The day so far.
    Today,
    /// The hours of a school day, Monday to Friday. The daily goal is spread evenly over them.
    SchoolDay {
        /// The hour at which the school day begins.
        from: i64,
        /// The hour at which the school day ends.
        to: i64,
    },
    /// The last so many minutes.
    Minutes(i64),
}

/// A rule that gives a reason to help a student.
#[derive(Debug, PartialEq)]
pub struct Rule {
    /// The name in exports.
    pub id: &'static str,
    /// The title, in two or three words.
    pub title: &'static str,
    /// The text of the reason: `{value}` stands for the value, and `{of}` for the total that it was computed from.
    pub says: &'static str,
    /// The value that the rule looks at.
    pub sign: Sign,
    /// The condition on the value.
    pub when: When,
    /// The least amount that the value must be computed from: minutes, questions or attempts.
    pub least: f64,
    /// The time that the rule looks at.
    pub window: Window,
    /// The weight in comparison with the other rules.
    pub weight: u32,
}

/// The value of the rule whose students come before all others.
const BEHIND: Sign = Sign::Pace;

/// The rules, the heaviest first.
pub const RULES: &[Rule] = &[
    Rule {
        id: "behind",
        title: "Behind pace",
        says: "{value} of the XP due by now",
        sign: Sign::Pace,
        when: When::Below(0.75),
        least: 60.0,
        window: Window::SchoolDay { from: 8, to: 15 },
        weight: 50,
    },
    Rule {
        id: "failures",
        title: "Failed repeatedly",
        says: "{value} failed attempts at one lesson",
        sign: Sign::Failures,
        when: When::From(3.0),
        least: 3.0,
        window: Window::Today,
        weight: 40,
    },
    Rule {
        id: "inaccurate",
        title: "Many mistakes",
        says: "{value} of {of} answers correct today",
        sign: Sign::Accuracy,
        when: When::Below(0.65),
        least: 10.0,
        window: Window::Today,
        weight: 30,
    },
    Rule {
        id: "waste",
        title: "Time wasted",
        says: "{value} of {of} min wasted today",
        sign: Sign::Waste,
        when: When::Above(0.2),
        least: 10.0,
        window: Window::Today,
        weight: 20,
    },
    Rule {
        id: "idle",
        title: "Stopped",
        says: "no activity for {value} min",
        sign: Sign::Idle,
        when: When::From(10.0),
        least: 0.0,
        window: Window::Minutes(120),
        weight: 15,
    },
    Rule {
        id: "easy",
        title: "Too easy",
        says: "{value} of {of} answers correct today",
        sign: Sign::Accuracy,
        when: When::Above(0.97),
        least: 20.0,
        window: Window::Today,
        weight: 5,
    },
];

impl Rule {
    /// Describes when the rule gives a reason.
    pub fn describe(&self) -> String {
        let (When::Below(limit) | When::Above(limit) | When::From(limit)) = self.when;
        let value = match (self.sign, self.when) {
            (Sign::Failures, _) => {
                format!(
                    "at least {limit:.0} failed attempts at a lesson that is not mastered, the last one"
                )
            }
            (Sign::Idle, _) => {
                format!("no activity for {limit:.0} minutes and the daily goal not reached,")
            }
            (sign, when) => {
                let share = match when {
                    When::Below(_) => format!("less than {:.0} %", limit * 100.0),
                    When::Above(_) => format!("more than {:.0} %", limit * 100.0),
                    When::From(_) => format!("at least {:.0} %", limit * 100.0),
                };
                let whole = match sign {
                    Sign::Pace => "of the XP due by then",
                    Sign::Accuracy => "of the answers correct",
                    _ => "of the measured time wasted",
                };
                format!("{share} {whole}")
            }
        };
        let window = match self.window {
            Window::Today => "today".to_owned(),
            Window::SchoolDay { from, to } => {
                format!("on Monday to Friday; the goal is spread evenly from {from}:00 to {to}:00")
            }
            Window::Minutes(most) => format!("seen in the last {most} minutes"),
        };
        let least = match self.sign {
            Sign::Accuracy => format!(", once there are {:.0} answers", self.least),
            Sign::Waste => format!(", once {:.0} minutes are measured", self.least),
            Sign::Pace => format!(", checked {:.0} minutes after the start of the day", self.least),
            Sign::Failures | Sign::Idle => String::new(),
        };
        format!("{value} {window}{least}")
    }
}

/// A rule's finding about a student.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// The rule.
    pub rule: &'static Rule,
    /// The value.
    pub value: f64,
    /// The total that the value was computed from.
    pub of: f64,
}

impl Reason {
    /// The text of the reason.
    pub fn says(&self) -> String {
        let value = match self.rule.sign {
            Sign::Pace | Sign::Accuracy | Sign::Waste => format!("{:.0} %", self.value * 100.0),
            Sign::Failures | Sign::Idle => format!("{:.0}", self.value.floor()),
        };
        self.rule.says.replace("{value}", &value).replace("{of}", &format!("{:.0}", self.of))
    }
}

/// A student with the reasons to help.
#[derive(Clone, Debug)]
pub struct Need {
    /// The student's day.
    pub day: StudentDay,
    /// The reasons, in order of weight, heaviest first.
    pub reasons: Vec<Reason>,
}

impl Need {
    /// Whether the student is behind the pace of the daily goal.
    pub fn is_behind(&self) -> bool {
        self.reasons.iter().any(|reason| reason.rule.sign == BEHIND)
    }

    fn weight(&self) -> u32 {
        self.reasons.iter().map(|reason| reason.rule.weight).sum()
    }
}

/// The students who need attention now. Students behind their pace come first, then the others by the weight of their
/// reasons.
pub fn needs(
    days: Vec<StudentDay>,
    rules: &'static [Rule],
    now: Timestamp,
    zone: &Zone,
) -> Vec<Need> {
    let mut needs: Vec<Need> = days
        .into_iter()
        .map(|day| Need { reasons: reasons(&day, rules, now, zone), day })
        .filter(|need| !need.reasons.is_empty())
        .collect();
    needs.sort_by_cached_key(|need| {
        let name = format!("{} {}", need.day.learner.family_name, need.day.learner.given_name);
        (std::cmp::Reverse((need.is_behind(), need.weight())), name)
    });
    needs
}

/// The reasons that the rules find in a student's day.
pub fn reasons(
    day: &StudentDay,
    rules: &'static [Rule],
    now: Timestamp,
    zone: &Zone,
) -> Vec<Reason> {
    let holds = |rule: &'static Rule| {
        let (value, of) = value(day, rule, now, zone)?;
        let is_reason = match rule.when {
            When::Below(limit) => value < limit,
            When::Above(limit) => value > limit,
            When::From(limit) => value >= limit,
        };
        (is_reason && of >= rule.least).then_some(Reason { rule, value, of })
    };
    rules.iter().filter_map(holds).collect()
}

/// A rule's value for a student, and the total that it is computed from. `None` if the rule does not apply.
#[expect(clippy::cast_precision_loss, reason = "a day's sums are small")]
fn value(day: &StudentDay, rule: &Rule, now: Timestamp, zone: &Zone) -> Option<(f64, f64)> {
    let of = |measure| day.sums.of(measure) as f64 / 1000.0;
    let share = |part: f64, whole: f64| (whole > 0.0).then(|| (part / whole, whole));
    match rule.sign {
        Sign::Pace => {
            let (passed, whole) = school_minutes(rule.window, now, zone)?;
            let (share, _) = share(of(Measure::Xp), day.goal_xp as f64 * passed / whole)?;
            Some((share, passed))
        }
        Sign::Failures => day.failed.as_ref().map(|(_, count)| (*count as f64, *count as f64)),
        Sign::Accuracy => share(of(Measure::CorrectQuestions), of(Measure::TotalQuestions)),
        Sign::Waste => {
            let measures = [Measure::Active, Measure::Inactive, Measure::Waste];
            let minutes: f64 = measures.into_iter().map(of).sum::<f64>() / 60.0;
            share(of(Measure::Waste) / 60.0, minutes)
        }
        Sign::Idle => {
            let minutes = (now.milliseconds() - day.last?.milliseconds()) as f64 / 60_000.0;
            let is_done = day.goal_xp > 0 && day.xp() >= day.goal_xp * 1000;
            let is_now = match rule.window {
                Window::Minutes(most) => minutes <= most as f64,
                _ => true,
            };
            (is_now && !is_done).then_some((minutes, minutes))
        }
    }
}

/// The minutes of the school day that have passed, and its length in minutes. `None` on a day without school.
#[expect(clippy::cast_precision_loss, reason = "minutes of a day")]
fn school_minutes(window: Window, now: Timestamp, zone: &Zone) -> Option<(f64, f64)> {
    let Window::SchoolDay { from, to } = window else { return None };
    let day = zone.day_of(now);
    if matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday) {
        return None;
    }
    let start = zone.start_of(day).milliseconds() + from * 3_600_000;
    let whole = (to - from) as f64 * 60.0;
    let passed = (now.milliseconds() - start) as f64 / 60_000.0;
    (passed > 0.0).then(|| (passed.min(whole), whole))
}
