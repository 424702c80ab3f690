//! The requests of clients with their times and results, and the rules that they must keep.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::time::Duration;

/// A kind of request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum RequestKind {
    Roster,
    Events,
    Database,
    Keys,
    Objects,
    Deploys,
    Streams,
    SignIn,
    Answers,
}

impl RequestKind {
    pub(super) const ALL: [Self; 9] = [
        Self::Roster,
        Self::Events,
        Self::Database,
        Self::Keys,
        Self::Objects,
        Self::Deploys,
        Self::Streams,
        Self::SignIn,
        Self::Answers,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Roster => "roster",
            Self::Events => "events",
            Self::Database => "database",
            Self::Keys => "keys",
            Self::Objects => "objects",
            Self::Deploys => "deploys",
            Self::Streams => "streams",
            Self::SignIn => "sign-in",
            Self::Answers => "answers",
        }
    }

    /// Whether the writes are in files of a project, of which a lost node may lose the last ones.
    fn is_in_files(self) -> bool {
        matches!(self, Self::Database | Self::Keys | Self::Objects)
    }
}

/// A request. All times are since the start of the run.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) kind: RequestKind,
    pub(super) began: Duration,
    pub(super) ended: Duration,
    /// Why it failed; `None` if it succeeded.
    pub(super) failure: Option<String>,
}

/// A write that was acknowledged.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) kind: RequestKind,
    /// The name of the write, once in the whole run.
    pub(super) name: String,
    /// The register that it is a value of, with a number that grows: a key, or the list of rows.
    pub(super) register: Option<(String, i64)>,
    pub(super) ended: Duration,
}

/// A read of a register. It sees the latest value, or a number as large as that of the newest row.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub(super) register: String,
    pub(super) number: i64,
    pub(super) began: Duration,
}

/// The time before a node was lost: what it acknowledged then may be missing in the replica.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossWindow {
    pub(super) from: Duration,
    pub(super) until: Duration,
}

/// The longest time that the answer of a lost node is on its way to a client.
const ANSWER_MAX: Duration = Duration::from_millis(500);

impl LossWindow {
    fn contains(self, acknowledged: Duration) -> bool {
        (self.from..=self.until + ANSWER_MAX).contains(&acknowledged)
    }
}

#[derive(Default)]
pub(super) struct History {
    pub(super) requests: Vec<Request>,
    pub(super) writes: Vec<Write>,
    pub(super) reads: Vec<Read>,
    pub(super) loss_windows: Vec<LossWindow>,
}

/// Something that must not be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Breach {
    pub(super) sort: BreachKind,
    pub(super) kind: RequestKind,
    /// The write, or the register.
    pub(super) name: String,
    /// When the write was acknowledged, or the read began.
    pub(super) at: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BreachKind {
    /// An acknowledged write is missing.
    Lost,
    /// The same, of the last second of a node that was lost for good. It is allowed.
    LostWithinBound,
    /// A write was done twice.
    Doubled,
    /// A read did not see a write that had been acknowledged before it, or two nodes gave the same number to two writes.
    SplitBrain,
}

impl History {
    /// Compares the history with what is stored in the end: how often each name was found, by kind.
    pub(super) fn breaches(
        &self,
        stored: &HashMap<RequestKind, BTreeMap<String, usize>>,
    ) -> Vec<Breach> {
        let mut breaches = Vec::new();
        for write in &self.writes {
            let Some(stored) = stored.get(&write.kind) else { continue };
            let sort = match stored.get(&write.name) {
                Some(1) => continue,
                Some(_) => BreachKind::Doubled,
                None if self.may_be_lost(write) => BreachKind::LostWithinBound,
                None => BreachKind::Lost,
            };
            breaches.push(Breach::of(sort, write));
        }
        // Nobody knows of these whether they were done, but certainly not twice.
        for (kind, stored) in stored {
            let doubled = stored.iter().filter(|(_, count)| **count > 1);
            let is_known = |name: &String| self.writes.iter().any(|write| write.name == *name);
            breaches.extend(doubled.filter(|(name, _)| !is_known(name)).map(|(name, _)| Breach {
                sort: BreachKind::Doubled,
                kind: *kind,
                name: name.clone(),
                at: Duration::ZERO,
            }));
        }
        breaches.extend(self.split_brains());
        breaches
    }

    fn split_brains(&self) -> Vec<Breach> {
        let mut by_register: HashMap<&str, Vec<(i64, &Write)>> = HashMap::new();
        for write in self.writes.iter().filter(|write| !self.may_be_lost(write)) {
            if let Some((register, number)) = &write.register {
                by_register.entry(register).or_default().push((*number, write));
            }
        }
        let mut breaches = Vec::new();
        for writes in by_register.values_mut() {
            writes.sort_by_key(|(_, write)| write.ended);
        }
        let newest: HashMap<&str, Vec<i64>> = by_register
            .iter()
            .map(|(register, writes)| (*register, running_maximum(writes)))
            .collect();
        for read in &self.reads {
            let Some(writes) = by_register.get(read.register.as_str()) else { continue };
            let before = writes.partition_point(|(_, write)| write.ended < read.began);
            let Some(at) = before.checked_sub(1) else { continue };
            let number = newest[read.register.as_str()][at];
            if number > read.number {
                breaches.push(Breach {
                    sort: BreachKind::SplitBrain,
                    kind: writes[at].1.kind,
                    name: format!(
                        "{} was {} after {number} had been stored",
                        read.register, read.number
                    ),
                    at: read.began,
                });
            }
        }
        for writes in by_register.values() {
            let mut first: HashMap<i64, &Write> = HashMap::new();
            for (number, write) in writes {
                if first.insert(*number, write).is_some() {
                    breaches.push(Breach::of(BreachKind::SplitBrain, write));
                }
            }
        }
        breaches
    }

    /// How long before the loss of its node a write was acknowledged.
    pub(super) fn time_before_loss(&self, breach: &Breach) -> Option<Duration> {
        let windows = self.loss_windows.iter().filter(|window| window.contains(breach.at));
        windows.map(|window| window.until.saturating_sub(breach.at)).min()
    }

    /// Whether a lost node may have taken the write with it.
    fn may_be_lost(&self, write: &Write) -> bool {
        let mut windows = self.loss_windows.iter();
        write.kind.is_in_files() && windows.any(|window| window.contains(write.ended))
    }
}

/// The largest number up to each write.
fn running_maximum(writes: &[(i64, &Write)]) -> Vec<i64> {
    let largest = writes.iter().scan(i64::MIN, |largest, (number, _)| {
        *largest = (*largest).max(*number);
        Some(*largest)
    });
    largest.collect()
}

impl Breach {
    fn of(sort: BreachKind, write: &Write) -> Self {
        Self { sort, kind: write.kind, name: write.name.clone(), at: write.ended }
    }

    pub(super) fn is_allowed(&self) -> bool {
        self.sort == BreachKind::LostWithinBound
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sort, kind, name, at } = self;
        write!(f, "{sort:?}: {} '{name}' at {:.1} s", kind.name(), at.as_secs_f64())
    }
}

/// When a kind of request worked again after a fault.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Recovery {
    /// From the fault to the end of the first success that began after it.
    pub(super) first: Option<Duration>,
    /// From the fault to the first success after the last failure; zero without a failure.
    pub(super) whole: Option<Duration>,
    pub(super) failed: usize,
}

impl History {
    /// How requests that ended in the time went.
    pub(super) fn recovery(&self, kind: RequestKind, from: Duration, until: Duration) -> Recovery {
        let own = self
            .requests
            .iter()
            .filter(|one| one.kind == kind && one.ended >= from && one.ended < until);
        let own: Vec<&Request> = own.collect();
        let failed: Vec<_> = own.iter().filter(|one| one.failure.is_some()).collect();
        let after = |begin: Duration| {
            let succeeded = own.iter().filter(|one| one.failure.is_none() && one.began >= begin);
            succeeded.map(|one| one.ended.saturating_sub(from)).min()
        };
        let whole = match failed.iter().map(|one| one.ended).max() {
            None => Some(Duration::ZERO),
            Some(last) => after(last),
        };
        Recovery { first: after(from), whole, failed: failed.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn row(name: &str, number: i64, at_s: u32) -> Write {
        let register = Some(("rows".to_owned(), number));
        Write { kind: RequestKind::Database, name: name.to_owned(), register, ended: SECOND * at_s }
    }

    fn read(number: i64, at_s: u32) -> Read {
        Read { register: "rows".to_owned(), number, began: SECOND * at_s }
    }

    fn found(history: &History, rows: &[(&str, usize)]) -> Vec<(BreachKind, String)> {
        let rows = rows.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        let breaches = history.breaches(&HashMap::from([(RequestKind::Database, rows)]));
        breaches.into_iter().map(|breach| (breach.sort, breach.name)).collect()
    }

    #[test]
    fn writes_that_are_stored_once_and_read_at_once_are_not_a_breach() {
        let writes = vec![row("a", 1, 1), row("b", 2, 2)];
        let reads = vec![read(0, 1), read(1, 2), read(2, 2), read(2, 3), read(3, 4)];
        let history = History { writes, reads, ..History::default() };
        assert_eq!(found(&history, &[("a", 1), ("b", 1), ("unknown", 1)]), []);
    }

    #[test]
    fn missing_and_repeated_writes_are_breaches() {
        let writes = vec![row("a", 1, 1), row("b", 2, 20)];
        let window = LossWindow { from: SECOND * 19, until: SECOND * 21 };
        let mut history = History { writes, ..History::default() };
        let lost = |sort: BreachKind| (sort, "b".to_owned());
        assert_eq!(found(&history, &[("a", 1)]), [lost(BreachKind::Lost)]);
        history.loss_windows.push(window);
        assert_eq!(found(&history, &[("a", 1)]), [lost(BreachKind::LostWithinBound)]);
        history.loss_windows[0].until = (SECOND * 20).saturating_sub(ANSWER_MAX);
        assert_eq!(found(&history, &[("a", 1)]), [lost(BreachKind::LostWithinBound)]);
        history.loss_windows[0].until = (SECOND * 20).saturating_sub(2 * ANSWER_MAX);
        assert_eq!(found(&history, &[("a", 1)]), [lost(BreachKind::Lost)]);
        let doubled = |name: &str| (BreachKind::Doubled, name.to_owned());
        let stored = [("a", 2), ("b", 1), ("unknown", 2)];
        assert_eq!(found(&history, &stored), [doubled("a"), doubled("unknown")]);
    }

    #[test]
    fn a_read_that_misses_an_acknowledged_write_shows_a_split_brain() {
        let history = History {
            writes: vec![row("a", 1, 1), row("b", 2, 5)],
            reads: vec![read(1, 6)],
            ..History::default()
        };
        let breaches = found(&history, &[("a", 1), ("b", 1)]);
        assert_eq!(breaches.len(), 1);
        assert_eq!(breaches[0].0, BreachKind::SplitBrain);
        // The node that acknowledged it was lost for good.
        let window = LossWindow { from: SECOND * 4, until: SECOND * 5 };
        let history = History { loss_windows: vec![window], ..history };
        assert_eq!(found(&history, &[("a", 1), ("b", 1)]), []);
    }

    #[test]
    fn two_writes_with_one_number_show_a_split_brain() {
        let writes = vec![row("a", 1, 1), row("b", 1, 2)];
        let history = History { writes, ..History::default() };
        let stored = [("a", 1), ("b", 1)];
        assert_eq!(found(&history, &stored), [(BreachKind::SplitBrain, "b".to_owned())]);
    }

    #[test]
    fn a_recovery_ends_with_the_first_success_after_the_last_failure() {
        let request = |began: u32, ended: u32, fails: bool| Request {
            kind: RequestKind::Roster,
            began: SECOND * began,
            ended: SECOND * ended,
            failure: fails.then(|| "503".to_owned()),
        };
        let requests = vec![
            request(9, 11, false),
            request(10, 12, false),
            request(11, 15, true),
            request(14, 16, false),
            request(17, 18, false),
        ];
        let history = History { requests, ..History::default() };
        let recovery_of = |kind| history.recovery(kind, SECOND * 10, SECOND * 30);
        let (first, whole) = (Some(SECOND * 2), Some(SECOND * 8));
        assert_eq!(recovery_of(RequestKind::Roster), Recovery { first, whole, failed: 1 });
        let whole = Some(Duration::ZERO);
        assert_eq!(recovery_of(RequestKind::Keys), Recovery { first: None, whole, failed: 0 });
        let unfinished = history.recovery(RequestKind::Roster, SECOND * 10, SECOND * 16);
        assert_eq!(unfinished.whole, None);
    }
}
