//! Rows of the gradebook: categories, scales, line items, results, assessments.

use lyceum_core::Result;

use crate::courses::{Subject, course_key, courses, unit_title};
use crate::network::{Network, Purpose, scramble};
use crate::people::{Student, bell};
use crate::plan::{Class, SchoolPlan};
use crate::roster::each_class;
use crate::{FileGenerator, RowSink};

pub(crate) static FILES: &[FileGenerator] = &[
    ("categories", &[], categories),
    ("scoreScales", &[], scales),
    ("lineItems", &[], line_items),
    ("lineItemLearningObjectiveIds", &[], line_item_objectives),
    ("lineItemScoreScales", &[], line_item_scales),
    ("results", &[], results),
    ("resultLearningObjectiveIds", &[], result_objectives),
    ("resultScoreScales", &[], result_scales),
    ("assessmentLineItems", &["lessonType"], assessments),
    (
        "assessmentResults",
        &["accuracy", "attempt", "correctQuestions", "masteredUnits", "totalQuestions", "xp"],
        assessment_results,
    ),
];

fn categories(_: Network, out: RowSink<'_>) -> Result<()> {
    [
        "category-homework|Homework|20",
        "category-quiz|Quizzes|25",
        "category-test|Tests|40",
        "category-project|Projects|15",
    ]
    .into_iter()
    .try_for_each(out)
}

/// Whether the class grades in letters: mathematics of the upper grades.
fn in_letters(class: &Class) -> bool {
    class.subject.key == "math" && class.grade >= 9
}

/// Calls `each` with every class that keeps a gradebook.
fn each_graded(
    network: Network,
    mut each: impl FnMut(&str, &str, &Class) -> Result<()>,
) -> Result<()> {
    each_class(network, |school, id, class| {
        if class.subject.has_gradebook { each(&school.id(), id, class) } else { Ok(()) }
    })
}

fn scales(network: Network, out: RowSink<'_>) -> Result<()> {
    const LETTERS: &str = "{A:90-100},{B:80-89},{C:70-79},{D:60-69},{F:0-59}";
    each_graded(network, |school, class_id, class| {
        if !in_letters(class) {
            return Ok(());
        }
        let course = course_key(class.grade, class.subject);
        out(&format!(
            "scale-{class_id}|Letter grades|letter|{school}|course-{course}|{class_id}|{LETTERS}"
        ))
    })
}

/// A line item of a class.
struct GradebookItem {
    key: &'static str,
    title: &'static str,
    /// The cells of its days, and those of its category and grading period.
    assigned_and_due: &'static str,
    category_and_period: &'static str,
    /// The day of the scores; empty where the work is not due yet.
    scored: &'static str,
}

const ITEMS: &[GradebookItem] = &[
    GradebookItem {
        key: "quiz",
        title: "Quiz",
        assigned_and_due: "2026-09-14|2026-09-18",
        category_and_period: "category-quiz|period-2027-1",
        scored: "2026-09-21",
    },
    GradebookItem {
        key: "test",
        title: "Unit test",
        assigned_and_due: "2026-10-12|2026-10-16",
        category_and_period: "category-test|period-2027-2",
        scored: "2026-10-20",
    },
    GradebookItem {
        key: "project",
        title: "Project",
        assigned_and_due: "2026-11-16|2027-01-08",
        category_and_period: "category-project|period-2027-4",
        scored: "",
    },
];

fn line_items(network: Network, out: RowSink<'_>) -> Result<()> {
    each_graded(network, |school, class_id, class| {
        let unit = unit_title(class.grade, class.subject, 0);
        ITEMS.iter().try_for_each(|item| {
            let GradebookItem { key, title, assigned_and_due, category_and_period, .. } = item;
            out(&format!(
                "item-{class_id}-{key}|{title}: {unit}||{assigned_and_due}|{class_id}|{category_and_period}|0|100|{school}"
            ))
        })
    })
}

/// The GUID of the standard that the first unit of a course works towards.
fn standard(grade: u64, subject: &Subject) -> String {
    let number = subject.key.bytes().fold(grade, |n, b| scramble(n ^ u64::from(b)));
    let (a, b) = (scramble(number), scramble(number ^ 1));
    format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        a >> 32,
        a >> 16 & 0xffff,
        a & 0xfff,
        b >> 48 & 0xfff,
        b & 0xffff_ffff_ffff
    )
}

fn line_item_objectives(network: Network, out: RowSink<'_>) -> Result<()> {
    each_graded(network, |_, class_id, class| {
        let (item, standard) =
            (format!("item-{class_id}-test"), standard(class.grade, class.subject));
        out(&format!("{item}-standard|{item}|case|{standard}"))
    })
}

fn line_item_scales(network: Network, out: RowSink<'_>) -> Result<()> {
    each_graded(network, |_, class_id, class| {
        if !in_letters(class) {
            return Ok(());
        }
        let item = format!("item-{class_id}-test");
        out(&format!("{item}-scale||{item}|scale-{class_id}"))
    })
}

/// A student's result.
struct GradebookScore {
    status: &'static str,
    /// Points of 100; `None` if there is nothing to score.
    points: Option<u64>,
    late: bool,
    missing: bool,
    comment: &'static str,
}

impl GradebookScore {
    fn of(network: Network, student: &Student, subject: usize, item: usize) -> Self {
        let number = student.number * 64 + (subject * 8 + item) as u64;
        let mut stream = network.stream(Purpose::Score, number);
        let luck = bell(&mut stream);
        let raw = (79.0 + 9.0 * student.ability + 6.0 * luck).round();
        let nothing =
            |status, missing| Self { status, points: None, late: false, missing, comment: "" };
        match stream.below(200) {
            0 => nothing("exempt", false),
            1..=4 => nothing("not submitted", true),
            place => {
                let bonus = if stream.below(40) == 0 { 5.0 } else { 0.0 };
                // Extra credit may lift a score above the maximum.
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "clamped"
                )]
                let points = (raw.clamp(12.0, 100.0) + bonus) as u64;
                let comment = match points {
                    0..=59 => "Let us talk about a second try",
                    97.. => "Excellent work",
                    _ => "",
                };
                let late = place < 12;
                Self { status: "fully graded", points: Some(points), late, missing: false, comment }
            }
        }
    }

    fn letter(&self) -> &'static str {
        match self.points {
            None => "",
            Some(90..) => "A",
            Some(80..) => "B",
            Some(70..) => "C",
            Some(60..) => "D",
            Some(_) => "F",
        }
    }
}

/// Calls `each` with every result: its id, the class, the student, the item, the score.
fn each_result(
    network: Network,
    mut each: impl FnMut(&str, &str, &Class, &Student, &GradebookItem, &GradebookScore) -> Result<()>,
) -> Result<()> {
    for school in network.schools() {
        let plan = SchoolPlan::of(school);
        for place in 0..school.students {
            let student = Student::at(&school, place);
            for (index, class) in plan.classes_of(place).enumerate() {
                if !class.subject.has_gradebook {
                    continue;
                }
                let class_id = format!("class-{}", plan.key(class));
                for (number, item) in ITEMS.iter().enumerate().filter(|(_, i)| !i.scored.is_empty())
                {
                    let score = GradebookScore::of(network, &student, index, number);
                    let key = class.subject.key;
                    let id = format!("result-{:07}-{key}-{}", student.number, item.key);
                    each(&id, &class_id, class, &student, item, &score)?;
                }
            }
        }
    }
    Ok(())
}

fn results(network: Network, out: RowSink<'_>) -> Result<()> {
    each_result(network, |id, class_id, class, student, item, score| {
        let GradebookScore { status, late, missing, comment, .. } = score;
        let points = score.points.map(|points| points.to_string()).unwrap_or_default();
        let is_lettered = in_letters(class) && item.key == "test";
        let letter = if is_lettered { score.letter() } else { "" };
        let (GradebookItem { key, scored, .. }, student) = (item, student.id());
        out(&format!(
            "{id}|item-{class_id}-{key}|{student}|{status}|{points}|{scored}|{comment}|{letter}|{class_id}|false|false|{late}|{missing}"
        ))
    })
}

fn result_objectives(network: Network, out: RowSink<'_>) -> Result<()> {
    each_result(network, |id, _, class, _, item, score| {
        let has_objectives = class.subject.key == "math" && class.grade == 5 && item.key == "test";
        let Some(points) = score.points.filter(|_| has_objectives) else { return Ok(()) };
        let (standard, letter) = (standard(class.grade, class.subject), score.letter());
        let (whole, hundredths) = (points / 100, points % 100);
        out(&format!("{id}-standard|{id}|case|{standard}|{whole}.{hundredths:02}|{letter}"))
    })
}

fn result_scales(network: Network, out: RowSink<'_>) -> Result<()> {
    each_result(network, |id, class_id, class, _, item, score| {
        if !in_letters(class) || item.key != "test" || score.points.is_none() {
            return Ok(());
        }
        out(&format!("{id}-scale||{id}|scale-{class_id}"))
    })
}

fn assessments(_: Network, out: RowSink<'_>) -> Result<()> {
    for (grade, subject) in courses().filter(|(_, subject)| subject.key == "math") {
        let (key, unit) = (course_key(grade, subject), unit_title(grade, subject, 0));
        out(&format!(
            "assessment-{key}-u1|Unit test: {unit}|||||0|100|course-{key}|course-{key}-u1|cr-{key}-u1-test|unit-test"
        ))?;
    }
    Ok(())
}

fn assessment_results(network: Network, out: RowSink<'_>) -> Result<()> {
    each_result(network, |_, _, class, student, item, score| {
        let has_result = class.subject.key == "math" && item.key == "test";
        let Some(points) = score.points.filter(|_| has_result) else { return Ok(()) };
        let right = (points.min(100) + 2) / 5;
        let (accuracy, mastered) = (right * 5, u8::from(right >= 16));
        let xp = if right == 20 { 31 } else { 25 * mastered };
        let (number, id, scored) = (student.number, student.id(), item.scored);
        let course = course_key(class.grade, class.subject);
        out(&format!(
            "assessed-{number:07}-math-u1|assessment-{course}-u1|{id}|fully graded|{accuracy}|{scored}|||||false|false|false|false\
             |json:{accuracy}|json:1|json:{right}|json:{mastered}|json:20|json:{xp}"
        ))
    })
}
