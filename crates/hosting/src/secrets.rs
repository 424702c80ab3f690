//! Secrets, sealed under the server's master key. Each version has its own set.

use std::collections::BTreeMap;

use lyceum_access::MasterKey;
use lyceum_access::sealed::SealedColumn;
use lyceum_core::{Detail, Message, Problem, Result, messages};
use lyceum_project::limits;
use lyceum_project::{Plan, secrets};
use lyceum_store::Tx;

use crate::projects::digest_key;
use crate::repository::secrets as repository;
use crate::repository::secrets::SealedSecret;

/// The values of a version's secrets. Only the engine may receive them.
///
/// Errors: they were sealed under another master key.
pub fn values(
    tx: &mut Tx<'_>,
    master: &MasterKey,
    slug: &str,
    version: i64,
) -> Result<BTreeMap<String, String>> {
    let stored = repository::of_version(tx, slug, version)?;
    let values = stored.into_iter().map(|secret| {
        let opened = master.open(&label(slug, &secret.name), &secret.value);
        let value = opened.and_then(|bytes| String::from_utf8(bytes).ok());
        value.map(|value| (secret.name, value)).ok_or_else(|| {
            Problem::internal("a secret was sealed with another master key; restore that key")
        })
    });
    values.collect()
}

/// The secrets of the version that a plan creates: pushed secrets are sealed, the others are copied from the version
/// before.
///
/// Errors: `Invalid` if a value is missing, is not the plan's value, or is not needed.
pub(crate) fn after(
    tx: &mut Tx<'_>,
    master: &MasterKey,
    plan: &Plan,
    served: Option<i64>,
    values: &BTreeMap<String, String>,
) -> Result<Vec<SealedSecret>> {
    let slug = &plan.slug;
    let mut kept = match served {
        Some(version) => repository::of_version(tx, slug, version)?,
        None => Vec::new(),
    };
    let Some(wanted) = &plan.desired.secrets else { return Ok(kept) };
    let key = digest_key(master, slug);
    let mut faults = Vec::new();
    let mut fault = |name: &str, message: Message| {
        faults.push(Detail { path: format!("secrets.{name}"), message });
    };
    let pushed: Vec<_> = plan.secrets.pushed().collect();
    for name in values.keys().filter(|name| !pushed.contains(name)) {
        fault(name, "is not pushed by the plan; remove it".into());
    }
    kept.retain(|secret| wanted.contains_key(&secret.name) && !pushed.contains(&&secret.name));
    for name in pushed {
        let Some(value) = values.get(name) else {
            fault(name, "is pushed by the plan; send its value".into());
            continue;
        };
        if value.len() > limits::SECRET_MAX_BYTES {
            fault(name, messages::too_long(limits::SECRET_MAX_BYTES));
            continue;
        }
        let digest = secrets::digest(&key, name, value);
        if wanted.get(name) != Some(&digest) {
            fault(name, "differs from the value in the plan; deploy again".into());
            continue;
        }
        let value = master.seal(&label(slug, name), value.as_bytes());
        kept.push(SealedSecret { name: name.clone(), digest, value });
    }
    if faults.is_empty() { Ok(kept) } else { Err(Problem::invalid_all(faults)) }
}

/// The sealed secrets of projects.
pub const SEALED_SECRETS: SealedColumn = SealedColumn {
    table: "deployment_secrets",
    column: "sealed",
    key: &["slug", "name", "CAST(version AS TEXT)"],
    label: |key| label(&key[0], &key[1]),
};

fn label(slug: &str, name: &str) -> String {
    format!("secret {name} of the project {slug}")
}
