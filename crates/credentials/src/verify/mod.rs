//! Verifies credentials: each check has a name, in the order of the standard (Open Badges 3.0, 9.1; CLR 2.0, 8). The
//! checks are pure: the caller passes in the documents that they need.

mod issuer;
mod reading;
mod recipient;
mod report;
mod shape;
mod status;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use lyceum_core::limits::CLOCK_DIFFERENCE_MAX_S;
use lyceum_core::time::Timestamp;
use lyceum_core::{Detail, Message, message};
use serde_json::Value;

use crate::jwt::{self, Token, id_of};
use crate::key::PublicKey;
use crate::limits::{VERIFY_CREDENTIALS_MAX_COUNT, VERIFY_MAX_DEPTH, VERIFY_PROOFS_MAX_COUNT};
use crate::proof;
use issuer::Tie;
use reading::{ReadCredential, is_enveloped, opened, read};

pub use recipient::{check as recipient, hashed};
pub use report::{Check, CheckOutcome, Report, Revocation, VerificationReport, VerifiedCredential};
pub use shape::faults;
pub(crate) use shape::{is_of_vc_2, strings};

/// The addresses of documents that the checks need and `fetched` does not have: documents of issuers and status lists,
/// which may need further documents. Call it again with the fetched documents until it returns no address; put null for
/// a document that is not available.
pub fn missing_documents(input: &[u8], fetched: &BTreeMap<String, Value>) -> Vec<String> {
    let verifier = Verifier::new(fetched, Timestamp::from_milliseconds(0));
    verifier.report(input);
    verifier.documents.missed.into_inner().into_iter().collect()
}

/// Checks a credential: JSON, a compact JWS, or a baked PNG or SVG. `fetched` holds documents by the
/// address that [`missing_documents`] named.
pub fn verify(input: &[u8], fetched: &BTreeMap<String, Value>, now: Timestamp) -> Report {
    Verifier::new(fetched, now).report(input)
}

/// The fetched documents.
struct Documents<'a> {
    fetched: &'a BTreeMap<String, Value>,
    /// The addresses of documents that are missing.
    missed: RefCell<BTreeSet<String>>,
}

impl Documents<'_> {
    fn get(&self, address: &str) -> Option<&Value> {
        let found = self.fetched.get(address);
        if found.is_none() {
            self.missed.borrow_mut().insert(address.to_owned());
        }
        found.filter(|document| !document.is_null())
    }
}

/// The verification of a credential and of the credentials in it.
struct Verifier<'a> {
    documents: Documents<'a>,
    now: Timestamp,
    depth: Cell<usize>,
    seen: Cell<usize>,
}

impl<'a> Verifier<'a> {
    fn new(fetched: &'a BTreeMap<String, Value>, now: Timestamp) -> Self {
        let documents = Documents { fetched, missed: RefCell::default() };
        Self { documents, now, depth: Cell::new(0), seen: Cell::new(0) }
    }

    fn report(&self, input: &[u8]) -> Report {
        match read(input) {
            Ok((read, form)) => {
                let mut checks = vec![Check::passed("parse", form)];
                checks.extend(self.checks(&read));
                Report { credential: read.into_credential(), checks }
            }
            Err(fault) => {
                Report { credential: Value::Null, checks: vec![Check::failed("parse", fault)] }
            }
        }
    }

    fn checks(&self, read: &ReadCredential) -> Vec<Check> {
        let credential = read.credential();
        let mut checks = vec![schema(credential), subject(credential)];
        match read {
            ReadCredential::Json(credential) => checks.extend(self.proofs(credential)),
            ReadCredential::Token(token) => {
                checks.extend(self.token(token));
                checks.push(claims(token, self.now));
            }
        }
        checks.extend(status::checks(self, credential));
        checks.push(self.validity(credential));
        checks.extend(self.endorsements(credential));
        checks.extend(self.nested(credential));
        checks
    }

    /// The embedded proofs. At least one must be checked, and all that can be checked must be correct. A proof of an unknown
    /// kind, or one whose key is not available, is ignored if another proof is correct.
    fn proofs(&self, credential: &Value) -> Vec<Check> {
        let proofs = proof::proofs(credential);
        if proofs.is_empty() {
            return vec![Check::failed(
                "proof",
                "the credential has no proof, so anyone could have written it",
            )];
        }
        if proofs.len() > VERIFY_PROOFS_MAX_COUNT {
            let most = VERIFY_PROOFS_MAX_COUNT;
            let message = message!(
                "the credential has {count} proofs; the limit is {most}",
                count = proofs.len()
            );
            return vec![Check::failed("proof", message)];
        }
        let (mut checks, mut unknown) = (Vec::new(), Vec::new());
        for one in proofs {
            match self.proof(credential, one) {
                Ok(more) => checks.extend(more),
                Err(fault) => unknown.push(fault),
            }
        }
        let is_fitting =
            |check: &Check| check.name == "proof" && check.outcome == CheckOutcome::Passed;
        let fits = checks.iter().any(is_fitting);
        checks.extend(unknown.into_iter().map(|fault| match fits {
            true => Check::passed(
                "proof",
                message!("another proof is correct; this one is ignored: {fault}"),
            ),
            false => Check::failed("proof", fault),
        }));
        checks
    }

    /// The checks of one proof. Errors: the reason why it cannot be checked.
    fn proof(&self, credential: &Value, one: &Value) -> Result<Vec<Check>, Message> {
        match proof::supported(one) {
            Ok(()) => {}
            Err(fault @ proof::Fault::Unsupported(_)) => return Err(fault.text()),
            Err(fault) => return Ok(vec![Check::failed("proof", fault.text())]),
        }
        if one["proofPurpose"] != "assertionMethod" {
            let purpose = &one["proofPurpose"];
            let fault = message!("the proof's purpose is {purpose}, but must be assertionMethod");
            return Ok(vec![Check::failed("proof", fault)]);
        }
        if let Some(expires) = one.get("expires")
            && shape::instant(expires).is_none_or(|expires| expires < self.now)
        {
            return Ok(vec![Check::failed("proof", message!("the proof expired at {expires}"))]);
        }
        let issuer = id_of(&credential["issuer"]).unwrap_or_default();
        let method = one["verificationMethod"].as_str().unwrap_or_default();
        let found = issuer::find(method, issuer, &self.documents)?;
        let signed = match proof::check(credential, one, &found.key) {
            Ok(()) => {
                Check::passed("proof", message!("signed by '{method}' and not changed since"))
            }
            Err(fault) => Check::failed("proof", fault.text()),
        };
        Ok(vec![signed, belongs(found.tie)])
    }

    /// The signature of a token.
    fn token(&self, token: &Token) -> Vec<Check> {
        let issuer = id_of(&token.credential["issuer"]).unwrap_or_default();
        let kid = token.header.get("kid").and_then(Value::as_str);
        let (key, tie) = match (kid, token.header.get("jwk")) {
            (_, Some(jwk)) if jwk.get("d").is_some() => {
                return vec![Check::failed("proof", "the token contains its private key")];
            }
            (None, Some(jwk)) => match PublicKey::from_jwk(jwk) {
                Ok(key) => {
                    let tie = issuer::tie_of_bare_key(&key, issuer, &self.documents);
                    (key, tie)
                }
                Err(problem) => return vec![Check::failed("proof", problem.message)],
            },
            (kid, _) => {
                let kid = kid.unwrap_or_default();
                // A key id that is not an address names a key of the issuer.
                let method = match kid.contains(':') {
                    true => kid.to_owned(),
                    false => format!("{issuer}#{}", kid.trim_start_matches('#')),
                };
                match issuer::find(&method, issuer, &self.documents) {
                    Ok(found) => (found.key, found.tie.of_token()),
                    Err(fault) => return vec![Check::failed("proof", fault)],
                }
            }
        };
        let algorithm = token.algorithm();
        let signed = match token.is_signed_by(&key) {
            true => {
                Check::passed("proof", message!("signed with {algorithm} and not changed since"))
            }
            false if algorithm != key.algorithm() => Check::failed(
                "proof",
                message!(
                    "the token names the algorithm {algorithm}, but its key signs with {other}",
                    other = key.algorithm()
                ),
            ),
            false => Check::failed("proof", proof::Fault::Signature.text()),
        };
        vec![signed, belongs(tie)]
    }

    fn validity(&self, credential: &Value) -> Check {
        let from = first_instant(credential, ["validFrom", "issuanceDate"]);
        match (from, valid_until(credential)) {
            // Another server of this database may have issued it a moment ago, by a clock that is ahead.
            (Some(from), _) if self.now.plus_seconds(CLOCK_DIFFERENCE_MAX_S) < from => {
                Check::failed("validity", message!("the credential is not valid before {from}"))
            }
            (_, Some(until)) if until < self.now => {
                Check::failed("validity", message!("the credential expired at {until}"))
            }
            (Some(from), Some(until)) => {
                Check::passed("validity", message!("valid from {from} until {until}"))
            }
            (Some(from), None) => Check::passed("validity", message!("valid from {from}")),
            (None, _) => {
                Check::failed("validity", "the credential has no date from which it is valid")
            }
        }
    }

    /// The endorsements of the credential, its issuer and its achievement. Each is itself a credential of somebody else: one
    /// that cannot be verified does not make the credential invalid.
    fn endorsements(&self, credential: &Value) -> Vec<Check> {
        let achievement = &credential["credentialSubject"]["achievement"];
        let mut checks = Vec::new();
        for endorsed in [credential, &credential["issuer"], achievement] {
            let endorsements = [&endorsed["endorsement"], &endorsed["endorsementJwt"]];
            for endorsement in endorsements.into_iter().flat_map(many) {
                let id = endorsed["id"].as_str().unwrap_or("(no id)");
                let check = match self.inner(endorsement) {
                    Ok(one) if one.credential["credentialSubject"]["id"] == endorsed["id"] => {
                        one.check("endorsement", |found| message!("'{id}' is endorsed by {found}"))
                    }
                    Ok(one) => {
                        let other = &one.credential["credentialSubject"]["id"];
                        let message =
                            message!("unverified: the endorsement of '{id}' is about {other}");
                        Check::skipped("endorsement", message)
                    }
                    Err(fault) => {
                        Check::skipped("endorsement", message!("unverified, of '{id}': {fault}"))
                    }
                };
                checks.push(check);
            }
        }
        checks
    }

    /// The credentials in a learner record. Each is verified by itself.
    fn nested(&self, credential: &Value) -> Vec<Check> {
        let nested = many(&credential["credentialSubject"]["verifiableCredential"]);
        let checks = nested.enumerate().map(|(index, one)| match self.inner(one) {
            Ok(one) => {
                one.check("nested", |found| message!("credential {n}: {found}", n = index + 1))
            }
            Err(fault) => {
                Check::failed("nested", message!("credential {n}: {fault}", n = index + 1))
            }
        });
        checks.collect()
    }

    /// A credential that another contains: an object with a proof, or a token. Errors: its first failed check.
    fn inner(&self, credential: &Value) -> Result<Inner, Message> {
        let read = match credential {
            Value::String(token) => {
                ReadCredential::Token(jwt::read(token).map_err(|fault| fault.message)?)
            }
            Value::Object(_) if is_enveloped(credential) => {
                ReadCredential::Token(opened(credential)?)
            }
            Value::Object(_) => ReadCredential::Json(credential.clone()),
            _ => return Err("it is neither an object nor a token".into()),
        };
        self.seen.set(self.seen.get() + 1);
        if self.depth.get() >= VERIFY_MAX_DEPTH || self.seen.get() > VERIFY_CREDENTIALS_MAX_COUNT {
            return Err(message!(
                "more than {VERIFY_CREDENTIALS_MAX_COUNT} credentials, or more than {VERIFY_MAX_DEPTH} in \
                 each other, are not verified at once"
            ));
        }
        self.depth.set(self.depth.get() + 1);
        let checks = self.checks(&read);
        self.depth.set(self.depth.get() - 1);
        let first = |outcome| {
            let check = checks.iter().find(|check| check.outcome == outcome);
            check.map(|check| message!("{name}: {check.message}", name = Message::from(check.name)))
        };
        match first(CheckOutcome::Failed) {
            Some(fault) => Err(fault),
            None => Ok(Inner {
                skipped: first(CheckOutcome::Skipped),
                credential: read.into_credential(),
            }),
        }
    }
}

/// A contained credential, of which no check failed.
struct Inner {
    credential: Value,
    /// The first check that was skipped.
    skipped: Option<Message>,
}

impl Inner {
    fn check(&self, name: &'static str, message: impl FnOnce(Message) -> Message) -> Check {
        let found = message(names(&self.credential));
        match &self.skipped {
            None => Check::passed(name, found),
            Some(skipped) => Check::skipped(name, message!("{found}; {skipped}")),
        }
    }
}

fn schema(credential: &Value) -> Check {
    let faults = shape::faults(credential);
    match faults.is_empty() {
        true => Check::passed("schema", "the credential has the schema of the standard"),
        false => Check::failed("schema", Message::joined(faults.iter().map(Detail::text))),
    }
}

fn subject(credential: &Value) -> Check {
    let subject = &credential["credentialSubject"];
    let types = shape::strings(subject.get("type"));
    let is_list = shape::LISTS.iter().any(|list| types.contains(list));
    match is_list || subject["id"].is_string() || many(&subject["identifier"]).next().is_some() {
        true => Check::passed("subject", "the subject has an id or an identifier"),
        false => Check::failed("subject", "the subject has neither an id nor an identifier"),
    }
}

fn claims(token: &Token, now: Timestamp) -> Check {
    let differences = token.differences(now);
    match differences.is_empty() {
        true => Check::passed("claims", "the token's claims match the credential"),
        false => Check::failed("claims", Message::joined(differences)),
    }
}

/// The time until which a credential is valid: `validUntil`, or `expirationDate` of the data model 1.1. `None` if it never
/// expires.
pub fn valid_until(credential: &Value) -> Option<Timestamp> {
    first_instant(credential, ["validUntil", "expirationDate"])
}

fn first_instant(credential: &Value, members: [&str; 2]) -> Option<Timestamp> {
    members.iter().find_map(|name| shape::instant(&credential[*name]))
}

fn belongs(tie: Tie) -> Check {
    match tie {
        Tie::Confirmed(message) => Check::passed("issuer", message),
        Tie::Unknown(message) => Check::skipped("issuer", message),
        Tie::Another(message) => Check::failed("issuer", message),
    }
}

/// The values of a member that is one value or an array.
fn many(value: &Value) -> impl Iterator<Item = &Value> {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        Value::Null => &[],
        one => std::slice::from_ref(one),
    };
    items.iter()
}

/// The names of a credential and its issuer, for messages.
fn names(credential: &Value) -> Message {
    let name =
        credential["name"].as_str().or(credential["id"].as_str()).unwrap_or("without a name");
    let issuer = &credential["issuer"];
    let issuer = issuer["name"].as_str().or(id_of(issuer)).unwrap_or("nobody");
    message!("'{name}' of '{issuer}'")
}
