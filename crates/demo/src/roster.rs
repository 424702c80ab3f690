//! Rows of the roster: organizations, sessions, classes, people, enrollments.

use lyceum_core::Result;

use crate::courses::{course_key, course_title};
use crate::names::TOWNS;
use crate::network::{GradeSpan, Network, Purpose, School};
use crate::people::{Family, Person, Student, guardian_id, staff, student_id};
use crate::plan::{Class, SchoolPlan};
use crate::{FileGenerator, RowSink};

pub(crate) const STATE: &str = "org-state";
// The calendar is fixed, so that the same seed gives the same bytes for ever.
const FIRST_DAY: &str = "2026-08-24";
const LAST_DAY: &str = "2027-06-11";
/// The terms of the school year, as classes list them.
const TERMS: &str = "term-2027-1,term-2027-2,term-2027-3,term-2027-4";

pub(crate) static FILES: &[FileGenerator] = &[
    ("orgs", &[], orgs),
    ("academicSessions", &[], sessions),
    ("classes", &[], classes),
    ("classResources", &[], class_resources),
    ("users", &[], users),
    ("roles", &[], roles),
    ("userProfiles", &[], profiles),
    ("userResources", &[], user_resources),
    ("demographics", &[], demographics),
    ("enrollments", &[], enrollments),
];

fn orgs(network: Network, out: RowSink<'_>) -> Result<()> {
    out(&format!("{STATE}|Northmark Department of Learning|state|NM|"))?;
    for district in network.districts() {
        let (id, name, number) = (district.id(), district.name(), district.number * 10_000);
        out(&format!("{id}|{name}|district|{number:07}|{STATE}"))?;
    }
    for school in network.schools() {
        let (id, name, number) = (school.id(), school.name(), school.serial() + 100_000);
        out(&format!("{id}|{name}|school|{number:07}|org-d{:03}", school.district))?;
        if matches!(school.level, GradeSpan::Middle | GradeSpan::High) {
            for (key, name) in [("math", "Mathematics"), ("ela", "English"), ("sci", "Science")] {
                let code = key.to_ascii_uppercase();
                out(&format!("{id}-{key}|{name} Department|department|{number:07}-{code}|{id}"))?;
            }
        }
    }
    Ok(())
}

fn sessions(_: Network, out: RowSink<'_>) -> Result<()> {
    include_str!("../data/sessions.txt").lines().try_for_each(out)
}

/// Calls `each` with every class of the network.
pub(crate) fn each_class(
    network: Network,
    mut each: impl FnMut(&School, &str, &Class) -> Result<()>,
) -> Result<()> {
    for school in network.schools() {
        let plan = SchoolPlan::of(school);
        for class in &plan.classes {
            each(&school, &format!("class-{}", plan.key(class)), class)?;
        }
    }
    Ok(())
}

/// Calls `each` with every student of the network.
pub(crate) fn each_student(
    network: Network,
    mut each: impl FnMut(&School, &Student) -> Result<()>,
) -> Result<()> {
    for school in network.schools() {
        for place in 0..school.students {
            each(&school, &Student::at(&school, place))?;
        }
    }
    Ok(())
}

fn classes(network: Network, out: RowSink<'_>) -> Result<()> {
    each_class(network, |school, id, class| {
        let Class { grade, subject, section, period, .. } = class;
        let course = course_key(*grade, subject);
        out(&format!(
            "{id}|{} ({section})|{grade:02}|course-{course}|{}-{section}|{}|Room {}|{}|{TERMS}|{}|{}|{period}",
            course_title(*grade, subject),
            course.to_ascii_uppercase(),
            if subject.key == "home" { "homeroom" } else { "scheduled" },
            100 + class.teacher,
            school.id(),
            subject.word,
            subject.code,
        ))
    })
}

fn class_resources(network: Network, out: RowSink<'_>) -> Result<()> {
    each_class(network, |_, id, class| {
        if class.subject.key != "math" {
            return Ok(());
        }
        let course = course_key(class.grade, class.subject);
        out(&format!("{id}-text|Textbook|{id}|res-{course}-text"))
    })
}

/// A member of staff with what they do.
struct Employee {
    id: String,
    person: Person,
    role: &'static str,
    org: String,
    /// The mail domain of the district.
    domain: String,
    unique: String,
}

/// Calls `each` with all staff: the state's, the districts', the schools'.
fn each_employee(network: Network, mut each: impl FnMut(&Employee) -> Result<()>) -> Result<()> {
    let employee = |key: &str, number: u64, role, org: &str, district: u64| Employee {
        id: format!("staff-{key}"),
        person: staff(network, number),
        role,
        org: org.to_owned(),
        domain: domain(district),
        unique: format!("s{number}"),
    };
    each(&employee("state-1", 1, "systemAdministrator", STATE, 0))?;
    for district in network.districts() {
        let key = format!("d{:03}-1", district.number);
        let number = 10 + district.number;
        each(&employee(&key, number, "districtAdministrator", &district.id(), district.number))?;
    }
    for school in network.schools() {
        let (key, org) = (school.key(), school.id());
        let base = school.serial() * 1000;
        let counselors = school.students / 400;
        let aides = school.students / 300;
        let roles = ["principal", "siteAdministrator"].into_iter();
        let roles = roles.chain((0..counselors).map(|_| "counselor"));
        for (role, place) in roles.chain((0..aides).map(|_| "aide")).zip(1..) {
            each(&employee(&format!("{key}-{place}"), base + place, role, &org, school.district))?;
        }
        for place in 0..SchoolPlan::of(school).teachers.len() as u64 {
            let mut teacher = employee("", base + 100 + place, "teacher", &org, school.district);
            teacher.id = teacher_id(&school, place);
            each(&teacher)?;
        }
    }
    Ok(())
}

fn teacher_id(school: &School, place: u64) -> String {
    format!("teacher-{}-{:03}", school.key(), place + 1)
}

fn domain(district: u64) -> String {
    match district {
        0 => "northmark.example.org".to_owned(),
        number => format!("d{number:03}.example.org"),
    }
}

fn users(network: Network, out: RowSink<'_>) -> Result<()> {
    each_employee(network, |one| {
        let Employee { id, person, org, domain, unique, .. } = one;
        let handle = person.handle(unique);
        let Person { given, family, middle, .. } = person;
        out(&format!(
            "{id}|true|{handle}||{given}|{family}|{middle}||{handle}@{domain}||||||||||{org}|"
        ))
    })?;
    each_family(network, |school, number, people| {
        people.iter().zip(1..).try_for_each(|(person, which)| {
            let (id, handle) = (guardian_id(number, which), person.handle(&format!("g{number}")));
            let Person { given, family, middle, .. } = person;
            let phone = (number + which) % 100;
            let org = school.id();
            out(&format!(
                "{id}|true|{handle}||{given}|{family}|{middle}||{handle}@mail.example.org||555-01{phone:02}||||||||{org}|"
            ))
        })
    })?;
    each_student(network, |school, student| {
        let Student { number, grade, person, .. } = student;
        let agents: Vec<_> =
            (1..=student.guardians).map(|which| guardian_id(student.family, which)).collect();
        let (id, org, agents) = (student.id(), school.id(), agents.join(","));
        let (handle, domain) = (person.handle(&number.to_string()), domain(school.district));
        let Person { given, family, middle, .. } = person;
        let pronouns = if person.female { "she/her" } else { "he/him" };
        out(&format!(
            "{id}|true|{handle}|{{SIS:{number:07}}}|{given}|{family}|{middle}|S{number:07}|{handle}@students.{domain}|||{agents}|{grade:02}||||||{org}|{pronouns}"
        ))
    })
}

/// Calls `each` with every family: its school, its number, its guardians.
fn each_family(
    network: Network,
    mut each: impl FnMut(&School, u64, &[Person]) -> Result<()>,
) -> Result<()> {
    for school in network.schools() {
        for place in (0..school.students).filter(|place| school.family_of(*place) == *place) {
            let family = Family::of(&school, place);
            let number = family.number;
            each(&school, number, &family.guardians())?;
        }
    }
    Ok(())
}

fn roles(network: Network, out: RowSink<'_>) -> Result<()> {
    let mut role = |user: &str, role: &str, begin: &str, org: &str| {
        out(&format!("role-{user}|{user}|primary|{role}|{begin}||{org}|"))
    };
    each_employee(network, |one| role(&one.id, one.role, "", &one.org))?;
    each_family(network, |school, number, people| {
        (1..).zip(people).try_for_each(|(which, _)| {
            role(&guardian_id(number, which), "guardian", "", &school.id())
        })
    })?;
    each_student(network, |school, student| role(&student.id(), "student", FIRST_DAY, &school.id()))
}

fn profiles(network: Network, out: RowSink<'_>) -> Result<()> {
    each_student(network, |_, student| {
        if student.grade < 6 {
            return Ok(());
        }
        let (id, number) = (student.id(), student.number);
        let name = student.person.handle(&number.to_string());
        out(&format!(
            "profile-{number:07}|{id}|learner|reader.example.org|reader|Account in the reading app|password|{name}|"
        ))
    })
}

fn user_resources(network: Network, out: RowSink<'_>) -> Result<()> {
    each_student(network, |school, student| {
        if network.stream(Purpose::Profile, student.number).below(50) != 0 {
            return Ok(());
        }
        let (id, org, grade) = (student.id(), school.id(), student.grade);
        let subject = if grade <= 5 { "read" } else { "ela" };
        out(&format!("{id}-text|{id}|{org}||res-{subject}-{grade:02}-text"))
    })
}

fn demographics(network: Network, out: RowSink<'_>) -> Result<()> {
    const RACES: [&str; 6] = ["Native", "Asian", "Black", "Pacific", "White", "Hispanic"];
    each_student(network, |_, student| {
        let mut stream = network.stream(Purpose::Demographics, student.number);
        let has_two = stream.below(12) == 0;
        let (own, other) =
            (student.person.culture.race, *stream.pick(&["White", "Black", "Asian"]));
        let [native, asian, black, pacific, white, hispanic] =
            RACES.map(|race| own == race || (has_two && other == race));
        let two_or_more = has_two && other != own;
        let is_abroad = stream.below(11) == 0;
        let town = stream.pick(&TOWNS);
        let birthplace = if is_abroad {
            format!("{}||", stream.pick(&["MX", "IN", "VN", "CN", "NG", "UA", "GT"]))
        } else {
            format!("US|NM|{town}")
        };
        let sex = if student.person.female { "female" } else { "male" };
        let (id, birth) = (student.id(), student.birth);
        out(&format!(
            "{id}|{birth}|{sex}|{native}|{asian}|{black}|{pacific}|{white}|{two_or_more}|{hispanic}|{birthplace}|"
        ))
    })
}

fn enrollments(network: Network, out: RowSink<'_>) -> Result<()> {
    for school in network.schools() {
        let (plan, org) = (SchoolPlan::of(school), school.id());
        let days = format!("{FIRST_DAY}|{LAST_DAY}");
        for class in &plan.classes {
            let (key, teacher) = (plan.key(class), teacher_id(&school, class.teacher));
            out(&format!("enr-t-{key}|class-{key}|{org}|{teacher}|teacher|true|{days}"))?;
        }
        for place in 0..school.students {
            let number = school.student_number(place);
            let student = student_id(number);
            for class in plan.classes_of(place) {
                let (subject, key) = (class.subject.key, plan.key(class));
                let id = format!("enr-{number:07}-{subject}");
                out(&format!("{id}|class-{key}|{org}|{student}|student|false|{days}"))?;
            }
        }
    }
    Ok(())
}
