//! Lessons in lists, and their results in the gradebook.

use std::collections::HashMap;

use lyceum_core::Result;
use lyceum_roster::fields;
use lyceum_roster::kinds::{ASSESSMENT_LINE_ITEM, ASSESSMENT_RESULT};
use lyceum_roster::record::{Object, StoredRecord};
use lyceum_roster::render::RecordView;
use lyceum_roster::repository::{self, PlacedLesson};
use lyceum_store::Tx;
use serde_json::Value;

use crate::LessonType;
use crate::lesson;

/// OneRoster's status of results that exempt a student from a lesson.
pub(crate) const EXEMPT: &str = "exempt";

/// A lesson, as lists need it.
pub(crate) struct ListedLesson {
    /// The course's sourcedId.
    pub(crate) course: String,
    /// The component resource's sourcedId.
    pub(crate) id: String,
    /// The type of the lesson; `None` if it is not a lesson.
    pub(crate) lesson_type: Option<LessonType>,
    /// The XP that it is worth.
    pub(crate) base_xp: f64,
    /// The subject of its resource.
    pub(crate) subject: String,
    /// The grades of its resource.
    pub(crate) grades: Vec<String>,
    /// Its records.
    pub(crate) records: PlacedLesson,
}

impl ListedLesson {
    /// A lesson with the type that its component resource or resource names.
    fn of(records: PlacedLesson) -> Result<Self> {
        let (own, resource) = (fields::of(&records.lesson)?, fields::of(&records.resource)?);
        let metadata = fields::metadata(&resource);
        Ok(Self {
            course: records.course.clone(),
            id: fields::text(&own, "sourcedId").to_owned(),
            lesson_type: lesson::named_sort(&own, &metadata).unwrap_or_default(),
            base_xp: lesson::base_xp(&own, &metadata),
            subject: fields::text(&metadata, "subject").to_owned(),
            grades: grades(&metadata),
            records,
        })
    }
}

/// The grades in metadata, as texts.
fn grades(metadata: &Object) -> Vec<String> {
    let list = metadata.get("grades").and_then(Value::as_array).into_iter().flatten();
    list.filter_map(lesson::grade).collect()
}

/// All test-outs, placement tests or unit tests of all courses, in order of creation.
pub(crate) fn of_type(tx: &mut Tx<'_>, lesson_type: LessonType) -> Result<Vec<ListedLesson>> {
    let placed = repository::placed_with_word(tx, lesson_type.name())?;
    let listed = placed.into_iter().map(ListedLesson::of).collect::<Result<Vec<_>>>()?;
    Ok(listed.into_iter().filter(|listed| listed.lesson_type == Some(lesson_type)).collect())
}

/// The lessons of the courses, in order of creation.
pub(crate) fn of_courses(tx: &mut Tx<'_>, courses: &[&str]) -> Result<Vec<ListedLesson>> {
    let placed = repository::placed_in(tx, courses)?;
    let mut listed = placed.into_iter().map(ListedLesson::of).collect::<Result<Vec<_>>>()?;
    name_quizzes(tx, &mut listed)?;
    Ok(listed.into_iter().filter(|listed| listed.lesson_type.is_some()).collect())
}

/// Makes lessons without a type adaptive quizzes if their resources are tests or banks.
fn name_quizzes(tx: &mut Tx<'_>, listed: &mut [ListedLesson]) -> Result<()> {
    let mut unnamed = Vec::new();
    for (at, lesson) in listed.iter().enumerate() {
        let own = fields::of(&lesson.records.lesson)?;
        let resource = fields::of(&lesson.records.resource)?;
        let metadata = fields::metadata(&resource);
        if lesson.lesson_type.is_none() && lesson::named_sort(&own, &metadata).is_ok() {
            unnamed.push((at, resource, metadata));
        }
    }
    let resources: Vec<_> =
        unnamed.iter().map(|(_, resource, metadata)| (resource, metadata)).collect();
    let are_tests = lesson::are_tests(tx, &resources)?;
    for ((at, ..), _) in unnamed.iter().zip(are_tests).filter(|(_, is_test)| *is_test) {
        listed[*at].lesson_type = Some(LessonType::Powerpath100);
    }
    Ok(())
}

/// A student's result in a lesson.
pub(crate) struct LessonResult {
    /// The record.
    pub(crate) stored: StoredRecord,
    /// Its members.
    pub(crate) fields: Object,
}

impl LessonResult {
    /// The score, if it is fully graded.
    pub(crate) fn graded(&self) -> Option<f64> {
        graded(&self.fields)
    }

    /// The attempt that it names.
    pub(crate) fn attempt(&self) -> Option<i64> {
        self.metadata().get("attempt").and_then(Value::as_i64)
    }

    /// The XP that it names.
    pub(crate) fn xp(&self) -> f64 {
        self.metadata().get("xp").and_then(Value::as_f64).unwrap_or(0.0)
    }

    fn metadata(&self) -> Object {
        fields::metadata(&self.fields)
    }
}

/// A student's results in lessons.
pub(crate) struct LessonResults {
    /// The lessons' line items, by lesson.
    pub(crate) items: HashMap<String, Vec<StoredRecord>>,
    /// The results by lesson, in the order of attempts.
    pub(crate) results: HashMap<String, Vec<LessonResult>>,
}

impl LessonResults {
    /// The active results under the line items of the lessons, but not of their questions. Runs two statements.
    pub(crate) fn of(tx: &mut Tx<'_>, student: &str, lessons: &[&str]) -> Result<Self> {
        let field = "componentResource";
        let stored = repository::referring_to(tx, &ASSESSMENT_LINE_ITEM, field, lessons)?;
        let mut lesson_of = HashMap::new();
        let mut items: HashMap<String, Vec<StoredRecord>> = HashMap::new();
        for item in stored {
            let record = fields::of(&item)?;
            if !fields::reference(&record, "parentAssessmentLineItem").is_empty() {
                continue;
            }
            let lesson = fields::reference(&record, field).to_owned();
            lesson_of.insert(fields::text(&record, "sourcedId").to_owned(), lesson.clone());
            items.entry(lesson).or_default().push(item);
        }
        let mut results: HashMap<String, Vec<LessonResult>> = HashMap::new();
        let ids: Vec<&str> = lesson_of.keys().map(String::as_str).collect();
        let students = [student];
        let (of_student, of_items) = (("student", &students[..]), ("assessmentLineItem", &ids[..]));
        let marks = match ids.is_empty() {
            true => Vec::new(),
            false => repository::referring_to_both(tx, &ASSESSMENT_RESULT, of_student, of_items)?,
        };
        for stored in marks {
            let fields = fields::of(&stored)?;
            let item = lyceum_roster::fields::reference(&fields, "assessmentLineItem");
            if let Some(lesson) = lesson_of.get(item) {
                results.entry(lesson.clone()).or_default().push(LessonResult { stored, fields });
            }
        }
        for marks in results.values_mut() {
            marks.sort_by_key(LessonResult::attempt);
        }
        Ok(Self { items, results })
    }

    /// The results in a lesson.
    pub(crate) fn in_lesson(&self, lesson: &str) -> &[LessonResult] {
        self.results.get(lesson).map_or(&[], Vec::as_slice)
    }

    /// Whether a lesson is done: an attempt is graded, or the student is exempt.
    pub(crate) fn is_done(&self, lesson: &str) -> bool {
        let is_exempt = |mark: &LessonResult| fields::text(&mark.fields, "scoreStatus") == EXEMPT;
        self.in_lesson(lesson).iter().any(|mark| mark.graded().is_some() || is_exempt(mark))
    }

    /// Whether the student handed in a result of a lesson, graded or not.
    pub(crate) fn is_submitted(&self, lesson: &str) -> bool {
        let is_submitted =
            |mark: &LessonResult| fields::text(&mark.fields, "scoreStatus") == "submitted";
        self.is_done(lesson) || self.in_lesson(lesson).iter().any(is_submitted)
    }

    /// The score of the last graded attempt at a lesson.
    pub(crate) fn last_score(&self, lesson: &str) -> Option<f64> {
        self.in_lesson(lesson).iter().rev().find_map(LessonResult::graded)
    }
}

/// A record, as clients read it.
pub(crate) fn render_record(stored: &StoredRecord, view: &RecordView<'_>) -> Result<Value> {
    let mut text = String::new();
    view.render(&stored.body, stored.extra.as_deref(), &mut text)?;
    serde_json::from_str(&text).map_err(lyceum_core::Problem::internal)
}

/// The score of a result that is fully graded.
pub(crate) fn graded(result: &Object) -> Option<f64> {
    let is_graded = fields::text(result, "scoreStatus") == "fully graded";
    result.get("score").and_then(Value::as_f64).filter(|_| is_graded)
}
