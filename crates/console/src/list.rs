//! Lists: columns, rows and their display.

use std::borrow::Cow;
use std::mem;

use askama::Template;
use askama::filters::{Html, HtmlSafe, Safe, escape};
use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use serde_json::Value;

use crate::file::ExportFile;
use crate::language::translated;
use crate::limits::CONSOLE_PAGE_ROWS_COUNT;
use crate::shown_places::places_of_page;
use crate::{ExportFormat, ListQuery, ShownPlaces};

/// A column of a list.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The name in exports and in the parameter `sort`.
    pub key: &'static str,
    /// The heading in English, which the page translates.
    pub label: &'static str,
    /// Whether the column contains numbers, which are aligned to the right.
    pub is_number: bool,
    /// Whether rows can be sorted by this column.
    pub sorts: bool,
}

impl Column {
    /// A column of texts.
    pub const fn text(key: &'static str, label: &'static str) -> Self {
        Self { key, label, is_number: false, sorts: true }
    }

    /// A column of numbers.
    pub const fn number(key: &'static str, label: &'static str) -> Self {
        Self { key, label, is_number: true, sorts: true }
    }

    /// A column of buttons, which exports leave out.
    pub const fn buttons(label: &'static str) -> Self {
        Self { key: "", label, is_number: false, sorts: false }
    }

    /// The heading in the reader's language.
    fn heading(&self) -> String {
        translated(self.label)
    }

    /// The same column, but rows cannot be sorted by it.
    #[must_use]
    pub const fn fixed(self) -> Self {
        Self { sorts: false, ..self }
    }
}

/// A value of a row.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// The value that exports contain and rows are sorted by.
    pub value: Value,
    /// The text that the page shows.
    pub shown: String,
    /// The page to which the cell links.
    pub href: Option<String>,
    /// `good`, `warn` or `bad` for a coloured label; empty for plain text.
    pub tone: &'static str,
    /// Labels that replace the text.
    pub labels: Vec<Label>,
    /// A button that replaces the text.
    pub button: Option<Button>,
    /// Whether the cell must stay on one line. Dates do, because they are hard to read if they break.
    pub is_whole: bool,
}

/// A form that consists of one button.
#[derive(Clone, Debug)]
pub struct Button {
    /// The address to which the form is sent.
    pub path: String,
    /// The names and values that the form sends, including its token.
    pub fields: Vec<(&'static str, String)>,
    /// The text of the button.
    pub description: String,
    /// `bad` if the change cannot be undone, otherwise empty.
    pub tone: &'static str,
}

/// A coloured label followed by a short text.
#[derive(Clone, Debug)]
pub struct Label {
    /// `good`, `warn`, `bad`, or empty for plain.
    pub tone: &'static str,
    /// The label, in two or three words of English, which the page translates.
    pub name: &'static str,
    /// The text after the label.
    pub description: String,
}

impl Label {
    /// The label in the reader's language.
    pub fn title(&self) -> String {
        translated(self.name)
    }
}

impl Cell {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        let shown = text.into();
        Self { value: Value::from(shown.as_str()), shown, ..Self::default() }
    }

    /// A value and the text that shows it.
    pub fn of(value: impl Into<Value>, shown: impl Into<String>) -> Self {
        Self { value: value.into(), shown: shown.into(), ..Self::default() }
    }

    /// An instant and its date and time as text, which stay on one line.
    pub fn when(instant: Timestamp, written: impl Into<String>) -> Self {
        Self { is_whole: true, ..Self::of(instant.to_string(), written) }
    }

    /// A missing value, shown as a dash.
    pub fn none() -> Self {
        Self::missing("–")
    }

    /// A missing value, shown as the given text.
    pub fn missing(description: &str) -> Self {
        Self::of(Value::Null, description)
    }

    /// Labels. Search and export use their texts.
    pub fn labels(labels: Vec<Label>) -> Self {
        let words: Vec<String> = labels
            .iter()
            .map(|label| format!("{}: {}", label.title(), label.description))
            .collect();
        Self { labels, ..Self::text(words.join("; ")) }
    }

    /// A button, which exports leave out.
    pub fn button(button: Button) -> Self {
        Self { button: Some(button), ..Self::default() }
    }

    /// The same cell, linked to a page.
    #[must_use]
    pub fn to(mut self, href: impl Into<String>) -> Self {
        self.href = Some(href.into());
        self
    }

    /// The same cell as a coloured label: `good`, `warn` or `bad`.
    #[must_use]
    pub fn toned(mut self, tone: &'static str) -> Self {
        self.tone = tone;
        self
    }

    /// The text that is shown. An e-mail address may break before its `@`.
    fn breakable(&self) -> Safe<String> {
        let Ok(escaped) = escape(&self.shown, Html);
        Safe(escaped.to_string().replace('@', "<wbr>@"))
    }
}

/// A row with one cell for each column.
pub type Row = Vec<Cell>;

/// A filter above a list: the options for one of the screen's own parameters.
#[derive(Clone, Debug)]
pub struct ListFilter {
    /// The name of the parameter.
    pub name: &'static str,
    /// The label of the field.
    pub label: String,
    /// The value and name of each option. The first option means that the filter is off.
    pub options: Vec<(String, String)>,
}

impl ListFilter {
    /// A filter with these values and names, and an option that turns it off.
    pub fn of(
        name: &'static str,
        label: &'static str,
        options: impl Iterator<Item = (impl Into<String>, impl Into<String>)>,
    ) -> Self {
        let all = std::iter::once((String::new(), t!("All")));
        let options = all.chain(options.map(|(value, name)| (value.into(), name.into())));
        Self { name, label: translated(label), options: options.collect() }
    }
}

/// A list with a search field, sortable headings, pages and exports. Templates write `{{ list }}`. Its functions
/// translate the captions, labels and notes that are passed as constants.
#[derive(Template)]
#[template(path = "list.html")]
pub struct List {
    caption: String,
    empty: String,
    columns: &'static [Column],
    query: ListQuery,
    choices: Vec<ListFilter>,
    has_days: bool,
    searches: String,
    note: String,
    /// The rows of the page, or all rows for an export.
    rows: Vec<Row>,
    total: usize,
}

impl HtmlSafe for List {}

impl List {
    /// Makes a list from all rows. It shows the rows that contain the words of the filter, in the requested order or
    /// otherwise in the given order.
    pub fn new(
        caption: &'static str,
        columns: &'static [Column],
        query: ListQuery,
        mut rows: Vec<Row>,
    ) -> Self {
        if !query.filter.is_empty() {
            rows.retain(|row| query.finds_row(row));
        }
        Self::of_matching(caption, columns, query, rows)
    }

    /// Makes a list from items in their usual order. `cell` makes the cell of an item in the column with a key; it makes
    /// those that are needed: a network has many thousand items.
    pub fn of_items<T>(
        caption: &'static str,
        columns: &'static [Column],
        query: ListQuery,
        items: &[T],
        cell: impl Fn(&T, &str) -> Cell,
    ) -> Self {
        let ShownPlaces { places, total } = ShownPlaces::of(columns, &query, items, &cell);
        let shown = places.into_iter().map(|place| &items[place]);
        Self::of_shown(caption, columns, query, shown, total, cell)
    }

    /// Makes a list from the items that it shows, as [`ShownPlaces`] finds them among all.
    pub fn of_shown<'i, T: 'i>(
        caption: &'static str,
        columns: &'static [Column],
        query: ListQuery,
        shown: impl IntoIterator<Item = &'i T>,
        total: usize,
        cell: impl Fn(&T, &str) -> Cell,
    ) -> Self {
        let row =
            |item: &T| -> Row { columns.iter().map(|column| cell(item, column.key)).collect() };
        let rows = shown.into_iter().map(row).collect();
        Self::page(caption, columns, query, rows, total)
    }

    /// Makes a list from rows that already match the filter. It shows them in the requested order or otherwise in the
    /// given order.
    pub fn of_matching(
        caption: &'static str,
        columns: &'static [Column],
        query: ListQuery,
        mut rows: Vec<Row>,
    ) -> Self {
        let total = rows.len();
        let places = Self::places_of_page(columns, &query, &rows);
        let rows = places.into_iter().map(|place| mem::take(&mut rows[place])).collect();
        Self::page(caption, columns, query, rows, total)
    }

    /// The places of the rows that the page of a list shows, in its order, among all rows that match the filter. A file
    /// shows all of them.
    pub fn places_of_page(columns: &[Column], query: &ListQuery, rows: &[Row]) -> Vec<usize> {
        let value = |place: usize, at: usize| Cow::Borrowed(&rows[place][at].value);
        places_of_page(columns, query, (0..rows.len()).collect(), value)
    }

    /// Makes a list from the rows of one page, or all rows for an export. `total` is the number of rows on all pages.
    pub fn page(
        caption: &'static str,
        columns: &'static [Column],
        query: ListQuery,
        rows: Vec<Row>,
        total: usize,
    ) -> Self {
        Self {
            caption: translated(caption),
            empty: t!("There is nothing here yet."),
            columns,
            query,
            choices: Vec::new(),
            has_days: false,
            searches: t!("Search"),
            note: String::new(),
            rows,
            total,
        }
    }

    /// The same list, with a text to show if there are no rows at all.
    #[must_use]
    pub fn or_else(mut self, description: &'static str) -> Self {
        self.empty = translated(description);
        self
    }

    /// The same list, with a filter above it.
    #[must_use]
    pub fn choice(mut self, choice: ListFilter) -> Self {
        self.choices.push(choice);
        self
    }

    /// The same list, with filters above it.
    #[must_use]
    pub fn choices(mut self, choices: impl IntoIterator<Item = ListFilter>) -> Self {
        self.choices.extend(choices);
        self
    }

    /// The same list, with fields for a first and a last day, the parameters `from` and `to`.
    #[must_use]
    pub fn days(mut self) -> Self {
        self.has_days = true;
        self
    }

    /// The same list, with a placeholder for its search field.
    #[must_use]
    pub fn searches(mut self, description: &'static str) -> Self {
        self.searches = translated(description);
        self
    }

    /// The same list, with a note below its last row.
    #[must_use]
    pub fn note(mut self, description: impl Into<String>) -> Self {
        self.note = description.into();
        self
    }

    /// The file format, if a file was requested instead of the page.
    pub fn export(&self) -> Option<ExportFormat> {
        self.query.export
    }

    /// The number of rows on all pages.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The list as a file of the requested format. Errors: `Internal`.
    pub fn exported(&self, export: ExportFormat) -> Result<Vec<u8>> {
        let mut file = ExportFile::new(self.columns, export)?;
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

    /// The address that sorts by a column. Numbers sort in descending order first.
    fn sort_link(&self, column: &Column) -> String {
        let turned = format!("-{}", column.key);
        let (first, second) =
            if column.is_number { (turned.as_str(), column.key) } else { (column.key, &*turned) };
        let sort = if self.query.sort == first { second } else { first };
        self.query.link(&[("sort", sort), ("page", "")])
    }

    /// The ARIA value for how a column is sorted.
    fn sorted(&self, column: &Column) -> &'static str {
        match self.query.order() {
            (key, true) if key == column.key => "descending",
            (key, false) if key == column.key => "ascending",
            _ => "none",
        }
    }

    /// The value and name of each sort order, as the headings offer them.
    fn orders(&self) -> impl Iterator<Item = (String, String)> {
        let sorting = self.columns.iter().filter(|column| column.sorts);
        sorting.flat_map(|column| {
            let (key, heading) = (column.key, column.heading());
            [(key.to_owned(), format!("{heading} ↑")), (format!("-{key}"), format!("{heading} ↓"))]
        })
    }

    /// The number of filters that are set, with the order as one of them.
    fn active_filters(&self) -> usize {
        let is_set = |(name, value): &&(String, String)| self.is_field(name) && !value.is_empty();
        self.query.own.iter().filter(is_set).count() + usize::from(!self.query.sort.is_empty())
    }

    fn is_searched(&self) -> bool {
        let is_chosen = |(name, value): &(String, String)| self.is_field(name) && !value.is_empty();
        !self.query.filter.is_empty() || self.query.own.iter().any(is_chosen)
    }

    /// Whether a parameter has a field above the list.
    fn is_field(&self, name: &str) -> bool {
        self.choices.iter().any(|choice| choice.name == name)
            || self.has_days && ["from", "to"].contains(&name)
    }

    /// The parameters that the search form keeps in hidden fields.
    fn hidden_fields(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = self.query.own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        own.filter(|(name, _)| !self.is_field(name))
    }
}
