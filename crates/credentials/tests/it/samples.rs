//! Credentials that tests sign and change.

use ed25519_dalek::SigningKey;
use serde_json::{Value, json};

/// The key that signs them.
pub(crate) fn key() -> SigningKey {
    SigningKey::from_bytes(&[7; 32])
}

pub(crate) const CREATED: &str = "2026-01-15T08:00:00Z";

/// A badge with everything that badges commonly have, issued by the `did:key` of [`key`].
pub(crate) fn badge() -> Value {
    json!({
        "@context": [
            "https://www.w3.org/ns/credentials/v2",
            "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json",
            "https://purl.imsglobal.org/spec/ob/v3p0/extensions.json"
        ],
        "id": "https://badges.example/credentials/1",
        "type": ["VerifiableCredential", "OpenBadgeCredential"],
        "issuer": {
            "id": lyceum_credentials::did::key_of(&key().verifying_key()),
            "type": ["Profile"],
            "name": "Riverside School",
            "url": "https://riverside.example",
            "image": {"id": "https://riverside.example/logo.png", "type": "Image"},
            "address": {"type": ["Address"], "addressCountry": "France"}
        },
        "validFrom": "2026-01-01T00:00:00Z",
        "validUntil": "2036-01-01T00:00:00Z",
        "awardedDate": "2026-01-01T00:00:00Z",
        "name": "Fractions, mastered",
        "description": "Adds, compares and divides \"fractions\"\n½ + ⅓ = ⅚ 🎓",
        "credentialSubject": {
            "id": "did:example:ada",
            "type": ["AchievementSubject"],
            "identifier": [{
                "type": "IdentityObject", "hashed": true, "identityType": "emailAddress",
                "identityHash": "sha256$b5809d8a92f8858436d7e6b87c12ebc0ae1eac4baecc2c0b913aee2c922ef399",
                "salt": "Kosher"
            }],
            "creditsEarned": 2.5,
            "activityStartDate": "2025-09-01",
            "result": [
                {"type": ["Result"], "resultDescription": "urn:uuid:1", "value": "98"},
                {"type": ["Result"], "resultDescription": "urn:uuid:2", "value": "A"},
                {"type": ["Result"], "resultDescription": "urn:uuid:2", "value": "A"}
            ],
            "achievement": {
                "id": "https://badges.example/achievements/fractions",
                "type": ["Achievement"],
                "achievementType": "Competency",
                "name": "Fractions",
                "description": "Fractions of all kinds",
                "criteria": {"narrative": "Reaches a score of 100"},
                "tag": ["maths", "grade 5", "maths"],
                "creditsAvailable": 3,
                "alignment": [
                    {"type": ["Alignment"], "targetName": "5.NF.A.1", "targetUrl": "https://case.example/1"},
                    {"type": ["Alignment"], "targetName": "5.NF.A.2", "targetUrl": "https://case.example/2"}
                ],
                "resultDescription": [{
                    "id": "urn:uuid:2", "type": ["ResultDescription"], "name": "Grade",
                    "resultType": "LetterGrade", "allowedValue": ["A", "B", "C"]
                }]
            }
        },
        "evidence": [{"type": ["Evidence"], "name": "The test", "narrative": "100 of 100"}],
        "credentialStatus": {
            "id": "https://badges.example/status/1#17",
            "type": "BitstringStatusListEntry",
            "statusPurpose": "revocation",
            "statusListIndex": "17",
            "statusListCredential": "https://badges.example/status/1"
        },
        "credentialSchema": [{
            "id": "https://purl.imsglobal.org/spec/ob/v3p0/schema/json/ob_v3p0_achievementcredential_schema.json",
            "type": "1EdTechJsonSchemaValidator2019"
        }]
    })
}

/// The badge, signed.
pub(crate) fn signed(credential: Value) -> Value {
    let method = lyceum_credentials::did::key_method(&key().verifying_key());
    lyceum_credentials::proof::sign(credential, &key(), &method, CREATED.parse().unwrap()).unwrap()
}

/// A learner record that holds those credentials.
pub(crate) fn record(held: &[Value]) -> Value {
    json!({
        "@context": [
            "https://www.w3.org/ns/credentials/v2",
            "https://purl.imsglobal.org/spec/clr/v2p0/context-2.0.1.json",
            "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json",
            "https://purl.imsglobal.org/spec/ob/v3p0/extensions.json"
        ],
        "id": "urn:uuid:record",
        "type": ["VerifiableCredential", "ClrCredential"],
        "issuer": badge()["issuer"],
        "validFrom": "2026-01-01T00:00:00Z",
        "name": "Ada's record",
        "partial": true,
        "credentialSubject": {
            "id": "did:example:ada",
            "type": ["ClrSubject"],
            "verifiableCredential": held,
            "association": [{
                "type": "Association", "associationType": "isPartOf",
                "sourceId": "https://badges.example/credentials/1", "targetId": "urn:uuid:record"
            }]
        }
    })
}
