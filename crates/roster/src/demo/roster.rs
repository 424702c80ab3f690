//! Rows of the roster: organizations, sessions, classes, people, enrollments.

use lyceum_core::Result;

use super::calendar::{FIRST_DAY, LAST_DAY, SESSIONS, TERMS};
use super::catalogue::{course_key, course_title, grade_code};
use super::names::Race;
use super::network::{GradeSpan, Network, Purpose, School};
use super::people::{Family, Person, Student, guardian_id, staff};
use super::plan::{Class, SchoolPlan};
use super::towns::TOWNS;
use super::{FileGenerator, RowSink, file};

pub(super) const STATE: &str = "org-state";

pub(super) static FILES: &[FileGenerator] = &[
    file("orgs", &[], orgs),
    file("academicSessions", &[], sessions),
    file("classes", &[], classes),
    file("classResources", &[], class_resources),
    file("users", &[], users),
    file("roles", &[], roles),
    file("userProfiles", &[], profiles),
    file("userResources", &[], user_resources),
    file("demographics", &[], demographics),
    file("enrollments", &[], enrollments),
];

fn orgs(network: Network, out: RowSink<'_>) -> Result<()> {
    out(&[STATE, "", "", "Northmark Department of Learning", "state", "NM", ""])?;
    for district in network.districts() {
        let id = district.id();
        let number = format!("{:07}", district.number * 10_000);
        out(&[&id, "", "", &district.name(), "district", &number, STATE])?;
    }
    for school in network.schools() {
        let (id, district) = (school.id(), format!("org-d{:03}", school.district));
        let number = format!("{:07}", school.serial() + 100_000);
        out(&[&id, "", "", &school.name(), "school", &number, &district])?;
        if matches!(school.level, GradeSpan::Middle | GradeSpan::High) {
            for (key, name) in [("math", "Mathematics"), ("ela", "English"), ("sci", "Science")] {
                let department = format!("{id}-{key}");
                let name = format!("{name} Department");
                let number = format!("{number}-{}", key.to_ascii_uppercase());
                out(&[&department, "", "", &name, "department", &number, &id])?;
            }
        }
    }
    Ok(())
}

fn sessions(_: Network, out: RowSink<'_>) -> Result<()> {
    for s in SESSIONS {
        out(&[s.id, "", "", s.title, s.sort, s.start, s.end, s.parent, s.school_year])?;
    }
    Ok(())
}

/// Calls `each` with every class of the network.
pub(super) fn each_class(
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
pub(super) fn each_student(
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
        let course = course_key(class.grade, class.subject);
        let title = format!("{} ({})", course_title(class.grade, class.subject), class.section);
        let code = format!("{}-{}", course.to_ascii_uppercase(), class.section);
        let homeroom = class.subject.key == "home";
        out(&[
            id,
            "",
            "",
            &title,
            &grade_code(class.grade),
            &format!("course-{course}"),
            &code,
            if homeroom { "homeroom" } else { "scheduled" },
            &format!("Room {}", 100 + class.teacher),
            &school.id(),
            TERMS,
            class.subject.word,
            class.subject.code,
            &class.period.to_string(),
        ])
    })
}

fn class_resources(network: Network, out: RowSink<'_>) -> Result<()> {
    each_class(network, |_, id, class| {
        if class.subject.key != "math" {
            return Ok(());
        }
        let resource = format!("res-{}-text", course_key(class.grade, class.subject));
        out(&[&format!("{id}-text"), "", "", "Textbook", id, &resource])
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

/// Writes a row of `users.csv`.
#[expect(clippy::too_many_arguments, reason = "a row of the file has that many cells")]
fn user(
    out: RowSink<'_>,
    id: &str,
    person: &Person,
    handle: &str,
    email: &str,
    phone: &str,
    agents: &str,
    grade: &str,
    org: &str,
) -> Result<()> {
    let number = id.rsplit_once('-').map_or(id, |(_, number)| number);
    let (identifier, user_ids) = if grade.is_empty() {
        (String::new(), String::new())
    } else {
        (format!("S{number}"), format!("{{SIS:{number}}}"))
    };
    let pronouns = if person.female { "she/her" } else { "he/him" };
    let pronouns = if grade.is_empty() { "" } else { pronouns };
    out(&[
        id,
        "",
        "",
        "true",
        handle,
        &user_ids,
        person.given,
        person.family,
        person.middle,
        &identifier,
        email,
        "",
        phone,
        agents,
        grade,
        "",
        "",
        "",
        "",
        "",
        org,
        pronouns,
    ])
}

fn users(network: Network, out: RowSink<'_>) -> Result<()> {
    each_employee(network, |one| {
        let handle = one.person.handle(&one.unique);
        let email = format!("{handle}@{}", one.domain);
        user(out, &one.id, &one.person, &handle, &email, "", "", "", &one.org)
    })?;
    each_family(network, |family, number, people| {
        for (person, which) in people.iter().zip(1..) {
            let handle = person.handle(&format!("g{number}"));
            let email = format!("{handle}@mail.example.org");
            let phone = format!("555-01{:02}", (number + which) % 100);
            user(
                out,
                &guardian_id(number, which),
                person,
                &handle,
                &email,
                &phone,
                "",
                "",
                &family.id(),
            )?;
        }
        Ok(())
    })?;
    each_student(network, |school, student| {
        let agents: Vec<_> =
            (1..=student.guardians).map(|which| guardian_id(student.family, which)).collect();
        let handle = student.person.handle(&student.number.to_string());
        let email = format!("{handle}@students.{}", domain(school.district));
        let (agents, grade) = (agents.join(","), grade_code(student.grade));
        user(
            out,
            &student.id(),
            &student.person,
            &handle,
            &email,
            "",
            &agents,
            &grade,
            &school.id(),
        )
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
    let mut role = |user: &str, role: &str, org: &str| {
        let (id, begin) = (format!("role-{user}"), if role == "student" { FIRST_DAY } else { "" });
        out(&[&id, "", "", user, "primary", role, begin, "", org, ""])
    };
    each_employee(network, |one| role(&one.id, one.role, &one.org))?;
    each_family(network, |school, number, people| {
        for (_, which) in people.iter().zip(1..) {
            role(&guardian_id(number, which), "guardian", &school.id())?;
        }
        Ok(())
    })?;
    each_student(network, |school, student| role(&student.id(), "student", &school.id()))
}

fn profiles(network: Network, out: RowSink<'_>) -> Result<()> {
    each_student(network, |_, student| {
        if student.grade < 6 {
            return Ok(());
        }
        let id = student.id();
        let profile = format!("profile-{:07}", student.number);
        let name = student.person.handle(&student.number.to_string());
        out(&[
            &profile,
            "",
            "",
            &id,
            "learner",
            "reader.example.org",
            "reader",
            "Account in the reading app",
            "password",
            &name,
            "",
        ])
    })
}

fn user_resources(network: Network, out: RowSink<'_>) -> Result<()> {
    each_student(network, |school, student| {
        let mut stream = network.stream(Purpose::Profile, student.number);
        if stream.below(50) != 0 {
            return Ok(());
        }
        let id = student.id();
        let math = if student.grade <= 5 { "read" } else { "ela" };
        let resource = format!("res-{math}-{:02}-text", student.grade);
        out(&[&format!("{id}-text"), "", "", &id, &school.id(), "", &resource])
    })
}

fn demographics(network: Network, out: RowSink<'_>) -> Result<()> {
    each_student(network, |_, student| {
        let mut stream = network.stream(Purpose::Demographics, student.number);
        let two = stream.below(12) == 0;
        let other = [Race::White, Race::Black, Race::Asian][stream.below(3) as usize];
        let is = |race: Race| {
            let own = student.person.culture.race == race || (two && other == race);
            if own { "true" } else { "false" }
        };
        let abroad = stream.below(11) == 0;
        let town = TOWNS[stream.below(TOWNS.len() as u64) as usize];
        let country =
            if abroad { *stream.pick(&["MX", "IN", "VN", "CN", "NG", "UA", "GT"]) } else { "US" };
        out(&[
            &student.id(),
            "",
            "",
            &student.birth.to_string(),
            if student.person.female { "female" } else { "male" },
            is(Race::Native),
            is(Race::Asian),
            is(Race::Black),
            is(Race::Pacific),
            is(Race::White),
            if two && other != student.person.culture.race { "true" } else { "false" },
            is(Race::Hispanic),
            country,
            if abroad { "" } else { "NM" },
            if abroad { "" } else { town },
            "",
        ])
    })
}

fn enrollments(network: Network, out: RowSink<'_>) -> Result<()> {
    for school in network.schools() {
        let (plan, org) = (SchoolPlan::of(school), school.id());
        let mut enroll = |id: &str, class: &str, user: &str, role: &str, primary: &str| {
            out(&[id, "", "", class, &org, user, role, primary, FIRST_DAY, LAST_DAY])
        };
        for class in &plan.classes {
            let key = plan.key(class);
            let teacher = teacher_id(&school, class.teacher);
            enroll(&format!("enr-t-{key}"), &format!("class-{key}"), &teacher, "teacher", "true")?;
        }
        for place in 0..school.students {
            let number = school.student_number(place);
            let student = super::people::student_id(number);
            for class in plan.classes_of(place) {
                let id = format!("enr-{number:07}-{}", class.subject.key);
                let class = format!("class-{}", plan.key(class));
                enroll(&id, &class, &student, "student", "false")?;
            }
        }
    }
    Ok(())
}
