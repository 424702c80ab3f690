//! The list of steps: which rows of a document each proves, its request and the expected answer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// A request or command with its expected answer. Texts may hold `${name}`, a value of an earlier answer.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Step {
    /// The rows that this step proves: section of the document → rows. None: it prepares others.
    pub(super) rows: BTreeMap<String, Vec<String>>,
    /// Why the answer is the right one, where the row does not say it.
    pub(super) note: String,
    /// `server` (default), `production` or `sandbox`: where a request goes and a command is run.
    pub(super) at: String,

    /// A request, as `GET /path`.
    pub(super) call: Option<String>,
    /// Its JSON body.
    pub(super) send: Option<String>,
    /// Its form.
    pub(super) form: Option<BTreeMap<String, String>>,
    /// Its bearer token; empty: that of the place, `none`: no token.
    pub(super) token: String,
    /// The status of its answer.
    pub(super) status: Option<u16>,

    /// A command of `lyceum`.
    pub(super) run: Option<String>,
    /// The arguments of `node`, in the repository, for a step that is not a command of `lyceum`.
    pub(super) node: Option<String>,
    /// Its exit code.
    pub(super) code: i32,
    /// Texts on its standard output.
    pub(super) prints: Vec<String>,
    /// Texts on its standard error.
    pub(super) says: Vec<String>,
    /// Runs it in a terminal: pairs of a question and the keys typed.
    pub(super) types: Vec<(String, String)>,

    /// The flags of a sandbox to start in a new folder; the former one ends.
    pub(super) start: Option<String>,
    /// Whether the sandbox starts in the folder of the former one.
    pub(super) again: bool,
    /// Variables of the command or the sandbox.
    pub(super) variables: BTreeMap<String, String>,

    /// Files that are written before.
    pub(super) files: BTreeMap<String, String>,
    /// Files that are removed before.
    pub(super) remove: Vec<String>,

    /// The expected answer; see [`super::answers`].
    pub(super) answer: Option<String>,
    /// Names for values of the answer, each with its JSON pointer.
    pub(super) keep: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct File {
    step: Vec<Step>,
}

/// The steps of one file in their order.
pub(super) fn read(document: &str, file: &str) -> Vec<Step> {
    let path = folder().join(document).join(format!("{file}.toml"));
    let text = std::fs::read_to_string(&path).unwrap();
    let file: File =
        toml::from_str(&text).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
    file.step
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/promises")
}
