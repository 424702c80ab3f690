//! Lists: which rows they show, in which order, on which page and in which file.

use lyceum_console::limits::CONSOLE_PAGE_ROWS_COUNT;
use lyceum_console::{Button, Cell, Column, ExportFormat, List, ListFilter, ListQuery, Row};
use serde_json::{Value, json};

use crate::{count, query};

const COLUMNS: &[Column] =
    &[Column::text("name", "Name"), Column::number("xp", "XP"), Column::buttons("Change")];

fn row(name: &str, xp: Option<i64>) -> Row {
    let button = Button {
        path: "/change".into(),
        fields: vec![("token", "t".into())],
        description: "Remove".into(),
        tone: "bad",
    };
    vec![Cell::text(name), xp.map_or_else(Cell::none, Cell::count), Cell::button(button)]
}

fn list(query: ListQuery) -> List {
    let rows = [("Zoë", Some(5)), ("ann", Some(40)), ("Bob", None), ("Ann-Marie", Some(-3))];
    List::new("Students", COLUMNS, query, rows.map(|(name, xp)| row(name, xp)).into())
}

/// The names that a list has, in its order.
fn names(query: &str) -> Vec<String> {
    let file =
        list(crate::query(&format!("{query}&export=json"))).exported(ExportFormat::Json).unwrap();
    let rows: Vec<Value> = serde_json::from_slice(&file).unwrap();
    rows.into_iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn rows_are_sorted_as_people_sort_with_missing_values_last() {
    assert_eq!(names(""), ["Zoë", "ann", "Bob", "Ann-Marie"]);
    assert_eq!(names("sort=name"), ["ann", "Ann-Marie", "Bob", "Zoë"]);
    assert_eq!(names("sort=-name"), ["Zoë", "Bob", "Ann-Marie", "ann"]);
    assert_eq!(names("sort=xp"), ["Ann-Marie", "Zoë", "ann", "Bob"]);
    assert_eq!(names("sort=-xp"), ["ann", "Zoë", "Ann-Marie", "Bob"]);
    for unknown in ["sort=unknown", "sort=", "sort=-"] {
        assert_eq!(names(unknown), names(""), "{unknown}");
    }
}

#[test]
fn a_filter_finds_every_word_without_case_and_accents() {
    assert_eq!(names("filter=ANN"), ["ann", "Ann-Marie"]);
    assert_eq!(names("filter=marie ann"), ["Ann-Marie"]);
    assert_eq!(names("filter=zoe"), ["Zoë"]);
    assert_eq!(names("filter=zoe 5"), ["Zoë"]);
    assert_eq!(names("filter=zoe 40"), [""; 0]);
    let nothing = list(query("filter=nobody")).to_string();
    assert!(nothing.contains("Nothing matches the search. <a href=\"/list\">Show all</a>"));
}

#[test]
fn an_empty_list_says_how_to_fill_it() {
    let empty = || List::new("Students", COLUMNS, query(""), Vec::new());
    let shown = empty().or_else("There are no students yet. Use `lyceum import`.").to_string();
    assert!(
        shown.contains("There are no students yet. Use <code>lyceum import</code>."),
        "{shown}"
    );
    assert_eq!((count(&shown, "<table"), count(&shown, "<nav")), (0, 0));
    assert_eq!(empty().exported(ExportFormat::Json).unwrap(), b"[]");
    assert_eq!(empty().exported(ExportFormat::Csv).unwrap(), b"name,xp\n");
    let chosen = List::new("Students", COLUMNS, query("school=north"), Vec::new());
    let chosen =
        chosen.choice(ListFilter::of("school", "School", [("north", "North")].into_iter()));
    assert!(chosen.to_string().contains("Nothing matches the search."));
}

#[test]
fn a_long_list_has_pages_and_its_files_have_all_rows() {
    let total = 3 * CONSOLE_PAGE_ROWS_COUNT + 1;
    let long = |query: ListQuery| {
        let rows = (1..=total).map(|number| row(&format!("name-{number}"), Some(1))).collect();
        List::new("Students", COLUMNS, query, rows)
    };
    let page = |number: usize| long(query(&format!("page={number}&sort=xp&own=1"))).to_string();
    for (number, rows) in [(1, CONSOLE_PAGE_ROWS_COUNT), (2, CONSOLE_PAGE_ROWS_COUNT), (4, 1)] {
        let shown = page(number);
        assert_eq!(count(&shown, ">name-"), rows);
        let first = (number - 1) * CONSOLE_PAGE_ROWS_COUNT + 1;
        let place = format!("<span>{first}–{} of {total}</span>", first + rows - 1);
        assert!(shown.contains(&place), "{place}");
        assert_eq!(shown.contains("rel=\"prev\""), number > 1);
        assert_eq!(shown.contains("rel=\"next\""), number < 4);
    }
    // Links keep the order and the screen's own parameters; the first page needs no number.
    assert!(page(2).contains("rel=\"prev\" href=\"/list?own=1&#38;sort=xp\""), "{}", page(2));
    assert!(page(2).contains("rel=\"next\" href=\"/list?own=1&#38;sort=xp&#38;page=3\""));
    let beyond = page(5);
    assert!(beyond.contains("The list does not have this page."));
    assert_eq!(count(&page(usize::MAX), "<table"), 0);
    assert_eq!(long(query("page=0")).to_string(), long(query("page=none")).to_string());
    let file = long(query("page=2&export=csv")).exported(ExportFormat::Csv).unwrap();
    assert_eq!(count(&String::from_utf8(file).unwrap(), "\n"), total + 1);
}

#[test]
fn files_contain_values_and_no_formulas() {
    let rows = vec![row("=1+2", Some(7)), row("-a", None), row("a, \"b\"\nc", Some(-1))];
    let list = List::new("Students", COLUMNS, query("export=csv"), rows);
    let csv = String::from_utf8(list.exported(ExportFormat::Csv).unwrap()).unwrap();
    assert_eq!(csv, "name,xp\n'=1+2,7\n'-a,\n\"a, \"\"b\"\"\nc\",-1\n");
    let json: Value = serde_json::from_slice(&list.exported(ExportFormat::Json).unwrap()).unwrap();
    // JSON keeps the text: no program runs it.
    assert_eq!(json[0], json!({ "name": "=1+2", "xp": 7 }));
    assert_eq!(json[1], json!({ "name": "-a", "xp": null }));
}

#[test]
fn values_never_become_markup() {
    let script = "<script>alert(1)</script>";
    let cell = Cell::text(script).to("/a?b=\"c\"");
    let rows = vec![vec![cell, Cell::text("ada@example.org"), Cell::none()]];
    let shown =
        List::new("Students", COLUMNS, query(&format!("filter={script}")), rows).to_string();
    assert_eq!(count(&shown, "<script"), 0);
    assert!(shown.contains("<a href=\"/a?b=&#34;c&#34;\">&#60;script&#62;"), "{shown}");
    let plain = List::new("Students", COLUMNS, query(""), vec![row("ada@example.org", None)]);
    assert!(plain.to_string().contains("ada<wbr>@example.org"));
}

#[test]
fn a_lazy_list_shows_the_same_rows_and_builds_only_the_cells_it_needs() {
    const COLUMNS: &[Column] = &[Column::text("name", "Name"), Column::number("xp", "XP")];
    let items: Vec<(String, Option<i64>)> = (0..130)
        .map(|number| {
            (format!("name-{}", number * 37 % 130), (number % 3 > 0).then_some(number % 7))
        })
        .collect();
    let cell = |item: &(String, Option<i64>), column: &str| match column {
        "name" => Cell::text(&item.0),
        _ => item.1.map_or_else(Cell::none, Cell::count),
    };
    let queries = [
        ("", 100),
        ("page=3", 60),
        ("page=4", 0),
        ("sort=-xp", 130 + 100),
        ("sort=name&page=2", 130 + 100),
        ("filter=name-1", 260 + 82),
        ("filter=name-1&sort=xp", 260 + 41 + 82),
        ("export=csv", 260),
        ("sort=xp&export=csv", 130 + 260),
    ];
    for (asked, needed) in queries {
        let rows = items.iter().map(|item| ["name", "xp"].map(|key| cell(item, key)).into());
        let of_rows = List::new("Students", COLUMNS, query(asked), rows.collect());
        let created = std::cell::Cell::new(0);
        let counted = |item: &_, column: &str| {
            created.set(created.get() + 1);
            cell(item, column)
        };
        let of_items = List::of_items("Students", COLUMNS, query(asked), &items, counted);
        assert_eq!(of_items.to_string(), of_rows.to_string(), "{asked}");
        assert_eq!(of_items.total(), of_rows.total(), "{asked}");
        assert_eq!(created.get(), needed, "{asked}");
        if let Some(format) = of_items.export() {
            assert_eq!(of_items.exported(format).unwrap(), of_rows.exported(format).unwrap());
        }
    }
}
