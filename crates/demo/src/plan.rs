//! The timetable of a school: its classes, who teaches them and who sits in them.

use std::collections::HashMap;

use crate::courses::{Subject, course_key, subjects};
use crate::network::{Purpose, School, scramble};

/// Students of a class, about.
const CLASS_STUDENTS: u64 = 24;
/// Classes of a teacher who teaches one subject.
const CLASSES_OF_TEACHER: u64 = 5;

/// A class of a school.
pub(crate) struct Class {
    pub(crate) grade: u64,
    pub(crate) subject: &'static Subject,
    /// Its place among the school's classes of the same course, from 1.
    pub(crate) section: u64,
    /// Its teacher's place in the school, from 0.
    pub(crate) teacher: u64,
    /// The period of the day, from 1.
    pub(crate) period: usize,
}

/// All classes of a school.
pub(crate) struct SchoolPlan {
    pub(crate) classes: Vec<Class>,
    /// The main subject of each teacher, by place.
    pub(crate) teachers: Vec<&'static Subject>,
    /// Where each grade's classes begin, and its number of sections.
    grades: HashMap<u64, (usize, u64)>,
    school: School,
}

impl SchoolPlan {
    pub(crate) fn of(school: School) -> Self {
        let mut plan =
            Self { classes: Vec::new(), teachers: Vec::new(), grades: HashMap::new(), school };
        let mut load: HashMap<&str, (u64, u64)> = HashMap::new();
        let (first, count) = school.grades();
        for grade in first..first + count {
            let students = school.students_in(grade);
            if students == 0 {
                continue;
            }
            let sections = students.div_ceil(CLASS_STUDENTS);
            plan.grades.insert(grade, (plan.classes.len(), sections));
            for section in 1..=sections {
                let mut own = None;
                for (index, subject) in subjects(grade).iter().enumerate() {
                    let by_class_teacher =
                        grade <= 5 && !matches!(subject.key, "art" | "mus" | "pe");
                    let teacher = if by_class_teacher {
                        *own.get_or_insert_with(|| plan.hire(subject))
                    } else {
                        let pool = if subject.key == "home" { "soc" } else { subject.key };
                        match load.get_mut(pool) {
                            Some((teacher, classes)) if *classes < CLASSES_OF_TEACHER => {
                                *classes += 1;
                                *teacher
                            }
                            _ => {
                                let teacher = plan.hire(subject);
                                load.insert(pool, (teacher, 1));
                                teacher
                            }
                        }
                    };
                    let period = index + 1;
                    plan.classes.push(Class { grade, subject, section, teacher, period });
                }
            }
        }
        plan
    }

    fn hire(&mut self, subject: &'static Subject) -> u64 {
        self.teachers.push(subject);
        self.teachers.len() as u64 - 1
    }

    /// The part of ids that names a class: `d001-s002-math-05-3`.
    pub(crate) fn key(&self, class: &Class) -> String {
        format!(
            "{}-{}-{}",
            self.school.key(),
            course_key(class.grade, class.subject),
            class.section
        )
    }

    /// The classes of the student at that place. Through the elementary grades a section stays
    /// together; later, each subject mixes the grade again.
    pub(crate) fn classes_of(&self, place: u64) -> impl Iterator<Item = &Class> {
        let school = self.school;
        let grade = school.grade_of(place);
        let (begin, sections) = self.grades[&grade];
        let subjects = subjects(grade);
        let base = place / school.grades().1 % sections;
        subjects.iter().enumerate().map(move |(index, subject)| {
            let section = if grade <= 5 || subject.key == "home" {
                base
            } else {
                let number = school.student_number(place);
                let salt = scramble(Purpose::Section as u64 ^ (index as u64) << 8);
                (base + scramble((number / sections) ^ salt)) % sections
            };
            &self.classes[begin + section as usize * subjects.len() + index]
        })
    }
}
