//! Reads values with their places from JSON, or from the default export of an ES module.
//!
//! Modules are not run here. Values that are not literals, such as a call, a name, or a template with `${…}`, become
//! a [`Value::Expression`]. Matching brackets determine where it ends, so it has a place like any other value.

mod scan;

use std::ops::Range;

use lyceum_core::{Problem, ProblemKind, Result, limits};

use scan::Scanner;

/// A value and its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Literal {
    /// The value.
    pub value: Value,
    /// Its byte range in the text, including quotes.
    pub span: Range<usize>,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null` or `undefined`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// `[…]`
    List(Vec<Literal>),
    /// `{…}`, in the order of the text.
    Object(Vec<(String, Literal)>),
    /// A value that only running the file would tell.
    Expression,
}

impl Literal {
    /// Whether it contains no expression. `__proto__` also makes it an expression, because it sets the prototype
    /// instead of a member.
    fn is_literal(&self) -> bool {
        match &self.value {
            Value::Expression => false,
            Value::List(items) => items.iter().all(Self::is_literal),
            Value::Object(members) => {
                members.iter().all(|(name, value)| name != "__proto__" && value.is_literal())
            }
            _ => true,
        }
    }

    /// The member of an object, unless something after it, such as a spread, can override it.
    pub fn lasting_member(&self, name: &str) -> Option<&Self> {
        let Value::Object(members) = &self.value else { return None };
        let at = members.iter().rposition(|(known, _)| known == name)?;
        let may_hide = |(name, value): &(String, Self)| {
            value.value == Value::Expression && name.starts_with(['.', '['])
        };
        (!members[at + 1..].iter().any(may_hide)).then(|| &members[at].1)
    }

    /// The member of an object. If it occurs twice, the last one counts.
    pub fn member(&self, name: &str) -> Option<&Self> {
        let Value::Object(members) = &self.value else { return None };
        members.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

/// The line and column of a byte, from 1. Columns count characters.
pub fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
}

/// Reads JSON. Comments and trailing commas are allowed.
///
/// Errors: `Malformed` with line and column.
pub fn json(text: &str) -> Result<Literal> {
    let mut reader = Reader { scanner: Scanner::new(text), depth: 0 };
    let value = reader.value()?;
    reader.scanner.space();
    if reader.scanner.at < text.len() {
        return Err(reader.fault(reader.scanner.at, "there is text after the value"));
    }
    Ok(value)
}

/// The object that an ES module exports by default: written in the export, in a call such as `defineConfig({…})`, or
/// in the declaration of an exported name; `None` if it was not found.
pub fn module(text: &str) -> Option<Literal> {
    let mut reader = Reader { scanner: Scanner::new(text), depth: 0 };
    if !reader.scanner.find_default_export() {
        return None;
    }
    // `defineConfig(helper(config))` has two calls and a name.
    for _ in 0..NAMES {
        reader.scanner.space();
        let Some(name) = reader.scanner.word() else { break };
        reader.scanner.space();
        if !reader.scanner.take('(') {
            let name = name.to_owned();
            reader.scanner = Scanner::new(text);
            if !reader.scanner.find_declaration(&name) {
                return None;
            }
        }
    }
    reader.value().ok().filter(|value| matches!(value.value, Value::Object(_)))
}

/// The maximum number of names and calls between a default export and its object.
const NAMES: usize = 4;

/// The object of a module that contains only comments, an optional import of `defineConfig` from `helper`, and
/// literals. Evaluating such a module would return exactly this object. `None` for every other module.
pub fn literal_module(text: &str, helper: &str) -> Option<Literal> {
    // JavaScript treats these characters as line ends, but this reader does not.
    let has_odd_lines = text.replace("\r\n", "\n").contains(['\r', '\u{2028}', '\u{2029}']);
    if has_odd_lines {
        return None;
    }
    let mut reader = Reader { scanner: Scanner::new(text), depth: 0 };
    let has_helper = reader.takes(&["import", "{", "defineConfig", "}", "from"])
        && reader.scanner.peek().is_some_and(|quote| matches!(quote, '"' | '\''))
        && reader.scanner.text().is_some_and(|from| from == helper);
    if has_helper {
        reader.scanner.space();
        reader.scanner.take(';');
    } else {
        reader.scanner = Scanner::new(text);
    }
    if !reader.takes(&["export", "default"]) {
        return None;
    }
    reader.scanner.space();
    let is_called = has_helper && reader.takes(&["defineConfig", "("]);
    let value = reader.value().ok()?;
    if is_called {
        reader.scanner.space();
        reader.scanner.take(',');
        reader.scanner.space();
        if !reader.scanner.take(')') {
            return None;
        }
    }
    reader.scanner.space();
    reader.scanner.take(';');
    reader.scanner.space();
    (reader.scanner.peek().is_none() && value.is_literal()).then_some(value)
}

struct Reader<'t> {
    scanner: Scanner<'t>,
    depth: usize,
}

impl Reader<'_> {
    /// Skips these words and symbols in this order, with white space between them.
    fn takes(&mut self, words: &[&str]) -> bool {
        words.iter().all(|word| {
            self.scanner.space();
            let sign = word.chars().next().filter(|sign| !sign.is_alphabetic());
            match sign {
                Some(sign) => self.scanner.take(sign),
                None => self.scanner.word() == Some(word),
            }
        }) && {
            self.scanner.space();
            true
        }
    }

    fn value(&mut self) -> Result<Literal> {
        self.scanner.space();
        let start = self.scanner.at;
        self.depth += 1;
        if self.depth > limits::JSON_MAX_DEPTH {
            return Err(self.fault(start, "values are nested too deeply"));
        }
        let value = match self.scanner.peek() {
            Some('{') => Some(Value::Object(self.members()?)),
            Some('[') => Some(Value::List(self.items()?)),
            Some('"' | '\'' | '`') => self.scanner.text().map(Value::Text),
            Some(c) if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') => {
                self.scanner.number().map(Value::Number)
            }
            Some(_) => self.scanner.word().and_then(|word| match word {
                "null" | "undefined" => Some(Value::Null),
                "true" => Some(Value::Bool(true)),
                "false" => Some(Value::Bool(false)),
                _ => None,
            }),
            None => return Err(self.fault(start, "a value is missing")),
        };
        self.depth -= 1;
        let end = self.scanner.at;
        self.scanner.space();
        let is_whole = matches!(self.scanner.peek(), None | Some(',' | '}' | ']' | ')' | ';'))
            || self.depth == 0;
        if let Some(value) = value.filter(|_| is_whole) {
            return Ok(Literal { value, span: start..end });
        }
        self.scanner.at = start;
        if !self.scanner.skip_expression() {
            return Err(self.fault(start, "the value that begins here does not end"));
        }
        let end = self.scanner.at;
        if end == start {
            return Err(self.fault(start, "a value is missing"));
        }
        Ok(Literal { value: Value::Expression, span: start..end })
    }

    fn members(&mut self) -> Result<Vec<(String, Literal)>> {
        let mut members = Vec::new();
        self.scanner.take('{');
        loop {
            self.scanner.space();
            if self.scanner.take('}') {
                return Ok(members);
            }
            let start = self.scanner.at;
            let name = match self.scanner.peek() {
                Some('"' | '\'') => self.scanner.text(),
                _ => self.scanner.name().map(str::to_owned),
            };
            self.scanner.space();
            match name {
                Some(name) if self.scanner.take(':') => {
                    let value = self.value()?;
                    members.push((name, value));
                }
                // `{ name }`, `...base`, `[computed]: 1`, `method() {}`
                _ => {
                    self.scanner.at = start;
                    if !self.scanner.skip_expression() || self.scanner.at == start {
                        return Err(self.fault(start, "expected a member such as name: \"…\""));
                    }
                    let value = Value::Expression;
                    let name = self.scanner.text[start..self.scanner.at].to_owned();
                    members.push((name, Literal { value, span: start..self.scanner.at }));
                }
            }
            self.separated('}')?;
        }
    }

    fn items(&mut self) -> Result<Vec<Literal>> {
        let mut items = Vec::new();
        self.scanner.take('[');
        loop {
            self.scanner.space();
            if self.scanner.take(']') {
                return Ok(items);
            }
            items.push(self.value()?);
            self.separated(']')?;
        }
    }

    /// Skips a comma, unless the list or object ends here.
    fn separated(&mut self, end: char) -> Result<()> {
        self.scanner.space();
        if self.scanner.take(',') || self.scanner.peek() == Some(end) {
            return Ok(());
        }
        Err(self.fault(self.scanner.at, &format!("a comma or '{end}' is missing")))
    }

    fn fault(&self, at: usize, message: &str) -> Problem {
        let (line, column) = place(self.scanner.text, at);
        let message = format!("line {line}, column {column}: {message}");
        Problem::new(ProblemKind::Malformed, message)
    }
}
