//! A short way to write expressions in tests: `equal[tolerance-mode=absolute tolerance=1](3 $X)`.
//!
//! `3` integer, `3.5` float, `'a'` string, `#a` identifier, `true`, `@1,2` point, `~a-b` pair,
//! `>a-b` directed pair, `%90` duration, `$X` variable, `null`; else a name without `qti-`,
//! attributes in brackets, operands in parentheses.

use std::iter::Peekable;
use std::str::Chars;

/// The XML of an expression.
pub(crate) fn expression(short: &str) -> String {
    let mut rest = short.chars().peekable();
    let xml = one(&mut rest);
    let left: String = rest.collect();
    assert!(left.trim().is_empty(), "'{left}' is left of {short}");
    xml
}

fn one(rest: &mut Peekable<Chars<'_>>) -> String {
    let base = |base_type: &str, value: &str| {
        format!("<qti-base-value base-type=\"{base_type}\">{value}</qti-base-value>")
    };
    match rest.next().unwrap() {
        '\'' => base("string", &until(rest, |c| c == '\'', true)),
        '#' => base("identifier", &word(rest)),
        '@' => base("point", &word(rest).replace(',', " ")),
        '~' => base("pair", &word(rest).replace('-', " ")),
        '>' => base("directedPair", &word(rest).replace('-', " ")),
        '%' => base("duration", &word(rest)),
        '$' => format!("<qti-variable identifier=\"{}\"/>", word(rest)),
        first => {
            let name = format!("{first}{}", word(rest));
            match name.as_str() {
                "true" | "false" => base("boolean", &name),
                number if number.parse::<i64>().is_ok() => base("integer", number),
                number if number.parse::<f64>().is_ok() || number == "INF" => base("float", number),
                _ => operator(&name, rest),
            }
        }
    }
}

fn operator(name: &str, rest: &mut Peekable<Chars<'_>>) -> String {
    let mut xml = format!("<qti-{name}");
    if rest.next_if_eq(&'[').is_some() {
        for attribute in until(rest, |c| c == ']', true).split_whitespace() {
            let (name, value) = attribute.split_once('=').unwrap();
            xml += &format!(" {name}=\"{}\"", value.replace('_', " "));
        }
    }
    xml.push('>');
    if rest.next_if_eq(&'(').is_some() {
        while rest.next_if_eq(&')').is_none() {
            if rest.next_if_eq(&' ').is_none() {
                xml += &one(rest);
            }
        }
    }
    xml + &format!("</qti-{name}>")
}

fn word(rest: &mut Peekable<Chars<'_>>) -> String {
    until(rest, |c| matches!(c, ' ' | '(' | ')' | '[' | ']'), false)
}

fn until(rest: &mut Peekable<Chars<'_>>, ends: fn(char) -> bool, eat: bool) -> String {
    let mut text = String::new();
    while let Some(letter) = rest.next_if(|c| !ends(*c)) {
        text.push(letter);
    }
    if eat {
        rest.next();
    }
    text
}
