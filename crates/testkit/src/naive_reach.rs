//! The rule of which records lie within a reach, in the plainest way: the measure of the conditions in
//! `lyceum_roster::repository`. It walks the JSON of all records.

use std::collections::{BTreeMap, HashSet};

use lyceum_core::Reach;
use lyceum_roster::kinds;
use lyceum_roster::repository;
use lyceum_store::Db;
use serde_json::Value;

/// All records of a roster, by the name of their kind and their sourcedId.
#[derive(Debug)]
pub struct WholeRoster(BTreeMap<&'static str, BTreeMap<String, Value>>);

impl WholeRoster {
    /// Reads every record, deleted ones included.
    pub fn read(db: &Db) -> Self {
        let mut all = BTreeMap::new();
        for kind in kinds::ALL {
            let mut records = BTreeMap::new();
            let read = db.read_blocking(|tx| {
                records.clear();
                repository::each(tx, kind, |body, extra| {
                    let members = lyceum_roster::record::members(body, extra)?;
                    let id = members["sourcedId"].as_str().unwrap_or_default().to_owned();
                    records.insert(id, Value::Object(members));
                    Ok(())
                })
            });
            read.expect("the test database is read");
            all.insert(kind.one, records);
        }
        Self(all)
    }

    /// The record of the kind with that sourcedId.
    pub fn record(&self, kind: &str, id: &str) -> Option<&Value> {
        self.0[kind].get(id)
    }

    /// The sourcedIds of the active records of the kind that lie within the reach.
    pub fn seen(&self, kind: &str, reach: &Reach) -> Vec<String> {
        let active = self.0[kind].values().filter(|record| record["status"] == "active");
        active
            .filter(|record| self.sees(reach, kind, record))
            .map(|one| text(one, "sourcedId"))
            .collect()
    }

    /// Whether the record lies within the reach.
    pub fn sees(&self, reach: &Reach, kind: &str, record: &Value) -> bool {
        match reach {
            Reach::Everything => true,
            Reach::Organizations(_) | Reach::ClassesOf(_) => self.is_within(reach, kind, record),
        }
    }

    fn is_within(&self, reach: &Reach, kind: &str, record: &Value) -> bool {
        let of = |kind: &str, field: &str| {
            let id = reference(record, field);
            id.and_then(|id| self.record(kind, &id))
                .is_some_and(|one| self.is_within(reach, kind, one))
        };
        match kind {
            "org" => self.has_org(reach, &text(record, "sourcedId")),
            "class" | "enrollment" | "lineItem" => match reach {
                Reach::ClassesOf(teacher) => {
                    let class = match kind {
                        "class" => Some(text(record, "sourcedId")),
                        _ => reference(record, "class"),
                    };
                    class.is_some_and(|class| self.classes_of(teacher).contains(&class))
                }
                _ => reference(record, "school").is_some_and(|org| self.has_org(reach, &org)),
            },
            "user" => match reach {
                Reach::ClassesOf(teacher) => self.teaches(teacher, &text(record, "sourcedId")),
                _ => roles(record).iter().any(|org| self.has_org(reach, org)),
            },
            "demographics" => {
                let user = self.record("user", &text(record, "sourcedId"));
                user.is_some_and(|user| self.is_within(reach, "user", user))
            }
            "course" => self.has_course(reach, record),
            "courseComponent" => of("course", "course"),
            "componentResource" => of("courseComponent", "courseComponent"),
            "scoreScale" => of("class", "class"),
            "result" => of("lineItem", "lineItem"),
            "assessmentLineItem" => reference(record, "class").is_none() || of("class", "class"),
            "assessmentResult" => of("user", "student"),
            "academicSession" | "resource" | "category" => true,
            other => panic!("say who sees the kind '{other}'"),
        }
    }

    fn has_course(&self, reach: &Reach, course: &Value) -> bool {
        let Some(org) = reference(course, "org") else { return true };
        let id = text(course, "sourcedId");
        let is_taught = self.0["class"].values().any(|class| {
            reference(class, "course").as_ref() == Some(&id)
                && self.is_within(reach, "class", class)
        });
        let is_of_above = match reach {
            Reach::Organizations(roots) => {
                self.has_org(reach, &org)
                    || roots.iter().any(|root| self.above(root).contains(&org))
            }
            _ => false,
        };
        is_taught || is_of_above
    }

    fn has_org(&self, reach: &Reach, org: &str) -> bool {
        match reach {
            Reach::Everything => true,
            Reach::Organizations(roots) => {
                !roots.is_disjoint(&self.above(org).into_iter().collect())
            }
            Reach::ClassesOf(teacher) => self.classes_of(teacher).iter().any(|class| {
                let class = self.record("class", class);
                class.and_then(|class| reference(class, "school")).as_deref() == Some(org)
            }),
        }
    }

    /// The organization and those above it.
    fn above(&self, org: &str) -> HashSet<String> {
        let mut above = HashSet::new();
        let mut next = self.record("org", org);
        while let Some(record) = next {
            above.insert(text(record, "sourcedId"));
            next = reference(record, "parent").and_then(|parent| self.record("org", &parent));
        }
        above
    }

    fn classes_of(&self, teacher: &str) -> HashSet<String> {
        let enrollments = self.0["enrollment"].values().filter(|one| {
            one["status"] == "active"
                && one["role"] == "teacher"
                && reference(one, "user").as_deref() == Some(teacher)
        });
        enrollments.filter_map(|one| reference(one, "class")).collect()
    }

    fn teaches(&self, teacher: &str, user: &str) -> bool {
        let own = self.classes_of(teacher);
        user == teacher
            || self.0["enrollment"].values().any(|one| {
                one["status"] == "active"
                    && reference(one, "user").as_deref() == Some(user)
                    && reference(one, "class").is_some_and(|class| own.contains(&class))
            })
    }
}

fn text(record: &Value, field: &str) -> String {
    record[field].as_str().unwrap_or_default().to_owned()
}

fn reference(record: &Value, field: &str) -> Option<String> {
    record.get(field)?.get("sourcedId")?.as_str().map(str::to_owned)
}

fn roles(user: &Value) -> Vec<String> {
    let roles = user["roles"].as_array().into_iter().flatten();
    roles.filter_map(|role| reference(role, "org")).collect()
}
