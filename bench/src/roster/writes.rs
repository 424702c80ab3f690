//! W1 and T1: durable creates, and tokens.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::networks::{Network, Networks};
use super::{Options, READ_CLIENTS, WRITE_CLIENTS};
use crate::goals::Finding;
use crate::limits::random_key_insert;
use crate::load::{Sample, Target};
use crate::lyceum::{LyceumProgram, ROSTERING};
use crate::pairs::Spread;
use crate::server::{SERVER_CORE, Server};

/// A user of the size that the anchor's rows have; its organization exists.
const USER: &str = concat!(
    r#"{"user":{"sourcedId":"{id}","status":"active","enabledUser":"true","username":"{id}@example.org","#,
    r#""givenName":"New","familyName":"User","identifier":"{id}","email":"{id}@example.org","#,
    r#""roles":[{"roleType":"primary","role":"student","#,
    r#""org":{"href":"/orgs/org-00000","sourcedId":"org-00000","type":"org"}}],"grades":["05"]}}"#,
);

/// Measures W1 and T1 on copies of the small network.
pub(super) fn measure(options: &Options, networks: &Networks) -> Result<Vec<Finding>> {
    let mut findings = vec![creates(options, &networks.small)?];
    findings.extend(tokens(options, &networks.small.lyceum)?);
    Ok(findings)
}

/// W1: Lyceum and the anchor beside raw inserts.
fn creates(options: &Options, network: &Network) -> Result<Finding> {
    let scratch = tempfile::tempdir_in(&options.run.folder)?;
    let anchor_file = scratch.path().join("anchor.db");
    std::fs::copy(&network.anchor, &anchor_file)?;
    let anchor = Server::anchor(&anchor_file, SERVER_CORE)?;
    let lyceum = copy(&network.lyceum, &scratch.path().join("ours"))?.serve(SERVER_CORE)?;
    let create = |server: &Server, path: &str, time: Duration| -> Result<Sample> {
        server.load(Target::Post(path.into(), USER.into(), 0), WRITE_CLIENTS, time)
    };
    let (mut ratios, mut detail) = (Vec::new(), String::new());
    for _ in 0..options.run.rounds() {
        let raw = random_key_insert(scratch.path(), options.run.time())?.per_second;
        let anchor = create(&anchor, "/users", options.run.time())?;
        let lyceum = create(&lyceum, &format!("{ROSTERING}/users"), options.run.time())?;
        ratios.push(lyceum.requests_per_second / raw);
        detail = format!(
            "ours {:.0} rows/s, {:.1} µs CPU, p50 {:.2} ms; anchor {:.0} rows/s, {:.1} µs; raw {raw:.0}",
            lyceum.requests_per_second,
            lyceum.cpu_us,
            lyceum.p50_ms,
            anchor.requests_per_second,
            anchor.cpu_us,
        );
    }
    Ok(Finding::new("W1", Spread::of(ratios), detail))
}

/// T1: client credentials for a token.
fn tokens(options: &Options, lyceum: &LyceumProgram) -> Result<[Finding; 2]> {
    let credentials = lyceum.create_client()?;
    let mut server = lyceum.serve(SERVER_CORE)?;
    server.headers = vec!["Content-Type: application/x-www-form-urlencoded".into()];
    let target = Target::Post("/oauth2/token".into(), credentials.form(), 0);
    let samples = (0..options.run.rounds())
        .map(|_| server.load(target.clone(), READ_CLIENTS, options.run.time()))
        .collect::<Result<Vec<_>>>()?;
    let rate = Spread::of(samples.iter().map(|sample| sample.requests_per_second));
    let cpu_ms = Spread::of(samples.iter().map(|sample| sample.cpu_us / 1e3));
    Ok([
        Finding::new("T1", rate, format!("{READ_CLIENTS} clients")),
        Finding::new("T1.secret", cpu_ms, "the whole request: check of the secret and signature"),
    ])
}

/// Lyceum on a copy of its data folder.
pub(super) fn copy(lyceum: &LyceumProgram, folder: &Path) -> Result<LyceumProgram> {
    std::fs::create_dir_all(folder)?;
    for entry in lyceum.data.read_dir()? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            std::fs::copy(entry.path(), folder.join(entry.file_name()))?;
        }
    }
    Ok(LyceumProgram { data: folder.to_owned(), ..lyceum.clone() })
}
