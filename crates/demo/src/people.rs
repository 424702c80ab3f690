//! The people of the network: students, their families, and staff.

use jiff::ToSpan;
use jiff::civil::{Date, date};
use lyceum_core::random::RandomStream;

use crate::names::{Culture, plain};
use crate::network::{Network, Purpose, School};

/// A name and what goes with it.
pub(crate) struct Person {
    pub(crate) given: &'static str,
    pub(crate) middle: &'static str,
    pub(crate) family: &'static str,
    pub(crate) female: bool,
    pub(crate) culture: &'static Culture,
}

impl Person {
    fn new(culture: &'static Culture, family: &'static str, stream: &mut RandomStream) -> Self {
        let female = stream.below(2) == 0;
        let given = culture.given(female, stream);
        let middle = if stream.below(10) < 4 { culture.given(female, stream) } else { "" };
        let middle = if middle == given { "" } else { middle };
        Self { given, middle, family, female, culture }
    }

    /// `lucia.herrera`, followed by what makes it unique.
    pub(crate) fn handle(&self, unique: &str) -> String {
        format!("{}.{}.{unique}", plain(self.given), plain(self.family))
    }
}

/// A student.
pub(crate) struct Student {
    /// The student's number in the network, from 1.
    pub(crate) number: u64,
    pub(crate) grade: u64,
    pub(crate) person: Person,
    pub(crate) birth: Date,
    /// How well the student does, in standard deviations from the mean.
    pub(crate) ability: f64,
    /// The number of the eldest of the family, after which the guardians are numbered.
    pub(crate) family: u64,
    /// How many guardians the student has.
    pub(crate) guardians: u64,
}

impl Student {
    /// The student of a school at that place.
    pub(crate) fn at(school: &School, place: u64) -> Self {
        let network = school.network;
        let family = Family::of(school, place);
        let number = school.student_number(place);
        let mut stream = network.stream(Purpose::Student, number);
        let person = Person::new(family.culture, family.name, &mut stream);
        let grade = school.grade_of(place);
        let age_days = i64::try_from(stream.below(365)).expect("a year is short");
        let years = i16::try_from(grade).expect("there are 13 grades");
        let birth = date(2021 - years, 8, 31)
            .checked_sub(age_days.days())
            .expect("births lie within the calendar");
        let ability = bell(&mut stream);
        Self {
            number,
            grade,
            person,
            birth,
            ability,
            family: family.number,
            guardians: family.guardians,
        }
    }

    pub(crate) fn id(&self) -> String {
        student_id(self.number)
    }
}

pub(crate) fn student_id(number: u64) -> String {
    format!("student-{number:07}")
}

pub(crate) fn guardian_id(family: u64, which: u64) -> String {
    format!("guardian-{family:07}-{which}")
}

/// The data that the members of a family share.
pub(crate) struct Family {
    /// The number of its eldest student.
    pub(crate) number: u64,
    name: &'static str,
    culture: &'static Culture,
    pub(crate) guardians: u64,
    stream: RandomStream,
}

impl Family {
    /// The family of the student at that place.
    pub(crate) fn of(school: &School, place: u64) -> Self {
        let number = school.student_number(school.family_of(place));
        let mut stream = school.network.stream(Purpose::Family, number);
        let culture = Culture::of(&mut stream);
        let name = culture.family(&mut stream);
        let guardians = 1 + u64::from(stream.below(10) < 7);
        Self { number, name, culture, guardians, stream }
    }

    /// Its guardians, in their order.
    pub(crate) fn guardians(mut self) -> Vec<Person> {
        let mut people: Vec<Person> = Vec::new();
        for _ in 0..self.guardians {
            let mut person = Person::new(self.culture, self.name, &mut self.stream);
            if let Some(first) = people.first()
                && first.female == person.female
                && self.stream.below(10) < 9
            {
                person.female = !person.female;
                person.given = self.culture.given(person.female, &mut self.stream);
                person.middle = "";
            }
            if self.stream.below(5) == 0 {
                person.family = self.culture.family(&mut self.stream);
            }
            people.push(person);
        }
        people
    }
}

/// A member of staff; `number` is unique over the network.
pub(crate) fn staff(network: Network, number: u64) -> Person {
    let mut stream = network.stream(Purpose::Staff, number);
    let culture = Culture::of(&mut stream);
    let family = culture.family(&mut stream);
    Person::new(culture, family, &mut stream)
}

/// A number near 0 as a bell curve spreads them: mean 0, standard deviation 1.
pub(crate) fn bell(stream: &mut RandomStream) -> f64 {
    let sum: f64 = (0..6).map(|_| stream.unit()).sum();
    (sum - 3.0) * std::f64::consts::SQRT_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_are_as_old_as_their_grade() {
        let network = Network { students: 500, seed: 9 };
        for school in network.schools() {
            for place in 0..school.students {
                let student = Student::at(&school, place);
                let age = 2026 - student.birth.year() - i16::from(student.birth.month() > 8);
                let expected = 5 + i16::try_from(student.grade).unwrap();
                assert_eq!(age, expected, "{}", student.birth);
            }
        }
    }
}
