//! Asks for every page of the console, and the public page of a credential, in the language `en-XA`, which puts marks around translated texts, and looks for
//! words without marks.

use lyceum_access::Role;
use lyceum_testserver::server::both;
use serde_json::Value;

use super::planted::{EVIL, plant};
use super::{ADA, places};
use crate::people::{person, signed_in};

/// Attributes that people read or hear.
const READ: &[&str] = &["alt", "aria-label", "data-label", "placeholder", "title"];
/// Elements whose content is code or data.
const CODE: &[&str] = &["code", "pre", "script", "style"];
/// Data of the planted records and of the server that look like words.
const DATA: &[&str] = &[
    "Lyceum",
    "CSV",
    "JSON",
    "Español",
    "English",
    "Answer every question of the course",
    "Masters grade 3 mathematics",
];

#[test]
fn every_text_of_the_console_goes_through_the_catalogue() {
    let catalogue = std::fs::read_to_string("../console/locales/es.json").unwrap();
    let catalogue: Value = serde_json::from_str(&catalogue).unwrap();
    let is_known = |text: &str| catalogue["texts"].get(text).is_some();
    both(|server| {
        let planted = plant(server);
        person(server, "bob@example.org", "Bob", Role::Administrator);
        let bob = signed_in(server, "bob@example.org");
        let mut breaches = Vec::new();
        for place in places(&planted) {
            if place.is_form() || place.is_stream() || planted.elsewhere.contains(&place.pattern) {
                continue;
            }
            let query = planted.queries.get(place.pattern.as_str()).and_then(|all| all.first());
            let path = format!("{}?{}", place.path, query.map_or("", String::as_str));
            let client = server.anonymous();
            let call = client.get(&path).header("cookie", &bob);
            let page = call.header("accept-language", "en-XA").send().text();
            if !page.starts_with("<!doctype html>") {
                continue;
            }
            assert!(page.contains("<html lang=\"en-XA\""), "{path}: {page}");
            let found =
                unmarked(&page).into_iter().filter(|text| is_known(text) || has_words(text));
            breaches.extend(found.map(|text| format!("{path}: {text}")));
        }
        let path = format!("/credentials/{}", planted.params["/badges/credentials/{id}"]);
        let client = server.anonymous();
        let call = client.get(&path).header("accept", "text/html");
        let page = call.header("accept-language", "en-XA").expect(200).text();
        assert!(page.contains("<html lang=\"en-XA\""), "{page}");
        let found = unmarked(&page).into_iter().filter(|text| is_known(text) || has_words(text));
        breaches.extend(found.map(|text| format!("{path}: {text}")));
        breaches.sort();
        breaches.dedup();
        assert!(breaches.is_empty(), "these texts do not go through the catalogue: {breaches:#?}");
        let home =
            server.anonymous().get("/console").header("cookie", &signed_in(server, ADA)).send();
        assert!(home.text().contains("<html lang=\"en\""), "without a wish, pages are in English");
    });
}

/// The texts and read attributes of a page, without what is in marks, in code, in another language, and planted.
fn unmarked(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut hidden: Vec<String> = Vec::new();
    let mut rest = page.split_once("<body").map_or(page, |(_, body)| body);
    let mut depth = 0;
    while let Some((text, after)) = rest.split_once('<') {
        let outside = outside_of_marks(text, &mut depth);
        if hidden.is_empty() {
            found.push(outside);
        }
        let Some((tag, after)) = after.split_once('>') else { break };
        let name = tag.split_whitespace().next().unwrap_or_default();
        let is_hidden = CODE.contains(&name) || tag.contains(" lang=\"");
        if is_hidden || hidden.last().is_some_and(|open| open == name) {
            hidden.push(name.to_owned());
        } else if hidden.last().is_some_and(|open| name == format!("/{open}")) {
            hidden.pop();
        }
        for attribute in READ {
            if let Some((_, value)) = tag.split_once(&format!(" {attribute}=\"")) {
                found.push(outside_of_marks(value.split('"').next().unwrap_or_default(), &mut 0));
            }
        }
        rest = after;
    }
    found.retain(|text| text.chars().any(char::is_alphabetic));
    found
}

/// The part of a text that is not in marks. `depth` is the number of marks that are open.
fn outside_of_marks(text: &str, depth: &mut usize) -> String {
    let mut outside = String::new();
    for letter in text.chars() {
        match letter {
            '⟦' => *depth += 1,
            '⟧' => *depth -= 1,
            letter if *depth == 0 => outside.push(letter),
            _ => {}
        }
    }
    let evil = EVIL
        .replace('&', "&#38;")
        .replace('<', "&#60;")
        .replace('>', "&#62;")
        .replace('"', "&#34;")
        .replace('\'', "&#39;");
    let plain = outside
        .replace("&amp;", "&#38;")
        .replace("&lt;", "&#60;")
        .replace("&gt;", "&#62;")
        .replace("&quot;", "&#34;");
    let plain = plain.replace(&evil, "").replace(&evil.replace("&#39;", "'"), "");
    DATA.iter().fold(plain, |text, data| text.replace(data, "")).trim().to_owned()
}

/// Whether a text has two words one after the other.
fn has_words(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_word = |word: &&str| {
        word.len() > 1
            && word.trim_end_matches([',', '.', ':', ';', '?']).chars().all(char::is_alphabetic)
    };
    words.windows(2).any(|pair| is_word(&pair[0]) && is_word(&pair[1]))
}
