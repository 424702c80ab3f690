//! Describes the changes of a plan for people.

use std::fmt::Write;

use lyceum_project::courses::RecordAction;
use lyceum_project::{DatabaseChange, FieldChange, Plan, Replacement, Strategy};

/// A number of bytes for people.
#[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
pub fn bytes(count: u64) -> String {
    match count {
        0..1024 => format!("{count} B"),
        1024..1_048_576 => format!("{:.2} KB", count as f64 / 1024.0),
        _ => format!("{:.2} MB", count as f64 / 1_048_576.0),
    }
}

/// `85.23 KB → 86.12 KB  (↑ 0.89 KB)`
fn sizes(old: Option<u64>, new: u64) -> String {
    let Some(old) = old else { return bytes(new) };
    let difference = match new.cmp(&old) {
        std::cmp::Ordering::Greater => format!("↑ {}", bytes(new - old)),
        std::cmp::Ordering::Less => format!("↓ {}", bytes(old - new)),
        std::cmp::Ordering::Equal => "same size".to_owned(),
    };
    format!("{} → {}  ({difference})", bytes(old), bytes(new))
}

fn sizes_of<T>(change: &Replacement<T>, size: impl Fn(&T) -> u64) -> String {
    sizes(change.old.as_ref().map(&size), size(&change.new))
}

/// All changes, with a section for each part of the project.
pub fn changes(plan: &Plan) -> String {
    let mut text = String::new();
    if !plan.metadata.is_empty() {
        let _ = writeln!(text, "Project");
        text += &fields(&plan.metadata);
    }
    if let Some(change) = &plan.frontend {
        let _ = writeln!(text, "Frontend\n  Build: {}", sizes_of(change, |zip| zip.size));
    }
    if let Some(change) = &plan.backend {
        let routes = change.new.routes.len();
        let size = sizes_of(change, lyceum_project::Backend::size);
        let _ = writeln!(text, "Backend\n  Custom Routes ({routes}): {size}");
        let (old, new) = (change.old.as_ref(), &change.new.compatibility_date);
        if let Some(old) = old.filter(|old| old.compatibility_date != *new) {
            let _ = writeln!(text, "  Compatibility Date: {} → {new}", old.compatibility_date);
        }
    }
    if let Some(change) = &plan.uses {
        let old = change.old.map(|old| old.names().join(", ")).unwrap_or_default();
        let or_none = |names: String| if names.is_empty() { "none".to_owned() } else { names };
        let (old, new) = (or_none(old), or_none(change.new.names().join(", ")));
        let _ = writeln!(text, "Integrations\n  {old} → {new}");
    }
    if let Some(change) = &plan.database {
        text += &database(change);
    }
    if let Some(change) = &plan.lms {
        let _ = writeln!(text, "Courses");
        for record in &change.records {
            let action = match record.action {
                RecordAction::Create => "Create",
                RecordAction::Restore => "Restore",
                RecordAction::Change => "Change",
            };
            let _ = writeln!(text, "  {action}: {} {}", record.kind, record.id);
        }
        for course in &change.ended {
            let _ = writeln!(text, "  Ends: course {course}; its records stay");
        }
    }
    if plan.secrets.count() > 0 {
        let _ = writeln!(text, "Secrets");
        let groups = [
            ("Added", &plan.secrets.added),
            ("Updated", &plan.secrets.updated),
            ("Removed", &plan.secrets.removed),
        ];
        for (name, names) in groups.iter().filter(|(_, names)| !names.is_empty()) {
            let _ = writeln!(text, "  {name}: {}", names.join(", "));
        }
    }
    text
}

/// The changes of the database: statements, lost data, and changes that others made.
fn database(change: &DatabaseChange) -> String {
    let mut text = String::new();
    let strategy = match change.strategy {
        Strategy::Push => "push",
        Strategy::Migrate => "migrate",
    };
    let _ = writeln!(text, "Database ({strategy})");
    if change.adopts {
        let _ = writeln!(
            text,
            "  the database already matches the migration files: they are recorded as applied"
        );
    }
    for migration in &change.migrations {
        let _ = writeln!(text, "  {migration}");
    }
    for statement in &change.statements {
        let _ = writeln!(text, "  {};", statement.replace('\n', "\n  "));
    }
    for loss in &change.losses {
        let _ = writeln!(text, "  Loses: {loss}");
    }
    for hint in &change.hints {
        let _ = writeln!(text, "  {hint}");
    }
    for statement in &change.drift {
        let _ = writeln!(text, "  Changed since the last deploy: {}", statement.replace('\n', " "));
    }
    text
}

/// The stored and new values of metadata fields.
pub fn fields(fields: &[FieldChange]) -> String {
    let line = |change: &FieldChange| match &change.old {
        Some(old) => format!("  {}: '{old}' → '{}'\n", change.field, change.new),
        None => format!("  {}: '{}'\n", change.field, change.new),
    };
    fields.iter().map(line).collect()
}
