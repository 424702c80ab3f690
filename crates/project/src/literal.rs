//! Values written out in a file: JSON, or the default export of an ES module, with places.
//!
//! A module is not run. What is no literal (a call, a name, a template with `${…}`) is an
//! [`Value::Expression`]: its end is found by brackets, and it has a place like any other value.

mod scan;

use std::ops::Range;

use lyceum_core::{Problem, ProblemKind, Result, limits};

use scan::Scanner;

/// A value and the bytes that it stands in.
#[derive(Clone, Debug, PartialEq)]
pub struct Literal {
    /// The value.
    pub value: Value,
    /// Where it stands in the text, quotes included.
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
    /// `{…}`, in the order written.
    Object(Vec<(String, Literal)>),
    /// Something that only running the file would tell.
    Expression,
}

impl Literal {
    /// The member of an object; of two with one name the last counts.
    pub fn member(&self, name: &str) -> Option<&Self> {
        let Value::Object(members) = &self.value else { return None };
        members.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

/// Line and column of a byte, from 1; columns count characters.
pub fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
}

/// Reads JSON; comments and commas behind the last member are fine.
///
/// Errors: `Malformed` with line and column.
pub fn json(text: &str) -> Result<Literal> {
    let mut reader = Reader { scanner: Scanner::new(text), depth: 0 };
    let value = reader.value()?;
    reader.scanner.space();
    if reader.scanner.at < text.len() {
        return Err(reader.fault(reader.scanner.at, "something stands behind the value"));
    }
    Ok(value)
}

/// Reads the default export of an ES module: an object, or a call with one, as of `defineConfig`.
///
/// Errors: `Malformed` with line and column.
pub fn module(text: &str) -> Result<Literal> {
    let mut reader = Reader { scanner: Scanner::new(text), depth: 0 };
    if !reader.scanner.find_default_export() {
        return Err(reader.fault(0, "there is no 'export default {…}'"));
    }
    reader.scanner.space();
    let start = reader.scanner.at;
    if let Some(name) = reader.scanner.word() {
        reader.scanner.space();
        if !reader.scanner.take('(') {
            let message = format!("the default export is '{name}'; write the object there itself");
            return Err(reader.fault(start, &message));
        }
    }
    let value = reader.value()?;
    match value.value {
        Value::Object(_) => Ok(value),
        _ => Err(reader.fault(value.span.start, "the default export is no object")),
    }
}

struct Reader<'t> {
    scanner: Scanner<'t>,
    depth: usize,
}

impl Reader<'_> {
    fn value(&mut self) -> Result<Literal> {
        self.scanner.space();
        let start = self.scanner.at;
        self.depth += 1;
        if self.depth > limits::JSON_MAX_DEPTH {
            return Err(self.fault(start, "values are nested too deep"));
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
            return Err(self.fault(start, "what begins here has no end"));
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
                        return Err(self.fault(start, "a member such as name: \"…\" is missing"));
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

    /// A comma, or what follows is the end.
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
