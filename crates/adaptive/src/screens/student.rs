//! A student: today, the last days, every answer; and the events behind each number.

use std::collections::{BTreeMap, HashMap};

use lyceum_assessment::{question_words, repository as content};
use lyceum_bridge::analytics::{self, ContributingEvent, StudentName};
use lyceum_bridge::need::NeedReason;
use lyceum_bridge::today::{Moment, SubjectDay, zone_of};
use lyceum_bridge::zone::InstantRange;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_events::LoggedEvent;
use lyceum_events::facts::MeasureSums;
use lyceum_roster::fields;
use lyceum_roster::kinds::{COMPONENT_RESOURCE, ORG, USER};
use lyceum_roster::record::Object;
use lyceum_store::Tx;

use crate::answer::{variant_number, variant_seed};
use crate::attempt::Attempt;
use crate::bank::QuestionSet;
use crate::repository::attempts;
use crate::repository::log::{self, ServedQuestion};
use crate::time_limit::{self, ExtraTime};

/// The data of a student's page.
#[derive(Debug)]
pub struct StudentDetails {
    /// First and last name; the sourcedId if there is neither.
    pub name: String,
    /// The grades.
    pub grades: Vec<String>,
    /// The name of the primary organization; empty if there is none.
    pub school: String,
    /// The e-mail address; empty if there is none.
    pub email: String,
    /// Why the student needs attention now, the heaviest reason first.
    pub reasons: Vec<NeedReason>,
    /// Today, subject by subject.
    pub today: Vec<SubjectDay>,
    /// The XP that the student should earn a day in all subjects together; 0 without a goal.
    pub goal_xp: i64,
    /// The sums of each day, earliest first, with a date such as `2026-01-15`.
    pub days: Vec<(String, MeasureSums)>,
    /// The sums of all days by subject.
    pub subjects: BTreeMap<String, MeasureSums>,
    /// The sums of all days and subjects.
    pub total: MeasureSums,
    /// The extra time in tests; `None` if there is none.
    pub extra_time: Option<ExtraTime>,
    /// Everything that the student was ever asked, the last question first.
    pub answers: Vec<LessonAnswer>,
}

/// A question that was asked in a lesson, and its answer.
#[derive(Debug)]
pub struct LessonAnswer {
    /// The title of the lesson; its sourcedId if it was purged.
    pub lesson_title: String,
    /// The question and its answer.
    pub served: ServedQuestion,
}

/// Reads the page of a student, with what was done in that many days up to now, in the time zone of the student's
/// school. Errors: `NotFound`.
pub fn read(
    tx: &mut Tx<'_>,
    moment: &Moment,
    id: &str,
    day_count: u32,
    reach: &Reach,
) -> Result<StudentDetails> {
    let user = fields::in_use_within(tx, &USER, id, reach)?;
    let zone = &zone_of(tx, moment, id)?;
    let (need, today) = crate::today::student(tx, moment, id)?;
    let dates: Vec<String> =
        zone.days(moment.now, day_count).iter().map(ToString::to_string).collect();
    let (first, last) = (dates.first().map(String::as_str), dates.last().map(String::as_str));
    let range = InstantRange::inclusive(zone, first, last)?;
    let report = analytics::activity(tx, StudentName::Id(id), range, zone, &Reach::Everything)?;
    let (mut subjects, mut total) =
        (BTreeMap::<String, MeasureSums>::new(), MeasureSums::default());
    let mut days: Vec<(String, MeasureSums)> =
        dates.into_iter().map(|date| (date, MeasureSums::default())).collect();
    for (day, metrics_by_subject) in &report.facts {
        let date = day.0.to_string();
        for (subject, metrics) in metrics_by_subject {
            subjects.entry(subject.clone()).or_default().add(&metrics.sums, 1);
            total.add(&metrics.sums, 1);
            for (_, sums) in days.iter_mut().filter(|(known, _)| *known == date) {
                sums.add(&metrics.sums, 1);
            }
        }
    }
    let primary = std::iter::once(fields::reference(&user, "primaryOrg"));
    let school = fields::of_all_within(tx, &ORG, primary, reach)?.into_values().next();
    Ok(StudentDetails {
        name: name(&user),
        grades: fields::texts(&user, "grades"),
        school: school.map(|org| fields::text(&org, "name").to_owned()).unwrap_or_default(),
        email: fields::text(&user, "email").to_owned(),
        reasons: need.reasons,
        goal_xp: today.iter().map(|subject| subject.goal_xp).sum(),
        today,
        days,
        subjects,
        total,
        extra_time: time_limit::extra_time(tx, id)?,
        answers: answers(tx, id)?,
    })
}

fn name(user: &Object) -> String {
    let name = fields::full_name(user);
    if name.is_empty() { fields::text(user, "sourcedId").to_owned() } else { name }
}

fn name_of(tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<String> {
    Ok(name(&fields::in_use_within(tx, &USER, id, reach)?))
}

fn answers(tx: &mut Tx<'_>, student: &str) -> Result<Vec<LessonAnswer>> {
    let mut all = log::served_questions(tx, student)?;
    all.reverse();
    let ids = all.iter().map(|served| served.lesson.as_str());
    let lessons = fields::of_all(tx, &COMPONENT_RESOURCE, ids)?;
    let titled = |served: ServedQuestion| LessonAnswer {
        lesson_title: lesson_title(&lessons, &served.lesson),
        served,
    };
    Ok(all.into_iter().map(titled).collect())
}

/// The title of a lesson; its sourcedId if it was purged.
fn lesson_title(lessons: &HashMap<String, Object>, id: &str) -> String {
    lessons.get(id).map_or(id, |lesson| fields::text(lesson, "title")).to_owned()
}

/// An attempt of a student at a lesson.
#[derive(Debug)]
pub struct LessonAttempt {
    /// The student's name.
    pub student: String,
    /// The title of the lesson; its sourcedId if it was purged.
    pub lesson_title: String,
    /// The questions in the order in which they were asked.
    pub questions: Vec<ServedQuestion>,
    /// Question and answers as text, for each entry. Versions of deleted items stay readable.
    pub words: Vec<Option<QuestionText>>,
}

/// A question and its answer as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionText {
    /// The question; the title of the item if it has no text.
    pub question: String,
    /// The answer; empty if there is none yet.
    pub chosen: String,
    /// The correct answer; empty if the item declares none.
    pub correct: String,
}

/// Reads the page of an attempt, by its number from 1. Errors: `NotFound`.
pub fn attempt(
    tx: &mut Tx<'_>,
    id: &str,
    lesson: &str,
    number: &str,
    reach: &Reach,
) -> Result<LessonAttempt> {
    let student = name_of(tx, id, reach)?;
    let mut questions = log::served_questions(tx, id)?;
    questions.retain(|served| served.lesson == lesson && served.attempt.to_string() == number);
    if questions.is_empty() {
        let message = message!(
            "the student '{id}' has no questions in attempt '{number}' of the lesson '{lesson}'"
        );
        return Err(Problem::new(ProblemKind::NotFound, message));
    }
    let lessons = fields::of_all(tx, &COMPONENT_RESOURCE, std::iter::once(lesson))?;
    let words = question_texts(tx, id, &questions)?;
    Ok(LessonAttempt { student, lesson_title: lesson_title(&lessons, lesson), questions, words })
}

/// Questions that a student was asked, and their answers, as text; `None` for an item that cannot be read. Runs at most
/// four statements.
pub fn question_texts(
    tx: &mut Tx<'_>,
    student: &str,
    questions: &[ServedQuestion],
) -> Result<Vec<Option<QuestionText>>> {
    let attempts = attempts::of_student(tx, student)?.into_iter();
    let attempts: HashMap<i64, Attempt> = attempts.map(|attempt| (attempt.id, attempt)).collect();
    let mut banks: Vec<&str> = questions
        .iter()
        .filter_map(|served| Some(attempts.get(&served.attempt_id)?.bank.as_str()))
        .collect();
    banks.sort_unstable();
    banks.dedup();
    let banks = QuestionSet::find_all(tx, &banks)?;
    let item = |served: &ServedQuestion| {
        let bank = banks.get(&attempts.get(&served.attempt_id)?.bank)?;
        let details = bank.items.get(served.entry.question as usize)?;
        Some(((served.entry.item.clone(), details.version), details.title.clone()))
    };
    let items: Vec<_> = questions.iter().map(item).collect();
    let mut known: Vec<_> = items.iter().flatten().map(|(key, _)| key.clone()).collect();
    known.sort();
    known.dedup();
    let texts = content::texts(tx, &known)?;
    let in_words = |(served, item): (&ServedQuestion, &Option<_>)| {
        let (key, title): &((String, i64), String) = item.as_ref()?;
        let attempt = attempts.get(&served.attempt_id)?;
        let seed = variant_seed(attempt, variant_number(attempt, &served.entry));
        let found = question_words(&texts.get(key)?.xml, seed).ok()?;
        let answered = served.entry.answered.as_ref();
        let question = Some(found.words.question.clone()).filter(|text| !text.is_empty());
        Some(QuestionText {
            question: question.unwrap_or_else(|| title.clone()),
            chosen: answered
                .map(|answered| found.words.responses(&answered.responses))
                .unwrap_or_default(),
            correct: found.correct,
        })
    };
    Ok(questions.iter().zip(&items).map(in_words).collect())
}

/// Days and a subject. An empty day is today; an empty subject means all.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The first day, such as `2026-01-15`.
    pub from: String,
    /// The last day.
    pub to: String,
    /// The subject as reports name it.
    pub subject: String,
}

/// The events behind a number.
#[derive(Debug)]
pub struct EventsBehind {
    /// The student's name.
    pub student: String,
    /// The selection of the events; its days are not empty.
    pub selection: Selection,
    /// The sum of the events.
    pub total: MeasureSums,
    /// The events, the latest first.
    pub events: Vec<ContributingEvent>,
}

/// Reads the page of the events behind a number, by days in the time zone of the student's school. Errors: `NotFound`;
/// `Invalid` for wrong days.
pub fn events_behind(
    tx: &mut Tx<'_>,
    moment: &Moment,
    id: &str,
    selection: &Selection,
    reach: &Reach,
) -> Result<EventsBehind> {
    let student = name_of(tx, id, reach)?;
    let zone = &zone_of(tx, moment, id)?;
    let mut selection = selection.clone();
    for day in [&mut selection.from, &mut selection.to] {
        if day.is_empty() {
            *day = zone.day_of(moment.now).to_string();
        }
    }
    let range = InstantRange::inclusive(zone, Some(&selection.from), Some(&selection.to))?;
    let subject = Some(selection.subject.as_str()).filter(|subject| !subject.is_empty());
    let events = analytics::behind(tx, StudentName::Id(id), range, subject, &Reach::Everything)?;
    let mut total = MeasureSums::default();
    for event in &events {
        total.add(&event.sums, 1);
    }
    Ok(EventsBehind { student, selection, total, events })
}

/// An event of a student.
#[derive(Debug)]
pub struct StudentEvent {
    /// The student's name.
    pub student: String,
    /// The event.
    pub logged: LoggedEvent,
}

/// Reads the page of an event of a student, by its number in the log. Errors: `NotFound`.
pub fn event(tx: &mut Tx<'_>, id: &str, number: i64, reach: &Reach) -> Result<StudentEvent> {
    let student = name_of(tx, id, reach)?;
    let mut found = None;
    lyceum_events::scan(tx, number.saturating_sub(1), 1, |logged| {
        found = Some(logged).filter(|logged| logged.seq == number);
        Ok(())
    })?;
    let actors = analytics::actors_of(tx, StudentName::Id(id), &Reach::Everything)?;
    let logged = found.filter(|logged| actors.contains(&logged.actor)).ok_or_else(|| {
        let message = message!("the student '{id}' has no event {number}");
        Problem::new(ProblemKind::NotFound, message)
    })?;
    Ok(StudentEvent { student, logged })
}
