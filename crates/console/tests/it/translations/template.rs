//! Finds the texts of templates: those that a template writes itself, and its expressions.

/// Words that are the same in every language.
const NAMES: &[&str] = &["Lyceum", "CSV", "JSON", "JWT"];

/// Attributes that people read or hear.
const READ: &[&str] = &["alt", "aria-label", "data-label", "placeholder", "title"];

/// The code between `{{` and `}}` and between `{%` and `%}`.
pub(super) fn expressions(template: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find("{{").into_iter().chain(rest.find("{%")).min() {
        let end = if rest[at..].starts_with("{{") { "}}" } else { "%}" };
        let inner = &rest[at + 2..];
        let length = inner.find(end).expect("an expression ends");
        found.push(inner[..length].to_owned());
        rest = &inner[length + 2..];
    }
    found
}

/// The texts with letters that the template writes itself, outside of code.
pub(super) fn texts(template: &str) -> Vec<String> {
    let plain = without_expressions(template);
    let mut found = Vec::new();
    let (mut rest, mut is_code) = (plain.as_str(), false);
    while let Some((text, after)) = rest.split_once('<') {
        add(&mut found, text, is_code);
        let Some((tag, after)) = after.split_once('>') else { break };
        let name = tag.split_whitespace().next().unwrap_or_default();
        match name {
            "code" | "pre" => is_code = true,
            "/code" | "/pre" => is_code = false,
            _ => {}
        }
        for attribute in READ {
            if let Some((_, value)) = tag.split_once(&format!(" {attribute}=\"")) {
                add(&mut found, value.split('"').next().unwrap_or_default(), false);
            }
        }
        rest = after;
    }
    add(&mut found, rest, is_code);
    found
}

fn add(found: &mut Vec<String>, text: &str, is_code: bool) {
    let words = NAMES.iter().fold(text.replace("&amp;", ""), |text, name| text.replace(name, ""));
    if !is_code && words.chars().any(char::is_alphabetic) {
        found.push(text.split_whitespace().collect::<Vec<_>>().join(" "));
    }
}

fn without_expressions(template: &str) -> String {
    let mut plain = String::new();
    let mut rest = template;
    while let Some(at) = rest.find("{{").into_iter().chain(rest.find("{%")).min() {
        plain.push_str(&rest[..at]);
        let end = if rest[at..].starts_with("{{") { "}}" } else { "%}" };
        let inner = &rest[at + 2..];
        rest = &inner[inner.find(end).expect("an expression ends") + 2..];
    }
    plain + rest
}

#[test]
fn texts_outside_of_expressions_are_found() {
    let template = "{% if a > 1 %}<p title=\"Tip\" class=\"x\">One {{ t!(\"two\") }} <code>three</code></p>{% endif %}Lyceum";
    assert_eq!(texts(template), ["Tip", "One"]);
    assert_eq!(expressions(template), [" if a > 1 ", " t!(\"two\") ", " endif "]);
}
