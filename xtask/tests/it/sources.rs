//! Rules that every source file keeps.

use crate::{Source, refuse, rust_sources, sources};

const MAX_LINES: usize = 500;

/// Words that a finished source does not hold. They are put together here so that this file does
/// not hold them either.
const UNFINISHED: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
];

/// How a test is marked that `cargo xtask test` leaves out, and the levels that it may be of.
const LEFT_OUT: &str = concat!("#[ign", "ore");
const LEVELS: [&str; 2] = ["= \"rest\"]", "= \"soak\"]"];

/// A line longer than this was not typed by a person.
const MAX_SCRIPT_LINE: usize = 200;

#[test]
fn files_are_short() {
    let breaches: Vec<String> = sources()
        .iter()
        .filter(|source| ["rs", "py", "ts", "js", "mjs"].iter().any(|it| source.has_extension(it)))
        .filter(|source| !source.path.contains("/migrations/"))
        .filter(|source| source.text.lines().count() > MAX_LINES)
        .map(|source| format!("{}: {} lines", source.path, source.text.lines().count()))
        .collect();
    refuse(
        &breaches,
        "no source file is longer than 500 lines",
        "a file that says one thing can be read in one sitting, and its name can say what is inside",
        "split it by what its parts are about",
    );
}

#[test]
fn nothing_is_left_unfinished() {
    let mut breaches = Vec::new();
    for source in sources().iter().filter(|source| !source.has_extension("lock")) {
        for word in UNFINISHED {
            breaches.extend(places(source, word).map(|place| format!("{place}: '{word}'")));
        }
        for line in source.text.lines().filter(|line| line.contains(LEFT_OUT)) {
            if !LEVELS.iter().any(|level| line.contains(level)) {
                breaches.push(format!("{}: {line}", source.path));
            }
        }
    }
    refuse(
        &breaches,
        "a source holds no marks of unfinished work, no switched-off test, no path of one machine",
        "a mark is a promise that nobody keeps; what is not done belongs into an issue",
        "finish it, delete it, or open an issue",
    );
}

#[test]
fn only_one_client_connects_to_callers_addresses() {
    // The others ask the OpenID provider and the collector that the settings name, which no caller supplies.
    let clients = [
        "crates/http/src/guarded.rs",
        "crates/http/src/auth/provider.rs",
        "crates/server/src/telemetry/collector.rs",
    ];
    let breaches: Vec<String> = rust_sources()
        .filter(|source| {
            ["http", "cluster", "api", "pages", "server"]
                .iter()
                .any(|name| source.path.starts_with(&format!("crates/{name}/src/")))
        })
        .filter(|source| !clients.contains(&source.path.as_str()))
        .flat_map(|source| places(&source, "ureq").collect::<Vec<_>>())
        .collect();
    refuse(
        &breaches,
        "the server connects to other servers through guarded.rs alone",
        "an address that a caller supplied may be one inside the network that only the server reaches",
        "ask `Guarded`, which takes https and public addresses alone",
    );
}

#[test]
fn only_one_function_sends_reports_to_the_read_replica() {
    let breaches: Vec<String> = rust_sources()
        .filter(|source| source.path.contains("/src/") && source.path.starts_with("crates/"))
        .filter(|source| !source.path.starts_with("crates/store/"))
        .filter(|source| source.path != "crates/http/src/context.rs")
        .flat_map(|source| places(&source, "ScanLimits::delayed").collect::<Vec<_>>())
        .collect();
    refuse(
        &breaches,
        "reports come from the read replica through Context::report_limits alone",
        "a limited caller would see what was withdrawn on the primary a moment ago",
        "call `context.report_limits`",
    );
}

/// `path:line` of each line that holds the word, and not as a part of a longer one.
fn places<'a>(source: &'a Source, word: &'a str) -> impl Iterator<Item = String> + 'a {
    let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    source.text.lines().enumerate().filter_map(move |(index, line)| {
        let found = line.match_indices(word).any(|(start, _)| {
            let before = line.as_bytes()[..start].last();
            let after = line.as_bytes().get(start + word.len());
            let all_letters = word.bytes().all(is_inside);
            !all_letters || !before.into_iter().chain(after).any(|byte| is_inside(*byte))
        });
        found.then(|| format!("{}:{}", source.path, index + 1))
    })
}

#[test]
fn the_repository_contains_no_third_party_scripts() {
    let scripts = ["js", "mjs", "cjs", "css"];
    let breaches: Vec<String> = sources()
        .iter()
        .filter(|source| scripts.iter().any(|extension| source.has_extension(extension)))
        .filter(|source| {
            source.path.contains(".min.")
                || source.path.contains("node_modules/")
                || source.text.lines().any(|line| line.len() > MAX_SCRIPT_LINE)
        })
        .map(|source| source.path.clone())
        .collect();
    refuse(
        &breaches,
        "no script or style sheet of others is kept in the repository",
        "a copy is never updated and its licence is soon forgotten",
        "depend on the npm package and bundle it when building",
    );
}

#[test]
fn tests_are_one_binary_a_crate() {
    let breaches: Vec<String> = rust_sources()
        .map(|source| source.path)
        .filter(|path| !path.contains("/src/"))
        .filter(|path| path.split_once("/tests/").is_some_and(|(_, rest)| !rest.contains('/')))
        .collect();
    refuse(
        &breaches,
        "a crate has one integration test binary, tests/it/main.rs",
        "each further binary links the whole dependency tree once more",
        "make it a module of tests/it",
    );
}

#[test]
fn no_test_is_left_out() {
    let all = sources();
    let mut breaches = Vec::new();
    for manifest in all.iter().filter(|source| source.path.ends_with("Cargo.toml")) {
        let own = manifest.path.replace("Cargo.toml", "src/");
        // Helper programs of a crate, in src/bin, hold no tests anyway.
        let is_main = |part: &&str| part.starts_with("lib]") || part.contains("\"src/main.rs\"");
        let main_parts: String = manifest.text.split("\n[").filter(is_main).collect();
        for (switch, word) in [("\ntest = false", "#[test]"), ("\ndoctest = false", "/// ```")] {
            let holds =
                |source: &&Source| source.path.starts_with(&own) && source.text.contains(word);
            if main_parts.contains(switch)
                && let Some(source) = all.iter().find(holds)
            {
                breaches.push(format!("{}: {word}", source.path));
            }
        }
    }
    refuse(
        &breaches,
        "a crate whose own tests are not built has none",
        "a library without tests inside is not built a second time, which every run would wait for",
        "take the line out of the manifest",
    );
}

#[test]
fn messages_end_without_a_period() {
    let openings = ["bail!(\"", "Problem::new(", "Problem::invalid("];
    let mut breaches = Vec::new();
    for source in rust_sources().filter(|source| source.path.contains("/src/")) {
        for (index, line) in source.text.lines().enumerate() {
            let is_message = openings.iter().any(|opening| line.contains(opening));
            if is_message && (line.contains(".\")") || line.contains(".\",")) {
                breaches.push(format!("{}:{}: {}", source.path, index + 1, line.trim()));
            }
        }
    }
    refuse(
        &breaches,
        "a message has no final period",
        "messages are put together with names and causes; see STYLE.md",
        "remove the period",
    );
}
