//! The additions of `--help` to the arguments: commands in groups, and examples.

use std::fmt::Write;

use clap::{Command, CommandFactory};

use crate::cli::Cli;
use crate::examples::EXAMPLES;

/// Characters in a line of the list of commands.
const LINE_CHARS: usize = 80;

/// The groups of commands: heading, and commands in the order in which they are shown.
pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    ("Run a server", &["serve", "sandbox", "doctor", "config"]),
    (
        "Build an app",
        &[
            "create",
            "init",
            "dev",
            "deploy",
            "deployments",
            "projects",
            "logs",
            "secrets",
            "db",
            "kv",
            "bucket",
            "lms",
            "listen",
            "trigger",
        ],
    ),
    (
        "Data and standards",
        &["import", "export", "events", "qti", "lesson", "standards", "badge", "demo"],
    ),
    ("Administration", &["client", "keys", "admin"]),
    ("This program", &["login", "logout", "me", "profiles", "debug", "openapi", "completions"]),
];

/// The definition of the command line, with groups and examples in its help.
pub(crate) fn command() -> Command {
    let root = Cli::command();
    let heading = root.get_styles().get_header();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{{before-help}}\
         {heading}Options:{heading:#}\n{{options}}\n"
    );
    let groups = grouped(&root);
    let root = root.help_template(template).before_help(groups);
    root.mut_subcommands(|inner| with_examples(inner, "lyceum"))
}

/// The examples of a command and of those below it.
pub(crate) fn examples(path: &str) -> impl Iterator<Item = &'static str> {
    let is_of = move |example: &&&str| {
        example.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    EXAMPLES.iter().filter(is_of).copied()
}

/// The commands with what they do, under the headings of their groups.
fn grouped(root: &Command) -> String {
    let (heading, name_of) = (root.get_styles().get_header(), root.get_styles().get_literal());
    let width = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max();
    let width = width.unwrap_or_default();
    let mut text = String::new();
    for (title, names) in GROUPS {
        let separator = if text.is_empty() { "" } else { "\n" };
        let _ = writeln!(text, "{separator}{heading}{title}:{heading:#}");
        for command in names.iter().filter_map(|name| root.find_subcommand(name)) {
            let (name, about) = (command.get_name(), command.get_about().unwrap_or_default());
            let space = " ".repeat(width - name.len());
            let about = wrapped(&about.to_string(), width + 4);
            let _ = writeln!(text, "  {name_of}{name}{name_of:#}{space}  {about}");
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// A text in lines of at most [`LINE_CHARS`] characters. Further lines begin below the first one, after `indent` spaces.
fn wrapped(text: &str, indent: usize) -> String {
    let (mut wrapped, mut column) = (String::new(), indent);
    for word in text.split(' ') {
        let chars = word.chars().count();
        if column > indent && column + 1 + chars > LINE_CHARS {
            wrapped.push('\n');
            wrapped.push_str(&" ".repeat(indent));
            column = indent;
        } else if column > indent {
            wrapped.push(' ');
            column += 1;
        }
        wrapped.push_str(word);
        column += chars;
    }
    wrapped
}

fn with_examples(command: Command, parent: &str) -> Command {
    let path = format!("{parent} {}", command.get_name());
    let heading = *command.get_styles().get_header();
    let lines = examples(&path).collect::<Vec<_>>().join("\n  ");
    let command = command.mut_subcommands(|inner| with_examples(inner, &path));
    command.after_help(format!("{heading}Examples:{heading:#}\n  {lines}"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn visible_commands(root: &Command) -> impl Iterator<Item = &Command> {
        root.get_subcommands().filter(|command| !command.is_hide_set())
    }

    #[test]
    fn every_command_is_in_one_group() {
        let root = Cli::command();
        let mut known: Vec<_> = visible_commands(&root).map(Command::get_name).collect();
        let mut grouped: Vec<_> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        known.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, known);
    }

    #[test]
    fn every_command_fits_on_one_line() {
        let root = Cli::command();
        let width =
            GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap();
        for command in root.get_subcommands().filter(|command| !command.is_hide_set()) {
            let about = command.get_about().unwrap().to_string();
            assert!(4 + width + about.len() <= 80, "{}: {about}", command.get_name());
        }
    }

    fn without_example(command: &Command, path: &str) -> Vec<String> {
        let path = format!("{path} {}", command.get_name());
        if command.has_subcommands() {
            return command.get_subcommands().flat_map(|one| without_example(one, &path)).collect();
        }
        if examples(&path).next().is_some() { Vec::new() } else { vec![path] }
    }

    #[test]
    fn every_command_has_an_example() {
        let root = Cli::command();
        let lacking = visible_commands(&root).flat_map(|one| without_example(one, "lyceum"));
        assert_eq!(lacking.collect::<Vec<_>>(), Vec::<String>::new());
    }

    /// Commands without `--dry-run`: they write nothing, or only files and settings on this machine, or a folder with
    /// data that they are given.
    const NO_DRY_RUN: &[&str] = &[
        // Read.
        "deployments list",
        "deployments logs",
        "projects list",
        "logs",
        "secrets list",
        "db diff",
        "db backup",
        "db points",
        "db schema",
        "kv list",
        "kv get",
        "bucket list",
        "bucket get",
        "lms verify",
        "lms config",
        "me",
        "export",
        "client list",
        "admin person export",
        "keys list",
        "keys export-public",
        "admin backup",
        "admin check",
        "admin user list",
        "admin key list",
        "admin project list",
        "events rejected",
        "qti validate",
        "qti score",
        "qti explain",
        "qti export",
        "standards export",
        "standards list",
        "lesson policy show",
        "lesson policy simulate",
        "badge verify",
        "listen",
        "demo generate",
        "doctor",
        "debug bundle",
        "config schema",
        "openapi",
        "completions",
        // Run until they are stopped.
        "serve",
        "sandbox",
        "dev",
        // Write files and settings of the user.
        "create",
        "login",
        "logout",
        "profiles list",
        "profiles remove",
        // Write to a data folder, beside the server.
        "keys rotate",
        "admin restore",
        "admin adopt",
        "admin gc",
        "admin purge",
        "admin rotate-keys",
        "admin rotate-master-key",
        "admin user create",
        "admin user link",
        "admin user limit",
        "admin user disable",
        "demo link",
        "admin key create",
        "admin key limit",
        "admin key revoke",
        "admin member add",
        "admin member remove",
        "admin project adopt",
        "events rebuild",
        "events replay",
        "qti import",
        "standards import",
        "standards publish",
        "standards unpublish",
        "lesson policy set",
    ];

    fn without_dry_run(command: &Command, path: &str) -> Vec<String> {
        let path = format!("{path} {}", command.get_name()).trim_start().to_owned();
        if command.has_subcommands() {
            return command.get_subcommands().flat_map(|one| without_dry_run(one, &path)).collect();
        }
        let has_it = command.get_arguments().any(|arg| arg.get_long() == Some("dry-run"));
        if has_it { Vec::new() } else { vec![path] }
    }

    #[test]
    fn commands_that_write_to_a_server_have_dry_runs() {
        let root = Cli::command();
        let mut found: Vec<_> =
            visible_commands(&root).flat_map(|one| without_dry_run(one, "")).collect();
        let mut known: Vec<_> = NO_DRY_RUN.iter().map(|path| (*path).to_owned()).collect();
        found.sort_unstable();
        known.sort_unstable();
        assert_eq!(found, known);
    }

    #[test]
    fn examples_parse() {
        for example in EXAMPLES {
            let parsed = Cli::try_parse_from(example.split(' '));
            assert!(parsed.is_ok(), "{example}: {}", parsed.err().unwrap());
        }
    }
}
