//! Finds the enrollment of a student to which a fact belongs.

use jiff::civil::Date;
use lyceum_core::Result;
use lyceum_events::facts::FactContext;
use lyceum_roster::fields;
use lyceum_roster::kinds::{CLASS, COURSE, ENROLLMENT};
use lyceum_roster::record::StoredRecord;
use lyceum_roster::repository::{self};
use lyceum_store::Tx;

/// The enrollments of a student with the fields that matter for facts, in the order of their creation.
pub(super) struct StudentEnrollments(Vec<StudentEnrollment>);

/// An enrollment.
pub(super) struct StudentEnrollment {
    /// The enrollment's sourcedId.
    pub(super) id: String,
    /// The first day, such as `2026-01-15`; empty if the enrollment has none.
    begin: String,
    /// The course's sourcedId.
    pub(super) course: String,
    /// The course's title.
    pub(super) title: String,
    /// The course's subjects in the form in which they are compared.
    subjects: Vec<String>,
}

impl StudentEnrollments {
    /// The active enrollments of a user as a student, and the enrollment `requested`, whatever its status and role.
    pub(super) fn of(
        tx: &mut Tx<'_>,
        user: &str,
        requested: Option<&StoredRecord>,
    ) -> Result<Self> {
        let mut stored = repository::referring_to(tx, &ENROLLMENT, "user", &[user])?;
        if let Some(requested) = requested
            && stored.iter().all(|known| known.seq != requested.seq)
        {
            stored.push(requested.clone());
        }
        let mut enrollments = Vec::new();
        for known in &stored {
            let enrollment = fields::of(known)?;
            let is_requested = requested.is_some_and(|requested| requested.seq == known.seq);
            if is_requested || fields::text(&enrollment, "role") == "student" {
                enrollments.push(enrollment);
            }
        }
        let ids = enrollments.iter().map(|enrollment| fields::reference(enrollment, "class"));
        let classes = fields::of_all(tx, &CLASS, ids)?;
        let ids = classes.values().map(|class| fields::reference(class, "course"));
        let courses = fields::of_all(tx, &COURSE, ids)?;
        let with_courses = enrollments.iter().filter_map(|enrollment| {
            let class = classes.get(fields::reference(enrollment, "class"))?;
            let course = courses.get(fields::reference(class, "course"))?;
            let subjects = fields::texts(course, "subjects");
            Some(StudentEnrollment {
                id: fields::text(enrollment, "sourcedId").to_owned(),
                begin: fields::text(enrollment, "beginDate").to_owned(),
                course: fields::text(course, "sourcedId").to_owned(),
                title: fields::text(course, "title").to_owned(),
                subjects: subjects.iter().map(|subject| subject.to_ascii_lowercase()).collect(),
            })
        });
        Ok(Self(with_courses.collect()))
    }

    /// The course of an enrollment.
    pub(super) fn course_of(&self, enrollment: &str) -> Option<&str> {
        self.0.iter().find(|one| one.id == enrollment).map(|one| one.course.as_str())
    }

    /// Finds the enrollment of a fact on a day. If the events name a course, it is that course. Otherwise it is the
    /// course with the fact's subject whose enrollment began most recently by that day, or the one that begins first if
    /// none had begun. Among equals, the enrollment that was created first wins.
    pub(super) fn home(&self, context: &FactContext, day: Date) -> Option<&StudentEnrollment> {
        if !context.course.is_empty() {
            return self.0.iter().find(|enrollment| enrollment.course == context.course);
        }
        let subject = context.subject.to_ascii_lowercase();
        let fits = || self.0.iter().filter(|enrollment| enrollment.subjects.contains(&subject));
        let day = day.to_string();
        // Take the first of equal enrollments; `max_by` would take the last.
        let began_by_day = fits().filter(|enrollment| enrollment.begin <= day).rev();
        began_by_day
            .max_by(|a, b| a.begin.cmp(&b.begin))
            .or_else(|| fits().min_by(|a, b| a.begin.cmp(&b.begin)))
    }
}
