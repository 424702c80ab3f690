//! Today: the work of all students compared with their daily goals, read with a fixed number of statements.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use lyceum_core::time::Timestamp;
use lyceum_core::{Reach, Result};
use lyceum_events::facts::{self, ActorFacts, Measure, MeasureSums};
use lyceum_roster::fields;
use lyceum_roster::kinds::{COURSE, ORG, USER};
use lyceum_roster::membership;
use lyceum_roster::record::{Object, members};
use lyceum_roster::repository::{self, ListedStudent, OwnGoal};
use lyceum_store::Tx;
use serde_json::Value;

use crate::analytics::{self, StudentName};
use crate::school_hours::{self, SchoolDay, SchoolHours};
use crate::zone::{self, Zone};
use crate::{goals, resolved_enrollments};

/// A student's work today.
#[derive(Clone, Debug, Default)]
pub struct StudentDay {
    /// The student.
    pub learner: ListedStudent,
    /// The name of the organization.
    pub school: String,
    /// The daily XP goals of all courses together; 0 if there is no goal.
    pub goal_xp: i64,
    /// The sums of the day.
    pub sums: MeasureSums,
    /// The last event of the day.
    pub last: Option<Timestamp>,
    /// The date in the time zone of the student's school, such as `2026-01-15`.
    pub date: String,
    /// The instants of the day in the time zone of the student's school, in milliseconds.
    pub instants: Range<i64>,
    /// The school day of the student's organization; `None` on a day without school and before it begins.
    pub school_day: Option<SchoolDay>,
    /// Whether the student is enrolled in a course now.
    pub is_enrolled: bool,
    /// The lesson with the most failed attempts and without success, among those failed today, and the number of failed
    /// attempts. The caller fills it in, because this crate does not know lessons.
    pub failed: Option<(String, i64)>,
}

/// Minutes after their last activity in which students count as working.
pub const WORKING_MAX_MINUTES: i64 = 5;

/// The activity of a student at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// The student was active in the last minutes.
    Working,
    /// The student was active today, and not in the last minutes.
    Idle,
    /// The student is enrolled and did nothing today, although school has begun.
    Absent,
    /// The student need not work now, because it is a day off or before school hours.
    Off,
}

impl Presence {
    /// Each with the name in addresses and exports.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Working, "working"),
        (Self::Idle, "idle"),
        (Self::Absent, "absent"),
        (Self::Off, "off"),
    ];
}

impl StudentDay {
    /// The day of `now` in a school with these hours, without a student or work.
    fn begin(now: Timestamp, hours: &SchoolHours) -> Self {
        let zone = hours.zone();
        Self {
            school_day: hours.day_at(now),
            date: zone.day_of(now).to_string(),
            instants: range(now, &zone),
            ..Self::default()
        }
    }

    /// XP in thousandths.
    pub fn xp(&self) -> i64 {
        self.sums.of(Measure::Xp)
    }

    /// Whether the student's school is open now.
    pub fn is_in_school(&self) -> bool {
        self.school_day.is_some_and(|day| day.is_open)
    }

    /// The student's activity at this moment.
    pub fn presence(&self, now: Timestamp) -> Presence {
        match self.last {
            Some(last)
                if now.milliseconds() - last.milliseconds() < WORKING_MAX_MINUTES * 60_000 =>
            {
                Presence::Working
            }
            Some(_) => Presence::Idle,
            None if self.is_enrolled && self.school_day.is_some() => Presence::Absent,
            None => Presence::Off,
        }
    }
}

/// A moment. Its day is another one in each time zone of a school.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The instant.
    pub now: Timestamp,
    /// The school hours of organizations that set none.
    pub usual_hours: SchoolHours,
}

impl Moment {
    /// A moment with the usual school hours in a time zone.
    pub fn usual(now: Timestamp, zone: &Zone) -> Self {
        Self { now, usual_hours: SchoolHours::usual(zone.name()) }
    }
}

/// The instants of the day that `now` belongs to.
fn range(now: Timestamp, zone: &Zone) -> Range<i64> {
    let day = zone.day_of(now);
    let behind = day.tomorrow().unwrap_or(day);
    zone.start_of(day).milliseconds()..zone.start_of(behind).milliseconds()
}

/// All active students within the reach with the day of `now` in the time zones of their schools, without goals
/// ([`add_goals`]) and work ([`add_work`]), in the order of their creation.
pub fn students(tx: &mut Tx<'_>, moment: &Moment, reach: &Reach) -> Result<Vec<StudentDay>> {
    let now = moment.now;
    let learners = repository::learners(tx, reach)?;
    let orgs = learners.iter().map(|learner| learner.org.as_str());
    let days_by_org: HashMap<String, StudentDay> =
        school_hours::in_force(tx, &moment.usual_hours, orgs.clone())?
            .into_iter()
            .map(|(org, set)| (org, StudentDay::begin(now, &set.hours)))
            .collect();
    let orgs = fields::of_all_within(tx, &ORG, orgs, reach)?;
    let name =
        |learner: &ListedStudent| orgs.get(&learner.org).map(|org| fields::text(org, "name"));
    let day = |learner: ListedStudent| {
        let day = days_by_org.get(&learner.org).cloned().unwrap_or_default();
        StudentDay { school: name(&learner).unwrap_or_default().to_owned(), learner, ..day }
    };
    Ok(learners.into_iter().map(day).collect())
}

/// The most students whose work is looked up. With more, it is faster to read the work of everybody.
const LOOKED_UP_MAX_COUNT: usize = 500;

/// The places of students among days, by their sourcedIds.
fn places_by_student(days: &[StudentDay]) -> HashMap<String, usize> {
    days.iter().enumerate().map(|(at, day)| (day.learner.id.clone(), at)).collect()
}

/// Adds the work of their days to students. Events belong to students by the rules of [`crate::analytics::activity`]. The
/// number of statements grows with the number of different days, not with the number of schools or students.
pub fn add_work(tx: &mut Tx<'_>, days: &mut [StudentDay]) -> Result<()> {
    let at = places_by_student(days);
    for instants in different_days(days) {
        add_events(tx, instants, &at, days)?;
    }
    Ok(())
}

/// The different days of the students, as instants.
pub fn different_days(days: &[StudentDay]) -> Vec<Range<i64>> {
    let bounds: BTreeSet<(i64, i64)> =
        days.iter().map(|day| (day.instants.start, day.instants.end)).collect();
    bounds.into_iter().map(|(start, end)| start..end).collect()
}

/// Adds the events between these instants to the students whose day they are.
fn add_events(
    tx: &mut Tx<'_>,
    instants: Range<i64>,
    at: &HashMap<String, usize>,
    days: &mut [StudentDay],
) -> Result<()> {
    let actors = match days.len() <= LOOKED_UP_MAX_COUNT {
        true => {
            let learners = || days.iter().map(|day| &day.learner);
            let ids: Vec<&str> = learners().map(|learner| learner.id.as_str()).collect();
            let emails: Vec<&str> = learners().map(|learner| learner.email.as_str()).collect();
            Some(lyceum_events::actors_called(tx, &ids, &emails)?)
        }
        false => None,
    };
    let did = facts::sums_by_actor(tx, actors, instants.clone())?;
    let by_email = by_email(tx, &did, at)?;
    for did in did {
        let by_email = || at.get(by_email.get(&did.email)?);
        let Some(at) = at.get(&did.person).or_else(by_email) else { continue };
        let day = &mut days[*at];
        if day.instants == instants {
            day.sums.add(&did.sums, 1);
            day.last = day.last.max(did.last_ms.map(Timestamp::from_milliseconds));
        }
    }
    Ok(())
}

/// The school hours of a student: those of the primary organization, otherwise of the one at which the user has a role.
fn hours_of(tx: &mut Tx<'_>, moment: &Moment, person: &Object) -> Result<SchoolHours> {
    let primary = fields::reference(person, "primaryOrg");
    let roles = person.get("roles").and_then(Value::as_array).into_iter().flatten();
    let of_roles = roles.map(|role| fields::id_in(&role["org"])).min();
    hours_at(tx, moment, if primary.is_empty() { of_roles.unwrap_or_default() } else { primary })
}

fn hours_at(tx: &mut Tx<'_>, moment: &Moment, org: &str) -> Result<SchoolHours> {
    let in_force = school_hours::in_force(tx, &moment.usual_hours, [org])?.remove(org);
    Ok(in_force.map_or_else(|| moment.usual_hours.clone(), |set| set.hours))
}

/// The time zone of an organization.
pub(crate) fn zone_at(tx: &mut Tx<'_>, moment: &Moment, org: &str) -> Result<Zone> {
    Ok(hours_at(tx, moment, org)?.zone())
}

/// The time zone of a student's school. Errors: `NotFound`.
pub fn zone_of(tx: &mut Tx<'_>, moment: &Moment, user: &str) -> Result<Zone> {
    let person = fields::in_use(tx, &USER, user)?;
    Ok(hours_of(tx, moment, &person)?.zone())
}

/// A student's work today in a subject, compared with its goal.
#[derive(Clone, Debug, Default)]
pub struct SubjectDay {
    /// The subject.
    pub subject: String,
    /// The daily XP goals of its courses; 0 if there is no goal.
    pub goal_xp: i64,
    /// The sums of the day.
    pub sums: MeasureSums,
}

/// The day of one student by subject: first the subjects with a goal, in the order of the enrollments, then other
/// subjects in which the student worked. Errors: `NotFound`.
fn subjects(tx: &mut Tx<'_>, now: Timestamp, zone: &Zone, user: &str) -> Result<Vec<SubjectDay>> {
    let mut subjects: Vec<SubjectDay> = Vec::new();
    let mut at = |name: &str| {
        let known = subjects.iter().position(|known| known.subject.eq_ignore_ascii_case(name));
        known.unwrap_or_else(|| {
            subjects.push(SubjectDay { subject: name.to_owned(), ..SubjectDay::default() });
            subjects.len() - 1
        })
    };
    let enrollments = resolved_enrollments::of_users(tx, now, &[user])?;
    let courses = fields::of_all(
        tx,
        &COURSE,
        enrollments.iter().map(|enrollment| enrollment.course.as_str()),
    )?;
    let mut goals_at = Vec::new();
    let today = membership::day(now);
    for enrollment in enrollments
        .iter()
        .filter(|enrollment| enrollment.role == "student" && enrollment.is_current(&today))
    {
        let Some(course) =
            courses.get(&enrollment.course).filter(|course| fields::is_in_use(course))
        else {
            continue;
        };
        let own = fields::metadata(&enrollment.fields);
        let Some(goal) = goals::daily_xp(own, &fields::metadata(course)) else { continue };
        let subjects = fields::texts(course, "subjects");
        goals_at.push((at(subjects.first().map_or("None", String::as_str)), goal));
    }
    let today = zone::InstantRange::of(&range(now, zone));
    let report = analytics::activity(tx, StudentName::Id(user), today, zone, &Reach::Everything)?;
    let mut sums_at = Vec::new();
    for (subject, metrics) in report.facts.values().flatten() {
        sums_at.push((at(subject), metrics.sums));
    }
    for (at, goal) in goals_at {
        subjects[at].goal_xp += goal;
    }
    for (at, sums) in sums_at {
        subjects[at].sums.add(&sums, 1);
    }
    Ok(subjects)
}

/// The day of one student like in [`students`], without the fields from the roster. Errors: `NotFound`.
pub fn of_one(
    tx: &mut Tx<'_>,
    moment: &Moment,
    user: &str,
) -> Result<(StudentDay, Vec<SubjectDay>)> {
    let person = fields::in_use(tx, &USER, user)?;
    let hours = hours_of(tx, moment, &person)?;
    let subjects = subjects(tx, moment.now, &hours.zone(), user)?;
    let mut day = StudentDay::begin(moment.now, &hours);
    user.clone_into(&mut day.learner.id);
    for subject in &subjects {
        day.goal_xp += subject.goal_xp;
        day.sums.add(&subject.sums, 1);
    }
    for actor in analytics::actors(tx, &person)? {
        lyceum_events::of_actor(tx, actor, day.instants.clone(), |logged| {
            day.last = day.last.max(Some(logged.event.time));
            Ok(())
        })?;
    }
    Ok((day, subjects))
}

/// The owner of each e-mail address, for actors whose id is not in the roster.
fn by_email(
    tx: &mut Tx<'_>,
    did: &[ActorFacts],
    at: &HashMap<String, usize>,
) -> Result<HashMap<String, String>> {
    let unknown: Vec<&ActorFacts> =
        did.iter().filter(|did| !at.contains_key(&did.person)).collect();
    if unknown.is_empty() {
        return Ok(HashMap::new());
    }
    let persons: Vec<&str> = unknown.iter().map(|did| did.person.as_str()).collect();
    let known = repository::present(tx, &USER, &persons)?;
    let nobody = unknown.iter().filter(|did| !known.contains_key(&did.person));
    let emails: Vec<&str> =
        nobody.map(|did| did.email.as_str()).filter(|email| !email.is_empty()).collect();
    repository::users_with_emails(tx, &emails)
}

/// Adds the goals of the enrollments that count today, and whether there is such an enrollment. The number of statements
/// is fixed.
pub fn add_goals(tx: &mut Tx<'_>, now: Timestamp, days: &mut [StudentDay]) -> Result<()> {
    let at = places_by_student(days);
    let students: Option<Vec<&str>> =
        (at.len() <= LOOKED_UP_MAX_COUNT).then(|| at.keys().map(String::as_str).collect());
    // A place in `days` and the place of a course for each enrollment, because there may be hundreds of thousands.
    let mut learning: Vec<(usize, usize)> = Vec::new();
    let courses = repository::each_learning(tx, now, students.as_deref(), |user, course| {
        learning.extend(at.get(user).map(|at| (*at, course)));
    })?;
    let records = fields::of_all(tx, &COURSE, courses.iter().map(String::as_str))?;
    let goal = |own: Object, course: &str| {
        let of_course = records.get(course).map(fields::metadata).unwrap_or_default();
        goals::daily_xp(own, &of_course).unwrap_or_default()
    };
    let usual: Vec<i64> = courses.iter().map(|course| goal(Object::new(), course)).collect();
    for (at, course) in learning {
        days[at].is_enrolled = true;
        days[at].goal_xp += usual[course];
    }
    // Few enrollments replace the goal of their course.
    for OwnGoal { student, course, body } in repository::own_goals(tx, now, students.as_deref())? {
        let Some(at) = at.get(&student) else { continue };
        let own = fields::metadata(&members(&body, None)?);
        days[*at].goal_xp += goal(own, &course) - goal(Object::new(), &course);
    }
    Ok(())
}
