//! What is taught: subjects by grade, courses, their units and lessons.

/// A subject as a school teaches it in some grades.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Subject {
    /// Its abbreviation in ids.
    pub(super) key: &'static str,
    /// The platform's word for it.
    pub(super) word: &'static str,
    /// Its short name in the names of classes.
    pub(super) name: &'static str,
    /// The code of the catalogue's subject area (NCES SCED, two digits and three zeros).
    pub(super) code: &'static str,
    /// Whether its courses have units, lessons and materials.
    pub(super) content: bool,
    /// Whether its classes keep a gradebook in the demo.
    pub(super) graded: bool,
}

const HOME: Subject = plain("home", "None", "Homeroom", "22000");
const READING: Subject = learned("read", "Reading", "Reading", "01000", true);
const LANGUAGE: Subject = learned("lang", "Language", "Language Arts", "01000", false);
const ENGLISH: Subject = learned("ela", "Language", "English", "01000", true);
const MATH: Subject = learned("math", "Math", "Math", "02000", true);
const SCIENCE: Subject = learned("sci", "Science", "Science", "03000", false);
const SOCIAL: Subject = learned("soc", "Social Studies", "Social Studies", "04000", false);
const ART: Subject = plain("art", "Other", "Art", "05000");
const MUSIC: Subject = plain("mus", "Other", "Music", "05100");
const SPORT: Subject = plain("pe", "Other", "Physical Education", "08000");
const WORLD: Subject = plain("wl", "Other", "World Languages", "24000");
const TECH: Subject = plain("tech", "Other", "Computing", "10000");

const ELEMENTARY: &[Subject] = &[HOME, READING, LANGUAGE, MATH, SCIENCE, SOCIAL, ART, MUSIC, SPORT];
const MIDDLE: &[Subject] = &[HOME, ENGLISH, MATH, SCIENCE, SOCIAL, WORLD, SPORT, ART];
const HIGH: &[Subject] = &[HOME, ENGLISH, MATH, SCIENCE, SOCIAL, WORLD, SPORT, ART, TECH];

const fn plain(
    key: &'static str,
    word: &'static str,
    name: &'static str,
    code: &'static str,
) -> Subject {
    Subject { key, word, name, code, content: false, graded: false }
}

const fn learned(
    key: &'static str,
    word: &'static str,
    name: &'static str,
    code: &'static str,
    graded: bool,
) -> Subject {
    Subject { key, word, name, code, content: true, graded }
}

/// The subjects of a grade.
pub(super) fn subjects(grade: u64) -> &'static [Subject] {
    match grade {
        0..=5 => ELEMENTARY,
        6..=8 => MIDDLE,
        _ => HIGH,
    }
}

/// All courses: a grade and a subject.
pub(super) fn courses() -> impl Iterator<Item = (u64, &'static Subject)> {
    (0..13).flat_map(|grade| subjects(grade).iter().map(move |subject| (grade, subject)))
}

/// The abbreviation of a course in ids, such as `math-05`.
pub(super) fn course_key(grade: u64, subject: &Subject) -> String {
    format!("{}-{grade:02}", subject.key)
}

/// A grade as OneRoster writes it: `00` is kindergarten.
pub(super) fn grade_code(grade: u64) -> String {
    format!("{grade:02}")
}

/// The title of a course.
pub(super) fn course_title(grade: u64, subject: &Subject) -> String {
    let title = match (subject.key, grade) {
        ("math", 9) => "Algebra I",
        ("math", 10) => "Geometry",
        ("math", 11) => "Algebra II",
        ("math", 12) => "Precalculus",
        ("sci", 9) => "Biology",
        ("sci", 10) => "Chemistry",
        ("sci", 11) => "Physics",
        ("sci", 12) => "Environmental Science",
        ("soc", 9) => "World Geography",
        ("soc", 10) => "World History",
        ("soc", 11) => "United States History",
        ("soc", 12) => "Government and Economics",
        ("wl", 9) => "Spanish I",
        ("wl", 10) => "Spanish II",
        ("wl", 11) => "Spanish III",
        ("wl", 12) => "Spanish IV",
        ("art", 9) => "Drawing and Painting",
        ("art", 10) => "Ceramics",
        ("art", 11) => "Photography",
        ("art", 12) => "Portfolio",
        ("tech", 9) => "Introduction to Computing",
        ("tech", 10) => "Programming",
        ("tech", 11) => "Data and Society",
        ("tech", 12) => "Engineering Design",
        ("home", 9..) => return format!("Advisory {grade}"),
        ("home", 0) => "Homeroom Kindergarten",
        (_, 0) => return format!("{} Kindergarten", subject.name),
        _ => return format!("{} {grade}", subject.name),
    };
    title.to_owned()
}

/// Units of every course with content.
pub(super) const UNITS: usize = 4;
/// Lessons of every unit.
pub(super) const LESSONS: usize = 3;

/// The topic of a unit.
pub(super) fn unit_title(grade: u64, subject: &Subject, unit: usize) -> &'static str {
    let topics: &[&str] = match (subject.key, grade) {
        ("math", 0..=2) => &[
            "Counting and Cardinality",
            "Adding and Taking Away",
            "Shapes around Us",
            "Measuring with Units",
            "Place Value to 100",
            "Telling Time",
            "Money and Change",
        ],
        ("math", 3..=5) => &[
            "Multiplication and Division",
            "Fractions as Numbers",
            "Area and Perimeter",
            "Place Value and Rounding",
            "Decimals",
            "Volume",
            "Line Plots",
        ],
        ("math", 6..=8) => &[
            "Ratios and Rates",
            "Negative Numbers",
            "Expressions and Equations",
            "Proportional Relationships",
            "Linear Functions",
            "Statistics and Samples",
        ],
        ("math", _) => &[
            "Equations and Inequalities",
            "Functions",
            "Polynomials",
            "Transformations",
            "Similarity and Proof",
            "Trigonometric Ratios",
            "Exponential Growth",
        ],
        ("read" | "lang" | "ela", 0..=5) => &[
            "Sounds and Letters",
            "Stories and Characters",
            "Asking Questions of a Text",
            "Opinion Writing",
            "Folk Tales of the World",
            "Reading to Learn",
            "Poems Aloud",
        ],
        ("read" | "lang" | "ela", _) => &[
            "Narrative and Voice",
            "Argument and Evidence",
            "Drama on the Page",
            "Research Writing",
            "Poetry and Form",
            "The Novel",
            "Rhetoric in Public Life",
        ],
        ("sci", 0..=5) => &[
            "Weather and Sky",
            "Plants and Animals",
            "Pushes and Pulls",
            "Matter and Its Changes",
            "Earth's Surface",
            "Light and Sound",
        ],
        ("sci", _) => &[
            "Cells and Systems",
            "Energy Transfer",
            "Chemical Reactions",
            "Forces and Motion",
            "Earth and Space",
            "Ecosystems",
            "Waves and Information",
        ],
        (_, 0..=5) => &[
            "Our Community",
            "Maps and Globes",
            "Then and Now",
            "Rules and Rights",
            "Goods and Services",
            "Peoples of the Region",
        ],
        _ => &[
            "Reading the Past",
            "Empires and Trade",
            "Revolutions",
            "Rights and Citizenship",
            "Markets and Choices",
            "A Changing World",
        ],
    };
    topics[(grade as usize + unit) % topics.len()]
}

/// The title of a lesson.
pub(super) fn lesson_title(unit: &str, lesson: usize) -> String {
    match lesson {
        0 => format!("Meet: {unit}"),
        1 => format!("Build: {unit}"),
        _ => format!("Apply: {unit}"),
    }
}
