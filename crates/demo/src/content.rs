//! Rows of what is taught: courses, components, materials, and where they stand.

use lyceum_core::Result;

use crate::courses::{
    LESSONS, Subject, UNITS, course_key, course_title, courses, lesson_title, unit_title,
};
use crate::network::{Network, Purpose};
use crate::roster::STATE;
use crate::{FileGenerator, RowSink};

pub(crate) static FILES: &[FileGenerator] = &[
    ("courses", &["courseType", "isSupplemental", "metrics"], all_courses),
    ("courseResources", &[], course_resources),
    ("courseComponents", &[], components),
    (
        "resources",
        &["difficulty", "grades", "lessonType", "subType", "subject", "type", "url", "xp"],
        resources,
    ),
    ("componentResources", &[], component_resources),
];

fn with_content() -> impl Iterator<Item = (u64, &'static Subject, String)> {
    courses()
        .filter(|(_, subject)| subject.has_content)
        .map(|(grade, subject)| (grade, subject, course_key(grade, subject)))
}

fn all_courses(_: Network, out: RowSink<'_>) -> Result<()> {
    for (grade, subject) in courses() {
        let (key, title) = (course_key(grade, subject), course_title(grade, subject));
        let (code, Subject { word, code: area, .. }) = (key.to_ascii_uppercase(), subject);
        let lessons = UNITS * (2 * LESSONS + 1) + 2;
        let xp = lessons * 12;
        let (sort, metrics) = if subject.has_content {
            ("base", format!("json:{{\"totalXp\":{xp},\"totalLessons\":{lessons}}}"))
        } else {
            ("", String::new())
        };
        out(&format!(
            "course-{key}|year-2027|{title}|{code}|{grade:02}|{STATE}|{word}|{area}|{sort}|json:false|{metrics}"
        ))?;
    }
    Ok(())
}

fn course_resources(_: Network, out: RowSink<'_>) -> Result<()> {
    with_content().try_for_each(|(_, _, key)| {
        out(&format!("course-{key}-text|Textbook|course-{key}|res-{key}-text"))
    })
}

fn components(_: Network, out: RowSink<'_>) -> Result<()> {
    for (grade, subject, key) in with_content() {
        let course = format!("course-{key}");
        for unit in 1..=UNITS {
            let title = unit_title(grade, subject, unit - 1);
            let id = format!("{course}-u{unit}");
            let before =
                if unit == 1 { "|".to_owned() } else { format!("{course}-u{}|ALL", unit - 1) };
            out(&format!("{id}|Unit {unit}: {title}|{course}||{unit}|{before}|"))?;
            for lesson in 1..=LESSONS {
                let title = lesson_title(title, lesson - 1);
                out(&format!("{id}-l{lesson}|{title}|{course}|{id}|{lesson}|||"))?;
            }
        }
        out(&format!("{course}-end|Placement and test-out|{course}||{}|||", UNITS + 1))?;
    }
    Ok(())
}

/// A material of a course in its place.
struct Material {
    /// The part of ids that names it: `math-05-u1-l2-practice`.
    key: String,
    /// The component that it is in: `course-math-05-u1-l2`.
    component: String,
    title: String,
    sort: &'static str,
    lesson_type: &'static str,
    xp: u64,
    order: usize,
}

/// The materials of a course, in order.
fn materials(grade: u64, subject: &Subject, course: &str) -> Vec<Material> {
    let mut materials = Vec::new();
    let mut add = |place: &str, kind: &str, title, (sort, lesson_type), xp, order| {
        let (key, component) = (format!("{place}-{kind}"), format!("course-{place}"));
        materials.push(Material { key, component, title, sort, lesson_type, xp, order });
    };
    for unit in 0..UNITS {
        let title = unit_title(grade, subject, unit);
        let unit_place = format!("{course}-u{}", unit + 1);
        for lesson in 0..LESSONS {
            let place = format!("{unit_place}-l{}", lesson + 1);
            let name = lesson_title(title, lesson);
            let (sort, what) = [("video", "Watch"), ("text", "Read"), ("interactive", "Explore")]
                [(grade as usize + unit + lesson) % 3];
            add(&place, sort, format!("{what}: {name}"), (sort, ""), 4, 1);
            let lesson_type = if lesson + 1 == LESSONS { "quiz" } else { "powerpath-100" };
            add(&place, "practice", format!("Practice: {name}"), ("qti", lesson_type), 12, 2);
        }
        let title = format!("Unit test: {title}");
        add(&unit_place, "test", title, ("qti", "unit-test"), 25, LESSONS + 1);
    }
    let title = course_title(grade, subject);
    let mut add_last = |lesson_type, title, order| {
        let (key, component) = (format!("{course}-{lesson_type}"), format!("course-{course}-end"));
        materials.push(Material { key, component, title, sort: "qti", lesson_type, xp: 0, order });
    };
    add_last("placement", format!("Placement test: {title}"), 1);
    add_last("test-out", format!("Test out of the course: {title}"), 2);
    materials
}

fn resources(network: Network, out: RowSink<'_>) -> Result<()> {
    for ((grade, subject, course), number) in with_content().zip(0..) {
        let mut stream = network.stream(Purpose::Content, number);
        let word = subject.word;
        // The textbook has a level, too, although nobody sees it.
        stream.below(3);
        let key = format!("{course}-text");
        let title = course_title(grade, subject);
        out(&format!(
            "res-{key}|northmark-{key}|{title}: the textbook|student,teacher|secondary|northmark.example.org|lyceum\
             ||json:[\"{grade:02}\"]|||{word}|course-material|https://content.example.org/{key}|"
        ))?;
        for material in materials(grade, subject, &course) {
            let Material { key, title, sort, lesson_type, xp, .. } = material;
            let level = *stream.pick(&["easy", "medium", "hard"]);
            let (level, sub_sort, site) = match sort {
                "qti" => (level, "qti-test", "qti.example.org/assessment-tests"),
                _ => ("", "", "content.example.org"),
            };
            let xp = if xp > 0 { format!("json:{xp}") } else { String::new() };
            out(&format!(
                "res-{key}|northmark-{key}|{title}|student|primary|northmark.example.org|lyceum\
                 |{level}|json:[\"{grade:02}\"]|{lesson_type}|{sub_sort}|{word}|{sort}|https://{site}/{key}|{xp}"
            ))?;
        }
    }
    Ok(())
}

fn component_resources(_: Network, out: RowSink<'_>) -> Result<()> {
    for (grade, subject, course) in with_content() {
        for material in materials(grade, subject, &course) {
            let Material { key, component, title, lesson_type, order, .. } = material;
            out(&format!("cr-{key}|{title}|{component}|res-{key}|{order}|{lesson_type}"))?;
        }
    }
    Ok(())
}
