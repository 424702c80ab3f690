//! The figures of a run, as a table and as JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::history::{Breach, BreachKind, History, Recovery, RequestKind};

/// A fault that happened.
pub(super) struct FaultTime {
    pub(super) name: &'static str,
    pub(super) from: Duration,
    /// When the next fault happened.
    pub(super) until: Duration,
}

impl FaultTime {
    fn contains(&self, time: Duration) -> bool {
        (self.from..self.until).contains(&time)
    }
}

pub(super) struct Report {
    pub(super) seed: u64,
    pub(super) faults: Vec<FaultTime>,
    pub(super) history: History,
    pub(super) breaches: Vec<Breach>,
}

impl Report {
    /// The errors, in words.
    pub(super) fn errors(&self) -> Vec<String> {
        let forbidden = self.breaches.iter().filter(|breach| !breach.is_allowed());
        let mut errors: Vec<String> = forbidden.map(ToString::to_string).collect();
        for fault in &self.faults {
            for (kind, recovery) in self.recoveries(fault) {
                if recovery.whole.is_none() || recovery.first.is_none() {
                    errors.push(format!("{}: {} did not recover", fault.name, kind.name()));
                }
            }
        }
        errors
    }

    /// The table for people.
    pub(super) fn table(&self) -> String {
        let mut lines = vec![
            "Seconds from the fault to the first success / to the first success after the last failure; \
             failed requests in brackets. Writes lost within the bound: their number, and the time of the oldest before the \
             fault."
                .to_owned(),
        ];
        let kinds = self.kinds();
        let names: Vec<_> = kinds.iter().map(|kind| format!(" {:>18}", kind.name())).collect();
        let names = names.concat();
        lines.push(format!(
            "{:<34}{names} {:>6} {:>12} {:>7} {:>11}",
            "fault", "lost", "within bound", "doubled", "split brain"
        ));
        for fault in &self.faults {
            let recoveries = self.recoveries(fault);
            let cells = recoveries.iter().map(|(_, recovery)| format!(" {:>18}", cell(recovery)));
            let cells = cells.collect::<Vec<_>>().concat();
            let [lost, doubled, split] =
                [BreachKind::Lost, BreachKind::Doubled, BreachKind::SplitBrain]
                    .map(|sort| self.count(fault, sort));
            let times = self.times_of_lost(fault);
            let within = match times.first() {
                Some(time) => format!("{} ({:.1} s)", times.len(), time.as_secs_f64()),
                None => "0".to_owned(),
            };
            lines.push(format!(
                "{:<34}{cells} {lost:>6} {within:>12} {doubled:>7} {split:>11}",
                fault.name
            ));
        }
        lines.push(self.sums());
        lines.join("\n")
    }

    /// The reasons of failed requests during each fault.
    pub(super) fn reasons(&self) -> String {
        let mut lines = Vec::new();
        for fault in &self.faults {
            for ((kind, reason), count) in self.failures(fault) {
                let reason: String = reason.split_whitespace().collect::<Vec<_>>().join(" ");
                let reason: String = reason.chars().take(240).collect();
                lines.push(format!("{}: {count} × {}: {reason}", fault.name, kind.name()));
            }
        }
        lines.join("\n")
    }

    /// The same for programs.
    pub(super) fn json(&self) -> Value {
        let faults = self.faults.iter().map(|fault| {
            let recoveries = self.recoveries(fault);
            let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
            let recoveries = recoveries.iter().map(|(kind, one)| {
                let value = json!({
                    "firstSuccess_s": seconds(one.first),
                    "recovered_s": seconds(one.whole),
                    "failed": one.failed,
                });
                (kind.name().to_owned(), value)
            });
            let times = self.times_of_lost(fault);
            json!({
                "fault": fault.name,
                "at_s": fault.from.as_secs_f64(),
                "requests": recoveries.collect::<serde_json::Map<_, _>>(),
                "lost": self.count(fault, BreachKind::Lost),
                "lostWithinBound": times.len(),
                "oldestLost_s": times.first().map(Duration::as_secs_f64),
                "doubled": self.count(fault, BreachKind::Doubled),
                "splitBrain": self.count(fault, BreachKind::SplitBrain),
            })
        });
        json!({
            "seed": self.seed,
            "faults": faults.collect::<Vec<_>>(),
            "acknowledged": self.acknowledged(),
            "errors": self.errors(),
        })
    }

    fn kinds(&self) -> Vec<RequestKind> {
        let has_any =
            |kind: &RequestKind| self.history.requests.iter().any(|one| one.kind == *kind);
        RequestKind::ALL.into_iter().filter(has_any).collect()
    }

    fn recoveries(&self, fault: &FaultTime) -> Vec<(RequestKind, Recovery)> {
        let recovery_of = |kind| (kind, self.history.recovery(kind, fault.from, fault.until));
        self.kinds().into_iter().map(recovery_of).collect()
    }

    fn failures<'a>(&'a self, fault: &FaultTime) -> BTreeMap<(RequestKind, &'a str), usize> {
        let mut counts = BTreeMap::new();
        for one in self.history.requests.iter().filter(|one| fault.contains(one.ended)) {
            if let Some(reason) = &one.failure {
                *counts.entry((one.kind, reason.as_str())).or_default() += 1;
            }
        }
        counts
    }

    fn count(&self, fault: &FaultTime, sort: BreachKind) -> usize {
        let own = self.breaches.iter().filter(|breach| breach.sort == sort);
        own.filter(|breach| fault.contains(breach.at)).count()
    }

    /// How long before the fault the writes were acknowledged that were lost with their node, the longest time first.
    fn times_of_lost(&self, fault: &FaultTime) -> Vec<Duration> {
        let allowed = self.breaches.iter().filter(|breach| breach.is_allowed());
        let times = allowed.filter_map(|breach| {
            let time = self.history.time_before_loss(breach)?;
            fault.contains(breach.at + time).then_some(time)
        });
        let mut times: Vec<_> = times.collect();
        times.sort_by(|a, b| b.cmp(a));
        times
    }

    fn acknowledged(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for write in &self.history.writes {
            *counts.entry(write.kind.name()).or_default() += 1;
        }
        counts
    }

    fn sums(&self) -> String {
        let counts = self.acknowledged();
        let counts: Vec<_> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let failed = self.history.requests.iter().filter(|one| one.failure.is_some()).count();
        let within = self.breaches.iter().filter(|breach| breach.is_allowed()).count();
        format!(
            "seed {}; {} requests, {failed} failed; acknowledged: {}; {} breaches, {within} writes lost within the bound",
            self.seed,
            self.history.requests.len(),
            counts.join(", "),
            self.breaches.len() - within,
        )
    }
}

fn cell(recovery: &Recovery) -> String {
    let seconds = |time: Option<Duration>| match time {
        Some(time) => format!("{:.1}", time.as_secs_f64()),
        None => "never".to_owned(),
    };
    match recovery.failed {
        0 => seconds(recovery.first),
        failed => {
            format!("{} / {} ({failed})", seconds(recovery.first), seconds(recovery.whole))
        }
    }
}
