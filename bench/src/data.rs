//! The network that both sides hold: the same ids and the same fields, made from a number alone,
//! so that the anchor's rows, our CSV files and the load generator agree without a file between.
//!
//! A school has 600 students in 20 groups of 30; a group takes ten classes together; a student is
//! enrolled in all ten.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};

/// Classes that a student is enrolled in.
pub(crate) const ENROLLMENTS_PER_USER: u64 = 10;
/// A student and the enrollments: all records of a network but one in a hundred.
pub(crate) const RECORDS_PER_STUDENT: u64 = 1 + ENROLLMENTS_PER_USER;
/// Students of one school.
const STUDENTS_PER_SCHOOL: u64 = 600;
/// Students that sit in one class.
const STUDENTS_PER_GROUP: u64 = 30;
/// `dateLastModified` of every record.
const MODIFIED: &str = "2026-01-15T08:00:00.000Z";

/// Where a student belongs.
struct Place {
    school: u64,
    group: u64,
}

/// The school and group of student `i`.
fn place(i: u64) -> Place {
    Place { school: i / STUDENTS_PER_SCHOOL, group: i % STUDENTS_PER_SCHOOL / STUDENTS_PER_GROUP }
}

/// The `sourcedId` of student `i`.
pub(crate) fn user_id(i: u64) -> String {
    format!("user-{i:08}")
}

/// The `sourcedId` of the class that student `i` takes as their `k`th.
fn class_id(i: u64, k: u64) -> String {
    let Place { school, group } = place(i);
    format!("class-{school:05}-{group:02}-{k}")
}

/// Student `i` as OneRoster 1.2 JSON, about 550 bytes: what the anchor stores as ready text.
pub(crate) fn user_json(i: u64) -> String {
    let id = user_id(i);
    let school = place(i).school;
    format!(
        concat!(
            r#"{{"sourcedId":"{id}","status":"active","dateLastModified":"{modified}","#,
            r#""username":"u{i}@example.org","enabledUser":"true","givenName":"Given{given}","#,
            r#""familyName":"Family{family}","identifier":"{i}","email":"u{i}@example.org","#,
            r#""roles":[{{"roleType":"primary","role":"student","org":{{"#,
            r#""href":"http://127.0.0.1:3901/ims/oneroster/rostering/v1p2/orgs/org-{school:05}","#,
            r#""sourcedId":"org-{school:05}","type":"org"}}}}],"grades":["{grade:02}"]}}"#,
        ),
        id = id,
        modified = MODIFIED,
        i = i,
        given = i % 997,
        family = i % 4999,
        school = school,
        grade = i % 12 + 1,
    )
}

/// The `k`th enrollment of student `i` as OneRoster 1.2 JSON, about 600 bytes.
pub(crate) fn enrollment_json(i: u64, k: u64) -> String {
    let base = "http://127.0.0.1:3901/ims/oneroster/rostering/v1p2";
    let (user, class, school) = (user_id(i), class_id(i, k), place(i).school);
    format!(
        concat!(
            r#"{{"sourcedId":"enr-{i:08}-{k}","status":"active","dateLastModified":"{modified}","#,
            r#""user":{{"href":"{base}/users/{user}","sourcedId":"{user}","type":"user"}},"#,
            r#""class":{{"href":"{base}/classes/{class}","sourcedId":"{class}","type":"class"}},"#,
            r#""school":{{"href":"{base}/orgs/org-{school:05}","sourcedId":"org-{school:05}","type":"org"}},"#,
            r#""role":"student","primary":"false","beginDate":"2025-09-01","endDate":"2026-06-15"}}"#,
        ),
        i = i,
        k = k,
        modified = MODIFIED,
        base = base,
        user = user,
        class = class,
        school = school,
    )
}

/// Writes the network of `users` students as OneRoster 1.2 CSV files into `folder`: one district over all schools, one
/// year and term, a course for each class of a group.
pub(crate) fn write_csv(folder: &Path, users: u64) -> Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make '{}'", folder.display()))?;
    let write = |name: &str, header: &str, rows: &mut dyn Iterator<Item = String>| {
        let path = folder.join(name).with_extension("csv");
        write_rows(&path, header, rows)
            .with_context(|| format!("cannot write '{}'", path.display()))
    };
    let schools = (0..users.div_ceil(STUDENTS_PER_SCHOOL))
        .map(|s| format!("org-{s:05},School {s},school,s{s},org-district"));
    let district = "org-district,District,district,d1,".to_owned();
    let mut orgs = std::iter::once(district).chain(schools);
    write("orgs", "sourcedId,name,type,identifier,parentSourcedId", &mut orgs)?;
    let sessions = [
        "year-2026,2025-2026,schoolYear,2025-09-01,2026-06-30,,2026".to_owned(),
        "term-2026,All year,term,2025-09-01,2026-06-30,year-2026,2026".to_owned(),
    ];
    write(
        "academicSessions",
        "sourcedId,title,type,startDate,endDate,parentSourcedId,schoolYear",
        &mut sessions.into_iter(),
    )?;
    write(
        "courses",
        "sourcedId,schoolYearSourcedId,title,courseCode,orgSourcedId,subjects",
        &mut (0..ENROLLMENTS_PER_USER)
            .map(|k| format!("course-{k},year-2026,Course {k},C{k},org-district,Subject {k}")),
    )?;
    let groups = (0..users).step_by(usize::try_from(STUDENTS_PER_GROUP)?);
    write(
        "classes",
        "sourcedId,title,courseSourcedId,classType,schoolSourcedId,termSourcedIds,subjects",
        &mut groups.flat_map(|i| (0..ENROLLMENTS_PER_USER).map(move |k| class_row(i, k))),
    )?;
    write(
        "users",
        "sourcedId,enabledUser,username,givenName,familyName,identifier,email,grades",
        &mut (0..users).map(user_row),
    )?;
    write(
        "roles",
        "sourcedId,userSourcedId,roleType,role,orgSourcedId",
        &mut (0..users).map(|i| {
            let (id, school) = (user_id(i), place(i).school);
            format!("role-{i:08},{id},primary,student,org-{school:05}")
        }),
    )?;
    write(
        "enrollments",
        "sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role,primary,beginDate,endDate",
        &mut (0..users).flat_map(|i| (0..ENROLLMENTS_PER_USER).map(move |k| enrollment_row(i, k))),
    )
}

/// The class that the group of student `i` takes as its `k`th.
fn class_row(i: u64, k: u64) -> String {
    let (id, school) = (class_id(i, k), place(i).school);
    format!("{id},Class {k},course-{k},scheduled,org-{school:05},term-2026,Subject {k}")
}

fn user_row(i: u64) -> String {
    let (id, given, family, grade) = (user_id(i), i % 997, i % 4999, i % 12 + 1);
    let email = format!("u{i}@example.org");
    format!("{id},true,{email},Given{given},Family{family},{i},{email},{grade:02}")
}

fn enrollment_row(i: u64, k: u64) -> String {
    let (user, class, school) = (user_id(i), class_id(i, k), place(i).school);
    format!("enr-{i:08}-{k},{class},org-{school:05},{user},student,false,2025-09-01,2026-06-15")
}

fn write_rows(path: &Path, header: &str, rows: &mut dyn Iterator<Item = String>) -> Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    writeln!(out, "{header}")?;
    for row in rows {
        writeln!(out, "{row}")?;
    }
    Ok(out.flush()?)
}
