//! The reference of the server's settings, generated from the file of defaults.

use std::fmt::Write;

use lyceum_core::config::DEFAULTS;

/// Every setting with its default and the comment above it, as Markdown.
pub(super) fn reference() -> String {
    let mut text = String::from(
        "# Settings\n\nEvery setting with its default. Each of these layers overrides the previous one: the defaults, the file of \
         `--config`, variables such as `LYCEUM_SERVER__LISTEN=0.0.0.0:4321`, flags. `lyceum config` prints the settings in \
         force and where each value came from. `lyceum config --default` prints a file to start from.\n",
    );
    let mut comment: Vec<&str> = Vec::new();
    for line in DEFAULTS.lines() {
        if let Some(text) = line.strip_prefix('#') {
            comment.push(text.trim());
            continue;
        }
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            let _ =
                write!(text, "\n## {section}\n\n| setting | default | meaning |\n|---|---|---|\n");
        } else if let Some((name, default)) = line.split_once(" = ") {
            let meaning = comment.join(" ").replace('|', "\\|");
            let _ = writeln!(text, "| `{name}` | `{default}` | {meaning} |");
        }
        comment.clear();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{DEFAULTS, reference};

    #[test]
    fn every_setting_has_a_row_with_its_meaning() {
        let reference = reference();
        for line in DEFAULTS.lines().filter(|line| !line.starts_with('#')) {
            let Some((name, default)) = line.split_once(" = ") else { continue };
            let row = format!("| `{name}` | `{default}` | ");
            let found = reference.lines().find_map(|line| line.strip_prefix(&row));
            assert!(found.is_some_and(|meaning| meaning.len() > 10), "{row}: {found:?}");
        }
    }
}
