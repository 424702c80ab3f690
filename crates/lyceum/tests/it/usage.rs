//! The command line itself.

use crate::transcript::Place;

#[test]
fn the_version_is_printed() {
    assert_eq!(Place::new().ok("--version"), format!("lyceum {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn invalid_command_lines_are_usage_errors() {
    let place = Place::new();
    for line in [
        "",
        "fly",
        "serve --wings",
        "client create",
        "client create x --scope root",
        "client create x --dialect latin",
        "client rotate x --keep-old -1",
        "--quiet --verbose config",
        "admin purge",
        "admin purge --older-than 30",
        "completions cobol",
    ] {
        assert_eq!(place.fails(line).0, 2, "{line}");
    }
    let (_, stderr) = place.fails("client create x --scope lyceum/roster.reed");
    assert!(stderr.contains("no scope 'lyceum/roster.reed'"), "{stderr}");
    let (_, stderr) = place.fails("client create x --dialect latin");
    assert!(stderr.contains("the dialect must be 'platform' or 'standard'"), "{stderr}");
    assert!(place.path().read_dir().unwrap().next().is_none(), "nothing was made");
}

/// Asks a command and those below it what they are for; how many there are.
fn explained(place: &Place, line: &str) -> usize {
    let help = place.ok(&format!("{line} --help"));
    assert!(help.contains(&format!("Usage: lyceum{line}")), "{line}: {help}");
    assert!(line.is_empty() || help.contains("\nExamples:\n"), "{line}: {help}");
    let heading = if line.is_empty() { "\nRun a server:\n" } else { "\nCommands:\n" };
    let below = help.split(heading).nth(1).unwrap_or_default();
    let below = below.split(if line.is_empty() { "\nOptions:" } else { "\n\n" }).next();
    let below = below.unwrap_or_default().lines();
    // What a command is for begins at the third column; further lines of it are further in.
    let names = below.filter_map(|message| message.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| !name.is_empty() && *name != "help");
    1 + names.map(|name| explained(place, &format!("{line} {name}"))).sum::<usize>()
}

#[test]
fn every_command_explains_itself() {
    assert!(explained(&Place::new(), "") > 90, "commands are found");
}

#[test]
fn commands_are_listed_in_groups() {
    let help = Place::new().ok("--help");
    let headings: Vec<_> = help.lines().filter(|line| line.ends_with(':')).collect();
    let groups = [
        "Run a server:",
        "Build an app:",
        "Data and standards:",
        "Administration:",
        "This program:",
        "Options:",
    ];
    assert_eq!(headings, groups);
    let deploy = "\nExamples:\n  lyceum deploy\n  lyceum deploy --dry-run\n";
    assert!(Place::new().ok("deploy --help").contains(deploy));
}

#[test]
fn shells_get_their_completions() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = Place::new().ok(&format!("completions {shell}"));
        assert!(script.contains("rotate-keys"), "{shell}");
    }
}

#[test]
fn the_api_is_described() {
    let document = Place::new().json("openapi --public-url https://lyceum.test");
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1."));
    assert_eq!(document["servers"][0]["url"], "https://lyceum.test");
    assert!(document["paths"].as_object().unwrap().contains_key("/oauth2/token"));
}

#[test]
fn output_has_no_colour_without_a_terminal() {
    let place = Place::new();
    for line in ["client list", "client create x --data d", "config"] {
        let (_, stdout, stderr) = place.run(line);
        assert!(!stdout.contains('\x1b') && !stderr.contains('\x1b'), "{line}");
    }
}
