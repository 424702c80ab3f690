//! Documents of the standards. They are stored as they were sent, because a signature covers the whole document and
//! members that Lyceum does not know must survive. The schema of each type describes the members that are checked.

use lyceum_core::schema::nulls_may_be_missing;
use lyceum_core::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::body::Object;

/// The definition of a badge: a credential of [Open Badges 3.0](https://www.imsglobal.org/spec/ob/v3p0) whose subject is
/// the achievement itself. It is stored as it was sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct BadgeDefinition(#[schemars(with = "DefinitionMembers")] pub Object);

/// The members of a definition that are checked.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline, transform = nulls_may_be_missing)]
#[expect(dead_code, reason = "definitions are stored as they were sent")]
struct DefinitionMembers {
    /// The id, a URI.
    id: String,
    /// "`VerifiableCredential`" and "`OpenBadgeCredential`".
    #[serde(rename = "type")]
    types: OneOrMany<String>,
    /// The creator of the achievement, unless the achievement names one.
    issuer: Option<ProfileReference>,
    /// The name of the badge.
    name: Option<String>,
    /// The description of the badge.
    description: Option<String>,
    /// The image of the badge, unless the achievement has one.
    image: Option<ImageReference>,
    /// The achievement.
    credential_subject: BadgeAchievement,
}

/// The achievement that a badge stands for.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = nulls_may_be_missing)]
#[expect(dead_code, reason = "definitions are stored as they were sent")]
struct BadgeAchievement {
    /// The id, a URI.
    id: String,
    /// "Achievement".
    #[serde(rename = "type")]
    types: OneOrMany<String>,
    /// The name. Without it, the name of the badge is used.
    name: Option<String>,
    /// The description. Without it, the description of the badge is used.
    description: Option<String>,
    /// The condition for earning the badge.
    criteria: Criteria,
    /// The image.
    image: Option<ImageReference>,
    /// The creator of the achievement.
    creator: Option<ProfileReference>,
}

/// The condition for earning a badge; one of the members is required.
#[derive(JsonSchema)]
#[schemars(inline, transform = nulls_may_be_missing)]
#[expect(dead_code, reason = "definitions are stored as they were sent")]
struct Criteria {
    /// The address of a page with the condition.
    id: Option<String>,
    /// The condition, as Markdown.
    narrative: Option<String>,
}

/// A credential of [Open Badges 3.0](https://www.imsglobal.org/spec/ob/v3p0) or [CLR
/// 2.0](https://www.imsglobal.org/spec/clr/v2p0): a badge, a learner record or a status list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Credential(#[schemars(with = "CredentialMembers")] pub Object);

/// The members that each credential has.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline, transform = lyceum_core::schema::nulls_may_be_missing)]
#[expect(dead_code, reason = "credentials are answered as they were signed")]
struct CredentialMembers {
    /// The JSON-LD contexts.
    #[serde(rename = "@context")]
    context: Vec<Value>,
    /// The id, a URI.
    id: String,
    /// "`VerifiableCredential`" and the type of the credential.
    #[serde(rename = "type")]
    types: OneOrMany<String>,
    /// The issuer.
    issuer: ProfileReference,
    /// The time from which the credential is valid.
    valid_from: Timestamp,
    /// The time until which the credential is valid.
    valid_until: Option<Timestamp>,
    /// The subject of the credential: of a badge, the learner with the achievement.
    credential_subject: Object,
    /// The entries of the credential in lists of revoked credentials.
    credential_status: Option<OneOrMany<Object>>,
    /// The embedded signatures; a compact JWS has none.
    proof: Option<OneOrMany<Object>>,
}

/// A badge that its issuer signed with an embedded proof.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SignedBadge(#[schemars(with = "SignedBadgeMembers")] pub Object);

/// The members of a signed badge that are checked.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[expect(dead_code, reason = "badges are stored as they were signed")]
struct SignedBadgeMembers {
    /// The id, a URI.
    id: String,
    /// The issuer.
    issuer: ProfileReference,
    /// The time from which the badge is valid.
    valid_from: Timestamp,
    /// The learner with the achievement.
    credential_subject: SignedSubject,
    /// The signatures of the issuer.
    proof: Option<OneOrMany<Object>>,
}

/// The learner with the achievement.
#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "badges are stored as they were signed")]
struct SignedSubject {
    /// The achievement.
    achievement: Object,
    /// Further members of the subject, such as the id of the learner.
    #[serde(flatten)]
    further: Object,
}

// Its schema stands at many members, so it has no description of its own.
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
#[expect(dead_code, reason = "documents are stored as they were sent")]
pub(crate) enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

/// A profile: its URI, or an object with the URI as its id.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "documents are stored as they were sent")]
pub(crate) enum ProfileReference {
    Uri(String),
    Profile {
        /// The URI.
        id: String,
        /// Further members of a profile, such as its name.
        #[serde(flatten)]
        further: Map<String, Value>,
    },
}

/// An image: its URI, or an object with the URI as its id. The URI can contain the image itself
/// (`data:image/png;base64,…`, `data:image/svg+xml;base64,…`).
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "documents are stored as they were sent")]
pub(crate) enum ImageReference {
    Uri(String),
    Image {
        /// The URI.
        id: String,
        /// The description of the image.
        #[serde(skip_serializing_if = "Option::is_none")]
        caption: Option<String>,
    },
}

// An optional instant in schemas. An empty text counts as missing.
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
#[expect(dead_code, reason = "instants are stored as they were sent")]
pub(crate) enum OptionalInstant {
    Instant(Timestamp),
    Empty(#[schemars(length(max = 0))] String),
    Missing(()),
}

/// A request to revoke a credential or a learner record.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct RevocationRequest {
    /// The reason, which revocation lists publish.
    #[schemars(length(max = crate::limits::REVOCATION_REASON_MAX_CHARS))]
    reason: Option<String>,
}

impl RevocationRequest {
    /// The reason; `None` if it is missing or empty.
    pub fn reason(self) -> Option<String> {
        self.reason.filter(|reason| !reason.is_empty())
    }
}
