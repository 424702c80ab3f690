//! The owner of the key that a proof names: from `did:key`, `did:jwk`, `did:web` and https addresses to a key, and
//! whether its controller is the issuer.

use lyceum_core::{Message, message};
use serde_json::Value;

use super::Documents;
use crate::did;
use crate::key::PublicKey;

/// A key that a proof names.
#[derive(Debug)]
pub(super) struct FoundKey {
    pub(super) key: PublicKey,
    pub(super) tie: Tie,
}

/// The link between a key and the issuer.
#[derive(Debug)]
pub(super) enum Tie {
    /// The issuer's own document lists the key, or the issuer's name is the key.
    Confirmed(Message),
    /// Nothing at hand says whose key it is.
    Unknown(Message),
    /// The key is another's.
    Another(Message),
}

impl Tie {
    /// The link between the key of a token and the issuer. It is the same whether the key is in the token or in the name
    /// that the token has for it: anyone can put one there, so that what nothing confirms counts as another's.
    pub(super) fn of_token(self) -> Self {
        match self {
            Self::Unknown(why) => Self::Another(why),
            known => known,
        }
    }
}

/// Finds the key of a verification method. Errors: why it cannot be found.
pub(super) fn find(
    method: &str,
    issuer: &str,
    documents: &Documents<'_>,
) -> Result<FoundKey, Message> {
    let (controller, fragment) = method.split_once('#').unwrap_or((method, ""));
    if let Some(name) = controller.strip_prefix("did:key:") {
        let key = PublicKey::from_multikey(name).map_err(|problem| problem.message)?;
        if fragment != name && !fragment.is_empty() {
            return Err(message!("'{method}' names another key than its did"));
        }
        return Ok(FoundKey { key, tie: tie(controller, issuer, "the did is the key itself") });
    }
    if let Some(document) = did::jwk_document(controller) {
        return key_listed_by(&document, method, controller, issuer);
    }
    let address = match controller.split_once(':') {
        Some(("did", rest)) if rest.starts_with("web:") => did::web_address(controller)
            .ok_or_else(|| message!("'{controller}' is not a did:web of a host"))?,
        Some(("did", rest)) => {
            let kind = rest.split(':').next().unwrap_or_default();
            return Err(message!(
                "the DID method '{kind}' is not supported; did:key, did:jwk and did:web are"
            ));
        }
        Some(("https", _)) => controller.to_owned(),
        Some((scheme, _)) => {
            return Err(message!(
                "'{method}' has the scheme '{scheme}'; a key is named by did:key, did:jwk, did:web or https"
            ));
        }
        None => {
            return Err(message!(
                "'{method}' has no scheme; a key is named by did:key, did:jwk, did:web or https"
            ));
        }
    };
    match documents.get(&address) {
        Some(document) => key_listed_by(document, method, controller, issuer),
        None => spoken(method, fragment, controller, issuer, &address),
    }
}

/// The key as the controller's document lists it.
fn key_listed_by(
    document: &Value,
    method: &str,
    controller: &str,
    issuer: &str,
) -> Result<FoundKey, Message> {
    if document["id"] != controller {
        return Err(message!(
            "the document of '{controller}' has the id {id}",
            id = document["id"]
        ));
    }
    let is_method = |id: &Value| {
        id.as_str().is_some_and(|id| id == method || id.starts_with('#') && method.ends_with(id))
    };
    let asserting = document["assertionMethod"].as_array().into_iter().flatten();
    let named = asserting.into_iter().find(|one| is_method(one) || is_method(&one["id"]));
    let Some(named) = named else {
        return Err(message!(
            "the document of '{controller}' does not list '{method}' under assertionMethod"
        ));
    };
    let mut methods = document["verificationMethod"].as_array().into_iter().flatten();
    let embedded = Some(named).filter(|one| one.is_object());
    let found = embedded.or_else(|| methods.find(|one| is_method(&one["id"])));
    let found = found.ok_or_else(|| {
        message!("the document of '{controller}' has no verificationMethod '{method}'")
    })?;
    if found["controller"] != controller {
        return Err(message!(
            "the key '{method}' says that its controller is {controller}",
            controller = found["controller"]
        ));
    }
    let key = PublicKey::from_method(found).map_err(|problem| problem.message)?;
    Ok(FoundKey { key, tie: tie(controller, issuer, "its document lists the key") })
}

/// The key that the name itself says, where the document is not at hand.
fn spoken(
    method: &str,
    fragment: &str,
    controller: &str,
    issuer: &str,
    address: &str,
) -> Result<FoundKey, Message> {
    let key = PublicKey::from_multikey(fragment).map_err(|_| {
        message!(
            "the key '{method}' is unknown, because the document at {address} is not available"
        )
    })?;
    let tie = match tie(controller, issuer, "") {
        Tie::Confirmed(_) => Tie::Unknown(message!(
            "the key is part of the id '{method}', which anyone can write; only the document at \
             {address} shows whether it belongs to the issuer, and it is not available"
        )),
        other => other,
    };
    Ok(FoundKey { key, tie })
}

/// A key that came without a name: it is the issuer's only if the issuer's document lists it. Without the
/// document it is nobody's, because anyone can sign in the issuer's name with a key of their own.
pub(super) fn tie_of_bare_key(key: &PublicKey, issuer: &str, documents: &Documents<'_>) -> Tie {
    let document = did::key_document(issuer).or_else(|| did::jwk_document(issuer)).or_else(|| {
        let address = did::web_address(issuer)
            .or_else(|| issuer.starts_with("https://").then(|| issuer.to_owned()));
        address.and_then(|address| documents.get(&address).cloned())
    });
    let Some(document) = document else {
        return Tie::Another(message!(
            "the key is part of the token, where anyone can put a key; only the document of \
             '{issuer}' shows whether it belongs to the issuer, and it is not available"
        ));
    };
    let asserting = document["assertionMethod"].as_array().into_iter().flatten();
    let is_listed = asserting
        .filter_map(|method| method.as_str().or(method["id"].as_str()))
        .map(|id| if id.starts_with('#') { format!("{issuer}{id}") } else { id.to_owned() })
        .filter_map(|id| key_listed_by(&document, &id, issuer, issuer).ok())
        .any(|found| found.key == *key);
    match is_listed {
        true => Tie::Confirmed(message!("the document of '{issuer}' lists the key")),
        false => Tie::Another(message!("the document of '{issuer}' does not list the token's key")),
    }
}

fn tie(controller: &str, issuer: &str, how: &'static str) -> Tie {
    match controller == issuer {
        true => Tie::Confirmed(message!(
            "the key belongs to the issuer '{issuer}': {how}",
            how = Message::from(how)
        )),
        false => Tie::Another(message!(
            "the key belongs to '{controller}', but the issuer is '{issuer}'"
        )),
    }
}
