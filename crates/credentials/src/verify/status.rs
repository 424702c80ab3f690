//! Whether a credential was revoked: Bitstring Status List 1.0, Status List 2021, which it was before, and
//! `1EdTechRevocationList`.

use lyceum_core::{Message, message};
use serde_json::Value;

use super::{Check, Verifier};
use crate::status_list::Bits;

const NAME: &str = "status";

/// A check for each `credentialStatus`.
pub(super) fn checks(verifier: &Verifier<'_>, credential: &Value) -> Vec<Check> {
    let entries = match &credential["credentialStatus"] {
        Value::Array(entries) => entries.as_slice(),
        Value::Null => &[],
        one => std::slice::from_ref(one),
    };
    if entries.is_empty() {
        return vec![Check::passed(
            NAME,
            "the credential has no status list, so it cannot be revoked",
        )];
    }
    entries.iter().map(|entry| check(verifier, credential, entry)).collect()
}

fn check(verifier: &Verifier<'_>, credential: &Value, entry: &Value) -> Check {
    match entry["type"].as_str().unwrap_or_default() {
        "BitstringStatusListEntry" => bits(verifier, entry, "BitstringStatusList"),
        "StatusList2021Entry" => bits(verifier, entry, "StatusList2021"),
        "1EdTechRevocationList" => revocation_list(verifier, credential, entry),
        "" => Check::failed(NAME, "the status has no type"),
        other => Check::skipped(NAME, message!("a status of type '{other}' cannot be read")),
    }
}

/// A bit of a list whose subject is of that type.
fn bits(verifier: &Verifier<'_>, entry: &Value, list_type: &str) -> Check {
    let (Some(url), Some(index)) = (entry["statusListCredential"].as_str(), index(entry)) else {
        return Check::failed(NAME, "the status has no statusListCredential or no statusListIndex");
    };
    let Some(document) = verifier.documents.get(url) else {
        return Check::skipped(NAME, message!("the status list {url} is not available"));
    };
    let list = match verifier.inner(document) {
        Ok(list) => list,
        Err(fault) => {
            return Check::failed(NAME, message!("the status list {url} is not valid: {fault}"));
        }
    };
    let subject = &list.credential["credentialSubject"];
    let purpose = entry["statusPurpose"].as_str().unwrap_or_default();
    let purposes = super::shape::strings(subject.get("statusPurpose"));
    if subject["type"] != list_type || !purposes.contains(&purpose) {
        return Check::failed(
            NAME,
            message!("{url} is not a status list for the purpose '{purpose}'"),
        );
    }
    let bits = match Bits::decode(subject["encodedList"].as_str().unwrap_or_default()) {
        Ok(bits) => bits,
        Err(problem) => return Check::failed(NAME, message!("the status list {url}: {problem}")),
    };
    match (bits.get(index), purpose) {
        (None, _) => Check::failed(NAME, message!("the status list {url} has no bit {index}")),
        (Some(true), "revocation") => Check::failed(NAME, "the credential is revoked"),
        (Some(true), "suspension") => Check::failed(NAME, "the credential is suspended"),
        (Some(set), _) => {
            let is = Message::from(if set { "is set" } else { "is not set" });
            list.check(NAME, |found| message!("bit {index} for '{purpose}' {is} in {url}, {found}"))
        }
    }
}

/// The index as a string or, as some write it, a number.
fn index(entry: &Value) -> Option<usize> {
    let index = &entry["statusListIndex"];
    match index.as_str() {
        Some(text) => text.parse().ok(),
        None => index.as_u64().and_then(|index| usize::try_from(index).ok()),
    }
}

fn revocation_list(verifier: &Verifier<'_>, credential: &Value, entry: &Value) -> Check {
    let Some(url) = entry["id"].as_str() else {
        return Check::failed(NAME, "the status has no id");
    };
    let Some(list) = verifier.documents.get(url) else {
        return Check::skipped(NAME, message!("the revocation list {url} is not available"));
    };
    let Some(revoked) = list["revokedCredential"].as_array() else {
        return Check::failed(NAME, message!("{url} is not a revocation list"));
    };
    let entry = revoked
        .iter()
        .find(|entry| entry["id"] == credential["id"] && entry["revoked"] != Value::Bool(false));
    match entry.map(|entry| entry["revocationReason"].as_str()) {
        Some(Some(reason)) => {
            Check::failed(NAME, message!("the credential is revoked; the reason given: {reason}"))
        }
        Some(None) => Check::failed(NAME, "the credential is revoked"),
        None => Check::passed(
            NAME,
            message!("the revocation list {url} does not contain the credential"),
        ),
    }
}
