//! Finds the texts in quotes of Rust and JavaScript, with the calls around each.

/// A text in quotes.
#[derive(Debug)]
pub(super) struct Literal {
    /// The text, without escapes.
    pub(super) text: String,
    /// The calls around it, from the outermost: each name, such as `Column::text`, `.push` or `t!`, and the place of the
    /// argument. A tuple or list has an empty name.
    pub(super) calls: Vec<(String, usize)>,
    /// The variable that the statement declares.
    pub(super) variable: Option<String>,
    /// The number of its line.
    pub(super) line: usize,
}

enum Token {
    Word(String),
    Text(String),
    Sign(char),
}

/// All texts in quotes, except in comments.
pub(super) fn literals(source: &str) -> Vec<Literal> {
    let tokens = tokens(source);
    let (mut calls, mut found): (Vec<(String, usize)>, Vec<Literal>) = (Vec::new(), Vec::new());
    let mut variable = None;
    for (at, (token, line)) in tokens.iter().enumerate() {
        match token {
            Token::Sign('(' | '[' | '{') => calls.push((name_before(&tokens[..at]), 0)),
            Token::Sign(')' | ']' | '}') => {
                calls.pop();
            }
            Token::Sign(',') => {
                if let Some((_, place)) = calls.last_mut() {
                    *place += 1;
                }
            }
            Token::Sign(';') => variable = None,
            Token::Word(word) if word == "let" => {
                variable = match tokens.get(at + 1) {
                    Some((Token::Word(name), _)) => Some(name.clone()),
                    _ => None,
                };
            }
            Token::Sign(_) | Token::Word(_) => {}
            Token::Text(text) => found.push(Literal {
                text: text.clone(),
                calls: calls.clone(),
                variable: variable.clone(),
                line: *line,
            }),
        }
    }
    found
}

/// The name before a bracket: `f`, `.f`, `T::f`, `f!`, or an empty text.
fn name_before(tokens: &[(Token, usize)]) -> String {
    let mut rest = without_types(tokens);
    let mut name = String::new();
    if let [before @ .., (Token::Sign('!'), _)] = rest {
        (rest, name) = (before, "!".to_owned());
    }
    let [before @ .., (Token::Word(word), _)] = rest else { return String::new() };
    name.insert_str(0, word);
    match before {
        [.., (Token::Word(of), _), (Token::Sign(':'), _), (Token::Sign(':'), _)] => {
            format!("{of}::{name}")
        }
        [.., (Token::Sign('.'), _)] => format!(".{name}"),
        _ => name,
    }
}

/// The tokens without the types of a call such as `f::<T>(…)`.
fn without_types(tokens: &[(Token, usize)]) -> &[(Token, usize)] {
    if !matches!(tokens.last(), Some((Token::Sign('>'), _))) {
        return tokens;
    }
    let is_open = |(token, _): &(Token, usize)| matches!(token, Token::Sign('<'));
    match tokens.iter().rposition(is_open) {
        Some(at @ 2..) => &tokens[..at - 2],
        _ => tokens,
    }
}

fn tokens(source: &str) -> Vec<(Token, usize)> {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while let Some(first) = rest.chars().next() {
        let (token, length) = next(rest, first);
        if let Some(token) = token {
            tokens.push((token, line));
        }
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    tokens
}

/// The token at the beginning of the text, if it is not a space or comment, and its length.
fn next(rest: &str, first: char) -> (Option<Token>, usize) {
    let until = |end: &str| rest.find(end).map_or(rest.len(), |at| at + end.len());
    if rest.starts_with("//") {
        return (None, until("\n"));
    }
    if let Some((text, length)) = raw_text(rest) {
        return (Some(Token::Text(text)), length);
    }
    match first {
        '"' => {
            let (text, length) = text(rest);
            (Some(Token::Text(text)), length)
        }
        '\'' => (None, character(rest)),
        first if first.is_alphanumeric() || first == '_' => {
            let is_inside = |letter: char| letter.is_alphanumeric() || letter == '_';
            let length = rest.find(|letter| !is_inside(letter)).unwrap_or(rest.len());
            (Some(Token::Word(rest[..length].to_owned())), length)
        }
        first if first.is_whitespace() => (None, first.len_utf8()),
        first => (Some(Token::Sign(first)), first.len_utf8()),
    }
}

/// A raw text such as `r#"…"#`.
fn raw_text(rest: &str) -> Option<(String, usize)> {
    let inner = rest.strip_prefix('r')?;
    let hashes = inner.len() - inner.trim_start_matches('#').len();
    let inner = inner[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = inner.find(&end)?;
    Some((inner[..length].to_owned(), rest.len() - inner.len() + length + end.len()))
}

/// A text in quotes, without its escapes, and its length.
fn text(rest: &str) -> (String, usize) {
    let mut text = String::new();
    let mut letters = rest.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (text, at + 1),
            '\\' => match letters.next() {
                // A line that continues begins with spaces.
                Some((_, '\n')) => {
                    while letters.next_if(|(_, letter)| letter.is_whitespace()).is_some() {}
                }
                Some((_, 'n')) => text.push('\n'),
                Some((_, letter)) => text.push(letter),
                None => {}
            },
            letter => text.push(letter),
        }
    }
    (text, rest.len())
}

/// The length of a character such as `'"'`, or of the quote of a lifetime.
fn character(rest: &str) -> usize {
    let inner = &rest[1..];
    let length = match inner.chars().next() {
        Some('\\') => inner[1..].chars().next().map_or(0, |letter| 1 + letter.len_utf8()),
        Some(letter) => letter.len_utf8(),
        None => 0,
    };
    if inner[length..].starts_with('\'') { length + 2 } else { 1 }
}

#[test]
fn texts_are_found_with_the_calls_around_them() {
    let source = "fn f<'a>() { // \"no\"\n let message = T::g(1, x.h(\"a \\\"b\\\"\", '\"', t!(r#\"c\"#)), [(\"d\", 2)]); }";
    let found: Vec<_> = literals(source)
        .into_iter()
        .map(|one| (one.text, one.calls.last().unwrap().clone(), one.variable))
        .collect();
    let message = || Some("message".to_owned());
    assert_eq!(
        found,
        [
            ("a \"b\"".to_owned(), (".h".to_owned(), 0), message()),
            ("c".to_owned(), ("t!".to_owned(), 0), message()),
            ("d".to_owned(), (String::new(), 0), message()),
        ]
    );
}
