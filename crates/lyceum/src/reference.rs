//! The reference of the command line, generated from the argument definitions.

use std::fmt::Write;

use clap::{Arg, ArgAction, Command};

use crate::help::{self, GROUPS};

/// Every command with its arguments, as Markdown.
pub(crate) fn markdown() -> String {
    let mut root = help::command();
    root.build();
    let mut text = String::from(
        "# Commands\n\nAll commands of `lyceum`. This page is generated from the program. Each command also accepts:\n\n",
    );
    arguments(&mut text, root.get_arguments().filter(|arg| arg.is_global_set()));
    text.push_str(
        "\nExit codes: 0 ok, 1 failed, 2 wrong usage, 3 not signed in or not allowed, 4 not found, 5 conflict, \
         130 interrupted.\n",
    );
    for (heading, names) in GROUPS {
        let _ = write!(text, "\n## {heading}\n");
        for command in names.iter().filter_map(|name| root.find_subcommand(name)) {
            described(&mut text, command, "lyceum", 3);
        }
    }
    text
}

fn described(text: &mut String, command: &Command, path: &str, level: usize) {
    let path = format!("{path} {}", command.get_name());
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = write!(text, "\n{} {path}\n\n{about}.\n", "#".repeat(level));
    let aliases: Vec<_> = command.get_visible_aliases().map(|alias| format!("`{alias}`")).collect();
    if !aliases.is_empty() {
        let _ = write!(text, "\nAlso called {}.\n", aliases.join(", "));
    }
    if !command.is_subcommand_required_set() {
        usage(text, command, &path);
    }
    for inner in visible_commands(command) {
        described(text, inner, &path, level + 1);
    }
}

fn usage(text: &mut String, command: &Command, path: &str) {
    let usage = command.clone().render_usage().to_string();
    let usage =
        usage.trim_start_matches("Usage: ").split_whitespace().collect::<Vec<_>>().join(" ");
    // A command that also has subcommands has two usages.
    let usage = usage.replace(" lyceum ", "\nlyceum ");
    let _ = write!(text, "\n```text\n{usage}\n```\n\n");
    arguments(text, command.get_arguments().filter(|arg| !arg.is_global_set()));
    let examples: Vec<_> = help::examples(path).collect();
    let _ = write!(text, "\nExamples:\n\n```text\n{}\n```\n", examples.join("\n"));
}

/// A table of arguments, positional ones first.
fn arguments<'c>(text: &mut String, arguments: impl Iterator<Item = &'c Arg>) {
    let mut rows: Vec<&Arg> = arguments.filter(|arg| !is_help(arg) && !arg.is_hide_set()).collect();
    rows.sort_by_key(|arg| !arg.is_positional());
    if rows.is_empty() {
        return;
    }
    text.push_str("| argument | |\n|---|---|\n");
    for arg in rows {
        let _ = writeln!(text, "| `{}` | {} |", spelled(arg).replace('|', "\\|"), cell(&help(arg)));
    }
}

/// The form of an argument: `-p, --port <PORT>`.
fn spelled(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    let value = names.iter().map(|name| format!("<{name}>")).collect::<Vec<_>>().join(" ");
    if arg.is_positional() {
        return if arg.is_required_set() { value } else { format!("[{value}]") };
    }
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let flag: Vec<String> = short.into_iter().chain(long).collect();
    match matches!(arg.get_action(), ArgAction::Set | ArgAction::Append) {
        true => format!("{} {value}", flag.join(", ")),
        false => flag.join(", "),
    }
}

/// The description of an argument, with its default, possible values and environment variable.
fn help(arg: &Arg) -> String {
    let mut help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let defaults: Vec<_> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if !defaults.is_empty() && arg.get_action().takes_values() {
        let _ = write!(help, " [default: {}]", defaults.join(" "));
    }
    let values: Vec<_> = arg.get_possible_values();
    let named: Vec<_> = values
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| {
            let about = value.get_help().map(|help| format!(" ({help})")).unwrap_or_default();
            format!("{}{about}", value.get_name())
        })
        .collect();
    if !named.is_empty() && arg.get_action().takes_values() {
        let _ = write!(help, "; one of {}", named.join(", "));
    }
    for alias in arg.get_visible_aliases().unwrap_or_default() {
        let _ = write!(help, "; also `--{alias}`");
    }
    if let Some(variable) = arg.get_env() {
        let _ = write!(help, " [variable: {}]", variable.to_string_lossy());
    }
    help
}

/// Escapes a text for a table cell.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|").replace('<', "\\<")
}

fn is_help(arg: &Arg) -> bool {
    matches!(
        arg.get_action(),
        ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
    )
}

fn visible_commands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|inner| inner.get_name() != "help" && !inner.is_hide_set())
}
