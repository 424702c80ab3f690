//! Handles project fields that were changed on the server since the last deploy: overwrite, adopt or stop.

use lyceum_deploy::LocalProject;
use lyceum_project::{Config, FieldChange, Metadata, SCALARS, State};

use super::prompt;
use crate::failure::Result;
use crate::printer::Printer;

/// The fields whose value on the server differs from the local one.
pub(crate) fn of(local: &Metadata, state: &State) -> Vec<FieldChange> {
    let Some(stored) = &state.metadata else { return Vec::new() };
    let changes = SCALARS.iter().filter_map(|field| {
        let (old, new) = (stored.field(field)?, local.field(field)?);
        (old != new).then(|| FieldChange {
            field: (*field).to_owned(),
            old: Some(old.to_owned()),
            new: new.to_owned(),
        })
    });
    changes.collect()
}

/// Asks which values to use and updates `local` accordingly.
pub(crate) fn choose(
    local: &mut LocalProject,
    config: Option<&Config>,
    drifted: &[FieldChange],
    printer: &Printer,
) -> Result {
    printer.note("  1  deploy the local values and overwrite those on the server");
    printer.note("  2  write the server's values into the config, then deploy");
    printer.note("  3  cancel");
    loop {
        match prompt::ask("Choose 1, 2 or 3", Some("3"))?.as_str() {
            "1" => return Ok(()),
            "2" => return take_over(local, config, drifted, printer),
            "3" => return Err(prompt::cancelled()),
            _ => {}
        }
    }
}

/// Replaces literals in the config by the server's values, and lists what must be changed by hand. This
/// deploy keeps its slug even if the name changes.
fn take_over(
    local: &mut LocalProject,
    config: Option<&Config>,
    drifted: &[FieldChange],
    printer: &Printer,
) -> Result {
    if let Some(name) = drifted.iter().find(|change| change.field == "name") {
        let stored = name.old.as_deref().unwrap_or_default();
        let slug = lyceum_project::slug_of(stored);
        if slug != local.slug {
            printer.warn(&format!(
                "with the name '{stored}', later deploys go to the project '{slug}'; this one still \
                 goes to '{}'",
                local.slug
            ));
        }
        if !prompt::confirm(&format!("Write the name '{stored}' into the config?"), false)? {
            return Err(prompt::cancelled());
        }
    }
    for change in drifted {
        local.metadata.set(&change.field, change.old.clone());
    }
    let Some(config) = config else {
        printer.warn("there is no config file to update; this deploy uses the server's values");
        return Ok(());
    };
    let values: Vec<_> =
        drifted.iter().map(|change| (change.field.as_str(), change.old.as_deref())).collect();
    let rewritten = config.with(&values);
    if !rewritten.fields.is_empty() {
        config.replace(&rewritten.text)?;
        let (fields, file) = (rewritten.fields.join(", "), config.file.display());
        printer.done(&format!("✔ Wrote {fields} into {file}"));
    }
    for by_hand in &rewritten.by_hand {
        let stored = values.iter().find(|(field, _)| *field == by_hand.field);
        let stored = stored.and_then(|(_, value)| *value).unwrap_or_default();
        let place = match by_hand.place {
            Some((line, column)) => {
                format!("{}, line {line}, column {column}", config.file.display())
            }
            None => config.file.display().to_string(),
        };
        let (field, why) = (by_hand.field, by_hand.why);
        printer.warn(&format!("change '{field}' to '{stored}' by hand ({place}): {why}"));
    }
    Ok(())
}
