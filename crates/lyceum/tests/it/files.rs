//! `lyceum demo`, `import`, `export`, and what `admin` does to records: what they print and leave.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use lyceum_store::{Db, SqlDialect, StoreLocation, StoreOptions};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::admin::migrated_places;
use crate::served::wait;
use crate::transcript::Place;

/// Names a PostgreSQL database.
const DATABASE: &str = "LYCEUM_STORE__DATABASE";
const ORGS: &str = "sourcedId,status,dateLastModified,name,type,identifier,parentSourcedId\n";
const USERS: &str = "sourcedId,status,dateLastModified,enabledUser,username,givenName,familyName\n";
const ROLES: &str = "sourcedId,status,dateLastModified,userSourcedId,roleType,role,orgSourcedId\n";

/// A folder of three files; the texts are rows.
fn roster(place: &Place, folder: &str, orgs: &str, users: &str, roles: &str) {
    fs::create_dir_all(place.path().join(folder)).unwrap();
    for (name, head, rows) in
        [("orgs", ORGS, orgs), ("users", USERS, users), ("roles", ROLES, roles)]
    {
        place.write(&format!("{folder}/{name}.csv"), &format!("{head}{rows}"));
    }
}

const SOUND: [&str; 3] = [
    "d,active,2026-08-01T00:00:00Z,District,district,,\ns,active,2026-08-01T00:00:00Z,School,school,,d\n",
    "ann,active,2026-08-01T00:00:00Z,true,ann,Ann,Ames\nbob,active,2026-08-01T00:00:00Z,true,bob,Bob,Bell\n",
    "r1,,,ann,primary,student,s\nr2,,,bob,primary,teacher,s\n",
];

fn sound(place: &Place) {
    roster(place, "in", SOUND[0], SOUND[1], SOUND[2]);
}

fn bytes(place: &Place, name: &str) -> Vec<u8> {
    fs::read(place.path().join(name)).unwrap()
}

#[test]
fn a_seed_generates_the_same_network_every_time() {
    let place = Place::new();
    let (code, stdout, stderr) =
        place.run("demo generate --complete --students 40 --seed 5 --out a.zip");
    assert_eq!((code, stdout.as_str()), (0, ""));
    let rest = stderr.strip_prefix("wrote a network of 40 students, ").unwrap();
    let rows: u64 = rest.strip_suffix(" rows, to 'a.zip'\n").unwrap().parse().unwrap();
    let answer = place.json("demo generate --complete --students 40 --seed 5 --out b.zip --json");
    assert_eq!(answer["file"], "b.zip");
    let counts = answer["rows"].as_object().unwrap().values();
    assert_eq!(counts.map(|count| count.as_u64().unwrap()).sum::<u64>(), rows);
    assert_eq!(answer["rows"]["demographics"], 40);
    place.ok("demo generate --complete --students 40 --seed 6 --out c.zip --quiet");
    assert_eq!(bytes(&place, "a.zip"), bytes(&place, "b.zip"));
    assert_ne!(bytes(&place, "a.zip"), bytes(&place, "c.zip"));
    let (code, message) = place.fails("demo generate --complete --students 1 --out nowhere/x.zip");
    assert!(message.starts_with("error: 'nowhere/x.zip' cannot be written: "), "{message}");
    assert!(message.contains("\nhint: "), "{message}");
    assert_eq!(code, 1);
}

#[test]
fn an_import_reports_the_outcome_of_its_rows() {
    for place in migrated_places() {
        sound(&place);
        let (code, stdout, stderr) = place.run("import in");
        assert_eq!(code, 0, "{stderr}");
        let expected = "file   rows  created  updated  restored  unchanged  deleted  older  rejected\n\
                   orgs   2     2        0        0         0          0        0      0\n\
                   users  2     2        0        0         0          0        0      0\n\
                   roles  2     0        0        0         0          0        0      0\n";
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(&stdout), sorted(expected));
        assert_eq!(stderr, "imported 6 rows from 3 files\n", "and no bar without a terminal");
        let again = place.json("import in --json");
        assert_eq!(again["committed"], true);
        let users = again["files"].as_array().unwrap().iter().find(|one| one["file"] == "users");
        assert_eq!(
            *users.unwrap(),
            json!({"file": "users", "mode": "bulk", "rows": 2, "created": 0, "updated": 0,
                   "restored": 0, "restored_were_deleted": null, "unchanged": 2, "deleted": 0, "older": 0, "rejected": 0,
                   "coverage": {"stored": 2, "in_file": 2, "imported": 0, "ended": 0}})
        );
        assert_eq!(place.run("import in --quiet").2, "");
        place.write("in/notes.csv", "a,b\n");
        let (_, _, stderr) = place.run("import in");
        assert!(stderr.starts_with("warning: notes.csv: is not a OneRoster file"), "{stderr}");
        let (code, printed) = place.fails("import missing.zip");
        assert!(printed.contains("missing.zip"), "{printed}");
        assert!([1, 4].contains(&code), "{code}");
    }
}

/// The sound roster with a broken row in each file.
fn broken(place: &Place) {
    roster(
        place,
        "in",
        &format!("{}x,,,Tower,castle,,d\n", SOUND[0]),
        &format!("{}eve,,,maybe,eve,Eve,Ende\n", SOUND[1]),
        &format!("{}r3,,,bob,secondary,aide,gone\nr4,,,eve,primary,student,s\n", SOUND[2]),
    );
}

const FAULTS: [[&str; 5]; 3] = [
    ["orgs.csv", "4", "type", "castle", "department, district"],
    ["users.csv", "4", "enabledUser", "maybe", "true or false"],
    ["roles.csv", "4", "orgSourcedId", "gone", "orgs.csv"],
];

#[test]
fn broken_rows_are_named_with_a_remedy_and_nothing_is_imported() {
    for place in migrated_places() {
        broken(&place);
        let (code, stdout, stderr) = place.run("import in");
        assert_eq!(code, 1);
        assert!(stdout.starts_with("file "), "the counts stand in the answer: {stdout}");
        let mut lines = stderr.lines();
        assert_eq!(lines.next(), Some("error: nothing was imported: found 3 errors in the files"));
        for [file, line, column, value, remedy] in FAULTS {
            let start = format!("  {file} line {line}, {column} '{value}': ");
            let line = stderr.lines().find(|line| line.starts_with(&start));
            let line = line.unwrap_or_else(|| panic!("{start} in {stderr}"));
            let (_, hint) = line.split_once("; ").unwrap();
            assert!(hint.contains(remedy), "{line}");
        }
        let last = stderr.lines().last();
        assert_eq!(
            last,
            Some("hint: correct the rows, or import only the valid ones with --keep-going")
        );
        let answer: Value = serde_json::from_str(&place.run("import in --json").1).unwrap();
        assert_eq!((&answer["committed"], &answer["fault_count"]), (&json!(false), &json!(3)));
        assert_eq!(answer["faults"][0]["column"], "type");
        assert_eq!(
            place.json("admin check --json"),
            json!({"records": 0, "files": 0, "faults": []})
        );
    }
}

#[test]
fn keep_going_imports_the_rows_without_errors() {
    for place in migrated_places() {
        broken(&place);
        let (code, stdout, stderr) = place.run("import in --keep-going");
        assert_eq!(code, 1, "{stderr}");
        assert!(stdout.lines().any(|line| line.starts_with("users") && line.ends_with('1')));
        let expected = "imported 6 rows from 3 files\n\
                        error: 4 rows rejected with 3 errors; they are in 'in-rejected.csv'\n";
        assert_eq!(stderr, expected, "the role of the rejected user is rejected, too");
        let rejected = fs::read_to_string(place.path().join("in-rejected.csv")).unwrap();
        let mut lines = rejected.lines();
        assert_eq!(lines.next(), Some("file,line,column,value,problem,remedy,row"));
        for [file, line, column, value, _] in FAULTS {
            let start = format!("{file},{line},{column},{value},");
            assert!(rejected.contains(&format!("\n{start}")), "{start} in {rejected}");
        }
        assert!(rejected.contains(",\"eve,,,maybe,eve,Eve,Ende\"\n"), "{rejected}");
        assert_eq!(
            place.json("admin check --json"),
            json!({"records": 4, "files": 0, "faults": []})
        );
    }
}

#[test]
fn a_dry_run_reports_the_same_and_changes_nothing() {
    for place in migrated_places() {
        sound(&place);
        let (code, stdout, stderr) = place.run("import in --dry-run");
        assert_eq!(code, 0, "{stderr}");
        assert!(stdout.lines().any(|line| line.starts_with("users  2     2")), "{stdout}");
        let expected = "nothing was changed; the import would store 6 rows from 3 files\n";
        assert_eq!(stderr, expected);
        assert_eq!(place.json("import in --dry-run --json")["committed"], false);
        assert_eq!(place.json("admin check --json")["records"], 0);
        broken(&place);
        assert_eq!(place.run("import in --dry-run").0, 1);
        assert_eq!(place.run("import in --dry-run --keep-going").0, 1);
        assert_eq!(place.json("admin check --json")["records"], 0);
    }
}

#[test]
fn a_file_that_is_rejected_as_a_whole_ends_with_the_exit_code_1() {
    for place in migrated_places() {
        sound(&place);
        place.write("in/users.csv", &(USERS.replace("sourcedId", "sourceId") + SOUND[1]));
        let (code, stdout, stderr) = place.run("import in --keep-going");
        assert_eq!(code, 1, "{stdout}{stderr}");
        assert!(stderr.contains("imported 2 rows from 3 files\n"), "{stderr}");
        let error = "error: 4 rows rejected with 1 error; they are in 'in-rejected.csv'\n";
        assert!(stderr.ends_with(error), "{stderr}");
    }
}

#[test]
fn records_that_a_complete_file_does_not_contain_stay_or_end() {
    for place in migrated_places() {
        let rows = |row: &dyn Fn(usize) -> String| (0..30).map(row).collect::<Vec<_>>().concat();
        let users = rows(&|n| format!("u{n},,,true,u{n},Ann,Ames\n"));
        let roles = rows(&|n| format!("r{n},,,u{n},primary,student,s\n"));
        roster(&place, "in", SOUND[0], &users, &roles);
        place.ok("import in");
        let is_kept = |row: &&str| !row.starts_with("u1,") && !row.starts_with("r1,");
        let without_one = |rows: &str| -> String {
            let kept: Vec<&str> = rows.lines().filter(is_kept).collect();
            kept.join("\n") + "\n"
        };
        roster(&place, "in", SOUND[0], &without_one(&users), &without_one(&roles));
        let (code, _, stderr) = place.run("import in");
        let expected = "warning: users.csv: 29 of 30 stored users are in the file; 1 is not; they stay; `--absent end` would \
                        end those that an import wrote last (1)\n";
        assert!(code == 0 && stderr.starts_with(expected), "{stderr}");
        let coverage = |report: &Value| {
            let files = report["files"].as_array().unwrap().iter();
            files.clone().find(|one| one["file"] == "users").unwrap()["coverage"].clone()
        };
        let ended = place.json("import in --absent end --dry-run --json");
        assert_eq!(coverage(&ended)["ended"], 1, "{ended}");
        place.write("settings.toml", "[roster]\nabsent_records = \"end\"\n");
        let ended = place.json("import in --config settings.toml --json");
        let expected = json!({"stored": 30, "in_file": 29, "imported": 1, "ended": 1});
        assert_eq!(coverage(&ended), expected);

        roster(&place, "in", SOUND[0], "", "");
        let (code, _, stderr) = place.run("import in --absent end");
        let refused = "0 of 29 stored users are in the file; 29 are not; send the complete file, or allow the import \
                       to end 29 of them with `--allow-removals`";
        assert!(code == 1 && stderr.contains(refused), "{stderr}");
        let ended = place.json("import in --absent end --allow-removals --json");
        assert_eq!(coverage(&ended)["ended"], 29, "{ended}");

        roster(&place, "in", SOUND[0], &users, &roles);
        let (_, stdout, stderr) = place.run("import in");
        assert!(stdout.contains("users  30    0        0        30"), "{stdout}");
        assert!(stderr.contains("30 records are restored, which were deleted on 20"), "{stderr}");
    }
}

#[test]
fn an_export_is_a_package_that_imports_to_the_same() {
    for (from, to) in migrated_places().into_iter().zip(migrated_places()) {
        if from.variable(DATABASE).is_none() {
            let (code, printed) = from.fails("export out.zip");
            assert_eq!(code, 4, "no database exists yet: {printed}");
        }
        sound(&from);
        from.ok("import in");
        let (code, stdout, stderr) = from.run("export out.zip");
        assert_eq!((code, stdout.as_str()), (0, ""));
        assert_eq!(stderr, "exported 6 rows to 'out.zip'\n");
        let answer = from.json("export again.zip --json");
        let expected = json!({
            "file": "again.zip", "rows": answer["rows"], "left_out": [], "left_out_count": 0,
        });
        assert_eq!(answer, expected);
        assert_eq!(answer["rows"]["users"], 2);
        assert_eq!(bytes(&from, "out.zip"), bytes(&from, "again.zip"));
        fs::copy(from.path().join("out.zip"), to.path().join("out.zip")).unwrap();
        to.ok("import out.zip");
        to.ok("export again.zip");
        assert_eq!(bytes(&to, "again.zip"), bytes(&to, "out.zip"));
    }
}

#[test]
fn warnings_are_printed_and_strict_refuses_them() {
    for place in migrated_places() {
        let orgs = ORGS.trim_end().to_owned() + ",colour\ns,,,School,school,S-1,nowhere,red\n";
        fs::create_dir_all(place.path().join("in")).unwrap();
        place.write("in/orgs.csv", &orgs);
        let (code, _, stderr) = place.run("import in");
        assert_eq!(code, 0, "{stderr}");
        assert!(stderr.starts_with("warning: orgs.csv line 1, colour 'colour': "), "{stderr}");
        let reference = "warning: orgs.csv line 2, parentSourcedId 'nowhere': there is no org with the sourcedId 'nowhere'";
        assert!(stderr.contains(reference), "{stderr}");
        let (code, _, printed) = place.run("import in --strict");
        assert_eq!(code, 1, "{printed}");
        assert!(printed.contains("manifest.csv: is required"), "{printed}");
        assert!(printed.contains("orgs.csv line 1, colour"), "{printed}");
    }
}

#[test]
fn a_demo_and_an_export_have_the_platforms_files_only_if_complete() {
    let place = Place::new();
    let has = |answer: &Value| answer["rows"].get("courseComponents").is_some();
    let demo = "demo generate --students 20 --json --out";
    assert!(!has(&place.json(&format!("{demo} plain.zip"))));
    assert!(has(&place.json(&format!("{demo} whole.zip --complete"))));
    place.ok("import plain.zip --strict");
    place.ok("import whole.zip");
    assert!(!has(&place.json("export out.zip --json")));
    assert!(has(&place.json("export all.zip --complete --json")));
}

#[test]
fn records_are_checked_and_purged() {
    for place in migrated_places() {
        sound(&place);
        place.ok("import in");
        let (code, stdout, stderr) = place.run("admin check");
        assert_eq!((code, stdout.as_str()), (0, ""));
        assert_eq!(stderr, "checked 4 records: no errors\n");

        // Bob is deleted; so is the district, to which the school still refers.
        fs::create_dir_all(place.path().join("delta")).unwrap();
        place.write(
            "delta/manifest.csv",
            "propertyName,value\nmanifest.version,1.0\noneroster.version,1.2\n\
             file.orgs,delta\nfile.users,delta\n",
        );
        let deleted = "tobedeleted,";
        place.write("delta/orgs.csv", &format!("{ORGS}d,{deleted},,,,\n"));
        place.write("delta/users.csv", &format!("{USERS}bob,{deleted},,,,\n"));
        let report = place.json("import delta --json");
        let counts: u64 = report["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["deleted"].as_u64().unwrap())
            .sum();
        assert_eq!(counts, 2, "{report}");
        let expected = json!({"removed": 0, "kept": 0});
        assert_eq!(place.json("admin purge --older-than 40000d --json"), expected);
        let (_, _, stderr) = place.run("admin purge --older-than 0m");
        assert_eq!(stderr, "removed 1 record; kept 1 because other records refer to them\n");
        assert_eq!(
            place.json("admin check --json"),
            json!({"records": 3, "files": 0, "faults": []})
        );
    }
}

#[test]
fn a_database_that_contradicts_itself_is_reported() {
    for place in migrated_places() {
        sound(&place);
        place.ok("import in");
        let db = Db::open(&target(&place), &lyceum_api::migrations()).unwrap();
        let sql = "UPDATE users SET username = 'anna' WHERE sourced_id = 'ann'";
        db.write_blocking(|tx| tx.execute(sql, &[])).unwrap();
        let (code, stdout, stderr) = place.run("admin check");
        assert_eq!(code, 1);
        assert!(stdout.contains("ann"), "{stdout}");
        assert!(stderr.starts_with("error: found 1 error in 4 records\nhint: "), "{stderr}");
    }
}

/// The database that the commands of a place work on.
fn target(place: &Place) -> StoreLocation {
    match place.variable(DATABASE) {
        Some(url) => StoreLocation::Postgres(url.to_owned()),
        None => StoreLocation::Sqlite(place.path().join("lyceum-data/lyceum.db")),
    }
}

/// Starts a command and interrupts it, as Ctrl-C does, once it is at work.
fn interrupted(mut command: Command, is_at_work: impl Fn() -> bool) -> (Option<i32>, String) {
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut child = AtWork(child);
    let since = Instant::now();
    while !(handles_interrupts(&child.0) && is_at_work()) {
        assert!(child.0.try_wait().unwrap().is_none(), "it ended before it could be interrupted");
        assert!(since.elapsed() < Duration::from_mins(1), "it does not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    kill_process(Pid::from_child(&child.0), Signal::INT).unwrap();
    // Long enough for a machine that is busy with other tests, too.
    let status = wait(&mut child.0, Duration::from_mins(1)).expect("it ends when interrupted");
    let stderr = std::io::read_to_string(child.0.stderr.take().unwrap()).unwrap();
    (status.code(), stderr)
}

/// Whether a process does not simply end on Ctrl-C.
fn handles_interrupts(child: &Child) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let handled = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let handled = handled.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    handled.is_some_and(|mask| mask & (1 << (Signal::INT.as_raw() - 1)) != 0)
}

/// A process that ends with the test.
struct AtWork(Child);

impl Drop for AtWork {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_interrupted_command_exits_with_130_and_leaves_no_file() {
    let place = Place::new();
    let generate = place.command("demo generate --complete --students 3000000 --out big.zip");
    let part = place.path().join("big.zip.part");
    let (code, stderr) = interrupted(generate, || part.exists());
    assert_eq!((code, stderr.as_str()), (Some(130), "error: interrupted\n"));
    assert!(!part.exists() && !place.path().join("big.zip").exists());
}

/// Whether another process has begun to write into the database; on PostgreSQL, autovacuum writes as well.
fn is_written(db: &Db) -> bool {
    match db.dialect() {
        SqlDialect::Sqlite => db.write_blocking(|_| Ok(())).is_err(),
        SqlDialect::Postgres => {
            let sql = "SELECT COUNT(*) FROM pg_stat_activity \
                       WHERE datname = current_database() AND backend_xid IS NOT NULL \
                       AND backend_type = 'client backend'";
            let writers = db.read_blocking(|tx| tx.query_one(sql, &[], |row| row.int(0)));
            writers.unwrap() > Some(0)
        }
    }
}

#[test]
#[ignore = "rest"]
fn an_interrupted_import_leaves_the_former_state() {
    for place in migrated_places() {
        sound(&place);
        place.ok("import in");
        place.ok("demo generate --complete --students 3000 --out network.zip");
        let at_once = StoreOptions { lock_wait_ms: 0, ..StoreOptions::default() };
        let migrations = lyceum_api::migrations();
        let db = Db::open_with(&target(&place), &migrations, at_once).unwrap();
        let (code, stderr) = interrupted(place.command("import network.zip"), || is_written(&db));
        drop(db);
        assert_eq!((code, stderr.as_str()), (Some(130), "error: interrupted\n"));
        assert_eq!(
            place.json("admin check --json"),
            json!({"records": 4, "files": 0, "faults": []})
        );
        place.ok("import network.zip");
    }
}
