//! Compiles a record from the badges and results of a learner. The badges stay as they were issued. The newest result of
//! each line item becomes a credential, which is part of its course.

use std::collections::{BTreeMap, HashMap};

use lyceum_core::random::secret_id;
use lyceum_core::text::segment;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_roster::fields;
use lyceum_roster::kind::RecordKind;
use lyceum_roster::kinds::{
    ASSESSMENT_LINE_ITEM, ASSESSMENT_RESULT, CLASS, COURSE, LINE_ITEM, RESULT, USER,
};
use lyceum_roster::repository as roster;
use lyceum_store::Tx;
use serde_json::{Value, json};
use uuid::Uuid;

use super::build;
use super::{LearnerRecord, UnsignedRecord};
use crate::award;
use crate::body::Object;
use crate::issued::{self, CredentialForm};
use crate::limits;
use crate::node_ids::NAMESPACE;
use crate::repository::records as repository;

/// A kind of results, the kind of their line items, and the reference to them.
struct ResultKind {
    result: &'static RecordKind,
    item: &'static RecordKind,
    reference: &'static str,
    achievement_type: &'static str,
}

const SORTS: [ResultKind; 2] = [
    ResultKind {
        result: &RESULT,
        item: &LINE_ITEM,
        reference: "lineItem",
        achievement_type: "Assignment",
    },
    ResultKind {
        result: &ASSESSMENT_RESULT,
        item: &ASSESSMENT_LINE_ITEM,
        reference: "assessmentLineItem",
        achievement_type: "Assessment",
    },
];

/// Compiles the record with that id again, or the record of the user with that sourcedId. The record is marked as partial if
/// not everything fits.
/// Errors: `NotFound`; `Invalid` if the subject is not a user of this server, or the learner has earned nothing.
pub fn compile(
    tx: &mut Tx<'_>,
    now: Timestamp,
    base_url: &str,
    issuer: &Object,
    id: &str,
    reach: &Reach,
) -> Result<UnsignedRecord> {
    let (learner, record) = learner(tx, base_url, id, reach)?;
    let user = fields::in_use(tx, &USER, &learner)?;
    let badges = issued::of_learner(tx, &learner, limits::CLR_CREDENTIALS_MAX_COUNT)?;
    let mut nested: Vec<Value> = Vec::new();
    for badge in badges.iter().filter(|badge| badge.signed.form == CredentialForm::Json) {
        nested.push(badge.object()?.into());
    }
    let mut found =
        FoundResults { base_url, learner: &learner, courses: BTreeMap::new(), parts: Vec::new() };
    for sort in &SORTS {
        found.results(tx, sort, &mut nested)?;
    }
    if nested.is_empty() {
        let message = message!("the learner '{learner}' has no badges and no results yet");
        return Err(Problem::invalid("id", message));
    }
    let is_partial = nested.len() > limits::CLR_CREDENTIALS_MAX_COUNT;
    nested.truncate(limits::CLR_CREDENTIALS_MAX_COUNT);
    let name =
        format!("{} {}", fields::text(&user, "givenName"), fields::text(&user, "familyName"));
    let mut subject = json!({
        "id": award::user_address(base_url, &learner),
        "type": ["ClrSubject"],
        "achievement": found.courses.values().collect::<Vec<_>>(),
        "verifiableCredential": nested,
        "association": found.parts,
    });
    let email = fields::text(&user, "email");
    if !email.is_empty() {
        subject["identifier"] = json!([award::identity("emailAddress", email)]);
    }
    let mut record_json = Object::new();
    record_json.insert("id".to_owned(), record.as_str().into());
    record_json.insert("type".to_owned(), json!(["VerifiableCredential", "ClrCredential"]));
    record_json.insert("name".to_owned(), format!("Learner record of {}", name.trim()).into());
    record_json.insert("validFrom".to_owned(), now.to_string().into());
    record_json.insert("partial".to_owned(), is_partial.into());
    record_json.insert("credentialSubject".to_owned(), without_empty(subject));
    let mut unsigned =
        build::unsigned(tx, now, base_url, issuer, &LearnerRecord(record_json), reach)?;
    unsigned.version.compiled_for = Some(learner);
    Ok(unsigned)
}

/// The learner and the id of the record.
fn learner(tx: &mut Tx<'_>, base_url: &str, id: &str, reach: &Reach) -> Result<(String, String)> {
    match super::found_or_deleted(tx, base_url, id, reach) {
        Ok(record) => match record.of.learner {
            Some(learner) => Ok((learner, record.of.id)),
            None => Err(Problem::invalid(
                "id",
                "must be a learner record whose subject is a user of this server",
            )),
        },
        Err(problem) if problem.kind == ProblemKind::NotFound => {
            if fields::in_use_within(tx, &USER, id, reach).is_err() {
                let message = message!("Unknown Object: there is no learner record or user '{id}'");
                return Err(Problem::new(ProblemKind::NotFound, message));
            }
            let known = repository::compiled_for(tx, id)?;
            let record = known.unwrap_or_else(|| super::address(base_url, &secret_id()));
            Ok((id.to_owned(), record))
        }
        Err(problem) => Err(problem),
    }
}

fn without_empty(mut subject: Value) -> Value {
    if let Some(subject) = subject.as_object_mut() {
        subject.retain(|_, value| !value.as_array().is_some_and(Vec::is_empty));
    }
    subject
}

/// The achievements and associations that follow from results.
struct FoundResults<'f> {
    base_url: &'f str,
    learner: &'f str,
    /// The achievements of courses, by the id of the course.
    courses: BTreeMap<String, Value>,
    /// The associations of achievements with their courses.
    parts: Vec<Value>,
}

impl FoundResults<'_> {
    /// Adds a credential for the newest result of each line item that is not part of another.
    fn results(&mut self, tx: &mut Tx<'_>, sort: &ResultKind, into: &mut Vec<Value>) -> Result<()> {
        let stored = roster::referring_to(tx, sort.result, "student", &[self.learner])?;
        let mut newest: BTreeMap<String, Object> = BTreeMap::new();
        for stored in &stored {
            let result = fields::of(stored)?;
            let item = fields::reference(&result, sort.reference).to_owned();
            let date = fields::text(&result, "scoreDate").to_owned();
            let is_newer = |known: &Object| fields::text(known, "scoreDate") <= date.as_str();
            if fields::text(&result, "scoreStatus") == "fully graded"
                && value(&result).is_some()
                && newest.get(&item).is_none_or(is_newer)
            {
                newest.insert(item, result);
            }
        }
        let items = fields::of_all(tx, sort.item, newest.keys().map(String::as_str))?;
        let courses = self.courses_of(tx, &items)?;
        for (id, result) in &newest {
            let Some(item) = items.get(id) else { continue };
            if !fields::reference(item, "parentAssessmentLineItem").is_empty() {
                continue;
            }
            let achievement = self.achievement(sort, id, item);
            if let Some(course) = courses.get(id) {
                self.parts.push(json!({
                    "type": "Association",
                    "associationType": "isPartOf",
                    "sourceId": achievement["id"],
                    "targetId": self.courses[course]["id"],
                }));
            }
            into.push(self.credential(sort, result, &achievement));
        }
        Ok(())
    }

    /// The course of each line item, its own or that of its class; the courses become achievements.
    fn courses_of(
        &mut self,
        tx: &mut Tx<'_>,
        items: &HashMap<String, Object>,
    ) -> Result<HashMap<String, String>> {
        let classes = items.values().map(|item| fields::reference(item, "class"));
        let classes = fields::of_all(tx, &CLASS, classes)?;
        let course_of = |item: &Object| {
            let own = fields::reference(item, "course");
            if !own.is_empty() {
                return own.to_owned();
            }
            let class = classes.get(fields::reference(item, "class"));
            class.map(|class| fields::reference(class, "course").to_owned()).unwrap_or_default()
        };
        let mut found: HashMap<String, String> =
            items.iter().map(|(id, item)| (id.clone(), course_of(item))).collect();
        let courses = fields::of_all(tx, &COURSE, found.values().map(String::as_str))?;
        found.retain(|_, course| courses.contains_key(course));
        for (id, course) in &courses {
            let title = fields::text(course, "title");
            self.courses.insert(
                id.clone(),
                json!({
                    "id": self.address(&COURSE, id),
                    "type": ["Achievement"],
                    "achievementType": "Course",
                    "name": title,
                    "description": format!("The course {title}"),
                    "criteria": { "narrative": "What is assigned and assessed in the course" },
                }),
            );
        }
        Ok(found)
    }

    fn address(&self, kind: &RecordKind, id: &str) -> String {
        let id = segment(id);
        format!("{}{}/{}/{id}", self.base_url, kind.service.prefix(), kind.path)
    }

    fn achievement(&self, sort: &ResultKind, id: &str, item: &Object) -> Value {
        let address = self.address(sort.item, id);
        let title = fields::text(item, "title");
        let described = fields::text(item, "description");
        let described = if described.is_empty() { title } else { described };
        let mut score = json!({
            "id": format!("{address}#score"),
            "type": ["ResultDescription"],
            "name": "Score",
            "resultType": "RawScore",
        });
        for (name, member) in [("valueMin", "resultValueMin"), ("valueMax", "resultValueMax")] {
            if let Some(bound) = item.get(member).filter(|bound| bound.is_number()) {
                score[name] = bound.to_string().into();
            }
        }
        json!({
            "id": address,
            "type": ["Achievement"],
            "achievementType": sort.achievement_type,
            "name": title,
            "description": described,
            "criteria": { "narrative": described },
            "resultDescription": [score],
        })
    }

    fn credential(&self, sort: &ResultKind, result: &Object, achievement: &Value) -> Value {
        let address = self.address(sort.result, fields::text(result, "sourcedId"));
        let score = achievement["resultDescription"][0]["id"].clone();
        let date = fields::text(result, "scoreDate");
        let date = date.parse::<Timestamp>().map_or_else(|_| date.to_owned(), |at| at.to_string());
        json!({
            "@context": crate::CONTEXTS,
            "id": Uuid::new_v5(&NAMESPACE, address.as_bytes()).urn().to_string(),
            "type": ["VerifiableCredential", "AchievementCredential"],
            "name": achievement["name"],
            "validFrom": date,
            "awardedDate": date,
            "credentialSubject": {
                "id": award::user_address(self.base_url, self.learner),
                "type": ["AchievementSubject"],
                "achievement": achievement,
                "result": [{
                    "type": ["Result"],
                    "resultDescription": score,
                    "status": "Completed",
                    "value": value(result),
                }],
            },
        })
    }
}

/// The score of a result as a text.
fn value(result: &Object) -> Option<String> {
    match result.get("score") {
        Some(Value::Number(score)) => Some(score.to_string()),
        _ => fields::opt_text(result, "textScore"),
    }
}
