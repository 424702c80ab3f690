//! What a deploy would do and did, in words.

use std::fmt::Write;

use lyceum_project::{Action, Change, DatabaseChange, FieldChange, Plan, State, Strategy};
use serde_json::{Value, json};

/// Bytes as people read them.
#[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
pub(crate) fn bytes(count: u64) -> String {
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

fn sizes_of<T>(change: &Change<T>, size: impl Fn(&T) -> u64) -> String {
    sizes(change.old.as_ref().map(&size), size(&change.new))
}

/// Everything that changes, a section a part.
pub(crate) fn changes(plan: &Plan) -> String {
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

/// How the database changes: each statement, what is lost, what somebody else did.
pub(crate) fn database(change: &DatabaseChange) -> String {
    let mut text = String::new();
    let strategy = match change.strategy {
        Strategy::Push => "push",
        Strategy::Migrate => "migrate",
    };
    let _ = writeln!(text, "Database ({strategy})");
    if change.adopts {
        let _ = writeln!(text, "  the files describe what is there: they are noted as applied");
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

/// Fields that people see, stored and new.
pub(crate) fn fields(fields: &[FieldChange]) -> String {
    let line = |change: &FieldChange| match &change.old {
        Some(old) => format!("  {}: '{old}' → '{}'\n", change.field, change.new),
        None => format!("  {}: '{}'\n", change.field, change.new),
    };
    fields.iter().map(line).collect()
}

/// The plan of a dry run.
pub(crate) fn plan(plan: &Plan, state: &State, build: u64) -> String {
    let action = match plan.action {
        Action::Create => "Create new project".to_owned(),
        Action::Update => format!("Update version {}", state.version.unwrap_or_default()),
        Action::Nothing => "Nothing to do".to_owned(),
    };
    let yes = |is_so: bool| if is_so { "Yes" } else { "No" };
    let routes = plan.desired.backend.as_ref().or(state.backend.as_ref());
    let names = plan.desired.uses.names();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let rows = [
        ("Action", action),
        ("Environment", state.environment.clone()),
        ("Slug", plan.slug.clone()),
        ("Deploy Frontend", yes(plan.frontend.is_some()).to_owned()),
        ("Deploy Backend", yes(plan.backend.is_some()).to_owned()),
        ("Change Database", yes(plan.database.is_some()).to_owned()),
        ("Build Size", bytes(build)),
        ("Frontend URL", state.frontend_url.clone()),
        ("Backend URL", state.backend_url.clone()),
        ("Custom Routes", routes.map_or(0, |backend| backend.routes.len()).to_string()),
        ("Integrations", names),
    ];
    let mut text = "Deployment Plan (Dry Run)\n".to_owned();
    for (name, value) in rows {
        let _ = writeln!(text, "  {:17}{value}", format!("{name}:"));
    }
    let changes = changes(plan);
    if !changes.is_empty() {
        let _ = write!(text, "\nChanges detected:\n{changes}");
    }
    text
}

/// `MISSING SECRET: NAME`, in a box.
pub(crate) fn missing(names: &[String]) -> String {
    let lines: Vec<_> = names.iter().map(|name| format!("MISSING SECRET: {name}")).collect();
    let width = lines.iter().map(String::len).max().unwrap_or_default();
    let edge = "─".repeat(width + 2);
    let inside: Vec<_> = lines.iter().map(|line| format!("│ {line:width$} │\n")).collect();
    format!("┌{edge}┐\n{}└{edge}┘", inside.concat())
}

/// What a deploy came to, for programs.
pub(crate) fn outcome(plan: &Plan, state: &State, uploaded: u64) -> Value {
    json!({
        "action": plan.action, "slug": state.slug, "environment": state.environment,
        "version": state.version, "revision": state.revision,
        "frontendUrl": state.frontend_url, "backendUrl": state.backend_url,
        "steps": plan.steps, "secrets": plan.secrets, "uploadedBytes": uploaded,
        "database": plan.database,
    })
}
