//! Formats numbers, dates, times and durations in the reader's language.

use jiff::civil::{Date, DateTime, Weekday};
use lyceum_core::language::Language;
use lyceum_core::time::Timestamp;

use crate::language::reader;

/// A number with at most one decimal: `1,204`, `12.5`.
pub fn number(value: f64) -> String {
    let tenths = (value * 10.0).round() / 10.0;
    grouped(tenths, usize::from(tenths.fract() != 0.0))
}

/// A percentage as a factor with at most two decimals: 125 is `1.25`.
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
pub fn factor(percent: i64) -> String {
    let decimals = match (percent % 100, percent % 10) {
        (0, _) => 0,
        (_, 0) => 1,
        _ => 2,
    };
    grouped(percent as f64 / 100.0, decimals)
}

/// A number of thousandths in the format of [`number`].
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
pub fn thousandths(value: i64) -> String {
    number(value as f64 / 1000.0)
}

/// The characters between groups of three digits and before decimals.
fn separators() -> (char, char) {
    match reader() {
        Language::English | Language::Marked => (',', '.'),
        Language::Spanish => ('.', ','),
    }
}

fn grouped(number: f64, decimals: usize) -> String {
    let (group, decimal) = separators();
    let digits = format!("{:.decimals$}", number.abs());
    let whole = digits.find('.').unwrap_or(digits.len());
    let mut text = String::from(if number < 0.0 { "−" } else { "" });
    for (at, digit) in digits.chars().enumerate() {
        if (1..whole).contains(&at) && (whole - at).is_multiple_of(3) {
            text.push(group);
        }
        text.push(if digit == '.' { decimal } else { digit });
    }
    text
}

/// A count, such as `1,204`.
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
pub fn count(count: i64) -> String {
    grouped(count as f64, 0)
}

/// A share in percent, such as `83%`; a dash if the whole is 0.
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
pub fn share(part: i64, whole: i64) -> String {
    match whole {
        0 => "–".to_owned(),
        _ => percent(part as f64 * 100.0 / whole as f64),
    }
}

/// A number of hundredths, such as `83%`.
pub fn percent(hundredths: f64) -> String {
    on_one_line(&t!("{n}%", n = grouped(hundredths.round(), 0)))
}

/// A duration: `45 s`, `12 min`, `2 h 05 min`, `3 days`.
pub fn span(seconds: i64) -> String {
    on_one_line(&match seconds {
        i64::MIN..60 => t!("{n} s", n = seconds.max(0)),
        60..3600 => t!("{n} min", n = seconds / 60),
        3600..172_800 => t!(
            "{hours} h {minutes} min",
            hours = seconds / 3600,
            minutes = format!("{:02}", seconds % 3600 / 60)
        ),
        _ => plural!(seconds / 86_400, "{n} day", "{n} days"),
    })
}

/// A short duration: `120 ms`, `2.5 s`. From a minute on, it has the format of [`span`].
#[expect(clippy::cast_precision_loss, reason = "seconds")]
pub fn brief(milliseconds: i64) -> String {
    match milliseconds {
        i64::MIN..1000 => on_one_line(&t!("{n} ms", n = milliseconds)),
        1000..60_000 => on_one_line(&t!("{n} s", n = milliseconds as f64 / 1000.0)),
        _ => span(milliseconds / 1000),
    }
}

/// The time since an instant, such as `12 min ago`.
pub fn ago(at: Timestamp, now: Timestamp) -> String {
    let seconds = (now.milliseconds() - at.milliseconds()) / 1000;
    match seconds {
        ..5 => t!("now"),
        _ => on_one_line(&t!("{time} ago", time = span(seconds))),
    }
}

/// A day such as `24 Nov`, with the year if it is another one than that of `today`.
pub fn day(day: Date, today: Date) -> String {
    let month = month(day);
    on_one_line(&match day.year() == today.year() {
        true => t!("{day} {month}", day = day.day(), month = month),
        // A year has no separator.
        false => t!(
            "{day} {month} {year}",
            day = day.day(),
            month = month,
            year = day.year().to_string()
        ),
    })
}

/// A local time such as `24 Nov, 14:05`, with the year as in [`day`].
pub fn moment(local: DateTime, today: Date) -> String {
    timed(local.date(), today, &local.strftime("%H:%M").to_string())
}

/// A local time with seconds, for logs: `24 Nov, 14:05:09`.
pub fn moment_with_seconds(local: DateTime, today: Date) -> String {
    timed(local.date(), today, &local.strftime("%H:%M:%S").to_string())
}

fn timed(date: Date, today: Date, time: &str) -> String {
    on_one_line(&t!("{day}, {time}", day = day(date, today), time = time))
}

fn month(day: Date) -> String {
    match day.month() {
        1 => t!("Jan"),
        2 => t!("Feb"),
        3 => t!("Mar"),
        4 => t!("Apr"),
        5 => t!("May"),
        6 => t!("Jun"),
        7 => t!("Jul"),
        8 => t!("Aug"),
        9 => t!("Sep"),
        10 => t!("Oct"),
        11 => t!("Nov"),
        _ => t!("Dec"),
    }
}

/// The name of a weekday.
pub fn weekday(weekday: Weekday) -> String {
    match weekday {
        Weekday::Monday => t!("Monday"),
        Weekday::Tuesday => t!("Tuesday"),
        Weekday::Wednesday => t!("Wednesday"),
        Weekday::Thursday => t!("Thursday"),
        Weekday::Friday => t!("Friday"),
        Weekday::Saturday => t!("Saturday"),
        Weekday::Sunday => t!("Sunday"),
    }
}

/// The short name of a weekday.
pub fn short_weekday(weekday: Weekday) -> String {
    match weekday {
        Weekday::Monday => t!("Mon"),
        Weekday::Tuesday => t!("Tue"),
        Weekday::Wednesday => t!("Wed"),
        Weekday::Thursday => t!("Thu"),
        Weekday::Friday => t!("Fri"),
        Weekday::Saturday => t!("Sat"),
        Weekday::Sunday => t!("Sun"),
    }
}

/// The name of a grade by its code in the roster (CEDS, or a number), such as `Grade 4` for `04`. Another code is shown as
/// it is.
pub fn grade(code: &str) -> String {
    match code {
        "IT" => t!("Infant or toddler"),
        "PR" => t!("Preschool"),
        "PK" => t!("Prekindergarten"),
        "TK" => t!("Transitional kindergarten"),
        "K" | "KG" => t!("Kindergarten"),
        "PS" => t!("After secondary school"),
        "UG" => t!("No grade"),
        _ => match code.parse::<i8>() {
            Ok(-1) => t!("Prekindergarten"),
            Ok(0) => t!("Kindergarten"),
            Ok(number @ 1..=13) => t!("Grade {n}", n = number),
            _ => code.to_owned(),
        },
    }
}

/// Several grades, such as `Grade 3, Grade 4`.
pub fn grades<'c>(codes: impl IntoIterator<Item = &'c String>) -> String {
    let grades: Vec<String> = codes.into_iter().map(|code| grade(code)).collect();
    grades.join(", ")
}

/// The name of a role of people.
pub fn role(name: &str) -> String {
    match name {
        "administrator" => t!("administrator"),
        "guide" => t!("guide"),
        "developer" => t!("developer"),
        _ => t!("student"),
    }
}

/// The text with spaces at which no line breaks.
fn on_one_line(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}
