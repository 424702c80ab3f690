//! Sends wrong values with every form of the pages, and opens pages of records that do not exist, all in Spanish, and
//! looks for problems in English.

use std::collections::{BTreeMap, BTreeSet};

use lyceum_access::Role;
use lyceum_testserver::server::{TestServer, both};

use super::planted::plant;
use super::{places, token};
use crate::people::{cookie, person, signed_in};

/// The markup that a page puts around a problem that has no translation.
const ENGLISH: &str = "<span lang=";

/// The fields of a form with the values that its page puts into them.
type Fields = BTreeMap<String, String>;

fn wrong_values() -> [String; 3] {
    ["", "?", &"long ".repeat(1_000)].map(str::to_owned)
}

#[test]
fn a_form_with_wrong_values_is_refused_in_spanish() {
    both(|server| {
        let planted = plant(server);
        person(server, "bob@example.org", "Bob", Role::Administrator);
        let places = places(&planted);
        let mut forms: BTreeMap<String, Fields> = BTreeMap::new();
        let bob = signed_in(server, "bob@example.org");
        for page in places.iter().filter(|place| !place.is_form() && !place.is_stream()) {
            forms.extend(forms_of(&open(server, &page.path, &bob)));
        }
        forms.retain(|path, _| path.starts_with("/console/"));
        for form in places.iter().filter(|place| place.is_form()) {
            forms.entry(form.path.clone()).or_default();
        }
        assert!(forms.len() > 40, "the pages have forms: {:?}", forms.keys());
        let (mut english, mut refused_in_spanish) = (BTreeSet::new(), BTreeSet::new());
        for (path, fields) in &mut forms {
            // A form may have ended the session.
            let bob = signed_in(server, "bob@example.org");
            fields.insert("token".to_owned(), token(&bob));
            for sent in variants(fields) {
                let answer = send(server, path, &bob, &sent);
                english.extend(problem(&answer).map(|text| format!("{path}: {text}")));
                if answer.contains("obligatori") || answer.contains("debe ") {
                    refused_in_spanish.insert(path.clone());
                }
            }
        }
        assert!(english.is_empty(), "these problems have no Spanish text: {english:#?}");
        assert!(refused_in_spanish.len() > 10, "few forms are refused: {refused_in_spanish:?}");
    });
}

#[test]
fn pages_that_do_not_exist_are_refused_in_spanish() {
    both(|server| {
        let mut planted = plant(server);
        for value in planted.params.values_mut() {
            *value = "none".to_owned();
        }
        person(server, "bob@example.org", "Bob", Role::Administrator);
        let bob = signed_in(server, "bob@example.org");
        let own = Fields::from([("token".to_owned(), token(&bob))]);
        let mut english = BTreeSet::new();
        for place in places(&planted).iter().filter(|place| !place.is_stream()) {
            let answers = match place.is_form() {
                true => vec![send(server, &place.path, &bob, &own)],
                false => ["", "?from=x&to=x&since=x&until=x&key=x&seed=x&page=0&sort=x&version=x"]
                    .map(|query| open(server, &format!("{}{query}", place.path), &bob))
                    .into(),
            };
            for answer in answers {
                english.extend(
                    problem(&answer).map(|text| format!("{}: {text}", place.method_and_path())),
                );
            }
        }
        assert!(english.is_empty(), "these problems have no Spanish text: {english:#?}");
    });
}

#[test]
fn forms_of_people_without_a_session_are_refused_in_spanish() {
    both(|server| {
        person(server, "bob@example.org", "Bob", Role::Administrator);
        let mut english = BTreeSet::new();
        let pages = ["/sign-in", "/learn/class", "/device", "/welcome?token=x", "/first?token=x"];
        let mut tried = BTreeSet::new();
        for path in pages {
            let page = server.anonymous().get(path).header("accept-language", "es").send();
            english.extend(problem(&page.text()).map(|text| format!("{path}: {text}")));
            let cookie = cookie(&page);
            for (action, fields) in forms_of(&page.text()) {
                for sent in variants(&fields).into_iter().filter(|_| action != "/language") {
                    let answer = send(server, &action, &cookie, &sent);
                    english.extend(problem(&answer).map(|text| format!("{action}: {text}")));
                }
                tried.insert(action);
            }
        }
        assert!(tried.contains("/sign-in") && tried.contains("/learn/class"), "{tried:?}");
        assert!(english.is_empty(), "these problems have no Spanish text: {english:#?}");
    });
}

/// The page in Spanish.
fn open(server: &TestServer, path: &str, cookie: &str) -> String {
    let client = server.anonymous();
    client.get(path).header("cookie", cookie).header("accept-language", "es").send().text()
}

fn send(server: &TestServer, path: &str, cookie: &str, fields: &Fields) -> String {
    let sent: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let client = server.anonymous();
    let call = client.post(path).form(&sent).header("cookie", cookie);
    let answer = call.header("accept-language", "es").send();
    assert!(answer.status < 500, "{path} {fields:?}: {}", answer.text());
    answer.text()
}

/// The text of the problem in English.
fn problem(page: &str) -> Option<&str> {
    let (_, rest) = page.split_once(ENGLISH)?;
    rest.split_once("</span>").map(|(text, _)| text)
}

/// The fields as the page has them, all fields with each wrong value, and each field alone with each wrong value.
fn variants(fields: &Fields) -> Vec<Fields> {
    let names: Vec<&String> = fields.keys().filter(|name| *name != "token").collect();
    let mut all = vec![fields.clone()];
    for wrong in wrong_values() {
        let with = |names: &[&String]| {
            let mut changed = fields.clone();
            changed.extend(names.iter().map(|name| ((*name).clone(), wrong.clone())));
            changed
        };
        all.push(with(&names));
        all.extend(names.iter().map(|name| with(&[*name])));
    }
    all
}

/// The forms of a page that change something, by their addresses.
fn forms_of(page: &str) -> BTreeMap<String, Fields> {
    let forms = page.split("<form ").skip(1).filter(|form| form.contains("method=\"post\""));
    let form = |form: &str| {
        let form = form.split("</form>").next().unwrap_or_default();
        let action = attribute(form.split('>').next()?, "action")?;
        let mut fields = Fields::new();
        for tag in form.split('<').filter(|tag| !tag.starts_with('/')) {
            let (tag, text) = tag.split_once('>').unwrap_or((tag, ""));
            let Some(name) = attribute(tag, "name") else { continue };
            let value =
                attribute(tag, "value").unwrap_or_else(|| match tag.starts_with("select") {
                    true => first_option(form, &name).unwrap_or_default(),
                    false => text.to_owned(),
                });
            // Of several choices, the first one counts.
            fields.entry(name).or_insert(value);
        }
        Some((action, fields))
    };
    forms.filter_map(form).collect()
}

fn first_option(form: &str, select: &str) -> Option<String> {
    let (_, options) = form.split_once(&format!("name=\"{select}\""))?;
    let (_, option) = options.split_once("<option")?;
    attribute(option.split('>').next()?, "value")
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, value) = tag.split_once(&format!("{name}=\""))?;
    let value = value.split('"').next()?;
    Some(value.replace("&#38;", "&").replace("&#34;", "\"").replace("&#39;", "'"))
}
