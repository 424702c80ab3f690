//! Learner records as clients send them, and what the routes answer beside the records themselves.

use lyceum_core::schema::nulls_may_be_missing;
use lyceum_core::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Record;
use crate::body::Object;
use crate::documents::{OneOrMany, OptionalInstant, ProfileReference};

/// A learner record of [CLR 2.0](https://www.imsglobal.org/spec/clr/v2p0): a record without a proof, which the server signs,
/// or one that another issuer signed. It is stored as it was sent.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct LearnerRecord(#[schemars(with = "RecordMembers")] pub Object);

/// The members of an unsigned record that are checked.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[expect(dead_code, reason = "records are stored as they were sent")]
struct RecordMembers {
    /// The id, a URI. Without it, the server chooses one.
    id: Option<String>,
    /// "`VerifiableCredential`" and "`ClrCredential`".
    #[serde(rename = "type")]
    types: OneOrMany<String>,
    /// The name of the record.
    name: Option<String>,
    /// The creator of the achievements. The server itself is the issuer of the signed record.
    issuer: Option<ProfileReference>,
    /// The time from which the record is valid; without it, from now.
    #[serde(default)]
    #[schemars(with = "OptionalInstant")]
    valid_from: Option<String>,
    /// The learner with the achievements.
    credential_subject: RecordSubject,
}

/// The learner and the learner's achievements.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[expect(dead_code, reason = "records are stored as they were sent")]
struct RecordSubject {
    /// The learner: the address of a user, or `mailto:` and an e-mail address.
    id: String,
    /// The achievements.
    achievement: Option<OneOrMany<RecordAchievement>>,
    /// The credentials in the record. A credential with a proof stays as it is, the server signs the others. Without
    /// credentials, the server issues one for each achievement.
    verifiable_credential: Option<OneOrMany<Object>>,
    /// The relations between achievements.
    association: Option<OneOrMany<Object>>,
    /// The identities of the learner.
    identifier: Option<OneOrMany<Object>>,
}

/// An achievement of a learner record.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct RecordAchievement(#[schemars(with = "AchievementMembers")] Value);

/// The members of an achievement that are checked.
#[derive(JsonSchema)]
#[schemars(inline, transform = nulls_may_be_missing)]
#[expect(dead_code, reason = "achievements are stored as they were sent")]
struct AchievementMembers {
    /// The id, a URI.
    id: String,
    /// The name.
    name: String,
    /// The description. Without it, the name is used.
    description: Option<String>,
    /// The condition for the achievement: an object with `id` or `narrative`. Without it, the description is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    criteria: Option<Value>,
    /// The creator of the achievement. Without it, the issuer of the sent record is used.
    creator: Option<ProfileReference>,
}

/// Additions to a learner record: a whole record, a subject with its new parts, or the new parts alone. A part replaces
/// the part with the same id. Other members replace those of the record.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct LearnerRecordUpdate(#[schemars(with = "UpdateMembers")] pub Object);

/// The members of an update that are checked.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[expect(dead_code, reason = "updates are stored as they were sent")]
struct UpdateMembers {
    /// The id of the record, if it is sent.
    id: Option<String>,
    /// The new name of the record.
    name: Option<String>,
    /// The time from which the new version is valid; without it, from now.
    #[serde(default)]
    #[schemars(with = "OptionalInstant")]
    valid_from: Option<String>,
    /// The learner with the new parts.
    credential_subject: Option<UpdateSubject>,
    /// The new or changed achievements.
    achievement: Option<OneOrMany<RecordAchievement>>,
    /// The same as `achievement`.
    achievements: Option<OneOrMany<RecordAchievement>>,
    /// The new or changed credentials in the record.
    verifiable_credential: Option<OneOrMany<Object>>,
    /// The new or changed relations between achievements.
    association: Option<OneOrMany<Object>>,
}

/// The learner of a record and the new parts.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[expect(dead_code, reason = "updates are stored as they were sent")]
struct UpdateSubject {
    /// The learner of the record, if it is sent.
    id: Option<String>,
    /// The new or changed achievements.
    achievement: Option<OneOrMany<RecordAchievement>>,
    /// The new or changed credentials in the record.
    verifiable_credential: Option<OneOrMany<Object>>,
    /// The new or changed relations between achievements.
    association: Option<OneOrMany<Object>>,
}

/// The achievements of a learner record.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct RecordAchievements {
    /// The achievements of the record and of the credentials in it, each once.
    pub achievements: Vec<RecordAchievement>,
}

impl RecordAchievements {
    /// The achievements of a signed record.
    pub fn of(credential: &Object) -> Self {
        let achievements = super::achievements(credential);
        Self { achievements: achievements.into_iter().map(RecordAchievement).collect() }
    }
}

/// The versions of a learner record.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct RecordVersions {
    /// The versions, the newest first.
    pub versions: Vec<RecordVersion>,
}

/// A version of a learner record.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordVersion {
    /// The number, from 1.
    version: i64,
    /// The time from which the version is valid.
    valid_from: Timestamp,
    /// When the version was stored.
    #[schemars(with = "Timestamp")]
    created: String,
    /// The address of the version.
    href: String,
}

impl RecordVersion {
    /// A version below the address `base` of the versions of its record.
    pub fn of(record: &Record, base: &str) -> Self {
        Self {
            version: record.number,
            valid_from: record.of.valid_from,
            created: record.created.clone(),
            href: format!("{base}/{}", record.number),
        }
    }
}
