//! SQL text as far as definitions are compared: words, quotes and parentheses.

/// A word, a literal or a sign.
pub(crate) struct Token {
    /// As it is compared: in lower case and without quotes if it is a name.
    pub(crate) normal: String,
    pub(crate) is_quoted: bool,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Token {
    fn is(&self, word: &str) -> bool {
        !self.is_quoted && self.normal == word
    }
}

/// The tokens of a text without its comments.
pub(crate) fn tokens(sql: &str) -> Vec<Token> {
    let bytes = sql.as_bytes();
    let (mut tokens, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let start = at;
        let rest = &sql[at..];
        match bytes[at] {
            byte if byte.is_ascii_whitespace() => at += 1,
            b'-' if rest.starts_with("--") => at += rest.find('\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with("/*") => at += rest.find("*/").map_or(rest.len(), |n| n + 2),
            quote @ (b'\'' | b'"' | b'`' | b'[') => {
                at = end_of_quoted(bytes, at);
                let text = &sql[start..at];
                let normal = match quote {
                    b'\'' => text.to_owned(),
                    _ => unquoted(text).to_lowercase(),
                };
                tokens.push(Token { normal, is_quoted: true, start, end: at });
            }
            byte if is_word(byte) => {
                at += rest.bytes().position(|byte| !is_word(byte)).unwrap_or(rest.len());
                let normal = sql[start..at].to_lowercase();
                tokens.push(Token { normal, is_quoted: false, start, end: at });
            }
            _ => {
                at += rest.chars().next().map_or(1, char::len_utf8);
                let normal = sql[start..at].to_owned();
                tokens.push(Token { normal, is_quoted: false, start, end: at });
            }
        }
    }
    tokens
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.') || byte >= 0x80
}

fn end_of_quoted(bytes: &[u8], start: usize) -> usize {
    let close = if bytes[start] == b'[' { b']' } else { bytes[start] };
    let mut at = start + 1;
    while at < bytes.len() {
        match (bytes[at] == close, bytes.get(at + 1) == Some(&close) && close != b']') {
            (true, true) => at += 2,
            (true, false) => return at + 1,
            (false, _) => at += 1,
        }
    }
    at
}

/// A quoted name without its quotes.
fn unquoted(text: &str) -> String {
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
    match text.as_bytes()[0] {
        b'"' => inner.replace("\"\"", "\""),
        b'`' => inner.replace("``", "`"),
        _ => inner.to_owned(),
    }
}

/// A name as it stands in SQL.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text as it is compared: `IF NOT EXISTS` and spelling do not count.
pub(crate) fn normal(sql: &str) -> String {
    let words: Vec<String> = tokens(sql).into_iter().map(|token| token.normal).collect();
    words.join(" ").replace(" if not exists ", " ").trim_end_matches([' ', ';']).to_owned()
}

/// A part of a table's definition.
pub(crate) struct DefinitionPart<'a> {
    /// The column's name, in lower case; `None` for a constraint of the table.
    pub(crate) column: Option<String>,
    pub(crate) text: &'a str,
    pub(crate) normal: String,
}

/// A table's definition: its parts, what follows them, and where it begins.
pub(crate) struct Definition<'a> {
    pub(crate) parts: Vec<DefinitionPart<'a>>,
    pub(crate) options: String,
    pub(crate) start: usize,
}

/// Parses a `CREATE TABLE`; `None` if it has no definition in parentheses.
pub(crate) fn definition(sql: &str) -> Option<Definition<'_>> {
    let all = tokens(sql);
    let open = all.iter().position(|token| token.is("("))?;
    let (mut parts, mut depth, mut first) = (Vec::new(), 0_usize, open + 1);
    for (at, token) in all.iter().enumerate().skip(open) {
        match token.normal.as_str() {
            "(" if !token.is_quoted => depth += 1,
            ")" if !token.is_quoted => depth -= 1,
            "," if depth == 1 && !token.is_quoted => {
                parts.extend(part(sql, &all[first..at]));
                first = at + 1;
            }
            _ => {}
        }
        if depth == 0 {
            parts.extend(part(sql, &all[first..at]));
            let mut options: Vec<_> =
                all[at + 1..].iter().map(|token| token.normal.as_str()).collect();
            options.retain(|option| !matches!(*option, "," | ";"));
            options.sort_unstable();
            return Some(Definition { parts, options: options.join(" "), start: all[open].start });
        }
    }
    None
}

fn part<'a>(sql: &'a str, tokens: &[Token]) -> Option<DefinitionPart<'a>> {
    let (first, last) = (tokens.first()?, tokens.last()?);
    let constraints = ["constraint", "primary", "unique", "check", "foreign"];
    let is_constraint = constraints.iter().any(|word| first.is(word));
    let words: Vec<&str> = tokens.iter().map(|token| token.normal.as_str()).collect();
    Some(DefinitionPart {
        column: (!is_constraint).then(|| first.normal.clone()),
        text: &sql[first.start..last.end],
        normal: words.join(" "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_quotes_and_comments_do_not_count() {
        let one = "CREATE TABLE IF NOT EXISTS `Users` (\n  \"Id\" integer PRIMARY KEY, -- the id\n [a b] TEXT)";
        let two = "create table users(id INTEGER primary key, /* x */ \"A B\" text);";
        assert_eq!(normal(one), normal(two));
        assert_ne!(
            normal("CREATE TABLE t (a DEFAULT 'X')"),
            normal("CREATE TABLE t (a DEFAULT 'x')")
        );
    }

    #[test]
    fn a_definition_is_split_only_at_its_own_commas() {
        let sql = "CREATE TABLE t (a DECIMAL(4, 2) DEFAULT ',(', \"check\" TEXT, CHECK (a IN (1, 2))) \
                   STRICT, WITHOUT ROWID";
        let found = definition(sql).unwrap();
        let columns: Vec<_> = found.parts.iter().map(|part| part.column.as_deref()).collect();
        assert_eq!(columns, [Some("a"), Some("check"), None]);
        assert_eq!(found.parts[0].text, "a DECIMAL(4, 2) DEFAULT ',('");
        assert_eq!(found.options, "rowid strict without");
        assert!(sql[found.start..].starts_with("(a DECIMAL"));
    }
}
