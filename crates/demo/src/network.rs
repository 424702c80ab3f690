//! The shape of the network: districts, their schools, and who learns where. Everything is a
//! function of the seed and a number, so nothing needs to be kept in memory.

use lyceum_core::random::RandomStream;

use crate::names::TOWNS;

/// Students of a district, about.
const DISTRICT_STUDENTS: u64 = 20_000;
/// A district with fewer students has one school for all grades.
const SMALL_DISTRICT_STUDENTS: u64 = 150;

/// The whole network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Network {
    pub(crate) students: u64,
    pub(crate) seed: u64,
}

/// The purpose of a random stream. Streams of different purposes draw different numbers.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    District = 1,
    School,
    Family,
    Student,
    Staff,
    Section,
    Score,
    Profile,
    Demographics,
    Content,
}

impl Network {
    /// The random stream of one thing.
    pub(crate) fn stream(self, purpose: Purpose, number: u64) -> RandomStream {
        let seed = scramble(self.seed ^ scramble(purpose as u64));
        RandomStream::seeded(scramble(seed ^ scramble(number)))
    }

    /// All districts, students numbered through.
    pub(crate) fn districts(self) -> impl Iterator<Item = District> {
        let count = self.students.div_ceil(DISTRICT_STUDENTS).max(1);
        split(self.students, count).enumerate().map(move |(index, (first, students))| {
            let number = index as u64 + 1;
            let mut stream = self.stream(Purpose::District, number);
            let start = stream.below(TOWNS.len() as u64);
            District { number, first, students, town: start, network: self }
        })
    }

    /// All schools of all districts.
    pub(crate) fn schools(self) -> impl Iterator<Item = School> {
        self.districts().flat_map(District::schools)
    }
}

/// A school district.
#[derive(Clone, Copy, Debug)]
pub(crate) struct District {
    pub(crate) number: u64,
    first: u64,
    pub(crate) students: u64,
    town: u64,
    network: Network,
}

/// A stretch of grades that a school teaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GradeSpan {
    Elementary,
    Middle,
    High,
    All,
}

impl District {
    pub(crate) fn id(&self) -> String {
        format!("org-d{:03}", self.number)
    }

    pub(crate) fn name(&self) -> String {
        // Towns repeat in large networks; the number keeps districts apart.
        let town = TOWNS[((self.town + 7 * self.number) % TOWNS.len() as u64) as usize];
        match (self.number - 1) / TOWNS.len() as u64 {
            0 => format!("{town} School District"),
            round => format!("{town} School District {}", round + 1),
        }
    }

    /// Its schools, by level.
    pub(crate) fn schools(self) -> impl Iterator<Item = School> {
        let part = |grades: u64| self.students * grades / 13;
        let levels = if self.students < SMALL_DISTRICT_STUDENTS {
            vec![(GradeSpan::All, self.students, 1)]
        } else {
            let (middle, high) = (part(3), part(4));
            let elementary = self.students - middle - high;
            vec![
                (GradeSpan::Elementary, elementary, elementary.div_ceil(480)),
                (GradeSpan::Middle, middle, middle.div_ceil(680)),
                (GradeSpan::High, high, high.div_ceil(1150)),
            ]
        };
        let mut number = 0;
        let mut first = self.first;
        let mut schools = Vec::new();
        for (level, students, count) in levels {
            for (start, size) in split(students, count) {
                number += 1;
                schools.push(School {
                    district: self.number,
                    number,
                    level,
                    first: first + start,
                    students: size,
                    network: self.network,
                });
            }
            first += students;
        }
        schools.into_iter()
    }
}

/// A school.
#[derive(Clone, Copy, Debug)]
pub(crate) struct School {
    pub(crate) district: u64,
    number: u64,
    pub(crate) level: GradeSpan,
    /// The number of its first student in the network, from 0.
    first: u64,
    pub(crate) students: u64,
    pub(crate) network: Network,
}

impl School {
    /// The part of ids that names it: `d001-s002`.
    pub(crate) fn key(&self) -> String {
        format!("d{:03}-s{:03}", self.district, self.number)
    }

    /// A number of its own, over all districts.
    pub(crate) fn serial(&self) -> u64 {
        self.district * 1000 + self.number
    }

    pub(crate) fn id(&self) -> String {
        format!("org-{}", self.key())
    }

    pub(crate) fn name(&self) -> String {
        let mut stream = self.network.stream(Purpose::School, self.district);
        let start = stream.below(TOWNS.len() as u64);
        let town = TOWNS[((start + 5 * self.number) % TOWNS.len() as u64) as usize];
        let kind = match self.level {
            GradeSpan::Elementary => "Elementary School",
            GradeSpan::Middle => "Middle School",
            GradeSpan::High => "High School",
            GradeSpan::All => "School",
        };
        match (self.number - 1) / TOWNS.len() as u64 {
            0 => format!("{town} {kind}"),
            round => format!("{town} {kind} {}", round + 1),
        }
    }

    /// Its first grade and the number of its grades; kindergarten is 0.
    pub(crate) fn grades(&self) -> (u64, u64) {
        match self.level {
            GradeSpan::Elementary => (0, 6),
            GradeSpan::Middle => (6, 3),
            GradeSpan::High => (9, 4),
            GradeSpan::All => (0, 13),
        }
    }

    /// The number in the network of its student at that place, from 1.
    pub(crate) fn student_number(&self, place: u64) -> u64 {
        self.first + place + 1
    }

    /// The grade of its student at that place. Neighbours are in neighbouring grades, so that
    /// brothers and sisters, who are neighbours, are of different ages.
    pub(crate) fn grade_of(&self, place: u64) -> u64 {
        let (first, count) = self.grades();
        first + place % count
    }

    /// How many of its students are in that grade.
    pub(crate) fn students_in(&self, grade: u64) -> u64 {
        let (first, count) = self.grades();
        (self.students + count - 1 - (grade - first)) / count
    }

    /// The place of the eldest of the family of the student at that place: ten students in a row
    /// are six families.
    pub(crate) fn family_of(&self, place: u64) -> u64 {
        const SIZES: [[u64; 6]; 3] = [[1, 2, 1, 3, 1, 2], [2, 1, 1, 2, 3, 1], [1, 1, 3, 2, 2, 1]];
        let ten = place / 10;
        let sizes = &SIZES[(scramble(self.serial() ^ ten) % 3) as usize];
        let mut first = ten * 10;
        for size in sizes {
            if place < first + size {
                break;
            }
            first += size;
        }
        first
    }
}

/// Splits `total` into `count` parts of about the same, but not equal, size: `(first, size)`.
fn split(total: u64, count: u64) -> impl Iterator<Item = (u64, u64)> {
    let count = count.max(1);
    let border = move |part: u64| {
        let even = total * part / count;
        let share = total / count;
        if part == 0 || part == count || share < 20 {
            return even;
        }
        let sway = share / 6;
        even + scramble(total ^ part) % (2 * sway + 1) - sway
    };
    (0..count).map(move |part| (border(part), border(part + 1) - border(part)))
}

/// Mixes the bits of a number (`SplitMix64`).
pub(crate) fn scramble(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_student_has_one_school() {
        for students in [0, 1, 12, 149, 150, 2_000, 19_999, 47_123] {
            let network = Network { students, seed: 3 };
            let mut next = 0;
            for school in network.schools() {
                assert_eq!(school.first, next, "{students}");
                next += school.students;
                let (first, count) = school.grades();
                let graded: u64 = (first..first + count).map(|g| school.students_in(g)).sum();
                assert_eq!(graded, school.students);
            }
            assert_eq!(next, students);
        }
    }

    #[test]
    fn a_family_is_a_run_of_students_that_begins_with_the_eldest() {
        let network = Network { students: 2_000, seed: 3 };
        for school in network.schools() {
            let mut former = 0;
            for place in 0..school.students {
                let first = school.family_of(place);
                assert!(first <= place && first >= former && place - first < 3);
                former = first;
            }
        }
    }
}
