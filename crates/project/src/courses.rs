//! The courses in a project's config, and the roster records that they need.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lyceum_core::schema::nulls_may_be_missing;
use lyceum_core::{Detail, Problem, Result};

use crate::config::Lms;

/// The organization of the courses if the config names none.
pub const PLATFORM: &str = "lyceum-platform";
/// The title of a course if the config has none.
pub const TITLE: &str = "{appName}: {subject} {grade}";
/// The code of a course if the config has none.
pub const CODE: &str = "{subject}-{grade}";

/// The project to which the courses belong.
#[derive(Clone, Copy, Debug)]
pub struct App<'a> {
    /// Its slug.
    pub slug: &'a str,
    /// Its name.
    pub name: &'a str,
}

impl App<'_> {
    /// Fills in the placeholders of a template.
    pub fn filled(self, template: &str, subject: &str, grade: &str) -> String {
        template
            .replace("{grade}", grade)
            .replace("{subject}", subject)
            .replace("{appSlug}", self.slug)
            .replace("{appName}", self.name)
    }

    /// The sourcedId of a course that has none yet.
    pub fn course_id(self, subject: &str, grade: &str) -> String {
        let words = [self.slug, subject, grade].map(str::to_lowercase);
        words.join("-").replace(' ', "-")
    }
}

/// The records that a course needs besides its organization: kind and sourcedId. Each comes after those that it
/// refers to.
pub fn records(course_id: &str) -> [(&'static str, String); 4] {
    [
        ("course", course_id.to_owned()),
        ("courseComponent", format!("{course_id}-component")),
        ("resource", format!("{course_id}-resource")),
        ("componentResource", format!("{course_id}-component-resource")),
    ]
}

/// An organization in a config.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CourseOwner", transform = nulls_may_be_missing)]
pub struct Owner {
    /// Its sourcedId.
    pub id: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// `department`, `school`, …
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

/// A course, with defaults for everything that a config leaves out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ProjectCourse", transform = nulls_may_be_missing)]
pub struct Taught {
    /// Its sourcedId; if it is `None`, it is derived from slug, subject and grade.
    #[serde(default)]
    pub course_id: Option<String>,
    /// Such as `Math`.
    pub subject: String,
    /// The grade in OneRoster's form.
    pub grade: String,
    /// Its title.
    pub title: String,
    /// Its code.
    pub course_code: String,
    /// Total XP.
    #[schemars(range(min = 0))]
    pub total_xp: f64,
    /// Units to master; 0 if they are not counted.
    #[schemars(range(min = 0))]
    pub masterable_units: f64,
}

/// The state of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "RecordPresence")]
pub enum Presence {
    /// It exists and is active.
    Ok,
    /// It is marked `tobedeleted`.
    Deleted,
    /// It does not exist.
    Missing,
}

/// A roster record and its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RosterRecord")]
pub struct Record {
    /// `org`, `course`, `courseComponent`, `resource`, `componentResource`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its sourcedId.
    pub id: String,
    /// Its state.
    pub state: Presence,
}

/// The courses of a project on a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ProjectCoursesState")]
pub struct LmsState {
    /// The organization; `None` if there are no courses yet.
    pub organization: Option<Owner>,
    /// The courses.
    pub courses: Vec<Taught>,
    /// Every record that the courses need, with its state in the roster.
    pub records: Vec<Record>,
}

/// The desired courses of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ProjectCoursesWish")]
pub struct LmsWish {
    /// The organization.
    pub organization: Owner,
    /// The courses.
    pub courses: Vec<Taught>,
}

/// The change of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RecordAction {
    /// It is created.
    Create,
    /// It is restored.
    Restore,
    /// Its values change.
    Change,
}

/// A record that a deploy writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RosterRecordChange")]
pub struct RecordChange {
    /// The change.
    pub action: RecordAction,
    /// `org`, `course`, `courseComponent`, `resource`, `componentResource`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its sourcedId.
    pub id: String,
}

/// The change of a project's courses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ProjectCoursesChange")]
pub struct LmsChange {
    /// The organization.
    pub organization: Owner,
    /// The new list of courses, each with its sourcedId.
    pub courses: Vec<Taught>,
    /// The records to write.
    pub records: Vec<RecordChange>,
    /// The courses that no longer belong to the project. Their records stay.
    pub ended: Vec<String>,
}

impl LmsWish {
    /// The courses of a config. A config without courses removes the project's courses.
    ///
    /// Errors: `Invalid` if the XP of a course are not known yet.
    pub fn of(lms: &Lms, app: App<'_>) -> Result<Self> {
        let mut faults = Vec::new();
        let mut courses = Vec::new();
        for (number, course) in lms.courses.iter().enumerate() {
            let total_xp = course.total_xp.filter(|xp| *xp > 0.0);
            if total_xp.is_none() {
                let path = format!("integrations.lms.courses[{number}].totalXp");
                let message = "must be known before the course is set up: a number above 0";
                faults.push(Detail { path, message: message.into() });
            }
            let filled = |template: &Option<String>, usual: &str| {
                let template = template.as_deref().unwrap_or(usual);
                app.filled(template, &course.subject, &course.grade)
            };
            courses.push(Taught {
                course_id: None,
                title: filled(&course.title, TITLE),
                course_code: filled(&course.course_code, CODE),
                subject: course.subject.clone(),
                grade: course.grade.clone(),
                total_xp: total_xp.unwrap_or_default(),
                masterable_units: course.masterable_units.unwrap_or_default(),
            });
        }
        if !faults.is_empty() {
            return Err(Problem::invalid_all(faults));
        }
        let organization = lms.organization.clone().unwrap_or_default();
        let organization =
            Owner { id: organization.id, name: organization.name, kind: organization.kind };
        Ok(Self { organization, courses })
    }

    /// The courses of one server as the desired courses of another.
    pub fn of_state(state: &LmsState) -> Self {
        let organization = state.organization.clone().unwrap_or_default();
        let courses =
            state.courses.iter().map(|course| Taught { course_id: None, ..course.clone() });
        Self { organization, courses: courses.collect() }
    }
}

impl Taught {
    /// Whether both courses have the same subject and grade.
    fn is_of(&self, other: &Self) -> bool {
        let grade = |text: &str| {
            let short = text.trim_start_matches('0').to_lowercase();
            if short.is_empty() { text.to_owned() } else { short }
        };
        self.subject.eq_ignore_ascii_case(&other.subject)
            && grade(&self.grade) == grade(&other.grade)
    }

    /// Whether both courses are equal; numbers are compared in thousandths.
    fn is_equal(&self, other: &Self) -> bool {
        let same = |a: f64, b: f64| (a - b).abs() < 0.000_5;
        (&self.subject, &self.title, &self.course_code)
            == (&other.subject, &other.title, &other.course_code)
            && same(self.total_xp, other.total_xp)
            && same(self.masterable_units, other.masterable_units)
    }
}

/// Computes what must change to get the desired courses; `None` if nothing. Organizations that are in the
/// roster stay unchanged.
pub fn change(state: &LmsState, desired: &LmsWish, slug: &str) -> Option<LmsChange> {
    let app = App { slug, name: "" };
    // Without an organization in the config, the courses stay where they are.
    let organization = match (&state.organization, &desired.organization.id) {
        (Some(stored), None) => stored.clone(),
        _ => desired.organization.clone(),
    };
    let is_moved = state.organization.as_ref().is_some_and(|stored| stored.id != organization.id);
    let is_needed = |record: &&Record| {
        let is_own = Some(&record.id) == organization.id.as_ref();
        !desired.courses.is_empty() && record.kind == "org" && is_own
    };
    let mut records_written: Vec<RecordChange> =
        state.records.iter().filter(is_needed).filter_map(fixed).collect();
    records_written.dedup();
    let mut change = LmsChange {
        organization,
        courses: Vec::new(),
        records: records_written,
        ended: Vec::new(),
    };
    for wanted in &desired.courses {
        let stored = state.courses.iter().find(|stored| stored.is_of(wanted));
        let known = stored.and_then(|stored| stored.course_id.clone());
        let course_id = known.unwrap_or_else(|| app.course_id(&wanted.subject, &wanted.grade));
        let is_same = stored.is_some_and(|stored| stored.is_equal(wanted)) && !is_moved;
        for (kind, id) in records(&course_id) {
            let found = state.records.iter().find(|record| record.kind == kind && record.id == id);
            let action = match found.map(|record| record.state) {
                None | Some(Presence::Missing) => RecordAction::Create,
                Some(Presence::Deleted) => RecordAction::Restore,
                Some(Presence::Ok) if !is_same => RecordAction::Change,
                Some(Presence::Ok) => continue,
            };
            change.records.push(RecordChange { action, kind: kind.to_owned(), id });
        }
        change.courses.push(Taught { course_id: Some(course_id), ..wanted.clone() });
    }
    let ended =
        state.courses.iter().filter(|it| !desired.courses.iter().any(|wanted| wanted.is_of(it)));
    change.ended = ended.filter_map(|course| course.course_id.clone()).collect();
    (!change.records.is_empty() || !change.ended.is_empty()).then_some(change)
}

/// The change for a record that should exist.
fn fixed(record: &Record) -> Option<RecordChange> {
    let action = match record.state {
        Presence::Ok => return None,
        Presence::Missing => RecordAction::Create,
        Presence::Deleted => RecordAction::Restore,
    };
    Some(RecordChange { action, kind: record.kind.clone(), id: record.id.clone() })
}
