//! A lesson: a component resource with its resource and its course.

use std::sync::Arc;

use lyceum_assessment::banks::{self, Questions};
use lyceum_assessment::{ContentKind, Reference, repository as content};
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_roster::fields;
use lyceum_roster::kinds::{COMPONENT_RESOURCE, COURSE, COURSE_COMPONENT, RESOURCE, USER};
use lyceum_roster::reach::check_changes;
use lyceum_roster::record::Object;
use lyceum_store::Tx;
use quick_cache::sync::Cache;
use serde_json::Value;

use crate::LessonType;
use crate::limits;

/// A lesson, as attempts need it.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    /// The sourcedId of its component resource.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its type.
    pub lesson_type: LessonType,
    /// The XP that it is worth.
    pub base_xp: f64,
    /// Where its questions come from.
    pub source: QuestionSource,
    /// The course.
    pub course: LessonCourse,
    /// The subject that it tests, from its resource or its course.
    pub subject: String,
    /// The grade that it tests: the first of its resource.
    pub grade: Option<String>,
    /// The course in which students who fail are enrolled.
    pub course_on_fail: Option<String>,
    /// The units that it tests students out of; empty for the whole course.
    pub units: Vec<String>,
}

/// A cache of lessons. Each entry has the state of the records that it was read from
/// ([`LessonState::records`](lyceum_roster::repository::LessonState::records)).
pub(crate) struct LessonCache(Cache<String, (String, Arc<Lesson>)>);

impl Default for LessonCache {
    fn default() -> Self {
        Self(Cache::new(limits::LESSON_CACHE_ENTRIES))
    }
}

impl LessonCache {
    /// The lesson, if its records have that state. Errors: as [`find`].
    pub(crate) fn get(&self, tx: &mut Tx<'_>, id: &str, state: String) -> Result<Arc<Lesson>> {
        match self.0.get(id) {
            Some((known, lesson)) if known == state => Ok(lesson),
            _ => {
                let lesson = Arc::new(find(tx, id)?);
                self.0.insert(id.to_owned(), (state, Arc::clone(&lesson)));
                Ok(lesson)
            }
        }
    }
}

/// The course of a lesson.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LessonCourse {
    /// Its sourcedId.
    pub id: String,
    /// Its title.
    pub title: String,
}

/// The source of a lesson's questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionSource {
    /// A test: the resource's `metadata.url`, otherwise its `vendorResourceId`.
    Test(Reference),
    /// Resources whose tests are used in turn, one per attempt (`metadata.resources`).
    Turns(Vec<String>),
    /// A stored assessment bank, whose tests are used in turn.
    Bank(String),
    /// An outside tool, by name: `metadata.toolProvider`.
    External(String),
}

/// The lesson with that id. Errors: `NotFound`; `Invalid` for a component resource that is not a lesson.
pub fn find(tx: &mut Tx<'_>, id: &str) -> Result<Lesson> {
    let record = in_use(tx, &COMPONENT_RESOURCE, id, "lesson", &Reach::Everything)?;
    let resource = fields::in_use(tx, &RESOURCE, fields::reference(&record, "resource"))?;
    let component = fields::reference(&record, "courseComponent");
    let component = fields::in_use(tx, &COURSE_COMPONENT, component)?;
    let course = fields::in_use(tx, &COURSE, fields::reference(&component, "course"))?;
    let of_resource = fields::metadata(&resource);
    let lesson_type = match named_sort(&record, &of_resource)? {
        Some(named) => named,
        None => unnamed_sort(tx, id, &resource, &of_resource)?,
    };
    let first = |list: Vec<String>| list.into_iter().next();
    let subject = fields::opt_text(&of_resource, "subject");
    let subject = subject.or_else(|| first(fields::texts(&course, "subjects")));
    Ok(Lesson {
        id: id.to_owned(),
        title: fields::text(&record, "title").to_owned(),
        lesson_type,
        base_xp: base_xp(&record, &of_resource),
        source: source(tx, &resource, &of_resource)?,
        course: LessonCourse {
            id: fields::text(&course, "sourcedId").to_owned(),
            title: fields::text(&course, "title").to_owned(),
        },
        subject: subject.unwrap_or_else(|| "None".into()),
        grade: of_resource.get("grades").and_then(|grades| grade(grades.get(0)?)),
        course_on_fail: fields::opt_text(&of_resource, "courseIdOnFail"),
        units: units(&of_resource),
    })
}

/// The lesson type in a component resource, or in its resource's metadata; `None` if neither has one.
///
/// Errors: `Invalid` for an unknown type.
pub(crate) fn named_sort(record: &Object, of_resource: &Object) -> Result<Option<LessonType>> {
    let own = fields::metadata(record);
    let named = [record, &own, of_resource].map(|from| fields::text(from, "lessonType"));
    let Some(name) = named.into_iter().find(|name| !name.is_empty()) else { return Ok(None) };
    lesson_type(name).map(Some).ok_or_else(|| {
        let id = fields::text(record, "sourcedId");
        let message =
            message!("the lessonType '{name}' of '{id}' is not one that students can work through");
        Problem::invalid("lesson", message)
    })
}

/// Whether the resources, given with their metadata, are QTI tests or banks. Without a lessonType, these are adaptive
/// quizzes. Runs at most two statements.
pub(crate) fn are_tests(tx: &mut Tx<'_>, resources: &[(&Object, &Object)]) -> Result<Vec<bool>> {
    let is_test_of_each: Vec<Option<bool>> =
        resources.iter().map(|(_, metadata)| is_test(metadata)).collect();
    let open = resources
        .iter()
        .zip(&is_test_of_each)
        .filter(|(_, is_test_of_each)| is_test_of_each.is_none());
    let open: Vec<_> =
        open.map(|((resource, metadata), _)| reference(resource, metadata)).collect();
    let mut found = banks::questions(tx, &open)?.into_iter();
    let is_found = |is_test_of_each: Option<bool>| {
        is_test_of_each.unwrap_or_else(|| found.next().flatten().is_some())
    };
    Ok(is_test_of_each.into_iter().map(is_found).collect())
}

/// Whether metadata say that a resource is a QTI test or bank; `None` if that depends on what is stored.
pub(crate) fn is_test(metadata: &Object) -> Option<bool> {
    let is = |name: &str, words: &[&str]| {
        let text = fields::text(metadata, name);
        words.iter().any(|word| word.eq_ignore_ascii_case(text))
    };
    let sub_type = fields::text(metadata, "subType");
    if !is("type", &["", "qti"]) || !is("subType", &["", "qti-test", "qti-test-bank"]) {
        return Some(false);
    }
    (!sub_type.is_empty()).then_some(true)
}

/// The type of a component resource without a lessonType: an adaptive quiz. Errors: `Invalid` if it is not a lesson.
fn unnamed_sort(
    tx: &mut Tx<'_>,
    id: &str,
    resource: &Object,
    metadata: &Object,
) -> Result<LessonType> {
    if are_tests(tx, &[(resource, metadata)])? == [true] {
        return Ok(LessonType::Powerpath100);
    }
    let resource = fields::text(resource, "sourcedId");
    let message = message!(
        "The component resource '{id}' is not a lesson: it has no lessonType, and its resource '{resource}' \
         leads to no stored test or bank. Set its lessonType, or store the test that vendorResourceId or \
         metadata.url names."
    );
    Err(Problem::invalid("lesson", message))
}

/// The XP that a lesson is worth.
pub(crate) fn base_xp(record: &Object, of_resource: &Object) -> f64 {
    let own = fields::metadata(record);
    number(of_resource.get("xp")).or(number(own.get("xp"))).unwrap_or(0.0)
}

/// The active record within the reach. `called` is its name in messages.
pub(crate) fn in_use(
    tx: &mut Tx<'_>,
    kind: &'static lyceum_roster::kind::RecordKind,
    id: &str,
    called: &str,
    reach: &Reach,
) -> Result<Object> {
    let problem = match fields::in_use_within(tx, kind, id, reach) {
        Err(problem) if problem.kind == ProblemKind::NotFound => problem,
        found => return found,
    };
    match lyceum_roster::repository::find_within(tx, kind, id, reach)? {
        Some(_) => Err(problem),
        None => Err(Problem::new(ProblemKind::NotFound, message!("there is no {called} '{id}'"))),
    }
}

/// The active student within the reach.
pub(crate) fn student(tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<Object> {
    in_use(tx, &USER, id, "student", reach)
}

/// As [`student`], to write something about the student. Errors: `Forbidden` for the reach of a teacher, which is a part
/// to look at.
pub(crate) fn student_to_change(tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<Object> {
    let student = student(tx, id, reach)?;
    check_changes(&USER, id, reach)?;
    Ok(student)
}

/// `adaptive` is an older name for the type whose questions depend on the score.
fn lesson_type(name: &str) -> Option<LessonType> {
    if name == "adaptive" { Some(LessonType::Powerpath100) } else { LessonType::from_name(name) }
}

/// A number, which may also be written as text; `None` if it is negative.
fn number(value: Option<&Value>) -> Option<f64> {
    let value = value?;
    let number = value.as_f64().or_else(|| value.as_str()?.parse().ok())?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// The sourcedIds in `units`, each a text or a reference.
fn units(metadata: &Object) -> Vec<String> {
    let list = metadata.get("units").and_then(Value::as_array).into_iter().flatten();
    list.map(|unit| unit.as_str().unwrap_or_else(|| fields::id_in(unit)).to_owned()).collect()
}

/// A grade as text.
pub(crate) fn grade(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned).or_else(|| value.as_i64().map(|grade| grade.to_string()))
}

fn source(tx: &mut Tx<'_>, resource: &Object, metadata: &Object) -> Result<QuestionSource> {
    let children = metadata.get("resources").and_then(Value::as_array).into_iter().flatten();
    let children: Vec<String> = children
        .map(|child| child.as_str().unwrap_or_else(|| fields::id_in(child)).to_owned())
        .filter(|child| !child.is_empty())
        .collect();
    if !children.is_empty() {
        return Ok(QuestionSource::Turns(children));
    }
    let url = fields::text(metadata, "url");
    let tool = fields::text(metadata, "toolProvider");
    if url.is_empty() && !tool.is_empty() {
        return Ok(QuestionSource::External(tool.to_owned()));
    }
    let sub_type = fields::text(metadata, "subType");
    if sub_type == "qti-test-bank" {
        let end = url.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let own = fields::text(resource, "vendorResourceId");
        return Ok(QuestionSource::Bank(if end.is_empty() { own } else { end }.to_owned()));
    }
    let reference = reference(resource, metadata);
    if sub_type.is_empty()
        && let [Some(Questions::Bank(bank))] =
            banks::questions(tx, std::slice::from_ref(&reference))?.as_slice()
    {
        return Ok(QuestionSource::Bank(bank.clone()));
    }
    Ok(QuestionSource::Test(reference))
}

fn reference(resource: &Object, metadata: &Object) -> Reference {
    Reference {
        kind: ContentKind::Test,
        identifier: fields::text(resource, "vendorResourceId").to_owned(),
        href: fields::text(metadata, "url").to_owned(),
    }
}

impl Lesson {
    /// The test for a student's attempt, counted from 1; `None` for a lesson of an outside tool.
    ///
    /// Errors: `Invalid` if the test is not stored.
    pub fn test(&self, tx: &mut Tx<'_>, student: &str, attempt: u32) -> Result<Option<String>> {
        let reference = match &self.source {
            QuestionSource::External(_) => return Ok(None),
            QuestionSource::Test(reference) => reference.clone(),
            QuestionSource::Bank(bank) => {
                let turn = banks::next(tx, bank, student, Some(i64::from(attempt)));
                return turn.map(|turn| Some(turn.assessment_test));
            }
            QuestionSource::Turns(resources) => {
                let turn = (attempt.max(1) as usize - 1) % resources.len();
                let resource = fields::in_use(tx, &RESOURCE, &resources[turn])?;
                reference(&resource, &fields::metadata(&resource))
            }
        };
        let (_, test) = content::resolved(tx, &[reference])?.remove(0);
        match content::state(tx, ContentKind::Test, &test)? {
            Some(_) => Ok(Some(test)),
            None => Err(Problem::invalid(
                "lesson",
                message!(
                    "the test '{test}' of the lesson '{self.id}' is not stored; create it first"
                ),
            )),
        }
    }

    /// The outside tool that the lesson is taken with; `None` if it is taken on this server.
    pub fn tool_provider(&self) -> Option<&str> {
        match &self.source {
            QuestionSource::External(tool) => Some(tool),
            _ => None,
        }
    }
}
