//! The contexts that credentials may use. See `contexts/NOTICE.md`.

use std::sync::{Arc, OnceLock};

use super::local::Local;

/// A context that is compiled into the program.
pub(crate) struct EmbeddedContext {
    /// Its address in documents.
    pub(crate) url: &'static str,
    text: &'static str,
    read: OnceLock<Arc<Local>>,
}

impl EmbeddedContext {
    const fn new(url: &'static str, text: &'static str) -> Self {
        Self { url, text, read: OnceLock::new() }
    }

    /// The parsed context. It is parsed at the first use.
    pub(crate) fn local(&self) -> &Arc<Local> {
        self.read.get_or_init(|| {
            let file: serde_json::Value =
                serde_json::from_str(self.text).expect("embedded contexts are JSON");
            let read = Local::read(&file["@context"]);
            Arc::new(read.expect("a test parses each of the embedded contexts"))
        })
    }
}

/// The context with that address.
pub(crate) fn find(url: &str) -> Option<&'static EmbeddedContext> {
    ALL.iter().find(|embedded| embedded.url == url)
}

/// All contexts that documents may use.
pub(crate) static ALL: [EmbeddedContext; 17] = [
    EmbeddedContext::new(
        "https://www.w3.org/ns/credentials/v2",
        include_str!("../../contexts/credentials-v2.jsonld"),
    ),
    EmbeddedContext::new(
        "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json",
        include_str!("../../contexts/ob-v3p0-context-3.0.3.json"),
    ),
    EmbeddedContext::new(
        "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.2.json",
        include_str!("../../contexts/ob-v3p0-context-3.0.2.json"),
    ),
    EmbeddedContext::new(
        "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.1.json",
        include_str!("../../contexts/ob-v3p0-context-3.0.1.json"),
    ),
    EmbeddedContext::new(
        "https://purl.imsglobal.org/spec/ob/v3p0/context.json",
        include_str!("../../contexts/ob-v3p0-context.json"),
    ),
    EmbeddedContext::new(
        "https://purl.imsglobal.org/spec/ob/v3p0/extensions.json",
        include_str!("../../contexts/ob-v3p0-extensions.json"),
    ),
    EmbeddedContext::new(
        "https://purl.imsglobal.org/spec/clr/v2p0/context-2.0.1.json",
        include_str!("../../contexts/clr-v2p0-context-2.0.1.json"),
    ),
    EmbeddedContext::new(
        "https://purl.imsglobal.org/spec/clr/v2p0/context.json",
        include_str!("../../contexts/clr-v2p0-context.json"),
    ),
    EmbeddedContext::new(
        "https://www.w3.org/2018/credentials/v1",
        include_str!("../../contexts/credentials-v1.jsonld"),
    ),
    EmbeddedContext::new(
        "https://w3id.org/security/data-integrity/v1",
        include_str!("../../contexts/data-integrity-v1.jsonld"),
    ),
    EmbeddedContext::new(
        "https://w3id.org/security/data-integrity/v2",
        include_str!("../../contexts/data-integrity-v2.jsonld"),
    ),
    EmbeddedContext::new(
        "https://w3id.org/security/multikey/v1",
        include_str!("../../contexts/multikey-v1.jsonld"),
    ),
    EmbeddedContext::new(
        "https://www.w3.org/ns/credentials/status/v1",
        include_str!("../../contexts/vc-bitstring-status-list-v1.jsonld"),
    ),
    EmbeddedContext::new(
        "https://w3id.org/vc/status-list/2021/v1",
        include_str!("../../contexts/vc-status-list-2021-v1.jsonld"),
    ),
    EmbeddedContext::new(
        "https://w3id.org/security/suites/ed25519-2020/v1",
        include_str!("../../contexts/suites-ed25519-2020-v1.jsonld"),
    ),
    EmbeddedContext::new(
        "https://w3id.org/security/suites/jws-2020/v1",
        include_str!("../../contexts/suites-jws-2020-v1.jsonld"),
    ),
    EmbeddedContext::new(
        "https://www.w3.org/ns/did/v1",
        include_str!("../../contexts/did-v1.jsonld"),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_context_can_be_parsed_and_has_its_origin() {
        let notice = include_str!("../../contexts/NOTICE.md");
        for embedded in &ALL {
            assert!(embedded.local().body.is_some(), "{}", embedded.url);
            assert!(notice.contains(&format!("<{}>", embedded.url)), "{}", embedded.url);
        }
    }
}
