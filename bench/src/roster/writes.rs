//! W1: durable creates.

use std::path::Path;

use anyhow::Result;

use super::networks::Network;
use super::{Options, WRITE_CLIENTS};
use crate::goals::Finding;
use crate::limits::random_key_insert;
use crate::load::Target;
use crate::lyceum::{LyceumProgram, ROSTERING};
use crate::pairs::Spread;
use crate::server::SERVER_CORE;

/// A user of the size that the anchor's rows have; its organization exists.
const USER: &str = concat!(
    r#"{"user":{"sourcedId":"{id}","status":"active","enabledUser":"true","username":"{id}@example.org","#,
    r#""givenName":"New","familyName":"User","identifier":"{id}","email":"{id}@example.org","#,
    r#""roles":[{"roleType":"primary","role":"student","#,
    r#""org":{"href":"/orgs/org-00000","sourcedId":"org-00000","type":"org"}}],"grades":["05"]}}"#,
);

/// W1 on a copy of the network: Lyceum beside raw inserts.
pub(super) fn creates(options: &Options, network: &Network) -> Result<Finding> {
    let scratch = tempfile::tempdir_in(&options.run.folder)?;
    let lyceum = copy(&network.lyceum, &scratch.path().join("ours"))?.serve(SERVER_CORE)?;
    let (mut ratios, mut detail) = (Vec::new(), String::new());
    for _ in 0..options.run.rounds() {
        let raw = random_key_insert(scratch.path(), options.run.time())?;
        let target = Target::Post(format!("{ROSTERING}/users"), USER.into(), 0);
        let lyceum = lyceum.load(target, WRITE_CLIENTS, options.run.time())?;
        ratios.push(lyceum.requests_per_second / raw);
        detail = format!(
            "ours {:.0} rows/s, {:.1} µs CPU, p50 {:.2} ms; raw {raw:.0}",
            lyceum.requests_per_second, lyceum.cpu_us, lyceum.p50_ms
        );
    }
    Ok(Finding::new("W1", Spread::of(ratios), detail))
}

/// Lyceum on a copy of its data folder.
fn copy(lyceum: &LyceumProgram, folder: &Path) -> Result<LyceumProgram> {
    std::fs::create_dir_all(folder)?;
    for entry in lyceum.data.read_dir()? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            std::fs::copy(entry.path(), folder.join(entry.file_name()))?;
        }
    }
    Ok(LyceumProgram { data: folder.to_owned(), ..lyceum.clone() })
}
