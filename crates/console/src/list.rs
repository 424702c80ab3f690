//! Lists: what is asked of one (filter, sort, page, export), and how it is shown.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use askama::Template;
use askama::filters::HtmlSafe;
use form_urlencoded::Serializer;
use lyceum_core::limits::CONSOLE_PAGE_ROWS_COUNT;
use lyceum_core::{Problem, Result};
use serde_json::{Map, Value};

/// What a list's address asks: `?filter=ada&sort=-xp&page=2&export=csv`, and the screen's own
/// parameters, which links inside the list keep.
#[derive(Clone, Debug, Default)]
pub struct Query {
    path: String,
    /// Words that shown rows hold.
    pub filter: String,
    /// The key of the column that orders the rows; a leading `-` turns the order round.
    pub sort: String,
    /// The page, from 1.
    pub page: usize,
    /// The whole list as a file.
    pub export: Option<Export>,
    own: Vec<(String, String)>,
}

/// A file that a list is given as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Export {
    /// Comma-separated values with a heading (RFC 4180).
    Csv,
    /// An array of objects, by the columns' keys.
    Json,
}

impl Query {
    /// What the address of a path with these pairs asks. What is no number or no form is passed over.
    pub fn of<'q>(path: &str, pairs: impl Iterator<Item = (Cow<'q, str>, Cow<'q, str>)>) -> Self {
        let mut query = Self { path: path.to_owned(), page: 1, ..Self::default() };
        for (name, value) in pairs {
            match &*name {
                "filter" => value.trim().clone_into(&mut query.filter),
                "sort" => query.sort = value.into_owned(),
                "page" => query.page = value.parse().unwrap_or(1).max(1),
                "export" if value == "csv" => query.export = Some(Export::Csv),
                "export" if value == "json" => query.export = Some(Export::Json),
                "export" => {}
                _ => query.own.push((name.into_owned(), value.into_owned())),
            }
        }
        query
    }

    /// A parameter of the screen's own; empty where it was not sent.
    pub fn own(&self, name: &str) -> &str {
        let found = self.own.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// How many rows stand on the pages before this one.
    pub fn skipped(&self) -> usize {
        (self.page - 1).saturating_mul(CONSOLE_PAGE_ROWS_COUNT)
    }

    /// The key of the column that orders the rows, and whether from the last to the first.
    pub fn order(&self) -> (&str, bool) {
        match self.sort.strip_prefix('-') {
            Some(key) => (key, true),
            None => (&self.sort, false),
        }
    }

    /// This address with other values; an empty one is left out.
    pub fn link(&self, changes: &[(&str, &str)]) -> String {
        let page = self.page.to_string();
        let page = if self.page == 1 { "" } else { &page };
        let own = self.own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let known = [("filter", self.filter.as_str()), ("sort", &self.sort), ("page", page)];
        let mut pairs: Vec<(&str, &str)> = own.chain(known).collect();
        for (name, value) in changes {
            match pairs.iter_mut().find(|(known, _)| known == name) {
                Some(pair) => pair.1 = value,
                None => pairs.push((name, value)),
            }
        }
        pairs.retain(|(_, value)| !value.is_empty());
        if pairs.is_empty() {
            return self.path.clone();
        }
        let query = Serializer::new(String::new()).extend_pairs(pairs).finish();
        format!("{}?{query}", self.path)
    }
}

/// A column of a list.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name in exports and in `sort`.
    pub key: &'static str,
    /// Its heading.
    pub label: &'static str,
    /// Whether it holds numbers, which stand at the right.
    pub is_number: bool,
}

impl Column {
    /// A column of words.
    pub const fn text(key: &'static str, label: &'static str) -> Self {
        Self { key, label, is_number: false }
    }

    /// A column of numbers.
    pub const fn number(key: &'static str, label: &'static str) -> Self {
        Self { key, label, is_number: true }
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
        let words: Vec<String> = query.filter.split_whitespace().map(str::to_lowercase).collect();
        let holds =
            |row: &Row, word: &str| row.iter().any(|cell| cell.shown.to_lowercase().contains(word));
        rows.retain(|row| words.iter().all(|word| holds(row, word)));
        let (key, is_reversed) = query.order();
        if let Some(at) = columns.iter().position(|column| column.key == key) {
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
        Self { caption, empty, columns, query, choices: Vec::new(), rows, total }
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
        match export {
            Export::Csv => self.csv(),
            Export::Json => Ok(self.json()),
        }
    }

    fn csv(&self) -> Result<Vec<u8>> {
        let mut file = csv::Writer::from_writer(Vec::new());
        let keys = self.columns.iter().map(|column| column.key);
        file.write_record(keys).map_err(Problem::internal)?;
        for row in &self.rows {
            file.write_record(row.iter().map(|cell| plain(&cell.value)))
                .map_err(Problem::internal)?;
        }
        file.into_inner().map_err(Problem::internal)
    }

    fn json(&self) -> Vec<u8> {
        let object = |row: &Row| {
            let pairs = self.columns.iter().zip(row);
            pairs.map(|(column, cell)| (column.key.to_owned(), cell.value.clone())).collect()
        };
        let rows: Vec<Map<String, Value>> = self.rows.iter().map(object).collect();
        serde_json::to_vec(&rows).expect("objects have string keys")
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

    fn is_searched(&self) -> bool {
        let is_chosen = |choice: &Choice| !self.query.own(choice.name).is_empty();
        !self.query.filter.is_empty() || self.choices.iter().any(is_chosen)
    }

    /// The parameters that the search form keeps, in hidden fields.
    fn kept(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_chosen = |name: &str| self.choices.iter().any(|choice| choice.name == name);
        let own = self.query.own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let sort = (!self.query.sort.is_empty()).then_some(("sort", self.query.sort.as_str()));
        own.filter(move |(name, _)| !is_chosen(name)).chain(sort)
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
        _ => plain(a).to_lowercase().cmp(&plain(b).to_lowercase()),
    };
    if is_reversed { order.reverse() } else { order }
}

/// A value in a cell of a spreadsheet. What a spreadsheet would take for a formula is marked as text.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) if text.starts_with(['=', '+', '-', '@', '\t', '\r']) => {
            format!("'{text}")
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl fmt::Display for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Csv => "csv",
            Self::Json => "json",
        })
    }
}
