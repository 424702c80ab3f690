//! The shape of a credential: the parts of the standards' schemas that a reader relies on.

use lyceum_core::problem::Detail;
use lyceum_core::time::Timestamp;
use lyceum_core::{Message, message};
use serde_json::{Map, Value};

/// The required members of an object of one class.
struct Class {
    /// Its `type` holds this.
    name: &'static str,
    /// Members that it has.
    required: &'static [&'static str],
    /// Members that are objects of a class, alone or in an array.
    members: &'static [(&'static str, &'static str)],
}

const fn class(
    name: &'static str,
    required: &'static [&'static str],
    members: &'static [(&'static str, &'static str)],
) -> Class {
    Class { name, required, members }
}

/// The classes of Open Badges 3.0 (B.1) and CLR 2.0.
const CLASSES: [Class; 19] = [
    class(
        "AchievementSubject",
        &["achievement"],
        &[
            ("achievement", "Achievement"),
            ("identifier", "IdentityObject"),
            ("image", "Image"),
            ("result", "Result"),
            ("source", "Profile"),
        ],
    ),
    class(
        "ClrSubject",
        &["verifiableCredential"],
        &[
            ("achievement", "Achievement"),
            ("association", "Association"),
            ("identifier", "IdentityObject"),
        ],
    ),
    class("EndorsementSubject", &["id"], &[]),
    class(
        "Achievement",
        &["id", "criteria", "description", "name"],
        &[
            ("alignment", "Alignment"),
            ("creator", "Profile"),
            ("image", "Image"),
            ("otherIdentifier", "IdentifierEntry"),
            ("related", "Related"),
            ("resultDescription", "ResultDescription"),
        ],
    ),
    class(
        "Profile",
        &["id"],
        &[
            ("address", "Address"),
            ("image", "Image"),
            ("otherIdentifier", "IdentifierEntry"),
            ("parentOrg", "Profile"),
        ],
    ),
    class("Address", &[], &[("geo", "GeoCoordinates")]),
    class("GeoCoordinates", &["latitude", "longitude"], &[]),
    class("Image", &["id"], &[]),
    class("IdentifierEntry", &["identifier", "identifierType"], &[]),
    class("IdentityObject", &["hashed", "identityHash", "identityType"], &[]),
    class("Alignment", &["targetName", "targetUrl"], &[]),
    class("Association", &["associationType", "sourceId", "targetId"], &[]),
    class("Evidence", &[], &[]),
    class("Related", &["id"], &[]),
    class("Result", &[], &[("alignment", "Alignment")]),
    class(
        "ResultDescription",
        &["id", "name", "resultType"],
        &[("alignment", "Alignment"), ("rubricCriterionLevel", "RubricCriterionLevel")],
    ),
    class("RubricCriterionLevel", &["id", "name"], &[("alignment", "Alignment")]),
    class("BitstringStatusList", &["statusPurpose", "encodedList"], &[]),
    class("StatusList2021", &["statusPurpose", "encodedList"], &[]),
];

/// The context that every credential of VC 2.0 begins with, and that of VC 1.1.
pub(super) const VC: [&str; 2] =
    ["https://www.w3.org/ns/credentials/v2", "https://www.w3.org/2018/credentials/v1"];
const OB: &str = "https://purl.imsglobal.org/spec/ob/v3p0/context";
const CLR: &str = "https://purl.imsglobal.org/spec/clr/v2p0/context";

/// The kinds of credentials by their types: the class of the subject, and the contexts that the credential names after
/// that of VC.
const KINDS: [(&[&str], &str, &[&str]); 5] = [
    (&["OpenBadgeCredential", "AchievementCredential"], "AchievementSubject", &[OB]),
    (&["ClrCredential"], "ClrSubject", &[CLR, OB]),
    (&["EndorsementCredential"], "EndorsementSubject", &[OB]),
    (&["BitstringStatusListCredential"], "BitstringStatusList", &[]),
    (&["StatusList2021Credential"], "StatusList2021", &[]),
];

/// The classes of lists that say which credentials are revoked.
pub(super) const LISTS: [&str; 2] = ["BitstringStatusList", "StatusList2021"];

/// The errors against the schema of the standard; empty if the credential is correct.
pub fn faults(credential: &Value) -> Vec<Detail> {
    let mut faults = Faults(Vec::new());
    match credential {
        Value::Object(object) => faults.credential(object),
        _ => faults.add("", "must be a JSON object"),
    }
    faults.0
}

struct Faults(Vec<Detail>);

impl Faults {
    fn add(&mut self, path: &str, message: impl Into<Message>) {
        self.0.push(Detail { path: path.to_owned(), message: message.into() });
    }

    fn credential(&mut self, credential: &Map<String, Value>) {
        let kinds = strings(credential.get("type"));
        if !kinds.contains(&"VerifiableCredential") {
            self.add("type", "must contain 'VerifiableCredential'");
        }
        let known = KINDS.iter().find(|(names, ..)| names.iter().any(|name| kinds.contains(name)));
        let contexts = strings(credential.get("@context"));
        if !contexts.first().is_some_and(|first| VC.contains(first)) {
            self.add("@context", message!("must begin with {text}", text = VC[0]));
        }
        let legacy = contexts.first() == Some(&VC[1]);
        let mut required = vec!["issuer", "credentialSubject"];
        required.push(if legacy { "issuanceDate" } else { "validFrom" });
        match known {
            None => self.add(
                "type",
                "must contain 'OpenBadgeCredential', 'AchievementCredential', 'ClrCredential' or \
                 'EndorsementCredential'",
            ),
            Some((names, subject, following)) => {
                if !LISTS.contains(subject) {
                    required.push("id");
                }
                if names.contains(&"ClrCredential") {
                    required.push("name");
                }
                let mut rest = contexts.iter().skip(1);
                for context in *following {
                    if !rest.any(|url| is_version(url, context)) && !legacy {
                        self.add("@context", message!("must contain {context}….json"));
                    }
                }
                self.object(credential.get("credentialSubject"), subject, "credentialSubject", 0);
            }
        }
        self.required(credential, &required, "");
        if credential.get("issuer").is_some_and(Value::is_object) {
            self.object(credential.get("issuer"), "Profile", "issuer", 0);
        }
        self.objects(credential.get("evidence"), "Evidence", "evidence", 0);
        self.object(credential.get("image"), "Image", "image", 0);
        for member in ["validFrom", "validUntil", "awardedDate", "issuanceDate", "expirationDate"] {
            if let Some(value) = credential.get(member)
                && instant(value).is_none()
            {
                self.add(
                    member,
                    message!("must be an instant such as 2026-01-15T08:00:00Z (got {value})"),
                );
            }
        }
    }

    fn required(&mut self, object: &Map<String, Value>, names: &[&str], path: &str) {
        for name in names {
            if object.get(*name).is_none_or(Value::is_null) {
                self.add(&below(path, name), "is required");
            }
        }
    }

    fn objects(&mut self, value: Option<&Value>, class: &str, path: &str, depth: usize) {
        match value {
            Some(Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.object(Some(item), class, &format!("{path}[{index}]"), depth);
                }
            }
            one => self.object(one, class, path, depth),
        }
    }

    fn object(&mut self, value: Option<&Value>, class: &str, path: &str, depth: usize) {
        let Some(value) = value.filter(|value| !value.is_null()) else { return };
        let Value::Object(object) = value else {
            return self.add(path, message!("must be an object of the type '{class}'"));
        };
        if !strings(object.get("type")).contains(&class) {
            self.add(&below(path, "type"), message!("must contain '{class}'"));
        }
        let Some(class) = CLASSES.iter().find(|known| known.name == class) else { return };
        self.required(object, class.required, path);
        for (name, class) in class.members {
            self.objects(object.get(*name), class, &below(path, name), depth + 1);
        }
    }
}

/// Whether the credential is one of VC 2.0, by its first context.
pub(crate) fn is_of_vc_2(credential: &Map<String, Value>) -> bool {
    strings(credential.get("@context")).first() == Some(&VC[0])
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Whether the address is one of the versions of the context: `….json`, `…-3.0.3.json`.
fn is_version(url: &str, context: &str) -> bool {
    url.strip_prefix(context).and_then(|rest| rest.strip_suffix(".json")).is_some_and(|version| {
        version.is_empty()
            || version.starts_with('-')
                && version[1..].bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}

/// The strings of what is one string or an array.
pub(crate) fn strings(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// An instant with a time and an offset.
pub(super) fn instant(value: &Value) -> Option<Timestamp> {
    value.as_str().filter(|text| text.len() > 10).and_then(|text| text.parse().ok())
}
