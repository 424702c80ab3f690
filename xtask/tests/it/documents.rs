//! Documents are right about files, modules, crates and types.

use std::path::Path;

use crate::{Source, read, refuse, root, rust_sources, sources};

fn documents() -> impl Iterator<Item = Source> {
    sources().into_iter().filter(|source| source.has_extension("md"))
}

#[test]
fn links_have_targets() {
    let mut breaches = Vec::new();
    for document in documents() {
        let folder = Path::new(&document.path).parent().unwrap();
        for target in document.text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap();
            if file.is_empty() || file.contains("://") || file.contains(char::is_whitespace) {
                continue;
            }
            if !root().join(folder).join(file).exists() {
                breaches.push(format!("{}: {target}", document.path));
            }
        }
    }
    refuse(
        &breaches,
        "a link inside the repository leads to a file",
        "a reader who meets one dead link distrusts the rest",
        "correct or remove the link",
    );
}

#[test]
fn named_files_exist() {
    let folders = ["crates/", "xtask/", "bench/", "docs/", "tests/", ".ci/"];
    let mut breaches = Vec::new();
    for document in documents() {
        for named in document.text.split('`').skip(1).step_by(2) {
            let path = named.trim_end_matches('/');
            let is_pattern = path.contains(['<', '*', '{', '…', ' ']);
            let is_ours = folders.iter().any(|folder| named.starts_with(folder));
            if is_ours && !is_pattern && !root().join(path).exists() {
                breaches.push(format!("{}: `{named}`", document.path));
            }
        }
    }
    refuse(
        &breaches,
        "a file that a document names exists",
        "a wrong name sends the reader to the wrong place",
        "write the file's present name; patterns such as crates/<crate>/src are ignored",
    );
}

#[test]
fn every_module_is_in_the_table_of_its_crate() {
    let mut breaches = Vec::new();
    let mut modules = 0;
    for source in rust_sources() {
        let Some(folder) = ["lib.rs", "main.rs"].into_iter().find_map(|file| {
            let folder = source.path.strip_suffix(file)?.strip_suffix("/src/")?;
            (folder.starts_with("crates/") && folder.matches('/').count() == 1).then_some(folder)
        }) else {
            continue;
        };
        let named: Vec<&str> = source
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("//! | ")?.split(" | ").nth(1))
            .flat_map(|cell| cell.split('`').skip(1).step_by(2))
            .collect();
        for name in &named {
            let file = root().join(folder).join("src").join(name);
            if !file.exists() && !file.with_extension("rs").exists() {
                breaches.push(format!("{}: `{name}` does not exist", source.path));
            }
        }
        let declared = source.text.lines().filter_map(|line| {
            let (visibility, rest) = line.split_once("mod ")?;
            let is_declaration = visibility.is_empty() || visibility.starts_with("pub");
            rest.strip_suffix(';').filter(|_| is_declaration)
        });
        for module in declared {
            modules += 1;
            if !named.contains(&module) {
                breaches.push(format!("{}: `{module}` is missing", source.path));
            }
        }
    }
    assert!(modules > 200, "only {modules} modules were found");
    refuse(
        &breaches,
        "the comment of each lib.rs has a table of what is in which module",
        "newcomers find their way by it",
        "add or correct the row: `//! | what it is for | `module` |`",
    );
}

#[test]
fn every_crate_has_its_lines_in_the_list_of_crates() {
    let (list, architecture) = (read("crates/README.md"), read("ARCHITECTURE.md"));
    let mut names: Vec<String> = std::fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .filter(|name| {
            let has_row = list.contains(&format!("[`{name}`]({name}/src/"));
            !has_row || !architecture.contains(name.as_str())
        })
        .collect();
    names.sort();
    refuse(
        &names,
        "crates/README.md says what each crate is for, and ARCHITECTURE.md draws it",
        "a newcomer chooses by it where to read",
        "add a row with a link to its lib.rs, and its name to the picture",
    );
}

#[test]
fn the_architecture_page_is_short() {
    let lines = read("ARCHITECTURE.md").lines().count();
    let breaches: Vec<String> =
        (lines >= 200).then(|| format!("ARCHITECTURE.md: {lines} lines")).into_iter().collect();
    refuse(
        &breaches,
        "ARCHITECTURE.md has fewer than 200 lines",
        "it is the first document that a newcomer reads",
        "move details to the comment of a crate's lib.rs or to a decision",
    );
}

#[test]
fn types_of_the_glossary_exist() {
    let glossary = read("docs/glossary.md");
    let named: Vec<(&str, &str)> = glossary
        .split('`')
        .skip(1)
        .step_by(2)
        .filter_map(|name| name.split_once("::"))
        .filter(|(krate, _)| *krate != "crate")
        .collect();
    assert!(named.len() > 40, "only {} types were found", named.len());
    let code: Vec<Source> = rust_sources().collect();
    let declares = |source: &Source, name: &str| {
        ["struct", "enum", "trait", "type", "const", "static"].iter().any(|keyword| {
            let declaration = format!("{keyword} {name}");
            source.text.match_indices(&declaration).any(|(at, _)| {
                let after = source.text[at + declaration.len()..].chars().next();
                after.is_none_or(|next| !next.is_alphanumeric() && next != '_')
            })
        })
    };
    let breaches: Vec<String> = named
        .into_iter()
        .filter(|(krate, name)| {
            let folder = format!("crates/{krate}/src/");
            !code.iter().any(|source| source.path.starts_with(&folder) && declares(source, name))
        })
        .map(|(krate, name)| format!("{krate}::{name}"))
        .collect();
    refuse(
        &breaches,
        "docs/glossary.md names types that exist",
        "the glossary is where a newcomer looks up a word",
        "write the type's new name into the glossary",
    );
}

#[test]
fn every_kind_of_problem_has_its_status() {
    let code = read("crates/core/src/problem.rs");
    let variants =
        code.split_once("pub enum ProblemKind {").unwrap().1.split_once("\n}").unwrap().0;
    let variants: Vec<&str> = variants
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("//"))
        .filter_map(|line| line.strip_suffix(','))
        .collect();
    assert!(variants.len() > 5, "only {variants:?} were found");
    let page = read("docs/http-status-codes.md");
    let breaches: Vec<String> = variants
        .into_iter()
        .filter(|variant| !page.contains(&format!("\n| `{variant}` | ")))
        .map(str::to_owned)
        .collect();
    refuse(
        &breaches,
        "docs/http-status-codes.md has a row for each kind of problem",
        "callers program against the page",
        "add the row: kind, status, the standards' codes, when it happens",
    );
}
