//! Rows of what is taught: courses, components, materials, and where they stand.

use lyceum_core::Result;

use super::calendar::YEAR;
use super::catalogue::{
    LESSONS, Subject, UNITS, course_key, course_title, courses, grade_code, lesson_title,
    unit_title,
};
use super::network::{Network, Purpose};
use super::roster::STATE;
use super::{FileGenerator, RowSink, file};

pub(super) static FILES: &[FileGenerator] = &[
    file(
        "courses",
        &["metadata.courseType", "metadata.isSupplemental", "metadata.metrics"],
        all_courses,
    ),
    file("courseResources", &[], course_resources),
    file("courseComponents", &[], components),
    file(
        "resources",
        &[
            "metadata.difficulty",
            "metadata.grades",
            "metadata.lessonType",
            "metadata.subType",
            "metadata.subject",
            "metadata.type",
            "metadata.url",
            "metadata.xp",
        ],
        resources,
    ),
    file("componentResources", &[], component_resources),
];

fn with_content() -> impl Iterator<Item = (u64, &'static Subject, String)> {
    courses()
        .filter(|(_, subject)| subject.content)
        .map(|(grade, subject)| (grade, subject, course_key(grade, subject)))
}

fn all_courses(_: Network, out: RowSink<'_>) -> Result<()> {
    for (grade, subject) in courses() {
        let key = course_key(grade, subject);
        let lessons = if subject.content { UNITS * (2 * LESSONS + 1) + 2 } else { 0 };
        let metrics = format!("json:{{\"totalXp\":{},\"totalLessons\":{lessons}}}", lessons * 12);
        out(&[
            &format!("course-{key}"),
            "",
            "",
            YEAR,
            &course_title(grade, subject),
            &key.to_ascii_uppercase(),
            &grade_code(grade),
            STATE,
            subject.word,
            subject.code,
            if subject.content { "base" } else { "" },
            "json:false",
            if subject.content { &metrics } else { "" },
        ])?;
    }
    Ok(())
}

fn course_resources(_: Network, out: RowSink<'_>) -> Result<()> {
    for (_, _, key) in with_content() {
        let (id, course) = (format!("course-{key}-text"), format!("course-{key}"));
        out(&[&id, "", "", "Textbook", &course, &format!("res-{key}-text")])?;
    }
    Ok(())
}

fn components(_: Network, out: RowSink<'_>) -> Result<()> {
    for (grade, subject, key) in with_content() {
        let course = format!("course-{key}");
        let mut component = |id: &str, title: &str, parent: &str, order: usize, before: &str| {
            let all = if before.is_empty() { "" } else { "ALL" };
            let (id, order) = (format!("{course}-{id}"), order.to_string());
            out(&[&id, "", "", title, &course, parent, &order, before, all, ""])
        };
        for unit in 0..UNITS {
            let title = unit_title(grade, subject, unit);
            let id = format!("u{}", unit + 1);
            let before = if unit == 0 { String::new() } else { format!("{course}-u{unit}") };
            component(&id, &format!("Unit {}: {title}", unit + 1), "", unit + 1, &before)?;
            let parent = format!("{course}-{id}");
            for lesson in 0..LESSONS {
                let id = format!("{id}-l{}", lesson + 1);
                component(&id, &lesson_title(title, lesson), &parent, lesson + 1, "")?;
            }
        }
        component("end", "Placement and test-out", "", UNITS + 1, "")?;
    }
    Ok(())
}

/// A material of a course in its place.
struct Material {
    /// What stands for it in ids: `math-05-u1-l2-practice`.
    key: String,
    /// The component that it is in: `course-math-05-u1-l2`.
    component: String,
    title: String,
    sort: &'static str,
    sub_sort: &'static str,
    lesson_type: &'static str,
    xp: u64,
    order: usize,
}

/// Calls `each` with every material of a course, in order.
fn each_material(
    (grade, subject, key): (u64, &Subject, &str),
    mut each: impl FnMut(Material) -> Result<()>,
) -> Result<()> {
    for unit in 0..UNITS {
        let title = unit_title(grade, subject, unit);
        let place = format!("{key}-u{}", unit + 1);
        for lesson in 0..LESSONS {
            let lesson_place = format!("{place}-l{}", lesson + 1);
            let name = lesson_title(title, lesson);
            let (sort, what) = [("video", "Watch"), ("text", "Read"), ("interactive", "Explore")]
                [(grade as usize + unit + lesson) % 3];
            each(Material {
                key: format!("{lesson_place}-{sort}"),
                component: format!("course-{lesson_place}"),
                title: format!("{what}: {name}"),
                sort,
                sub_sort: "",
                lesson_type: "",
                xp: 4,
                order: 1,
            })?;
            let lesson_type = if lesson + 1 == LESSONS { "quiz" } else { "powerpath-100" };
            each(Material {
                key: format!("{lesson_place}-practice"),
                component: format!("course-{lesson_place}"),
                title: format!("Practice: {name}"),
                sort: "qti",
                sub_sort: "qti-test",
                lesson_type,
                xp: 12,
                order: 2,
            })?;
        }
        each(Material {
            key: format!("{place}-test"),
            component: format!("course-{place}"),
            title: format!("Unit test: {title}"),
            sort: "qti",
            sub_sort: "qti-test",
            lesson_type: "unit-test",
            xp: 25,
            order: LESSONS + 1,
        })?;
    }
    for (lesson_type, title, order) in
        [("placement", "Placement test", 1), ("test-out", "Test out of the course", 2)]
    {
        each(Material {
            key: format!("{key}-{lesson_type}"),
            component: format!("course-{key}-end"),
            title: format!("{title}: {}", course_title(grade, subject)),
            sort: "qti",
            sub_sort: "qti-test",
            lesson_type,
            xp: 0,
            order,
        })?;
    }
    Ok(())
}

fn resources(network: Network, out: RowSink<'_>) -> Result<()> {
    for ((grade, subject, key), number) in with_content().zip(0..) {
        let grades = format!("json:[\"{}\"]", grade_code(grade));
        let mut stream = network.stream(Purpose::Content, number);
        let mut resource = |m: &Material, roles: &str, importance: &str| {
            let (id, vendor_id) = (format!("res-{}", m.key), format!("northmark-{}", m.key));
            let level = stream.pick(&["easy", "medium", "hard"]);
            let tests = m.sort == "qti";
            let url = if tests {
                format!("https://qti.example.org/assessment-tests/{}", m.key)
            } else {
                format!("https://content.example.org/{}", m.key)
            };
            let xp = format!("json:{}", m.xp);
            out(&[
                &id,
                "",
                "",
                &vendor_id,
                &m.title,
                roles,
                importance,
                "northmark.example.org",
                "lyceum",
                if tests { level } else { "" },
                &grades,
                m.lesson_type,
                m.sub_sort,
                subject.word,
                m.sort,
                &url,
                if m.xp > 0 { &xp } else { "" },
            ])
        };
        let book = Material {
            key: format!("{key}-text"),
            component: String::new(),
            title: format!("{}: the textbook", course_title(grade, subject)),
            sort: "course-material",
            sub_sort: "",
            lesson_type: "",
            xp: 0,
            order: 0,
        };
        resource(&book, "student,teacher", "secondary")?;
        each_material((grade, subject, &key), |m| resource(&m, "student", "primary"))?;
    }
    Ok(())
}

fn component_resources(_: Network, out: RowSink<'_>) -> Result<()> {
    for (grade, subject, key) in with_content() {
        each_material((grade, subject, &key), |m| {
            let (id, resource) = (format!("cr-{}", m.key), format!("res-{}", m.key));
            let order = m.order.to_string();
            out(&[&id, "", "", &m.title, &m.component, &resource, &order, m.lesson_type])
        })?;
    }
    Ok(())
}
