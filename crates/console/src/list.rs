//! Lists: columns, rows, and how they are shown.

use std::cmp::Ordering;

use askama::Template;
use askama::filters::{Html, HtmlSafe, Safe, escape};
use lyceum_core::Result;
use lyceum_core::limits::CONSOLE_PAGE_ROWS_COUNT;
use lyceum_core::text::folded;
use lyceum_core::time::Timestamp;
use serde_json::Value;

use crate::file::{File, plain};
use crate::{Export, Query};

/// A column of a list.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name in exports and in `sort`.
    pub key: &'static str,
    /// Its heading.
    pub label: &'static str,
    /// Whether it holds numbers, which stand at the right.
    pub is_number: bool,
    /// Whether rows can be ordered by it.
    pub sorts: bool,
}

impl Column {
    /// A column of words.
    pub const fn text(key: &'static str, label: &'static str) -> Self {
        Self { key, label, is_number: false, sorts: true }
    }

    /// A column of numbers.
    pub const fn number(key: &'static str, label: &'static str) -> Self {
        Self { key, label, is_number: true, sorts: true }
    }

    /// A column of buttons, which no export has.
    pub const fn buttons(label: &'static str) -> Self {
        Self { key: "", label, is_number: false, sorts: false }
    }

    /// The same, by which nothing is ordered.
    #[must_use]
    pub const fn fixed(self) -> Self {
        Self { sorts: false, ..self }
    }
}

/// One value of a row.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// What exports hold and rows are ordered by.
    pub value: Value,
    /// What is shown.
    pub shown: String,
    /// The page with what is behind it.
    pub href: Option<String>,
    /// `good`, `warn` or `bad` for what is told by a coloured label; none: plain.
    pub tone: &'static str,
    /// Labels with what is to be said of each, in place of what is shown.
    pub labels: Vec<Label>,
    /// What can be done with the row, in place of what is shown.
    pub button: Option<Button>,
    /// Whether it stands on one line: a date that breaks is hard to read.
    pub is_whole: bool,
}

/// A form of one button.
#[derive(Clone, Debug)]
pub struct Button {
    /// Where it is sent.
    pub path: String,
    /// The names and values that are sent, the form's token among them.
    pub fields: Vec<(&'static str, String)>,
    /// What stands on it.
    pub says: String,
    /// `bad` for what cannot be undone; none: plain.
    pub tone: &'static str,
}

/// A coloured label, and a few words behind it.
#[derive(Clone, Debug)]
pub struct Label {
    /// `good`, `warn` or `bad`; none: plain.
    pub tone: &'static str,
    /// In two or three words.
    pub name: &'static str,
    /// What is to be said.
    pub says: String,
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        let shown = text.into();
        Self { value: Value::from(shown.as_str()), shown, ..Self::default() }
    }

    /// A value, and how it is shown.
    pub fn of(value: impl Into<Value>, shown: impl Into<String>) -> Self {
        Self { value: value.into(), shown: shown.into(), ..Self::default() }
    }

    /// An instant, and how its date and time are written: on one line.
    pub fn when(instant: Timestamp, written: impl Into<String>) -> Self {
        Self { is_whole: true, ..Self::of(instant.to_string(), written) }
    }

    /// Nothing, shown as a dash.
    pub fn none() -> Self {
        Self::missing("–")
    }

    /// Nothing, and what is said in its place.
    pub fn missing(says: &str) -> Self {
        Self::of(Value::Null, says)
    }

    /// Labels; searched and exported as the text that they make.
    pub fn labels(labels: Vec<Label>) -> Self {
        let words: Vec<String> =
            labels.iter().map(|label| format!("{}: {}", label.name, label.says)).collect();
        Self { labels, ..Self::text(words.join("; ")) }
    }

    /// A button; exports hold nothing of it.
    pub fn button(button: Button) -> Self {
        Self { button: Some(button), ..Self::default() }
    }

    /// The same, leading to a page.
    #[must_use]
    pub fn to(mut self, href: impl Into<String>) -> Self {
        self.href = Some(href.into());
        self
    }

    /// The same as a label: `good`, `warn` or `bad`.
    #[must_use]
    pub fn toned(mut self, tone: &'static str) -> Self {
        self.tone = tone;
        self
    }

    /// What is shown. An address breaks before its `@` sooner than anywhere else.
    fn breakable(&self) -> Safe<String> {
        let Ok(escaped) = escape(&self.shown, Html);
        Safe(escaped.to_string().replace('@', "<wbr>@"))
    }
}

/// A row: a cell a column.
pub type Row = Vec<Cell>;

/// Values of one of the screen's own parameters, to choose from.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The parameter.
    pub name: &'static str,
    /// What is chosen.
    pub label: &'static str,
    /// Value and name of each option; the first stands for none chosen.
    pub options: Vec<(String, String)>,
}

impl Choice {
    /// A choice among these values and names, and none of them.
    pub fn of(
        name: &'static str,
        label: &'static str,
        options: impl Iterator<Item = (impl Into<String>, impl Into<String>)>,
    ) -> Self {
        let all = std::iter::once((String::new(), "All".to_owned()));
        let options = all.chain(options.map(|(value, name)| (value.into(), name.into())));
        Self { name, label, options: options.collect() }
    }
}

/// A list with its search field, headings that sort, pages and exports. In a template: `{{ list }}`.
#[derive(Template)]
#[template(path = "list.html")]
pub struct List {
    caption: &'static str,
    empty: &'static str,
    columns: &'static [Column],
    query: Query,
    choices: Vec<Choice>,
    has_days: bool,
    searches: &'static str,
    note: String,
    /// Those of the page; every one where the list is exported.
    rows: Vec<Row>,
    total: usize,
}

impl HtmlSafe for List {}

impl List {
    /// A list of all rows there are: those are shown that hold the words of the filter, in the order
    /// that is asked for, else in their own.
    pub fn new(
        caption: &'static str,
        columns: &'static [Column],
        query: Query,
        mut rows: Vec<Row>,
    ) -> Self {
        if !query.filter.is_empty() {
            rows.retain(|row| {
                let shown: Vec<&str> = row.iter().map(|cell| cell.shown.as_str()).collect();
                query.finds(&shown)
            });
        }
        Self::found(caption, columns, query, rows)
    }

    /// A list of all rows that the filter leaves, in the order that is asked for, else in their own.
    pub fn found(
        caption: &'static str,
        columns: &'static [Column],
        query: Query,
        mut rows: Vec<Row>,
    ) -> Self {
        let (key, is_reversed) = query.order();
        if let Some(at) = columns.iter().position(|column| column.key == key && column.sorts) {
            rows.sort_by(|a, b| compare(&a[at].value, &b[at].value, is_reversed));
        }
        let total = rows.len();
        if query.export.is_none() {
            rows = rows.into_iter().skip(query.skipped()).take(CONSOLE_PAGE_ROWS_COUNT).collect();
        }
        Self::page(caption, columns, query, rows, total)
    }

    /// A list of which these are the rows of the page (all rows, where it is exported), of `total`.
    pub fn page(
        caption: &'static str,
        columns: &'static [Column],
        query: Query,
        rows: Vec<Row>,
        total: usize,
    ) -> Self {
        let empty = "There is nothing here yet.";
        let (choices, searches, note) = (Vec::new(), "Search", String::new());
        Self {
            caption,
            empty,
            columns,
            query,
            choices,
            has_days: false,
            searches,
            note,
            rows,
            total,
        }
    }

    /// The same list, with what it says when there is nothing to list at all.
    #[must_use]
    pub fn or_else(mut self, says: &'static str) -> Self {
        self.empty = says;
        self
    }

    /// The same list, with something to choose from above it.
    #[must_use]
    pub fn choice(mut self, choice: Choice) -> Self {
        self.choices.push(choice);
        self
    }

    /// The same list, with a first and a last day to choose above it, in `from` and `to`.
    #[must_use]
    pub fn days(mut self) -> Self {
        self.has_days = true;
        self
    }

    /// The same list, with what its search field takes.
    #[must_use]
    pub fn searches(mut self, says: &'static str) -> Self {
        self.searches = says;
        self
    }

    /// The same list, with what it says of itself below its last row.
    #[must_use]
    pub fn note(mut self, says: impl Into<String>) -> Self {
        self.note = says.into();
        self
    }

    /// The file that is asked for in place of the page.
    pub fn export(&self) -> Option<Export> {
        self.query.export
    }

    /// How many rows there are on all pages.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The list as the file that is asked for. Errors: `Internal`.
    pub fn exported(&self, export: Export) -> Result<Vec<u8>> {
        let mut file = File::new(self.columns, export)?;
        for row in &self.rows {
            file.add(row)?;
        }
        file.end()
    }

    fn pages(&self) -> usize {
        self.total.div_ceil(CONSOLE_PAGE_ROWS_COUNT).max(1)
    }

    fn first(&self) -> usize {
        self.query.skipped() + 1
    }

    fn last(&self) -> usize {
        self.query.skipped() + self.rows.len()
    }

    fn page_link(&self, page: usize) -> String {
        let page = page.to_string();
        self.query.link(&[("page", if page == "1" { "" } else { &page })])
    }

    /// The address that sorts by a column; by its greatest first where it holds numbers.
    fn sort_link(&self, column: &Column) -> String {
        let turned = format!("-{}", column.key);
        let (first, second) =
            if column.is_number { (turned.as_str(), column.key) } else { (column.key, &*turned) };
        let sort = if self.query.sort == first { second } else { first };
        self.query.link(&[("sort", sort), ("page", "")])
    }

    /// How a column is sorted, in the words of ARIA.
    fn sorted(&self, column: &Column) -> &'static str {
        match self.query.order() {
            (key, true) if key == column.key => "descending",
            (key, false) if key == column.key => "ascending",
            _ => "none",
        }
    }

    /// The orders to choose from: value and name of each, as the headings have them.
    fn orders(&self) -> impl Iterator<Item = (String, String)> {
        let sorting = self.columns.iter().filter(|column| column.sorts);
        sorting.flat_map(|Column { key, label, .. }| {
            [((*key).to_owned(), format!("{label} ↑")), (format!("-{key}"), format!("{label} ↓"))]
        })
    }

    fn is_searched(&self) -> bool {
        let is_chosen = |(name, value): &(String, String)| self.is_field(name) && !value.is_empty();
        !self.query.filter.is_empty() || self.query.own.iter().any(is_chosen)
    }

    /// Whether a parameter is one of the fields above the list.
    fn is_field(&self, name: &str) -> bool {
        self.choices.iter().any(|choice| choice.name == name)
            || self.has_days && ["from", "to"].contains(&name)
    }

    /// The parameters that the search form keeps, in hidden fields.
    fn kept(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = self.query.own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        own.filter(|(name, _)| !self.is_field(name))
    }
}

/// Numbers by size, words as people order them; what is missing stands last in both directions.
fn compare(a: &Value, b: &Value, is_reversed: bool) -> Ordering {
    let order = match (a, b) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => return Ordering::Greater,
        (_, Value::Null) => return Ordering::Less,
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap_or_default(), b.as_f64().unwrap_or_default());
            a.total_cmp(&b)
        }
        _ => folded(&plain(a)).cmp(&folded(&plain(b))),
    };
    if is_reversed { order.reverse() } else { order }
}
