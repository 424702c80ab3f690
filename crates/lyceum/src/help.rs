//! What `--help` shows beside the arguments: commands in groups, and examples.

use std::fmt::Write;

use clap::{Command, CommandFactory};

use crate::cli::Cli;
use crate::examples::EXAMPLES;

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
            "logs",
            "secrets",
            "db",
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
    ("This program", &["login", "logout", "me", "profiles", "openapi", "completions"]),
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
            let _ = writeln!(text, "  {name_of}{name}{name_of:#}{space}  {about}");
        }
    }
    text.truncate(text.trim_end().len());
    text
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

    #[test]
    fn every_command_is_in_one_group() {
        let root = Cli::command();
        let shown = root.get_subcommands().filter(|command| !command.is_hide_set());
        let mut known: Vec<_> = shown.map(Command::get_name).collect();
        let mut grouped: Vec<_> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        known.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, known);
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
        let shown = root.get_subcommands().filter(|command| !command.is_hide_set());
        let lacking = shown.flat_map(|one| without_example(one, "lyceum"));
        assert_eq!(lacking.collect::<Vec<_>>(), Vec::<String>::new());
    }

    #[test]
    fn examples_parse() {
        for example in EXAMPLES {
            let parsed = Cli::try_parse_from(example.split(' '));
            assert!(parsed.is_ok(), "{example}: {}", parsed.err().unwrap());
        }
    }
}
