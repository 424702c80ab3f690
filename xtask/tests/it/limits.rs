//! `docs/limits.md` lists the limits of the crates that readers plan by.

use std::fmt::Write as _;

use crate::{Source, read, refuse, root, sources};

const PAGE: &str = "docs/limits.md";
const COLUMNS: &str = "| limit | value | what it bounds |\n|---|---:|---|\n";

/// The sections of the page, in its order. In `limits.rs`, a line `// # Rosters` stands above the limits of a section.
const SECTIONS: &[&str] = &[
    "Requests",
    "Accounts",
    "Rosters",
    "Questions and lessons",
    "Events",
    "Credentials and standards",
    "Webhooks",
    "Games",
    "Projects",
    "Operation",
];

/// The heading in `limits.rs` of limits that the page leaves out.
const INTERNAL: &str = "Internal";

struct Limit {
    place: String,
    /// The heading above it, or nothing.
    section: String,
    name: String,
    value: Option<u128>,
    meaning: String,
}

/// The limits of all crates, in the order of `limits.rs`.
fn limits() -> Vec<Limit> {
    let is_list = |source: &Source| {
        source.path.starts_with("crates/") && source.path.ends_with("/src/limits.rs")
    };
    let limits: Vec<Limit> =
        sources().iter().filter(|it| is_list(it)).flat_map(limits_of).collect();
    assert!(limits.len() > 300, "only {} limits were found", limits.len());
    limits
}

fn limits_of(source: &Source) -> Vec<Limit> {
    let (mut limits, mut meaning, mut section) = (Vec::new(), Vec::new(), String::new());
    // A value may stand on the line after its name.
    for line in source.text.replace("=\n", "= ").lines() {
        if let Some(doc) = line.strip_prefix("///") {
            meaning.push(doc.trim().to_owned());
        } else if let Some(constant) = line.strip_prefix("pub const ") {
            let (name, rest) = constant.split_once(':').unwrap();
            let expression = rest.split_once('=').unwrap().1.trim().trim_end_matches(';');
            limits.push(Limit {
                place: format!("{}: {name}", source.path),
                section: section.clone(),
                name: name.to_owned(),
                value: product(expression),
                meaning: std::mem::take(&mut meaning).join(" "),
            });
        } else if let Some(heading) = line.strip_prefix("// # ") {
            heading.clone_into(&mut section);
        }
    }
    limits
}

/// `4 * 1024 * 1024` as a number.
fn product(expression: &str) -> Option<u128> {
    expression
        .split('*')
        .map(|factor| factor.trim().replace('_', "").parse::<u128>().ok())
        .product()
}

/// Digits in groups of three.
fn grouped(value: u128) -> String {
    let digits = value.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

#[test]
fn the_page_lists_the_limits_of_its_sections() {
    let limits = limits();
    let page = read(PAGE);
    let (head, _) = page.split_once("\n## ").unwrap();
    let mut expected = format!("{}\n", head.trim_end());
    for section in SECTIONS {
        write!(expected, "\n## {section}\n\n{COLUMNS}").unwrap();
        for limit in limits.iter().filter(|limit| limit.section == *section) {
            let value = grouped(limit.value.unwrap_or_default());
            writeln!(expected, "| `{}` | {value} | {} |", limit.name, limit.meaning).unwrap();
        }
    }
    if page == expected {
        return;
    }
    if std::env::var_os("LYCEUM_BLESS").is_some() {
        std::fs::write(root().join(PAGE), expected).unwrap();
        return;
    }
    let differing = page.lines().zip(expected.lines()).find(|(page, code)| page != code);
    let breach = match differing {
        Some((page, code)) => format!("the page has `{page}`, and the code `{code}`"),
        None => "the page is longer or shorter than the code".to_owned(),
    };
    refuse(
        &[breach],
        "docs/limits.md lists the limits below the headings of its sections in limits.rs of all crates",
        "clients, app developers and operators read the page, not the code",
        "run `LYCEUM_BLESS=1 cargo test -p xtask limit` and commit the page",
    );
}

#[test]
fn every_limit_is_declared_completely() {
    let breach = |limit: &Limit| {
        let section = limit.section.as_str();
        let missing = if section != INTERNAL && !SECTIONS.contains(&section) {
            "no heading above it says in which section of the page it is"
        } else if limit.meaning.is_empty() {
            "it has no docstring"
        } else if limit.value.is_none() {
            "its value is not a product of whole numbers"
        } else {
            return None;
        };
        Some(format!("{}: {missing}", limit.place))
    };
    refuse(
        &limits().iter().filter_map(breach).collect::<Vec<_>>(),
        "a limit has a docstring, a number, and a heading such as `// # Rosters` above it",
        "the page shows them; those below `// # Internal` are left out",
        "add it; xtask/tests/it/limits.rs lists the headings",
    );
}

#[test]
fn every_limit_ends_in_a_unit() {
    let units = [
        "BYTES",
        "RECORDS",
        "PAGES",
        "SEGMENTS",
        "DEPTH",
        "MEMBERS",
        "CLAUSES",
        "MS",
        "S",
        "MIN",
        "MINUTES",
        "H",
        "DAYS",
        "ENTRIES",
        "FILES",
        "FAULTS",
        "NODES",
        "LEVELS",
        "RATIO",
        "CONNECTIONS",
        "THREADS",
        "REQUESTS",
        "STATEMENTS",
        "ATTEMPTS",
        "ROWS",
        "COUNT",
        "PERMILLE",
        "PERCENT",
        "CHARS",
        "KEYS",
        "VALUES",
        "WRITES",
        "JOBS",
        "CLIENTS",
        "SCOPES",
        "ORIGINS",
    ];
    let breaches: Vec<String> = limits()
        .into_iter()
        .filter(|limit| !units.iter().any(|unit| limit.name.rsplit('_').next() == Some(unit)))
        .map(|limit| limit.place)
        .collect();
    refuse(
        &breaches,
        "the last word of a limit's name is its unit",
        "a number without a unit is misread sooner or later",
        "rename it, or add the unit to the list in xtask/tests/it/limits.rs",
    );
}
