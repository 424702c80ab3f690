//! Finds where the text of a config file has a value. It does not read values: JSON is parsed and modules are evaluated.
//!
//! A value of which this does not know the place is one that a tool does not rewrite, so a text that it misreads does no
//! harm. [`text_of`] reads text literals, to compare them with the evaluated value.

use std::ops::Range;

/// The most names and calls between a default export and its object: `defineConfig(helper(config))` has three.
const EXPORT_MAX_STEPS: usize = 4;

/// The line and column of a byte, from 1. Columns count characters.
pub(crate) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
}

/// The bytes of the object that an ES module exports by default: written in the export, in a call such as
/// `defineConfig({…})`, or in the declaration of an exported name; `None` if it was not found.
pub(crate) fn exported_object(text: &str) -> Option<Range<usize>> {
    let mut scanner = Scanner { text, at: 0 };
    scanner.find(|it| it.word() == Some("export") && it.word() == Some("default"))?;
    for _ in 0..EXPORT_MAX_STEPS {
        let Some(name) = scanner.word() else { break };
        scanner.space();
        if scanner.take('(') {
            continue;
        }
        scanner.at = 0;
        let declares = |word| matches!(word, Some("const" | "let" | "var"));
        scanner.find(|it| declares(it.word()) && it.word() == Some(name))?;
        // A type may follow.
        scanner.find(|it| it.take('='))?;
    }
    scanner.space();
    let start = scanner.at;
    (scanner.peek() == Some('{') && scanner.skip_group()).then_some(start..scanner.at)
}

/// The bytes of a member's value in the object at `object`, unless something after it, such as a spread, may replace it.
pub(crate) fn member(text: &str, object: &Range<usize>, name: &str) -> Option<Range<usize>> {
    let may_count = |part: &Part<'_>| part.name == name || part.name.starts_with(['.', '[']);
    let last = parts(text, object).into_iter().rfind(may_count)?;
    (last.name == name).then_some(last.value)
}

/// The bytes of the value at a path such as `integrations.lms.courses[0]`, or of the nearest value around it.
pub(crate) fn nearest(text: &str, root: Range<usize>, path: &str) -> Range<usize> {
    let (mut place, mut rest) = (root, path);
    loop {
        let parts = parts(text, &place);
        // A name may contain a dot, so whole names are compared.
        let of_member = |part: &Part<'_>| {
            let after = rest.strip_prefix(part.name).filter(|_| !part.name.is_empty())?;
            (after.is_empty() || after.starts_with(['.', '['])).then(|| (part.value.clone(), after))
        };
        let of_item = || {
            let (number, after) = rest.strip_prefix('[')?.split_once(']')?;
            Some((parts.get(number.parse::<usize>().ok()?)?.value.clone(), after))
        };
        match of_item().or_else(|| parts.iter().rev().find_map(of_member)) {
            Some((inside, after)) => (place, rest) = (inside, after.trim_start_matches('.')),
            None => return place,
        }
    }
}

/// The text that a literal means; `None` for every other expression.
pub(crate) fn text_of(literal: &str) -> Option<String> {
    let quote = literal.chars().next().filter(|quote| matches!(quote, '"' | '\'' | '`'))?;
    let mut rest = literal.strip_prefix(quote)?.strip_suffix(quote)?.chars().peekable();
    let mut json = String::from('"');
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next()? {
                'u' if rest.next_if_eq(&'{').is_some() => {
                    let code: String = rest.by_ref().take_while(|digit| *digit != '}').collect();
                    json.push(char::from_u32(u32::from_str_radix(&code, 16).ok()?)?);
                }
                c @ ('\'' | '`' | '$') => json.push(c),
                c => json.extend(['\\', c]),
            },
            '$' if quote == '`' && rest.peek() == Some(&'{') => return None,
            '\n' if quote == '`' => json.push_str("\\n"),
            '\t' => json.push_str("\\t"),
            c if c == quote => return None,
            '"' => json.push_str("\\\""),
            c => json.push(c),
        }
    }
    json.push('"');
    serde_json::from_str(&json).ok()
}

/// A member of an object, or an item of a list.
struct Part<'t> {
    /// The member's name. For items, spreads, methods and short forms, the whole text.
    name: &'t str,
    value: Range<usize>,
}

/// The parts of an object or list; empty if the bytes are something else.
fn parts<'t>(text: &'t str, place: &Range<usize>) -> Vec<Part<'t>> {
    let mut scanner = Scanner { text: &text[..place.end], at: place.start };
    let is_object = scanner.take('{');
    let mut parts = Vec::new();
    if !is_object && !scanner.take('[') {
        return parts;
    }
    loop {
        scanner.space();
        let start = scanner.at;
        let name = if is_object { scanner.member_name() } else { None };
        let value = scanner.at;
        if !scanner.skip_expression() || scanner.at == start {
            break;
        }
        let name = name.unwrap_or(&text[start..scanner.at]);
        parts.push(Part { name, value: value..scanner.at });
        scanner.space();
        if !scanner.take(',') {
            break;
        }
    }
    let is_whole = scanner.take(if is_object { '}' } else { ']' }) && scanner.at == place.end;
    if is_whole { parts } else { Vec::new() }
}

/// A place in a text.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    /// Skips white space, comments and a byte order mark.
    fn space(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            self.at += rest.len() - trimmed.len();
            if trimmed.starts_with("//") {
                self.at += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if trimmed.starts_with("/*") {
                self.at += trimmed.find("*/").map_or(trimmed.len(), |end| end + 2);
            } else {
                return;
            }
        }
    }

    /// Skips white space, and reads an identifier or a whole number.
    fn word(&mut self) -> Option<&'t str> {
        self.space();
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$'));
        let word = &rest[..end.unwrap_or(rest.len())];
        self.at += word.len();
        (!word.is_empty()).then_some(word)
    }

    /// Moves behind `name:`, or nowhere.
    fn member_name(&mut self) -> Option<&'t str> {
        let start = self.at;
        let name = match self.peek()? {
            '"' | '\'' => self.skip_text().then(|| &self.text[start + 1..self.at - 1]),
            _ => self.word(),
        };
        self.space();
        let name = name.filter(|_| self.take(':'));
        match name {
            Some(_) => self.space(),
            None => self.at = start,
        }
        name
    }

    /// Moves behind the first place outside all brackets where `begins` succeeds.
    fn find(&mut self, begins: impl Fn(&mut Self) -> bool) -> Option<()> {
        loop {
            self.space();
            let start = self.at;
            if begins(self) {
                return Some(());
            }
            self.at = start;
            if !self.skip_token() {
                return None;
            }
        }
    }

    /// Skips an expression up to a comma, closing bracket or semicolon that does not belong to it. Returns `false` if
    /// the expression does not end.
    fn skip_expression(&mut self) -> bool {
        let mut end = self.at;
        loop {
            self.space();
            if let None | Some(',' | '}' | ']' | ')' | ';') = self.peek() {
                self.at = end;
                return true;
            }
            if !self.skip_token() {
                return false;
            }
            end = self.at;
        }
    }

    /// Skips a word, a text, a pattern, a bracketed group or a symbol. Returns `false` if it does not end.
    fn skip_token(&mut self) -> bool {
        match self.peek() {
            None => false,
            Some('{' | '[' | '(') => self.skip_group(),
            Some('"' | '\'' | '`') => self.skip_text(),
            Some('/') if self.begins_pattern() => self.skip_text(),
            Some(c) => {
                self.at += if self.word().is_none() { c.len_utf8() } else { 0 };
                true
            }
        }
    }

    fn skip_group(&mut self) -> bool {
        let mut depth = 0;
        loop {
            self.space();
            match self.peek() {
                Some('{' | '[' | '(') => depth += 1,
                Some('}' | ']' | ')') => depth -= 1,
                _ if !self.skip_token() => return false,
                _ => continue,
            }
            self.at += 1;
            if depth == 0 {
                return true;
            }
        }
    }

    /// Skips a quoted text, a template or a regular expression.
    fn skip_text(&mut self) -> bool {
        let Some(quote) = self.peek() else { return false };
        let mut in_class = false;
        self.at += 1;
        while let Some(c) = self.peek() {
            if quote == '`' && self.rest().starts_with("${") {
                self.at += 1;
                if !self.skip_group() {
                    return false;
                }
                continue;
            }
            self.at += c.len_utf8();
            match c {
                '\\' => self.at += self.peek().map_or(0, char::len_utf8),
                '[' | ']' if quote == '/' => in_class = c == '[',
                '\n' if quote != '`' => return false,
                c if c == quote && !in_class => return true,
                _ => {}
            }
        }
        false
    }

    /// Whether a slash begins a regular expression here. After a value, it divides.
    fn begins_pattern(&self) -> bool {
        let before = self.text[..self.at].trim_end();
        !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | ')' | ']'))
    }
}
