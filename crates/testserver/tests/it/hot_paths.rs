//! Instructions of the hot paths, counted by callgrind and compared with `tests/hot-paths.json`.
//!
//! Times say little on a busy machine. Counts differ by at most 2.4 % from run to run, because of the random seeds of hash
//! maps, and by up to 5 % between processors, for which libraries have different code. They are those of the debug build,
//! which the tests make anyway: an optimized one would compile each crate a second time. So they show what grew, and not by
//! how much a server became slower.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = env!("CARGO_BIN_EXE_hot-paths");
/// The functions that callgrind counts, and after which it writes a file. It takes two options with the same text for one.
const COUNTED: &str = "hot_paths::path_*";
const WRITTEN: &str = "*s::path_*";
/// How much of the stored count is accepted: on each processor, less than what makes a path noticeably dearer.
const ACCEPTED_PERCENT: u64 = 130;

#[test]
#[ignore = "rest"]
fn hot_paths_do_not_grow() {
    let folder = tempfile::tempdir().unwrap();
    succeed(Command::new(PROGRAM).arg("prepare").arg(folder.path()));
    let output = folder.path().join("counts");
    succeed(
        Command::new("valgrind")
            .args(["--quiet", "--tool=callgrind", "--collect-atstart=no"])
            .args([format!("--toggle-collect={COUNTED}"), format!("--dump-after={WRITTEN}")])
            .arg(format!("--callgrind-out-file={}", output.display()))
            .args([PROGRAM, "run"])
            .arg(folder.path()),
    );
    let counts = counts(folder.path());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hot-paths.json");
    if std::env::var_os("LYCEUM_BLESS").is_some() {
        fs::write(&file, serde_json::to_string_pretty(&counts).unwrap() + "\n").unwrap();
    }
    let stored: BTreeMap<String, u64> =
        serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let names = |counts: &BTreeMap<String, u64>| counts.keys().cloned().collect::<Vec<_>>();
    let grown: Vec<String> = counts
        .iter()
        .filter_map(|(name, &now)| {
            let before = stored.get(name).copied().unwrap_or(1);
            let growth = format!("{name}: {before} before, {now} now ({} %)", now * 100 / before);
            (now * 100 > before * ACCEPTED_PERCENT).then_some(growth)
        })
        .collect();
    assert!(
        grown.is_empty() && names(&counts) == names(&stored),
        "hot paths need more instructions than {} accepts:\n  {}\nMake them cheaper. If the cost is worth it, or only the \
         compiler changed, run `LYCEUM_BLESS=1 cargo test -p lyceum-testserver --test it hot_paths -- --ignored` and say why in the commit",
        file.display(),
        grown.join("\n  "),
    );
}

/// The instructions of the last run of each path, from the files that callgrind wrote after each run.
fn counts(folder: &Path) -> BTreeMap<String, u64> {
    let mut files: Vec<(usize, PathBuf)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| {
            let (_, number) = path.to_str()?.rsplit_once("counts.")?;
            Some((number.parse().ok()?, path))
        })
        .collect();
    files.sort();
    let mut counts = BTreeMap::new();
    for (_, file) in files {
        let text = fs::read_to_string(file).unwrap();
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
        let Some((_, name)) = value("desc: Trigger: ").and_then(|line| line.split_once("path_"))
        else {
            continue;
        };
        let total = value("totals: ").expect("callgrind writes a total");
        counts.insert(name.to_owned(), total.trim().parse().unwrap());
    }
    counts
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| {
        panic!("{command:?} does not start ({error}); `cargo xtask test` installs valgrind")
    });
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
