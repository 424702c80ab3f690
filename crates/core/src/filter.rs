//! Reads the text of a filter: `field op 'value'` clauses joined by AND and OR, AND binding tighter;
//! parentheses group. The caller decides which fields exist.

use crate::{Message, message};
use crate::{Problem, ProblemKind, Result, limits};

/// A parsed filter.
#[derive(Clone, Debug, PartialEq)]
pub enum FilterExpression {
    /// True if all parts are true.
    And(Vec<FilterExpression>),
    /// True if at least one part is true.
    Or(Vec<FilterExpression>),
    /// A comparison: the field's name as written, the operator, the value.
    Clause(String, FilterOperator, FilterValue),
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterOperator {
    /// `=`
    Equal,
    /// `!=`: the complement of `=`, so it is true if the field is missing.
    NotEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `~`: the text contains the value; the list has one of the values.
    Contains,
}

/// Each operator with the sign that filters write; longer signs first.
pub const FILTER_OPERATORS: [(&str, FilterOperator); 7] = [
    ("!=", FilterOperator::NotEqual),
    (">=", FilterOperator::GreaterOrEqual),
    ("<=", FilterOperator::LessOrEqual),
    ("=", FilterOperator::Equal),
    (">", FilterOperator::Greater),
    ("<", FilterOperator::Less),
    ("~", FilterOperator::Contains),
];

impl FilterOperator {
    /// Whether the comparison of a text with another one holds.
    pub fn holds(self, text: &str, with: &str) -> bool {
        match self {
            Self::Equal => text == with,
            Self::NotEqual => text != with,
            Self::Greater => text > with,
            Self::GreaterOrEqual => text >= with,
            Self::Less => text < with,
            Self::LessOrEqual => text <= with,
            Self::Contains => text.contains(with),
        }
    }
}

/// The value of a clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterValue {
    /// The text without its quotes.
    pub text: String,
    /// Whether it was quoted. A value without quotes is a number or a boolean.
    pub quoted: bool,
}

/// Parses a filter. Errors: `BadFilter` with the place of the first error.
pub fn parse(text: &str) -> Result<FilterExpression> {
    if text.len() > limits::FILTER_MAX_BYTES {
        let most = limits::FILTER_MAX_BYTES;
        return Err(refused(message!("the filter has more than {most} bytes; shorten it")));
    }
    let mut parser = FilterParser { text, at: 0, clauses: 0 };
    let expr = parser.disjunction(0)?;
    parser.blanks();
    if parser.at < text.len() {
        return Err(parser.expected("AND, OR or the end of the filter"));
    }
    Ok(expr)
}

/// Creates the problem for a filter that cannot be used (`BadFilter`).
pub fn refused(message: impl Into<Message>) -> Problem {
    Problem::new(ProblemKind::BadFilter, message)
}

struct FilterParser<'a> {
    text: &'a str,
    at: usize,
    clauses: usize,
}

impl FilterParser<'_> {
    fn disjunction(&mut self, depth: usize) -> Result<FilterExpression> {
        let mut parts = vec![self.conjunction(depth)?];
        while self.word("OR") {
            parts.push(self.conjunction(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { FilterExpression::Or(parts) })
    }

    fn conjunction(&mut self, depth: usize) -> Result<FilterExpression> {
        let mut parts = vec![self.term(depth)?];
        while self.word("AND") {
            parts.push(self.term(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { FilterExpression::And(parts) })
    }

    fn term(&mut self, depth: usize) -> Result<FilterExpression> {
        self.blanks();
        if !self.rest().starts_with('(') {
            return self.clause();
        }
        if depth == limits::FILTER_MAX_DEPTH {
            let most = limits::FILTER_MAX_DEPTH;
            return Err(refused(message!(
                "the filter nests parentheses deeper than {most} levels; flatten it"
            )));
        }
        self.at += 1;
        let inner = self.disjunction(depth + 1)?;
        self.blanks();
        if !self.rest().starts_with(')') {
            return Err(self.expected("')'"));
        }
        self.at += 1;
        Ok(inner)
    }

    fn clause(&mut self) -> Result<FilterExpression> {
        self.clauses += 1;
        if self.clauses > limits::FILTER_MAX_CLAUSES {
            let most = limits::FILTER_MAX_CLAUSES;
            return Err(refused(message!(
                "the filter has more than {most} clauses; split it into several requests"
            )));
        }
        let name = self.name()?;
        let op = self.op()?;
        let literal = self.literal()?;
        Ok(FilterExpression::Clause(name, op, literal))
    }

    fn name(&mut self) -> Result<String> {
        self.blanks();
        let end = self
            .rest()
            .find(|c: char| !(c.is_alphanumeric() || "._-:".contains(c)))
            .unwrap_or(self.rest().len());
        if end == 0 {
            return Err(self.expected("the name of a field"));
        }
        let name = self.rest()[..end].to_owned();
        self.at += end;
        Ok(name)
    }

    fn op(&mut self) -> Result<FilterOperator> {
        self.blanks();
        let rest = self.rest();
        let Some((sign, op)) = FILTER_OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign))
        else {
            return Err(self.expected("one of = != > >= < <= ~"));
        };
        self.at += sign.len();
        Ok(*op)
    }

    fn literal(&mut self) -> Result<FilterValue> {
        self.blanks();
        if self.rest().starts_with('\'') {
            return self.quoted();
        }
        let end = self.rest().find([' ', ')', '\t']).unwrap_or(self.rest().len());
        let text = &self.rest()[..end];
        let plain =
            matches!(text, "true" | "false") || text.parse::<f64>().is_ok_and(f64::is_finite);
        if !plain {
            return Err(self.expected("a value in single quotes, a number, true or false"));
        }
        let text = text.to_owned();
        self.at += end;
        Ok(FilterValue { text, quoted: false })
    }

    /// A quoted value; a quote inside is doubled.
    fn quoted(&mut self) -> Result<FilterValue> {
        let mut text = String::new();
        let mut at = self.at + 1;
        loop {
            let Some(quote) = self.text[at..].find('\'') else {
                return Err(refused(message!(
                    "the filter has no closing quote for the value that begins at character {character}",
                    character = self.character()
                )));
            };
            text.push_str(&self.text[at..at + quote]);
            at += quote + 1;
            if !self.text[at..].starts_with('\'') {
                break;
            }
            text.push('\'');
            at += 1;
        }
        self.at = at;
        if text.contains('\0') {
            return Err(refused("a value in the filter must not contain the character U+0000"));
        }
        Ok(FilterValue { text, quoted: true })
    }

    /// Consumes the word if it comes next as a whole word.
    fn word(&mut self, word: &str) -> bool {
        let before = self.at;
        self.blanks();
        let rest = self.rest().as_bytes();
        let stands = rest.len() > word.len()
            && rest[..word.len()].eq_ignore_ascii_case(word.as_bytes())
            && matches!(rest[word.len()], b' ' | b'\t' | b'(');
        if stands {
            self.at += word.len();
        } else {
            self.at = before;
        }
        stands
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t', '+']).len();
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// The number of the next character, from 1.
    fn character(&self) -> usize {
        self.text[..self.at].chars().count() + 1
    }

    fn expected(&self, what: &str) -> Problem {
        let place = self.character();
        let found: String = self.rest().chars().take(20).collect();
        let found = if found.is_empty() {
            "the end of the filter".to_owned()
        } else {
            format!("'{found}'")
        };
        refused(message!(
            "the filter has an error at character {place}: expected {what}, found {found}"
        ))
    }
}
