//! Credentials as JSON Web Tokens. In Open Badges 3.0, 8.2 the credential is the payload, and its registered
//! claims stand beside its members. Tokens of VC 1.1 hold the credential in the claim `vc`, and what a claim
//! says can be left out there; those of VC 2.0 (Securing with JOSE and COSE) hold it alone.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ed25519_dalek::{Signer, SigningKey};
use lyceum_core::limits::CLOCK_DIFFERENCE_MAX_S;
use lyceum_core::problem::{Problem, ProblemKind, Result};
use lyceum_core::time::Timestamp;
use lyceum_core::{Message, message};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::{Map, Value, json};

use crate::key::PublicKey;
use crate::limits::JWT_MAX_BYTES;

/// A key that signs tokens.
#[derive(Clone, Copy, Debug)]
pub enum Key<'a> {
    /// `EdDSA` with Ed25519.
    EdDsa(&'a SigningKey),
    /// `RS256`.
    Rs256(&'a RsaKeyPair),
}

/// The claims that a credential repeats.
const CLAIMS: [&str; 7] = ["iss", "jti", "nbf", "exp", "sub", "iat", "aud"];

/// A token that was read. Nothing of it is verified yet.
#[derive(Clone, Debug)]
pub struct Token {
    /// The protected header.
    pub header: Map<String, Value>,
    /// The credential: the payload without the claims; in tokens of VC 1.1 its member `vc`, with what the
    /// claims say where that says nothing.
    pub credential: Value,
    /// The registered claims: `iss`, `jti`, `nbf`, `exp`, `sub`, `iat`, `aud`.
    pub claims: Map<String, Value>,
    signed: String,
    signature: Vec<u8>,
}

/// Signs a credential as a compact JWS. `kid` is the address of the key in its controller's
/// document. Errors: `issuer`, `id`, `validFrom` or the subject's id is missing, or a date is not a date.
pub fn sign(credential: &Value, key: Key<'_>, kid: &str) -> Result<String> {
    let mut payload = credential
        .as_object()
        .cloned()
        .ok_or_else(|| Problem::invalid("", "the credential is not a JSON object"))?;
    for claim in CLAIMS {
        payload.shift_remove(claim);
    }
    payload.extend(claims(credential)?);
    let algorithm = match key {
        Key::EdDsa(_) => "EdDSA",
        Key::Rs256(_) => "RS256",
    };
    let header = json!({"alg": algorithm, "typ": "JWT", "kid": kid});
    let mut token = BASE64_URL_SAFE_NO_PAD.encode(header.to_string());
    token.push('.');
    BASE64_URL_SAFE_NO_PAD.encode_string(Value::Object(payload).to_string(), &mut token);
    let signature = match key {
        Key::EdDsa(key) => key.sign(token.as_bytes()).to_bytes().to_vec(),
        Key::Rs256(key) => {
            let mut signature = vec![0; key.public().modulus_len()];
            key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), token.as_bytes(), &mut signature)
                .map_err(|_| Problem::internal("the RSA key does not sign"))?;
            signature
        }
    };
    token.push('.');
    BASE64_URL_SAFE_NO_PAD.encode_string(signature, &mut token);
    Ok(token)
}

/// The claims that repeat what the credential says: `iss`, `jti`, `nbf`, `sub`, and `exp` if it
/// ends. A subject without an id, which is named by `identifier` alone, has no `sub`.
fn claims(credential: &Value) -> Result<Map<String, Value>> {
    let mut claims = Map::new();
    let issuer = id_of(&credential["issuer"]);
    claims.insert("iss".to_owned(), issuer.ok_or_else(|| missing("issuer"))?.into());
    let id = credential["id"].as_str();
    claims.insert("jti".to_owned(), id.ok_or_else(|| missing("id"))?.into());
    let from = instant(credential, "validFrom")?.ok_or_else(|| missing("validFrom"))?;
    claims.insert("nbf".to_owned(), from.seconds().into());
    if let Some(until) = instant(credential, "validUntil")? {
        claims.insert("exp".to_owned(), until.seconds().into());
    }
    if let Some(subject) = id_of(&credential["credentialSubject"]) {
        claims.insert("sub".to_owned(), subject.into());
    }
    Ok(claims)
}

/// Reads a compact JWS with a credential. Errors: it is not a JWS, or it is longer than the limit.
pub fn read(token: &str) -> Result<Token> {
    if token.len() > JWT_MAX_BYTES {
        return Err(Problem::new(
            ProblemKind::TooLarge,
            message!("a credential as JWT has at most {JWT_MAX_BYTES} bytes"),
        ));
    }
    let mut parts = token.split('.');
    let (Some(header), Some(payload), Some(signature), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(malformed("a compact JWS must have three parts with full stops between them"));
    };
    let (Value::Object(header), Value::Object(mut payload)) = (part(header)?, part(payload)?)
    else {
        return Err(malformed("the header and the payload of the JWS must be JSON objects"));
    };
    let signature = BASE64_URL_SAFE_NO_PAD
        .decode(signature)
        .map_err(|_| malformed("the signature of the JWS must be base64url"))?;
    let signed = token[..token.rfind('.').expect("it has three parts")].to_owned();
    let mut claims = Map::new();
    for claim in CLAIMS {
        if let Some(value) = payload.shift_remove(claim) {
            claims.insert(claim.to_owned(), value);
        }
    }
    let credential = match payload.shift_remove("vc") {
        Some(Value::Object(credential)) => completed(credential, &claims),
        Some(_) => return Err(malformed("the claim 'vc' of the JWS must be a JSON object")),
        None => Value::Object(payload),
    };
    Ok(Token { header, credential, claims, signed, signature })
}

/// A credential of VC 1.1, completed from the claims (VC 1.1, 6.3.1).
fn completed(mut credential: Map<String, Value>, claims: &Map<String, Value>) -> Value {
    let [from, until] = match crate::verify::is_of_vc_2(&credential) {
        true => ["validFrom", "validUntil"],
        false => ["issuanceDate", "expirationDate"],
    };
    let text = |claim: &str| claims.get(claim).filter(|value| value.is_string()).cloned();
    let date = |claim: &str| {
        let at = numeric_date(claims.get(claim)?)?;
        Some(Value::from(crate::seconds(Timestamp::from_milliseconds(at.checked_mul(1000)?))))
    };
    for (member, value) in [
        ("issuer", text("iss")),
        ("id", text("jti")),
        (from, date("nbf").or_else(|| date("iat"))),
        (until, date("exp")),
    ] {
        // A date under its other name stands for both, or the claim would be compared with itself.
        let is_there = match member {
            "issuanceDate" => {
                credential.contains_key(member) || credential.contains_key("validFrom")
            }
            "expirationDate" => {
                credential.contains_key(member) || credential.contains_key("validUntil")
            }
            _ => credential.contains_key(member),
        };
        if let Some(value) = value.filter(|_| !is_there) {
            credential.insert(member.to_owned(), value);
        }
    }
    for (member, claim) in [("issuer", "iss"), ("credentialSubject", "sub")] {
        if let (Some(Value::Object(object)), Some(id)) = (credential.get_mut(member), text(claim))
            && !object.contains_key("id")
        {
            object.insert("id".to_owned(), id);
        }
    }
    Value::Object(credential)
}

/// Whole seconds since 1970 (`NumericDate` of RFC 7519).
fn numeric_date(value: &Value) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "no year has so many seconds")]
    let rounded = |seconds: f64| (seconds.abs() < 1e15).then_some(seconds.floor() as i64);
    value.as_i64().or_else(|| value.as_f64().and_then(rounded))
}

fn part(text: &str) -> Result<Value> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(text);
    let bytes =
        bytes.map_err(|_| malformed("the header and the payload of the JWS must be base64url"))?;
    crate::json::read(&bytes)
}

impl Token {
    /// The algorithm that the header names.
    pub fn algorithm(&self) -> &str {
        self.header.get("alg").and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether the key signed the token, in the algorithm that the header names. The key decides
    /// which algorithms there can be: a token cannot choose one for it.
    pub fn is_signed_by(&self, key: &PublicKey) -> bool {
        self.algorithm() == key.algorithm()
            && !self.header.contains_key("crit")
            && key.verifies(self.signed.as_bytes(), &self.signature)
    }

    /// Whether the token is one of VC 2.0: its dates are those of the signature.
    fn is_of_vc_2(&self) -> bool {
        let kind = self.header.get("typ").and_then(Value::as_str).unwrap_or_default();
        let kind = kind.strip_prefix("application/").unwrap_or(kind);
        ["vc+jwt", "vc+ld+jwt", "vc+ld+json+jwt"].iter().any(|one| kind.eq_ignore_ascii_case(one))
    }

    /// The differences between claims and credential, each as `claim: fault`. `iss` is required except in tokens of
    /// VC 2.0. Other missing claims are no difference.
    pub fn differences(&self, now: Timestamp) -> Vec<Message> {
        let credential = &self.credential;
        let mut faults = Vec::new();
        let is_of_vc_2 = self.is_of_vc_2();
        let texts = [
            ("iss", "issuer", id_of(&credential["issuer"])),
            ("jti", "id", credential["id"].as_str()),
            ("sub", "credentialSubject.id", id_of(&credential["credentialSubject"])),
        ];
        for (claim, member, expected) in texts {
            match self.claims.get(claim) {
                None if claim == "iss" && !is_of_vc_2 => {
                    faults.push("iss: is required".into());
                }
                Some(value) if value.as_str() != expected || expected.is_none() => {
                    faults.push(message!(
                        "{claim}: must be the {member} of the credential (got {value})"
                    ));
                }
                _ => {}
            }
        }
        if is_of_vc_2 {
            for claim in ["exp", "nbf"] {
                let value = self.claims.get(claim);
                if let Some(value) = value.filter(|value| numeric_date(value).is_none()) {
                    faults.push(message!("{claim}: must be a number of seconds (got {value})"));
                }
            }
            let at = |claim: &str| self.claims.get(claim).and_then(numeric_date);
            if at("exp").is_some_and(|until| until < now.seconds()) {
                faults.push(message!(
                    "exp: the signature expired at {time}",
                    time = self.claims["exp"]
                ));
            }
            if at("nbf").is_some_and(|from| now.seconds() + CLOCK_DIFFERENCE_MAX_S < from) {
                faults.push(message!(
                    "nbf: the signature is not valid before {time}",
                    time = self.claims["nbf"]
                ));
            }
            return faults;
        }
        // VC 1.1 calls them issuanceDate and expirationDate.
        for (claim, member, former) in
            [("nbf", "validFrom", "issuanceDate"), ("exp", "validUntil", "expirationDate")]
        {
            let dates = [member, former].map(|member| instant(credential, member));
            let dates: Vec<i64> = dates
                .into_iter()
                .filter_map(|at| at.ok().flatten())
                .map(Timestamp::seconds)
                .collect();
            if let Some(value) = self.claims.get(claim)
                && !numeric_date(value).is_some_and(|value| dates.contains(&value))
            {
                faults.push(message!(
                    "{claim}: must be the {member} of the credential (got {value})"
                ));
            }
        }
        faults
    }
}

/// The id of something that is written as an id or as an object with one.
pub(crate) fn id_of(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value["id"].as_str())
}

fn instant(credential: &Value, member: &str) -> Result<Option<Timestamp>> {
    match credential.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_str().and_then(|text| text.parse().ok()) {
            Some(instant) => Ok(Some(instant)),
            None => Err(Problem::invalid(
                member,
                message!("must be an instant such as 2026-01-15T08:00:00Z (got {value})"),
            )),
        },
    }
}

fn missing(member: &str) -> Problem {
    Problem::invalid(member, "is required in a credential that is signed as a JWT")
}

fn malformed(message: &'static str) -> Problem {
    Problem::new(ProblemKind::Malformed, message)
}
