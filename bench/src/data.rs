//! The network that both sides hold: the same ids and the same fields, made from a number alone,
//! so that the anchor's rows, our CSV files and the load generator agree without a file between.
//!
//! A school has 600 students in 20 groups of 30; a group takes ten classes together; a student is
//! enrolled in all ten.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use fastrand::Rng;

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

/// Writes the network of `users` students as OneRoster 1.2 CSV files into `folder`.
pub(crate) fn write_csv(folder: &Path, users: u64) -> Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make '{}'", folder.display()))?;
    let schools = users.div_ceil(STUDENTS_PER_SCHOOL);
    manifest(folder)?;
    orgs(folder, schools)?;
    sessions_and_courses(folder)?;
    classes(folder, users)?;
    people(folder, users)?;
    enrollments(folder, users)
}

/// The files of the network, in the order in which they refer to each other.
const FILES: [&str; 7] =
    ["orgs", "academicSessions", "courses", "classes", "users", "roles", "enrollments"];

/// `manifest.csv`: every file of [`FILES`] is bulk, the rest absent.
fn manifest(folder: &Path) -> Result<()> {
    const ALL: [&str; 16] = [
        "academicSessions",
        "categories",
        "classes",
        "classResources",
        "courses",
        "courseResources",
        "demographics",
        "enrollments",
        "lineItems",
        "orgs",
        "resources",
        "results",
        "roles",
        "userProfiles",
        "userResources",
        "users",
    ];
    let mut rows = vec![
        "manifest.version,1.0".to_owned(),
        "oneroster.version,1.2".to_owned(),
        "source.systemName,lyceum-bench".to_owned(),
    ];
    rows.extend(ALL.map(|file| {
        let mode = if FILES.contains(&file) { "bulk" } else { "absent" };
        format!("file.{file},{mode}")
    }));
    write_file(folder, "manifest", "propertyName,value", rows)
}

/// `orgs.csv`: one district over all schools.
fn orgs(folder: &Path, schools: u64) -> Result<()> {
    let district = std::iter::once("org-district,,,District,district,d1,".to_owned());
    let schools = (0..schools).map(|s| format!("org-{s:05},,,School {s},school,s{s},org-district"));
    write_file(
        folder,
        "orgs",
        "sourcedId,status,dateLastModified,name,type,identifier,parentSourcedId",
        district.chain(schools),
    )
}

/// `academicSessions.csv` and `courses.csv`: one year and term; a course for each class of a group.
fn sessions_and_courses(folder: &Path) -> Result<()> {
    write_file(
        folder,
        "academicSessions",
        "sourcedId,status,dateLastModified,title,type,startDate,endDate,parentSourcedId,schoolYear",
        [
            "year-2026,,,2025-2026,schoolYear,2025-09-01,2026-06-30,,2026".to_owned(),
            "term-2026,,,All year,term,2025-09-01,2026-06-30,year-2026,2026".to_owned(),
        ],
    )?;
    write_file(
        folder,
        "courses",
        "sourcedId,status,dateLastModified,schoolYearSourcedId,title,courseCode,grades,orgSourcedId,subjects,subjectCodes",
        (0..ENROLLMENTS_PER_USER)
            .map(|k| format!("course-{k},,,year-2026,Course {k},C{k},,org-district,Subject {k},")),
    )
}

/// `classes.csv`: ten classes for every group of thirty.
fn classes(folder: &Path, users: u64) -> Result<()> {
    let group_starts = (0..users).step_by(usize::try_from(STUDENTS_PER_GROUP)?);
    let rows = group_starts.flat_map(|i| (0..ENROLLMENTS_PER_USER).map(move |k| class_row(i, k)));
    write_file(
        folder,
        "classes",
        "sourcedId,status,dateLastModified,title,grades,courseSourcedId,classCode,classType,location,schoolSourcedId,termSourcedIds,subjects,subjectCodes,periods",
        rows,
    )
}

/// The row of the class that the group of student `i` takes as its `k`th.
fn class_row(i: u64, k: u64) -> String {
    let (id, school) = (class_id(i, k), place(i).school);
    format!("{id},,,Class {k},,course-{k},,scheduled,,org-{school:05},term-2026,Subject {k},,")
}

/// `users.csv` and `roles.csv`.
fn people(folder: &Path, users: u64) -> Result<()> {
    write_file(
        folder,
        "users",
        "sourcedId,status,dateLastModified,enabledUser,username,userIds,givenName,familyName,middleName,identifier,email,sms,phone,agentSourcedIds,grades,password,userMasterIdentifier,resourceSourcedIds,preferredGivenName,preferredMiddleName,preferredFamilyName,primaryOrgSourcedId,pronouns",
        (0..users).map(user_row),
    )?;
    write_file(
        folder,
        "roles",
        "sourcedId,status,dateLastModified,userSourcedId,roleType,role,beginDate,endDate,orgSourcedId,userProfileSourcedId",
        (0..users).map(|i| {
            let (id, school) = (user_id(i), place(i).school);
            format!("role-{i:08},,,{id},primary,student,,,org-{school:05},")
        }),
    )
}

/// The row of student `i` in `users.csv`.
fn user_row(i: u64) -> String {
    let (given, family, grade) = (i % 997, i % 4999, i % 12 + 1);
    let id = user_id(i);
    format!(
        "{id},,,true,u{i}@example.org,,Given{given},Family{family},,{i},u{i}@example.org,,,,{grade:02},,,,,,,,"
    )
}

/// `enrollments.csv`.
fn enrollments(folder: &Path, users: u64) -> Result<()> {
    let rows =
        (0..users).flat_map(|i| (0..ENROLLMENTS_PER_USER).map(move |k| enrollment_row(i, k)));
    write_file(
        folder,
        "enrollments",
        "sourcedId,status,dateLastModified,classSourcedId,schoolSourcedId,userSourcedId,role,primary,beginDate,endDate",
        rows,
    )
}

/// The row of the `k`th enrollment of student `i`.
fn enrollment_row(i: u64, k: u64) -> String {
    let (user, class, school) = (user_id(i), class_id(i, k), place(i).school);
    format!("enr-{i:08}-{k},,,{class},org-{school:05},{user},student,false,2025-09-01,2026-06-15")
}

/// Writes one CSV file, a row at a time.
fn write_file(
    folder: &Path,
    name: &str,
    header: &str,
    rows: impl IntoIterator<Item = String>,
) -> Result<()> {
    let path = folder.join(format!("{name}.csv"));
    let file = File::create(&path).with_context(|| format!("cannot write '{}'", path.display()))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    writeln!(out, "{header}")?;
    for row in rows {
        writeln!(out, "{row}")?;
    }
    out.flush().with_context(|| format!("cannot write '{}'", path.display()))
}

/// A random UUID (version 4), which is new with each call.
pub(crate) fn random_uuid(random: &mut Rng) -> String {
    let id = random.u128(..);
    format!(
        "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
        id >> 96,
        (id >> 80) & 0xffff,
        (id >> 64) & 0xfff,
        (id >> 52) & 0xfff,
        id & 0xffff_ffff_ffff
    )
}
