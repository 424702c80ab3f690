//! When backups are due, their names, and which of them are stored.

use std::collections::BTreeSet;

use jiff::ToSpan;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use lyceum_core::config::Config;
use lyceum_core::time::Timestamp;

/// The schedule in the settings.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    at: Vec<Time>,
    zone: TimeZone,
    keep_days: usize,
    keep_weeks: usize,
    history_days: i64,
}

impl Schedule {
    pub(super) fn new(config: &Config) -> Self {
        let zone = jiff::tz::TimeZoneDatabase::bundled().get(&config.server.time_zone);
        Self {
            at: config.backup.at.clone(),
            zone: zone.expect("the settings were checked"),
            keep_days: config.backup.keep_days,
            keep_weeks: config.backup.keep_weeks,
            history_days: config.privacy.history_days,
        }
    }

    /// The last time at which a backup was due.
    pub(super) fn last_due(&self, now: Timestamp) -> Timestamp {
        let today = self.date(now);
        // Two days, because the first time of today may be ahead.
        let days = [today.checked_sub(1.day()).unwrap_or(today), today];
        let times = days.iter().flat_map(|day| self.at.iter().map(|time| day.to_datetime(*time)));
        let instants = times.filter_map(|time| self.zone.to_timestamp(time).ok());
        let instants = instants.map(|at| Timestamp::from_milliseconds(at.as_millisecond()));
        instants.filter(|at| *at <= now).max().unwrap_or(now)
    }

    /// The backups that are not stored any longer, by the instants at which they were made. The newest one is always
    /// stored.
    pub(super) fn outdated(&self, now: Timestamp, made: &BTreeSet<Timestamp>) -> Vec<Timestamp> {
        let (mut days, mut weeks) = (BTreeSet::new(), BTreeSet::new());
        let oldest = now.plus_seconds(-self.history_days * 86_400);
        let mut outdated = Vec::new();
        for (index, at) in made.iter().rev().enumerate() {
            let day = self.date(*at);
            let week = day.iso_week_date();
            // The newest backup of a day or week is seen first.
            let is_of_day = days.len() < self.keep_days && days.insert(day);
            let is_of_week =
                weeks.len() < self.keep_weeks && weeks.insert((week.year(), week.week()));
            if index > 0 && (*at < oldest || !(is_of_day || is_of_week)) {
                outdated.push(*at);
            }
        }
        outdated
    }

    fn date(&self, at: Timestamp) -> Date {
        let at = jiff::Timestamp::from_millisecond(at.milliseconds()).unwrap_or_default();
        at.to_zoned(self.zone.clone()).date()
    }
}

/// The beginning and the end of the names of backups.
const NAME: (&str, &str) = ("lyceum-", ".backup");

/// The name of the file of a backup that this node makes now. Names of one node sort by time.
pub(super) fn name(now: Timestamp, node: &str) -> String {
    let (begin, end) = NAME;
    format!("{begin}{}-{node}{end}", now.to_string().replace([':', '.'], "-"))
}

/// When a file of that name was made; `None` if it is not a backup of the node.
pub(super) fn made_at(name: &str, node: &str) -> Option<Timestamp> {
    let (begin, end) = NAME;
    let made =
        name.strip_prefix(begin)?.strip_suffix(end)?.strip_suffix(node)?.strip_suffix('-')?;
    // As in `2026-01-15T08-00-00-000Z`.
    let (date, time) = made.split_once('T')?;
    let time: Vec<&str> = time.split('-').collect();
    let [hour, minute, second, millisecond] = time[..] else { return None };
    format!("{date}T{hour}:{minute}:{second}.{millisecond}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(at: &[&str], zone: &str) -> Schedule {
        let mut config = Config::defaults();
        config.backup.at = at.iter().map(|time| time.parse().unwrap()).collect();
        zone.clone_into(&mut config.server.time_zone);
        Schedule::new(&config)
    }

    #[test]
    fn backups_are_due_at_times_of_the_zone_on_every_day() {
        let berlin = schedule(&["02:30", "14:00"], "Europe/Berlin");
        for (now, due) in [
            ("2026-11-26T13:30:00.000Z", "2026-11-26T13:00:00.000Z"),
            ("2026-11-26T12:59:59.999Z", "2026-11-26T01:30:00.000Z"),
            ("2026-11-26T01:29:59.999Z", "2026-11-25T13:00:00.000Z"),
            // The clock leaves out 02:30 on that day; the backup is due at 03:30 of the new time.
            ("2026-03-29T02:00:00.000Z", "2026-03-29T01:30:00.000Z"),
            // It shows 02:30 twice; the backup is due at the first one only.
            ("2026-10-25T02:00:00.000Z", "2026-10-25T00:30:00.000Z"),
        ] {
            let found = berlin.last_due(now.parse().unwrap());
            assert_eq!(found, due.parse().unwrap(), "{now}");
        }
    }

    #[test]
    fn the_last_backup_of_each_day_and_week_is_stored_within_the_history() {
        let schedule = schedule(&["02:00", "14:00"], "UTC");
        let at = |text: &str| -> Timestamp { text.parse().unwrap() };
        let now = at("2026-11-26T15:00:00.000Z");
        let first = at("2026-10-01T02:00:00.000Z");
        let mut stored = BTreeSet::new();
        let mut time = first;
        while time <= now {
            stored.insert(time);
            for gone in schedule.outdated(time, &stored) {
                stored.remove(&gone);
            }
            time = time.plus_seconds(12 * 3600);
        }
        let stored: Vec<String> = stored.iter().map(Timestamp::to_string).collect();
        let ends: Vec<&str> = stored.iter().map(|at| &at[5..16]).collect();
        // The weeks end on Sundays.
        let weeks = ["11-08T14:00", "11-15T14:00"];
        let days = ["11-20", "11-21", "11-22", "11-23", "11-24", "11-25", "11-26"];
        let days: Vec<String> = days.iter().map(|day| format!("{day}T14:00")).collect();
        let expected: Vec<&str> = weeks.into_iter().chain(days.iter().map(|day| &**day)).collect();
        assert_eq!(ends, expected);
        let old = BTreeSet::from([first, first.plus_seconds(86_400)]);
        assert_eq!(schedule.outdated(now, &old), [first], "the newest one is always stored");
    }

    #[test]
    fn a_backup_name_has_the_time_and_the_node() {
        let now = "2026-11-26T02:00:00.125Z".parse().unwrap();
        let name = name(now, "b4-c5");
        assert_eq!(name, "lyceum-2026-11-26T02-00-00-125Z-b4-c5.backup");
        assert_eq!(made_at(&name, "b4-c5"), Some(now));
        for (other, node) in [(&*name, "c5"), ("lyceum-now-b4-c5.backup", "b4-c5"), ("notes", "")] {
            assert_eq!(made_at(other, node), None, "{other} {node}");
        }
    }
}
