//! Messages that the API answers, too, and that pages show: the catalogue has each of them, and no others.

use std::collections::BTreeSet;

use super::source::{Literal, literals};
use super::{MESSAGES, catalogue, fills_pages, has_letters, sources};

/// The files of domain crates whose messages pages show: checks of credentials, errors in envelopes and imports, and the
/// rules of what the forms of pages change.
const DOMAINS: &[&str] = &[
    "access/src/account.rs",
    "access/src/api_key.rs",
    "access/src/class_sign_in.rs",
    "access/src/first_administrator.rs",
    "access/src/guess.rs",
    "access/src/identity.rs",
    "access/src/password.rs",
    "access/src/person.rs",
    "access/src/screens/",
    "access/src/student.rs",
    "adaptive/src/teaching.rs",
    "adaptive/src/time_limit.rs",
    "api/src/new_account.rs",
    "bridge/src/school_hours.rs",
    "bridge/src/zone.rs",
    "core/src/body/",
    "core/src/message.rs",
    "core/src/messages.rs",
    "core/src/problem.rs",
    "core/src/reach.rs",
    "credentials/src/baking/",
    "credentials/src/jsonld/",
    "credentials/src/jwt.rs",
    "credentials/src/key.rs",
    "credentials/src/open_badges_2.rs",
    "credentials/src/proof/",
    "credentials/src/screens/",
    "credentials/src/status_list.rs",
    "credentials/src/verify/",
    "events/src/actor_filter.rs",
    "events/src/check.rs",
    "events/src/custom.rs",
    "events/src/envelope.rs",
    "events/src/screens/",
    "events/src/vocabulary.rs",
    "hosting/src/class_apps.rs",
    "hosting/src/screens/",
    "http/src/guarded.rs",
    "roster/src/csv/",
    "roster/src/imports.rs",
    "roster/src/rules/",
    "webhooks/src/screens",
];

/// Calls whose texts are for developers and programs, or texts of pages.
const OTHER_CALLS: &[&str] = &[
    "expect",
    ".expect",
    "panic!",
    "Problem::internal",
    "schemars",
    ".accept",
    "format!",
    "json_schema!",
    "phrase!",
    "unimplemented!",
    "unreachable!",
];

/// Texts that are no messages, or that no page shows.
const OTHERS: &[&str] = &[
    // Names of what is counted, sealed or noted.
    "class codes",
    "class sign-ins",
    "class sign-in of {person}",
    "class {class}",
    "first link",
    "lyceum first administrator",
    "sign-in service",
    "{what} from {}",
    // Parts of messages and of values.
    " (os error",
    " or ",
    "' or '",
    ": {error}",
    " line {}",
    "(no id)",
    "without a name",
    "{name} ({sensor})",
    "{term}: {fault}",
    "{} {operator} {value}",
    // Markup.
    " xmlns:{PREFIX}=\"{NAMESPACE}\"",
    "<{PREFIX}:credential verify=\"{}\"/>",
    // For programs.
    "only people play; a client gets tokens for players from POST /api/games/{gameId}/token",
];

/// The texts of a file that are messages.
fn messages(path: &str, text: &str) -> Vec<Literal> {
    let is_of_domain = DOMAINS.iter().any(|start| path.starts_with(start));
    let is_raised = |one: &Literal| {
        let calls = ["Problem::invalid", "Problem::new", "ProblemText::of", "message", "message!"];
        one.calls.iter().any(|(name, _)| calls.contains(&name.as_str()))
            || one.variable.as_ref().is_some_and(|name| MESSAGES.contains(&name.as_str()))
    };
    let is_other = |one: &Literal| {
        one.calls.iter().any(|(name, _)| OTHER_CALLS.contains(&name.as_str()))
            || OTHERS.contains(&one.text.as_str())
    };
    let found = literals(text).into_iter().filter(|one| {
        (is_of_domain || fills_pages(path) && is_raised(one)) && one.text.contains(' ')
    });
    found.filter(|one| has_letters(&without_names(&one.text)) && !is_other(one)).collect()
}

/// The text with a sign for each value, without values at its ends.
fn without_names(text: &str) -> String {
    let mut parts = text.split('{');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once('}').map_or(part, |(_, rest)| rest));
    let plain = rest.fold(first, |plain, part| format!("{plain}§{part}"));
    plain.trim_matches(['§', ' ']).to_owned()
}

#[test]
fn the_catalogue_has_the_messages_that_pages_show() {
    let spanish = catalogue("messages");
    let mut missing = Vec::new();
    for (path, text) in sources() {
        let unknown = messages(&path, &text).into_iter();
        let unknown = unknown.filter(|one| !spanish.contains_key(&one.text));
        missing.extend(unknown.map(|one| format!("{path}:{}: {}", one.line, one.text)));
    }
    assert!(missing.is_empty(), "add these messages to locales/es.json: {missing:#?}");
}

#[test]
fn the_catalogue_has_only_messages_of_the_server() {
    let sources = sources();
    let texts = sources.values().flat_map(|text| literals(text));
    let texts: BTreeSet<String> = texts.map(|one| one.text).collect();
    let spanish = catalogue("messages");
    let unused: Vec<_> = spanish.keys().filter(|key| !texts.contains(*key)).collect();
    assert!(
        unused.is_empty(),
        "no message has these templates; remove them from locales/es.json: {unused:#?}"
    );
}
