//! The teaching: subjects by grade, courses, their units and lessons.

/// A subject as a school teaches it in some grades.
pub(crate) struct Subject {
    /// Its abbreviation in ids.
    pub(crate) key: &'static str,
    /// The platform's word for it.
    pub(crate) word: &'static str,
    /// Its short name in the names of classes.
    name: &'static str,
    /// The code of its subject area (NCES SCED, two digits and three zeros).
    pub(crate) code: &'static str,
    pub(crate) has_content: bool,
    pub(crate) has_gradebook: bool,
}

const fn subject(
    (key, word, name, code): (&'static str, &'static str, &'static str, &'static str),
    has_content: bool,
    has_gradebook: bool,
) -> Subject {
    Subject { key, word, name, code, has_content, has_gradebook }
}

const HOME: Subject = subject(("home", "None", "Homeroom", "22000"), false, false);
const READING: Subject = subject(("read", "Reading", "Reading", "01000"), true, true);
const LANGUAGE: Subject = subject(("lang", "Language", "Language Arts", "01000"), true, false);
const ENGLISH: Subject = subject(("ela", "Language", "English", "01000"), true, true);
const MATH: Subject = subject(("math", "Math", "Math", "02000"), true, true);
const SCIENCE: Subject = subject(("sci", "Science", "Science", "03000"), true, false);
const SOCIAL: Subject = subject(("soc", "Social Studies", "Social Studies", "04000"), true, false);
const ART: Subject = subject(("art", "Other", "Art", "05000"), false, false);
const MUSIC: Subject = subject(("mus", "Other", "Music", "05100"), false, false);
const SPORT: Subject = subject(("pe", "Other", "Physical Education", "08000"), false, false);
const WORLD: Subject = subject(("wl", "Other", "World Languages", "24000"), false, false);
const TECH: Subject = subject(("tech", "Other", "Computing", "10000"), false, false);

/// The subjects of a grade.
pub(crate) fn subjects(grade: u64) -> &'static [Subject] {
    match grade {
        0..=5 => &[HOME, READING, LANGUAGE, MATH, SCIENCE, SOCIAL, ART, MUSIC, SPORT],
        6..=8 => &[HOME, ENGLISH, MATH, SCIENCE, SOCIAL, WORLD, SPORT, ART],
        _ => &[HOME, ENGLISH, MATH, SCIENCE, SOCIAL, WORLD, SPORT, ART, TECH],
    }
}

/// All courses: a grade and a subject.
pub(crate) fn courses() -> impl Iterator<Item = (u64, &'static Subject)> {
    (0..13).flat_map(|grade| subjects(grade).iter().map(move |subject| (grade, subject)))
}

/// The abbreviation of a course in ids, such as `math-05`.
pub(crate) fn course_key(grade: u64, subject: &Subject) -> String {
    format!("{}-{grade:02}", subject.key)
}

/// The title of a course: its own, or that of the subject with the grade.
pub(crate) fn course_title(grade: u64, subject: &Subject) -> String {
    let key = course_key(grade, subject);
    let own = include_str!("../data/courses.txt").lines().find_map(|line| {
        let (course, title) = line.split_once('|').expect("a line has a key and a title");
        (course == key).then_some(title)
    });
    match (own, grade) {
        (Some(title), _) => title.to_owned(),
        (None, 9..) if subject.key == "home" => format!("Advisory {grade}"),
        (None, 0) => format!("{} Kindergarten", subject.name),
        (None, _) => format!("{} {grade}", subject.name),
    }
}

/// Units of every course with content.
pub(crate) const UNITS: usize = 4;
/// Lessons of every unit.
pub(crate) const LESSONS: usize = 3;

/// The topic of a unit. The blocks of the file begin with the subjects and grades that they are for.
pub(crate) fn unit_title(grade: u64, subject: &Subject, unit: usize) -> &'static str {
    let is_for = |head: &str| {
        let (subjects, grades) = head.split_once(' ')?;
        let (first, last) = grades.split_once('-')?;
        let grades = first.parse().ok()?..=last.parse::<u64>().ok()?;
        (subjects.split(',').any(|key| key == subject.key) && grades.contains(&grade)).then_some(())
    };
    let topics: Vec<&str> = include_str!("../data/units.txt")
        .split("\n\n")
        .map(str::lines)
        .find_map(|mut lines| is_for(lines.next()?).map(|()| lines.collect()))
        .expect("every course with content has a block");
    topics[(grade as usize + unit) % topics.len()]
}

/// The title of a lesson.
pub(crate) fn lesson_title(unit: &str, lesson: usize) -> String {
    format!("{}: {unit}", ["Meet", "Build", "Apply"][lesson])
}
