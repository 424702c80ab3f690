//! Describes what a deploy would do or has done.

use std::fmt::Write;

pub(crate) use lyceum_deploy::summary::{bytes, changes, fields};
use lyceum_project::{Action, Plan, State};
use serde_json::{Value, json};

/// A plan, and whether the backend is left out of it.
pub(crate) struct PlanReport<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) state: &'a State,
    /// Whether the backend that `--no-backend` leaves out has changed; `None` if it is not left out.
    pub(crate) skipped: Option<bool>,
}

impl PlanReport<'_> {
    /// Why the backend is left out, if it is.
    pub(crate) fn skipped(&self) -> Option<&'static str> {
        self.skipped.map(|is_changed| match is_changed {
            true => "changed, skipped (--no-backend)",
            false => "skipped (--no-backend)",
        })
    }

    /// The plan of a dry run.
    pub(crate) fn plan(&self, build: u64) -> String {
        plan(self.plan, self.state, build, self.skipped())
    }

    /// Everything that changes, and whether the backend is left out.
    pub(crate) fn changes(&self) -> String {
        let left_out =
            self.skipped().map(|skipped| format!("Backend\n  Custom Routes: {skipped}\n"));
        changes(self.plan) + &left_out.unwrap_or_default()
    }

    /// The plan as JSON, with whether the backend is left out.
    pub(crate) fn json(&self, mut value: Value) -> Value {
        if let Some(is_changed) = self.skipped {
            value["backendSkipped"] = json!({ "changed": is_changed });
        }
        value
    }
}

/// The plan of a dry run. `skipped` says why the backend is left out, if it is.
pub(crate) fn plan(plan: &Plan, state: &State, build: u64, skipped: Option<&str>) -> String {
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
        ("Deploy Backend", skipped.unwrap_or(yes(plan.backend.is_some())).to_owned()),
        ("Change Database", yes(plan.database.is_some()).to_owned()),
        ("Set Up Courses", yes(plan.lms.is_some()).to_owned()),
        ("Build Size", bytes(build)),
        ("Play URL", state.play_url.clone()),
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

/// The result of a deploy as JSON.
pub(crate) fn outcome(plan: &Plan, state: &State, uploaded: u64) -> Value {
    json!({
        "action": plan.action, "slug": state.slug, "environment": state.environment,
        "version": state.version, "revision": state.revision,
        "playUrl": state.play_url,
        "frontendUrl": state.frontend_url, "backendUrl": state.backend_url,
        "steps": plan.steps, "secrets": plan.secrets, "uploadedBytes": uploaded,
        "database": plan.database, "lms": plan.lms,
    })
}
