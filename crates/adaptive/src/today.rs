//! Finds the students who need help now: combines the rules of the bridge with data of lessons.

use std::collections::HashMap;
use std::ops::Range;

use lyceum_bridge::need::{self, RULES, StudentInNeed};
use lyceum_bridge::today::{self, Moment, StudentDay, SubjectDay};
use lyceum_core::{Reach, Result};
use lyceum_events::facts::{Measure, MeasureSums};
use lyceum_store::Tx;

use crate::lesson;
use crate::placement::is_refusal;
use crate::repository::attempts::{self, RunningAnswer};

/// The goals and the work of each active student within the reach on the day of `now`, including failed and running
/// lessons.
pub fn students(tx: &mut Tx<'_>, moment: &Moment, reach: &Reach) -> Result<Vec<StudentDay>> {
    let mut days = today::students(tx, moment, reach)?;
    today::add_goals(tx, moment.now, &mut days)?;
    add_work(tx, &mut days)?;
    Ok(days)
}

/// Adds the work of their days to students, including failed and running lessons.
pub(crate) fn add_work(tx: &mut Tx<'_>, days: &mut [StudentDay]) -> Result<()> {
    today::add_work(tx, days)?;
    for instants in today::different_days(days) {
        add_lessons(tx, instants, days)?;
    }
    Ok(())
}

/// Adds the failed and running lessons between these instants to the students whose day they are.
fn add_lessons(tx: &mut Tx<'_>, instants: Range<i64>, days: &mut [StudentDay]) -> Result<()> {
    let mut failed: HashMap<String, (String, i64)> = HashMap::new();
    for (student, lesson, count) in attempts::failed(tx, instants.clone())? {
        let most = failed.entry(student).or_default();
        if count > most.1 {
            *most = (lesson, count);
        }
    }
    let mut underway: HashMap<String, Vec<RunningAnswer>> = HashMap::new();
    for answer in attempts::underway(tx, instants.clone(), None)? {
        underway.entry(answer.student.clone()).or_default().push(answer);
    }
    for day in days.iter_mut().filter(|day| day.instants == instants) {
        day.failed = failed.remove(&day.learner.id);
        for answer in underway.get(&day.learner.id).into_iter().flatten() {
            add(day, answer);
        }
    }
    Ok(())
}

/// The measures that an answer in a running lesson adds to a day. When the lesson is complete, its event reports its
/// answers.
fn sums(answer: &RunningAnswer) -> MeasureSums {
    let mut sums = MeasureSums::default();
    if let Some(correct) = answer.correct {
        sums.measures[Measure::TotalQuestions as usize] = 1000;
        sums.measures[Measure::CorrectQuestions as usize] = i64::from(correct) * 1000;
    }
    sums
}

fn add(day: &mut StudentDay, answer: &RunningAnswer) {
    day.sums.add(&sums(answer), 1);
    day.last = day.last.max(Some(answer.at));
}

/// A student's day with the reasons to help, in total and by subject. Errors: `NotFound`.
pub fn student(
    tx: &mut Tx<'_>,
    moment: &Moment,
    user: &str,
) -> Result<(StudentInNeed, Vec<SubjectDay>)> {
    let (mut day, mut subjects) = today::of_one(tx, moment, user)?;
    let mut subjects_by_lesson: HashMap<String, Option<String>> = HashMap::new();
    for answer in attempts::underway(tx, day.instants.clone(), Some(user))? {
        add(&mut day, &answer);
        if !subjects_by_lesson.contains_key(&answer.lesson) {
            let subject = match lesson::find(tx, &answer.lesson) {
                Ok(lesson) => Some(lesson.subject),
                Err(problem) if is_refusal(problem.kind) => None,
                Err(problem) => return Err(problem),
            };
            subjects_by_lesson.insert(answer.lesson.clone(), subject);
        }
        let Some(subject) = subjects_by_lesson[&answer.lesson].clone() else { continue };
        let known = subjects.iter().position(|one| one.subject.eq_ignore_ascii_case(&subject));
        let at = known.unwrap_or_else(|| {
            subjects.push(SubjectDay { subject, ..SubjectDay::default() });
            subjects.len() - 1
        });
        subjects[at].sums.add(&sums(&answer), 1);
    }
    let failed = attempts::failed(tx, day.instants.clone())?.into_iter();
    let own = failed.filter(|(student, ..)| student == user);
    day.failed = own.map(|(_, lesson, count)| (lesson, count)).max_by_key(|(_, count)| *count);
    let reasons = need::reasons(&day, RULES, moment.now);
    Ok((StudentInNeed { day, reasons }, subjects))
}
