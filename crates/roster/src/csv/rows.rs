//! Reads the rows of a CSV file (RFC 4180), with the line on which each begins.
//!
//! In some points it is more tolerant than RFC 4180: a byte-order mark is skipped, lines end with CR LF, LF or CR,
//! empty lines are skipped, and a quote inside an unquoted field is a plain character. In others it is as strict: a
//! quoted field must be closed, and a comma or the end of the line must follow. After an error, reading continues
//! with the line after the first line of the wrong row, so that every row is reported. The time stays linear, because
//! an unclosed quote can only swallow lines that have no errors themselves.

use std::io::{self, Read};

use crate::limits::CSV_LINE_MAX_BYTES;

/// A row: its unquoted fields, and its place.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct CsvRow {
    /// The line on which it begins, from 1.
    pub line: u64,
    text: Vec<u8>,
    ends: Vec<usize>,
}

/// A row that cannot be parsed.
#[derive(Debug, PartialEq, Eq)]
pub struct BrokenRow {
    /// The line on which it begins, from 1.
    pub line: u64,
    /// The error.
    pub problem: &'static str,
    /// How to fix it.
    pub remedy: &'static str,
    /// Its first line, as it is in the file, cut to a readable length.
    pub raw: String,
}

impl CsvRow {
    /// The number of fields.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether it has no fields.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of a field; empty if the row is too short.
    pub fn bytes(&self, index: usize) -> &[u8] {
        let Some(&end) = self.ends.get(index) else { return &[] };
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..end]
    }

    /// The text of a field. The `Err` is a readable form of its bytes.
    pub fn text(&self, index: usize) -> Result<&str, String> {
        let bytes = self.bytes(index);
        std::str::from_utf8(bytes).map_err(|_| String::from_utf8_lossy(bytes).into_owned())
    }

    /// All fields, in a readable form if they are not UTF-8.
    pub fn readable(&self) -> Vec<String> {
        (0..self.len()).map(|i| String::from_utf8_lossy(self.bytes(i)).into_owned()).collect()
    }

    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    fn end_field(&mut self) {
        self.ends.push(self.text.len());
    }
}

/// Reads rows from a stream of bytes.
pub struct CsvRows<R> {
    input: R,
    buffer: Vec<u8>,
    /// The bytes that were read and not used yet: `buffer[start..end]`.
    start: usize,
    end: usize,
    at_end: bool,
    line: u64,
    has_started: bool,
}

/// The reason why the row that begins at `start` cannot be parsed from the buffer.
enum RowHalt {
    /// It may continue in bytes that were not read yet.
    More,
    Broken(&'static str, &'static str),
}

const STRAY: (&str, &str) = (
    "a quoted field is followed by something other than a comma or the end of the line",
    "write a quote inside a quoted field twice (\"\")",
);
const OPEN: (&str, &str) =
    ("a quoted field is never closed", "close the quote, or write it twice (\"\") if it is text");
const LONG: (&str, &str) = (
    "the row is longer than the limit",
    "look for a quote that is never closed, or shorten the row",
);

impl<R: Read> CsvRows<R> {
    /// The rows of the stream, from its first byte.
    pub fn new(input: R) -> Self {
        Self {
            input,
            buffer: vec![0; 128 * 1024],
            start: 0,
            end: 0,
            at_end: false,
            line: 1,
            has_started: false,
        }
    }

    /// Reads the next row into `row`; `None` at the end.
    ///
    /// Errors: the stream cannot be read.
    pub fn next(&mut self, row: &mut CsvRow) -> io::Result<Option<Result<(), BrokenRow>>> {
        if !self.has_started {
            self.has_started = true;
            self.skip_mark()?;
        }
        self.skip_empty_lines()?;
        if self.start == self.end {
            return Ok(None);
        }
        loop {
            row.clear();
            row.line = self.line;
            match parse(&self.buffer[self.start..self.end], self.at_end, row) {
                Ok((used, lines)) => {
                    self.start += used;
                    self.line += lines;
                    return Ok(Some(Ok(())));
                }
                Err(RowHalt::Broken(problem, remedy)) => {
                    return self.broken(problem, remedy).map(Some);
                }
                Err(RowHalt::More) if self.end - self.start > CSV_LINE_MAX_BYTES => {
                    return self.broken(LONG.0, LONG.1).map(Some);
                }
                Err(RowHalt::More) => self.fill()?,
            }
        }
    }

    /// Whether the stream begins like UTF-16, which OneRoster does not allow.
    pub fn is_utf16(&mut self) -> io::Result<bool> {
        self.fill()?;
        let head = &self.buffer[self.start..self.end];
        Ok(head.starts_with(&[0xFF, 0xFE]) || head.starts_with(&[0xFE, 0xFF]))
    }

    fn skip_mark(&mut self) -> io::Result<()> {
        while self.end - self.start < 3 && !self.at_end {
            self.fill()?;
        }
        if self.buffer[self.start..self.end].starts_with(&[0xEF, 0xBB, 0xBF]) {
            self.start += 3;
        }
        Ok(())
    }

    fn skip_empty_lines(&mut self) -> io::Result<()> {
        loop {
            while self.start < self.end && matches!(self.buffer[self.start], b'\n' | b'\r') {
                // The LF of a CR LF counts the line, and may not have been read yet.
                if self.buffer[self.start] == b'\r' {
                    if self.start + 1 == self.end && !self.at_end {
                        break;
                    }
                    let pair = self.start + 1 < self.end && self.buffer[self.start + 1] == b'\n';
                    self.start += usize::from(pair);
                }
                self.start += 1;
                self.line += 1;
            }
            let unsure = self.start == self.end
                || (self.start + 1 == self.end && self.buffer[self.start] == b'\r');
            if !unsure || self.at_end {
                return Ok(());
            }
            self.fill()?;
        }
    }

    /// Reads more bytes, after making room. Sets `at_end` at the end of the input.
    fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let read = loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.end += read;
        self.at_end = read == 0;
        Ok(())
    }

    /// Returns the error of the row at `start`, and moves past its first line.
    fn broken(
        &mut self,
        problem: &'static str,
        remedy: &'static str,
    ) -> io::Result<Result<(), BrokenRow>> {
        let unread = &self.buffer[self.start..self.end];
        let first_line = memchr::memchr2(b'\n', b'\r', unread).unwrap_or(unread.len());
        let raw = String::from_utf8_lossy(&unread[..first_line.min(200)]).into_owned();
        let line = self.line;
        self.start += first_line;
        // A line longer than the limit is not completely in the buffer.
        while self.start == self.end && !self.at_end {
            self.fill()?;
            let unread = &self.buffer[self.start..self.end];
            self.start += memchr::memchr2(b'\n', b'\r', unread).unwrap_or(unread.len());
        }
        Ok(Err(BrokenRow { line, problem, remedy, raw }))
    }
}

/// Parses one row at the start of `input`; returns its numbers of bytes and lines, including the line end.
fn parse(input: &[u8], at_end: bool, row: &mut CsvRow) -> Result<(usize, u64), RowHalt> {
    let mut at = 0;
    let mut lines = 0;
    loop {
        let next = if input.get(at) == Some(&b'"') {
            at = quoted(input, at + 1, at_end, row, &mut lines)?;
            input.get(at)
        } else {
            let length = memchr::memchr3(b',', b'\n', b'\r', &input[at..]);
            let end = length.map_or(input.len(), |length| at + length);
            row.text.extend_from_slice(&input[at..end]);
            at = end;
            input.get(at)
        };
        match next {
            None if !at_end => return Err(RowHalt::More),
            None => {
                row.end_field();
                return Ok((at, lines));
            }
            Some(b',') => row.end_field(),
            Some(b'\n') => {
                row.end_field();
                return Ok((at + 1, lines + 1));
            }
            Some(b'\r') => {
                if at + 1 == input.len() && !at_end {
                    return Err(RowHalt::More);
                }
                row.end_field();
                let pair = input.get(at + 1) == Some(&b'\n');
                return Ok((at + 1 + usize::from(pair), lines + 1));
            }
            Some(_) => return Err(RowHalt::Broken(STRAY.0, STRAY.1)),
        }
        at += 1;
    }
}

/// Parses the inside of a quoted field; returns the position after its closing quote.
fn quoted(
    input: &[u8],
    mut at: usize,
    at_end: bool,
    row: &mut CsvRow,
    lines: &mut u64,
) -> Result<usize, RowHalt> {
    loop {
        let Some(length) = memchr::memchr(b'"', &input[at..]) else {
            return Err(if at_end { RowHalt::Broken(OPEN.0, OPEN.1) } else { RowHalt::More });
        };
        let text = &input[at..at + length];
        row.text.extend_from_slice(text);
        *lines += line_ends(text);
        at += length + 1;
        match input.get(at) {
            Some(b'"') => {
                row.text.push(b'"');
                at += 1;
            }
            None if !at_end => return Err(RowHalt::More),
            _ => return Ok(at),
        }
    }
}

/// The number of line ends in a text. CR LF counts as one.
fn line_ends(text: &[u8]) -> u64 {
    let mut count = 0;
    for at in memchr::memchr2_iter(b'\n', b'\r', text) {
        let second = text[at] == b'\n' && at > 0 && text[at - 1] == b'\r';
        count += u64::from(!second);
    }
    count
}

#[cfg(test)]
#[expect(clippy::type_complexity, clippy::unnecessary_wraps, reason = "rows and their errors")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(input: &[u8]) -> Vec<Result<(u64, Vec<String>), (u64, &'static str)>> {
        // One byte at a time, to test every boundary of the buffer.
        let mut rows = CsvRows::new(SlowReader(input));
        let mut row = CsvRow::default();
        let mut out = Vec::new();
        while let Some(next) = rows.next(&mut row).unwrap() {
            out.push(match next {
                Ok(()) => Ok((row.line, row.readable())),
                Err(broken) => Err((broken.line, broken.problem)),
            });
        }
        out
    }

    struct SlowReader<'a>(&'a [u8]);

    impl Read for SlowReader<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = self.0.len().min(1);
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn row(line: u64, fields: &[&str]) -> Result<(u64, Vec<String>), (u64, &'static str)> {
        Ok((line, fields.iter().map(ToString::to_string).collect()))
    }

    #[test]
    fn reads_quotes_line_ends_and_a_mark() {
        assert_eq!(
            all(b"\xEF\xBB\xBFa,b\r\n\r\n\"x, \"\"y\"\"\nz\",\n,5\" pipe\rlast,\"\""),
            [
                row(1, &["a", "b"]),
                row(3, &["x, \"y\"\nz", ""]),
                row(5, &["", "5\" pipe"]),
                row(6, &["last", ""]),
            ]
        );
        assert_eq!(all(b""), []);
        assert_eq!(all(b"\xEF\xBB\xBF"), []);
        assert_eq!(all(b"\n\r\n\r"), []);
    }

    #[test]
    fn a_broken_row_does_not_affect_other_rows() {
        assert_eq!(
            all(b"1,\"Smith \"Bob\" Jones\"\n2,ok\n3,\"open\n4,ok\n5,\"\"\n"),
            [
                Err((1, STRAY.0)),
                row(2, &["2", "ok"]),
                Err((3, OPEN.0)),
                row(4, &["4", "ok"]),
                row(5, &["5", ""]),
            ]
        );
    }

    #[test]
    fn a_row_above_the_limit_is_refused_in_bounded_memory() {
        let long = [b"a,\"".as_slice(), &vec![b'x'; 3 * CSV_LINE_MAX_BYTES], b"\n2,ok\n"].concat();
        let mut rows = CsvRows::new(long.as_slice());
        let mut row = CsvRow::default();
        let broken = rows.next(&mut row).unwrap().unwrap().unwrap_err();
        assert_eq!((broken.line, broken.problem), (1, LONG.0));
        assert!(rows.buffer.len() <= 4 * CSV_LINE_MAX_BYTES);
        rows.next(&mut row).unwrap().unwrap().unwrap();
        assert_eq!((row.line, row.readable()), (2, vec!["2".to_owned(), "ok".to_owned()]));
    }

    #[test]
    fn many_open_quotes_take_linear_time() {
        let input = "\"a\n\"\"x\n".repeat(200_000);
        let mut rows = CsvRows::new(input.as_bytes());
        let mut row = CsvRow::default();
        let mut count = 0;
        while rows.next(&mut row).unwrap().is_some() {
            count += 1;
        }
        assert_eq!(count, 400_000);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn any_bytes_are_read_to_the_end(
            input in proptest::collection::vec(
                prop_oneof![Just(b'"'), Just(b','), Just(b'\n'), Just(b'\r'), any::<u8>()], 0..200)
        ) {
            let rows = all(&input);
            prop_assert!(rows.len() <= input.len());
            let mut lines = rows.iter().map(|row| match row { Ok((line, _)) | Err((line, _)) => *line });
            let mut former = 0;
            let rising = lines.all(|line| { let later = line > former; former = line; later });
            prop_assert!(rising);
        }

        #[test]
        fn written_rows_are_read_back(
            table in proptest::collection::vec(proptest::collection::vec("[a-c,\"\r\n é]{0,6}", 2..4), 1..6)
        ) {
            let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
            for row in &table {
                writer.write_record(row).unwrap();
            }
            let back: Vec<_> = all(&writer.into_inner().unwrap())
                .into_iter().map(|row| row.unwrap().1).collect();
            prop_assert_eq!(back, table);
        }
    }
}
