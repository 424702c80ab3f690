//! A student's courses with their units and lessons, as the lesson plan shows them.

use std::collections::{HashMap, HashSet};

use lyceum_bridge::enroll;
use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_roster::fields;
use lyceum_roster::kinds::{COMPONENT_RESOURCE, COURSE, COURSE_COMPONENT, RESOURCE};
use lyceum_roster::record::Object;
use lyceum_store::Tx;

use super::LessonKind;
use crate::attempt::Attempt;
use crate::lesson_list::LessonResults;
use crate::lesson_plans::{LessonPlanItemSort, PlanItem, items_of_student};
use crate::repository::attempts;
use crate::{LessonType, lesson};

/// A course of a student.
#[derive(Clone, Debug, PartialEq)]
pub struct StudentCourse {
    /// The sourcedId.
    pub id: String,
    /// The title.
    pub title: String,
    /// The first subject; empty if there is none.
    pub subject: String,
    /// The units that contain lessons, in reading order.
    pub units: Vec<CourseUnit>,
}

/// A unit of a course, at any depth, with the lessons directly in it.
#[derive(Clone, Debug, PartialEq)]
pub struct CourseUnit {
    /// The title, after the titles of the units around it.
    pub title: String,
    /// The lessons, in reading order.
    pub lessons: Vec<StudentLesson>,
}

/// A lesson as its student sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct StudentLesson {
    /// The sourcedId of its component resource; of its resource, if it was added to the student's lesson plan.
    pub id: String,
    /// The title.
    pub title: String,
    /// The sort of the lesson.
    pub kind: LessonKind,
    /// How far the student is.
    pub standing: LessonStanding,
    /// The score of the last attempt, 0 to 100; `None` if there is none.
    pub score: Option<f64>,
    /// The start of the last attempt.
    pub started: Option<Timestamp>,
    /// Whether it is a resource that was added to the student's lesson plan. Then the gradebook has no place for it.
    pub is_added: bool,
}

impl StudentLesson {
    /// Whether the student still has to work on it the first time, and can.
    pub fn is_to_do(&self) -> bool {
        self.standing.is_open() && self.kind.can_be_opened() && !self.is_added
    }

    /// Whether the student says when it is done.
    pub fn can_be_marked_done(&self) -> bool {
        !self.is_added && matches!(self.kind, LessonKind::Material(..) | LessonKind::App(_))
    }
}

/// How far a student is in a lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LessonStanding {
    /// No attempt.
    NotStarted,
    /// The last attempt is not complete.
    Started,
    /// The last attempt waits for a person to score answers.
    Waiting,
    /// The last attempt is complete and did not master the lesson, nor did an earlier one.
    NotMastered,
    /// Mastered, or done.
    Done,
}

impl LessonStanding {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotStarted => "not-started",
            Self::Started => "started",
            Self::Waiting => "waiting",
            Self::NotMastered => "not-mastered",
            Self::Done => "done",
        }
    }

    /// Whether the student still has to work on the lesson the first time.
    pub fn is_open(self) -> bool {
        matches!(self, Self::NotStarted | Self::Started)
    }
}

impl StudentCourse {
    /// All lessons, in reading order.
    pub fn lessons(&self) -> impl Iterator<Item = &StudentLesson> {
        self.units.iter().flat_map(|unit| &unit.lessons)
    }
}

/// The courses in which the student learns now, in the order of the enrollments. Runs about ten statements for each.
pub fn courses(tx: &mut Tx<'_>, now: Timestamp, student: &str) -> Result<Vec<StudentCourse>> {
    let mut ids = enroll::learned(tx, now, student)?;
    let mut seen = HashSet::new();
    ids.retain(|id| seen.insert(id.clone()));
    let mut courses = Vec::new();
    for id in &ids {
        let items = items_of_student(tx, id, student)?;
        courses.push(course(tx, student, id, &items)?);
    }
    Ok(courses)
}

/// Whether a lesson of the student's courses is the app with this slug.
pub fn include_app(tx: &mut Tx<'_>, now: Timestamp, student: &str, slug: &str) -> Result<bool> {
    let courses = courses(tx, now, student)?;
    let mut lessons = courses.iter().flat_map(StudentCourse::lessons);
    Ok(lessons.any(|lesson| matches!(&lesson.kind, LessonKind::App(own) if own == slug)))
}

/// A course with those of the items whose records are all in use, as the student sees them. Errors: `NotFound`.
pub(super) fn course(
    tx: &mut Tx<'_>,
    student: &str,
    id: &str,
    items: &[PlanItem],
) -> Result<StudentCourse> {
    let record = fields::in_use(tx, &COURSE, id)?;
    let records = ItemRecords::of(tx, items)?;
    let kinds = records.kinds(tx, items)?;
    let lessons: Vec<&str> = kinds.keys().map(String::as_str).collect();
    let results = LessonResults::of(tx, student, &lessons)?;
    let mut attempts_by_lesson: HashMap<String, Vec<Attempt>> = HashMap::new();
    for attempt in attempts::of(tx, student, ("course", id))? {
        attempts_by_lesson.entry(attempt.lesson.clone()).or_default().push(attempt);
    }
    let mut units: Vec<CourseUnit> = Vec::new();
    // The titles of the units around an item, and the depth below which items have lost their unit.
    let (mut titles, mut depth_without_unit): (Vec<String>, Option<usize>) = (Vec::new(), None);
    for item in items {
        if depth_without_unit.is_some_and(|depth| item.depth > depth) {
            continue;
        }
        depth_without_unit = None;
        if item.sort == LessonPlanItemSort::Component {
            titles.truncate(item.depth);
            match records.components.get(&item.id) {
                Some(component) => {
                    titles.push(fields::text(component, "title").to_owned());
                    units.push(CourseUnit { title: titles.join(" · "), lessons: Vec::new() });
                }
                None => depth_without_unit = Some(item.depth),
            }
            continue;
        }
        let (Some(unit), Some(kind)) = (units.last_mut(), kinds.get(&item.id)) else { continue };
        let attempts = attempts_by_lesson.get(&item.id).map_or(&[][..], Vec::as_slice);
        unit.lessons.push(StudentLesson {
            id: item.id.clone(),
            title: records.title(item),
            kind: kind.clone(),
            standing: standing(attempts, results.is_submitted(&item.id)),
            score: attempts.last().filter(|last| shows_score(last)).map(|last| last.score),
            started: attempts.last().map(|last| last.started),
            is_added: item.is_custom,
        });
    }
    units.retain(|unit| !unit.lessons.is_empty());
    Ok(StudentCourse {
        id: id.to_owned(),
        title: fields::text(&record, "title").to_owned(),
        subject: fields::texts(&record, "subjects").into_iter().next().unwrap_or_default(),
        units,
    })
}

/// Whether the attempt has a score to show: a running test that is shown whole has none yet.
fn shows_score(attempt: &Attempt) -> bool {
    match attempt.completed {
        None => attempt.lesson_type == LessonType::Powerpath100,
        Some(_) => !attempt.is_pending(),
    }
}

/// How far the student is, from the attempts in order and the gradebook.
fn standing(attempts: &[Attempt], is_submitted: bool) -> LessonStanding {
    let Some(last) = attempts.last() else {
        return if is_submitted { LessonStanding::Done } else { LessonStanding::NotStarted };
    };
    match last.completed {
        None => LessonStanding::Started,
        Some(_) if last.is_pending() => LessonStanding::Waiting,
        Some(_) if attempts.iter().any(|attempt| attempt.mastered) => LessonStanding::Done,
        Some(_) => LessonStanding::NotMastered,
    }
}

/// The records of a plan's items that are in use.
struct ItemRecords {
    components: HashMap<String, Object>,
    links: HashMap<String, Object>,
    resources: HashMap<String, Object>,
}

impl ItemRecords {
    /// Reads them with three statements.
    fn of(tx: &mut Tx<'_>, items: &[PlanItem]) -> Result<Self> {
        let ids = |sort: LessonPlanItemSort, is_custom: bool| {
            let matching = items.iter().filter(move |i| i.sort == sort && i.is_custom == is_custom);
            matching.map(|item| item.id.as_str())
        };
        let (component, resource) = (LessonPlanItemSort::Component, LessonPlanItemSort::Resource);
        let components = fields::of_all(tx, &COURSE_COMPONENT, ids(component, false))?;
        let links = fields::of_all(tx, &COMPONENT_RESOURCE, ids(resource, false))?;
        let used = links.values().map(|link| fields::reference(link, "resource"));
        let resources = fields::of_all(tx, &RESOURCE, used.chain(ids(resource, true)))?;
        let mut records = Self { components, links, resources };
        for found in [&mut records.components, &mut records.links, &mut records.resources] {
            found.retain(|_, record| fields::is_in_use(record));
        }
        Ok(records)
    }

    /// The component resource and the resource of a lesson. A resource that was added to the plan has no component
    /// resource.
    fn of_lesson(&self, item: &PlanItem) -> Option<(Option<&Object>, &Object)> {
        if item.is_custom {
            return Some((None, self.resources.get(&item.id)?));
        }
        let link = self.links.get(&item.id)?;
        Some((Some(link), self.resources.get(fields::reference(link, "resource"))?))
    }

    fn title(&self, item: &PlanItem) -> String {
        let record = match item.is_custom {
            true => self.resources.get(&item.id),
            false => self.links.get(&item.id),
        };
        record.map(|record| fields::text(record, "title").to_owned()).unwrap_or_default()
    }

    /// The kinds of the lessons whose records are in use, by id. Runs at most two statements.
    fn kinds(&self, tx: &mut Tx<'_>, items: &[PlanItem]) -> Result<HashMap<String, LessonKind>> {
        let mut kinds = HashMap::new();
        let mut unnamed = Vec::new();
        for item in items.iter().filter(|item| item.sort == LessonPlanItemSort::Resource) {
            let Some((link, resource)) = self.of_lesson(item) else { continue };
            match LessonKind::of(link, resource) {
                Some(kind) => drop(kinds.insert(item.id.clone(), kind)),
                None => unnamed.push((item.id.clone(), resource, fields::metadata(resource))),
            }
        }
        let resources: Vec<_> =
            unnamed.iter().map(|(_, resource, metadata)| (*resource, metadata)).collect();
        let are_tests = lesson::are_tests(tx, &resources)?;
        for ((id, ..), is_test) in unnamed.iter().zip(are_tests) {
            let kind = match is_test {
                true => LessonKind::Questions(LessonType::Powerpath100),
                false => LessonKind::Unknown,
            };
            kinds.insert(id.clone(), kind);
        }
        Ok(kinds)
    }
}
