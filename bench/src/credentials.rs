//! `lyceum-bench credentials`: issuing and verifying a badge beside the JavaScript stack of credentials,
//! each alone on one core, and tokens beside bare signatures.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use ed25519_dalek::{Signer, SigningKey};
use lyceum_core::time::Timestamp;
use lyceum_credentials::{did, jwt, proof, verify};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::goals::Finding;
use crate::options::RunOptions;
use crate::pairs::Spread;
use crate::report::Report;

/// How long a run is.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    run: RunOptions,
    /// Measure this side alone on this core and print its rates
    #[arg(long, hide = true)]
    ours: bool,
}

/// Times a second.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct Rates {
    issue: f64,
    verify: f64,
    #[serde(default)]
    token: f64,
    #[serde(default)]
    signature: f64,
}

/// Measures and reports. Errors: a side failed, or does not verify what it signed.
pub(crate) fn run(options: &Options) -> Result<()> {
    let time = options.run.time();
    if options.ours {
        println!("{}", serde_json::to_string(&lyceum(time)?)?);
        return Ok(());
    }
    let mut report = Report::start("credentials", &options.run, "one Open Badge".to_owned())?;
    let (mut mine, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..options.run.rounds() {
        theirs.push(javascript(time, &options.run.folder)?);
        mine.push(alone(time)?);
    }
    let ratio = |one: fn(&Rates) -> f64| {
        Spread::of(mine.iter().zip(&theirs).map(|(mine, theirs)| one(mine) / one(theirs)))
    };
    let text = |one: fn(&Rates) -> f64| {
        let middle = |rates: &[Rates]| Spread::of(rates.iter().map(one)).median;
        format!("{:.0}/s, theirs {:.0}/s", middle(&mine), middle(&theirs))
    };
    let token = Spread::of(mine.iter().map(|rates| rates.token / rates.signature));
    let tokens = |one: fn(&Rates) -> f64| Spread::of(mine.iter().map(one)).median;
    report.add([
        Finding::new("C1", ratio(|rates| rates.issue), text(|rates| rates.issue)),
        Finding::new("C2", ratio(|rates| rates.verify), text(|rates| rates.verify)),
        Finding::new(
            "C3",
            token,
            format!(
                "{:.0} tokens/s, {:.0} signatures/s",
                tokens(|rates| rates.token),
                tokens(|rates| rates.signature)
            ),
        ),
    ]);
    report.finish(&options.run)
}

fn key() -> SigningKey {
    SigningKey::from_bytes(&[7; 32])
}

/// The badge, issued by the `did:key` of [`key`].
fn badge() -> Result<Value> {
    let mut badge: Value = serde_json::from_str(include_str!("badge.json"))?;
    badge["issuer"]["id"] = did::key_of(&key().verifying_key()).into();
    Ok(badge)
}

/// This program's own rates, in a process of its own on core 1.
fn alone(time: Duration) -> Result<Rates> {
    let seconds = time.as_secs().to_string();
    let mut command = Command::new("taskset");
    command.args(["-c", "1"]).arg(std::env::current_exe()?);
    answered(command.args(["credentials", "--ours", "--seconds", &seconds]))
}

/// `@digitalbazaar/vc` on core 1, its contexts in memory.
fn javascript(time: Duration, folder: &Path) -> Result<Rates> {
    let [task, rates] = ["credentials-asked.json", "credentials-rates.json"];
    let [task, rates] = [folder.join(task), folder.join(rates)];
    std::fs::write(&task, json!({"credential": badge()?, "seconds": time.as_secs()}).to_string())?;
    let mut command = Command::new("taskset");
    command
        .args([
            "-c",
            "1",
            "python3",
            "tests/verifiers/bootstrap.py",
            "target/verifiers",
            "bench.mjs",
        ])
        .arg("crates/credentials/contexts")
        .args([&task, &rates]);
    let status = command.status().context("taskset and python3 are needed")?;
    ensure!(status.success(), "bench.mjs failed: {status}");
    Ok(serde_json::from_str(&std::fs::read_to_string(rates)?)?)
}

fn answered(command: &mut Command) -> Result<Rates> {
    let output = command.output().context("taskset is needed")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn lyceum(time: Duration) -> Result<Rates> {
    let (badge, key) = (badge()?, key());
    let method = did::key_method(&key.verifying_key());
    let now: Timestamp = "2026-06-01T00:00:00Z".parse()?;
    let issue = || proof::sign(black_box(badge.clone()), &key, &method, now);
    let credential = issue()?.to_string();
    let documents = BTreeMap::new();
    let check = || verify::verify(black_box(credential.as_bytes()), &documents, now);
    ensure!(check().is_confirmed(), "what was signed is not accepted: {:#?}", check().checks);
    let token = || jwt::sign(black_box(&badge), jwt::Key::EdDsa(&key), &method);
    let signed = token()?;
    let message = signed.rsplit_once('.').context("a token has a signature")?.0.as_bytes();
    Ok(Rates {
        issue: rate(time, issue),
        verify: rate(time, check),
        token: rate(time, token),
        signature: rate(time, || key.sign(black_box(message))),
    })
}

/// How often a second the call runs.
fn rate<T>(time: Duration, call: impl Fn() -> T) -> f64 {
    let twenty = || {
        for _ in 0..20 {
            black_box(call());
        }
    };
    (0..10).for_each(|_| twenty());
    let (start, mut count) = (Instant::now(), 0.0);
    while start.elapsed() < time {
        twenty();
        count += 20.0;
    }
    count / start.elapsed().as_secs_f64()
}
