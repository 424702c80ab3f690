//! Remedies for common errors in backends.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use lyceum_project::{Binding, BindingNames, Uses};
use regex::Regex;

/// Parts of a project that hints depend on.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProjectFacts {
    /// The bindings that it has.
    pub(crate) uses: Uses,
    /// The names of its secrets.
    pub(crate) secrets: BTreeSet<String>,
    /// Whether there is a sandbox.
    pub(crate) has_platform: bool,
}

static TABLE: LazyLock<Regex> = LazyLock::new(|| pattern(r"no such table: ([\w.]+)"));
static COLUMN: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"no such column: ([\w.]+)|has no column named (\w+)"));
static SECRET: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"\bsecrets(?:\??\.|\[["'`])([A-Za-z_]\w*)"#));
static BINDING: LazyLock<Regex> = LazyLock::new(|| {
    let names = Binding::ALL.map(|binding| binding.names().env).join("|");
    pattern(&format!(r"\b({names}|LYCEUM)\b"))
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is valid")
}

/// The remedy for an error. `line` is the line of source in which it occurred, or empty.
pub(crate) fn hint(error: &str, line: &str, project: &ProjectFacts) -> Option<String> {
    if let Some(found) = TABLE.captures(error) {
        let table = &found[1];
        return Some(format!(
            "the local database has no table '{table}'; run `lyceum db push`, or `lyceum db migrate` if the project \
             has migration files"
        ));
    }
    if let Some(column) = COLUMN.captures(error).and_then(|found| found.get(1).or(found.get(2))) {
        let column = column.as_str();
        return Some(format!(
            "the local database has no column '{column}'; if the schema has it, run `lyceum db push`, or \
             `lyceum db migrate` if the project has migration files"
        ));
    }
    if error.contains("restrictPeers") || error.contains("internal error; reference =") {
        let text = "a backend reaches only public addresses; call the project's own routes with env.SELF.fetch and \
                    the platform with env.LYCEUM.fetch";
        return Some(text.to_owned());
    }
    if error.contains("Disallowed operation called within global scope") {
        let text = "move this call into a route; while a backend starts, it has no network, timers or random numbers";
        return Some(text.to_owned());
    }
    secret(line, project).or_else(|| binding(error, line, project))
}

/// For a line that uses a secret that the project lacks.
fn secret(line: &str, project: &ProjectFacts) -> Option<String> {
    let mut names = SECRET.captures_iter(line).map(|found| found[1].to_owned());
    let name = names.find(|name| !project.secrets.contains(name))?;
    Some(format!("the secret '{name}' is not set; add the line {name}=… to .env"))
}

/// For a line that uses a binding that the project lacks.
fn binding(error: &str, line: &str, project: &ProjectFacts) -> Option<String> {
    if !error.contains("of undefined") {
        return None;
    }
    BINDING.captures_iter(line).find_map(|found| {
        let used = |binding: &Binding| binding.names().env == &found[1];
        let Some(binding) = Binding::ALL.into_iter().find(used) else {
            let text = "env.LYCEUM needs a sandbox; start `lyceum dev` without --no-sandbox";
            return (!project.has_platform).then(|| text.to_owned());
        };
        let BindingNames { env, key, .. } = binding.names();
        (!project.uses.has(binding)).then(|| {
            format!(
                "env.{env} does not exist; set integrations.{key} to true in the project's config"
            )
        })
    })
}
