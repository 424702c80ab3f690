//! Scans the characters of a file: white space, comments, words, texts, numbers, and the ends of expressions.

/// A place in a text.
pub(super) struct Scanner<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { text, at }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    /// Skips white space and comments.
    pub(super) fn space(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
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

    /// A JavaScript identifier.
    pub(super) fn word(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        if !rest.starts_with(is_part) || rest.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.at += end;
        Some(&rest[..end])
    }

    /// An unquoted member name: an identifier or a number.
    pub(super) fn name(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if digits > 0 {
            self.at += digits;
            return Some(&rest[..digits]);
        }
        self.word()
    }

    /// A decimal or hexadecimal number. A sign and `_` between digits are allowed.
    pub(super) fn number(&mut self) -> Option<f64> {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
        let mut end = usize::from(rest.starts_with(['-', '+']));
        while let Some(c) = rest[end..].chars().next() {
            let in_exponent = matches!(c, '-' | '+') && rest[..end].ends_with(['e', 'E']);
            if !is_part(c) && !in_exponent {
                break;
            }
            end += c.len_utf8();
        }
        let written = rest[..end].trim_start_matches(['-', '+']);
        // These are syntax errors in JavaScript, which running the file reports.
        let is_odd = written.contains("__")
            || written.ends_with('_')
            || written.starts_with("0_")
            || (written.starts_with('0') && written[1..].starts_with(|c: char| c.is_ascii_digit()));
        let digits = rest[..end].replace('_', "");
        self.at += end;
        if is_odd {
            return None;
        }
        match digits.strip_prefix("0x") {
            #[expect(clippy::cast_precision_loss, reason = "as the language does it")]
            Some(hex) => i64::from_str_radix(hex, 16).ok().map(|number| number as f64),
            None => digits.parse().ok().filter(|number: &f64| number.is_finite()),
        }
    }

    /// A quoted text; `None` for a template with `${…}`, and if the quote is not closed.
    pub(super) fn text(&mut self) -> Option<String> {
        let quote = self.peek()?;
        self.at += 1;
        let mut text = String::new();
        loop {
            let c = self.peek()?;
            self.at += c.len_utf8();
            match c {
                c if c == quote => return Some(text),
                '\\' => self.escape(&mut text)?,
                '\n' | '\r' if quote != '`' => return None,
                // A template treats every kind of line end as `\n`.
                '\r' => {
                    self.take('\n');
                    text.push('\n');
                }
                '$' if quote == '`' && self.peek() == Some('{') => return None,
                c => text.push(c),
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Option<()> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        match c {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'v' => text.push('\u{b}'),
            '0' if !self.peek().is_some_and(|next| next.is_ascii_digit()) => text.push('\0'),
            // Octal escapes are a syntax error in modules.
            '0'..='9' => return None,
            '\n' => {}
            '\r' => drop(self.take('\n')),
            'x' => text.push(char::from_u32(self.hex(2)?)?),
            'u' => {
                let unit = self.code_unit()?;
                // A surrogate pair: two escapes for one character.
                let code = if (0xd800..0xdc00).contains(&unit) && self.rest().starts_with("\\u") {
                    self.at += 2;
                    0x10000 + ((unit - 0xd800) << 10) + self.code_unit()?.checked_sub(0xdc00)?
                } else {
                    unit
                };
                text.push(char::from_u32(code)?);
            }
            c => text.push(c),
        }
        Some(())
    }

    fn code_unit(&mut self) -> Option<u32> {
        if !self.take('{') {
            return self.hex(4);
        }
        let digits = self.rest().find('}')?;
        let code = self.hex(digits)?;
        self.take('}').then_some(code)
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let code = u32::from_str_radix(self.rest().get(..digits)?, 16).ok()?;
        self.at += digits;
        Some(code)
    }

    /// Moves past `export default` outside all brackets. Returns whether it was found.
    pub(super) fn find_default_export(&mut self) -> bool {
        loop {
            self.space();
            if self.peek().is_none() {
                return false;
            }
            if self.word_is("export") {
                self.space();
                if self.word_is("default") {
                    return true;
                }
            } else if !self.skip_token() {
                return false;
            }
        }
    }

    /// Moves past `const NAME =` outside all brackets, skipping a type annotation. Returns whether it was found.
    pub(super) fn find_declaration(&mut self, name: &str) -> bool {
        loop {
            self.space();
            if self.peek().is_none() {
                return false;
            }
            let is_declared = self.word_is("const") || self.word_is("let") || self.word_is("var");
            if !is_declared {
                if !self.skip_token() {
                    return false;
                }
                continue;
            }
            self.space();
            if !self.word_is(name) {
                continue;
            }
            loop {
                self.space();
                match self.peek() {
                    Some('=') => return self.take('='),
                    None | Some(';' | ',') => return false,
                    Some(_) if !self.skip_token() => return false,
                    Some(_) => {}
                }
            }
        }
    }

    fn word_is(&mut self, wanted: &str) -> bool {
        let start = self.at;
        let found = self.word() == Some(wanted);
        if !found {
            self.at = start;
        }
        found
    }

    /// Skips an expression up to a comma, closing bracket or semicolon that does not belong to it. Trailing white
    /// space is not skipped. Returns `false` if the expression does not end.
    pub(super) fn skip_expression(&mut self) -> bool {
        let mut end = self.at;
        loop {
            self.space();
            match self.peek() {
                None | Some(',' | '}' | ']' | ')' | ';') => {
                    self.at = end;
                    return true;
                }
                Some(_) => {
                    if !self.skip_token() {
                        return false;
                    }
                    end = self.at;
                }
            }
        }
    }

    /// Skips a word, a text, a bracketed group, or a symbol.
    fn skip_token(&mut self) -> bool {
        let Some(c) = self.peek() else { return false };
        match c {
            '{' | '[' | '(' => self.skip_bracket(),
            '"' | '\'' | '`' => self.skip_text(c),
            '/' if self.begins_pattern() => self.skip_pattern(),
            _ => {
                if self.word().is_none() {
                    self.at += c.len_utf8();
                }
                true
            }
        }
    }

    fn skip_bracket(&mut self) -> bool {
        let close = match self.peek() {
            Some('{') => '}',
            Some('[') => ']',
            _ => ')',
        };
        self.at += 1;
        loop {
            self.space();
            match self.peek() {
                None => return false,
                Some(c) if c == close => {
                    self.at += 1;
                    return true;
                }
                Some(_) => {
                    if !self.skip_token() {
                        return false;
                    }
                }
            }
        }
    }

    fn skip_text(&mut self, quote: char) -> bool {
        self.at += 1;
        while let Some(c) = self.peek() {
            if c == '$' && quote == '`' && self.rest().starts_with("${") {
                self.at += 1;
                if !self.skip_bracket() {
                    return false;
                }
                continue;
            }
            self.at += c.len_utf8();
            match c {
                '\\' => self.at += self.peek().map_or(0, char::len_utf8),
                c if c == quote => return true,
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

    fn skip_pattern(&mut self) -> bool {
        self.at += 1;
        let mut in_class = false;
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            match c {
                '\\' => self.at += self.peek().map_or(0, char::len_utf8),
                '[' => in_class = true,
                ']' => in_class = false,
                '/' if !in_class => return true,
                '\n' => return false,
                _ => {}
            }
        }
        false
    }
}
