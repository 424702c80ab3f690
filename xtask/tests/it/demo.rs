//! The output of `cargo xtask demo`. Cargo, npm and the program itself are scripts here.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::root;

const PATIENCE: Duration = Duration::from_secs(30);
/// A number of students that nobody uses for a demo.
const STUDENTS: &str = "7";
/// A program that prints as the program's commands do; `serve` waits until it is stopped.
const PROGRAM: &str = r#"#!/bin/sh
case "$1 $2 $3" in
  "demo link "*) echo "http://elsewhere/console/enter?link=le_01234567890123456789012345678901" ;;
  "admin key create") echo "lk_0123456789012345678901234567890123456789012" ;;
  serve*) touch "$SERVING"; exec sleep 30 ;;
esac
"#;

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub(crate) fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn xtask(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(arguments);
    command
}

#[test]
fn an_unknown_flag_is_answered_with_the_known_ones() {
    let Output { status, stderr, .. } = xtask(&["demo", "--port", "80"]).output().unwrap();
    assert!(!status.success());
    assert_eq!(
        text(&stderr),
        "error: unknown flag '--port'; use --listen HOST:PORT or --students COUNT\n"
    );
}

/// A folder with a program that does nothing in place of each that the commands run.
pub(crate) fn scripts() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    script(&folder.path().join("target/demo/lyceum"), PROGRAM);
    for program in ["cargo", "npm", "apt-get"] {
        script(&folder.path().join("bin").join(program), "#!/bin/sh\n");
    }
    folder
}

/// A command that runs these programs.
pub(crate) fn xtask_with(scripts: &Path, arguments: &[&str]) -> Command {
    let bin = scripts.join("bin");
    #[expect(clippy::disallowed_methods, reason = "the programs of the machine are on the path")]
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = xtask(arguments);
    command.env("CARGO_TARGET_DIR", scripts.join("target")).env("CARGO", bin.join("cargo"));
    command.env("PATH", path).env("SERVING", scripts.join("serving")).stdout(Stdio::piped());
    command
}

#[test]
fn the_demo_explains_itself_on_one_screen() {
    let scripts = scripts();
    // The usual port, so that the greeting is as wide as usual; nobody listens on this address.
    let address = "127.0.0.9:4321";
    let arguments = ["demo", "--listen", address, "--students", STUDENTS];
    let mut demo = xtask_with(scripts.path(), &arguments).spawn().unwrap();
    let since = Instant::now();
    while !scripts.path().join("serving").exists() {
        assert!(since.elapsed() < PATIENCE && demo.try_wait().unwrap().is_none(), "no server");
        sleep(Duration::from_millis(10));
    }
    let server = TcpListener::bind(address).unwrap();
    let (mut stream, _) = server.accept().unwrap();
    let _ = stream.read(&mut [0; 1024]).unwrap();
    stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n{}").unwrap();
    drop(stream);
    let mut printed = String::new();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines();
    while !printed.ends_with("/docs/api\n") {
        printed += &(lines.next().expect("the greeting").unwrap() + "\n");
    }
    demo.kill().unwrap();
    demo.wait().unwrap();
    fs::remove_dir_all(root().join(format!(".lyceum/demo/{STUDENTS}-students"))).unwrap();

    for step in ["[1/4] prepare", "[2/4] compile", "[3/4] create a school network of 7", "[4/4]"] {
        assert!(printed.contains(step), "{printed}");
    }
    assert_eq!(printed.matches("done in ").count(), 3, "{printed}");
    let (_, greeting) = printed.split_once("\n  Lyceum serves ").expect(&printed);
    let widest = greeting.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(greeting.lines().count() < 24 && widest <= 80, "{widest}: {greeting}");
    for part in ["/console/enter?link=le_0123456789", "curl --oauth2-bearer lk_0123456789"] {
        assert!(greeting.contains(part), "{greeting}");
    }
}

#[test]
fn the_tests_first_print_what_they_install() {
    let scripts = scripts();
    let run = xtask_with(scripts.path(), &["test", "-p", "lyceum-core"]).output().unwrap();
    let printed = text(&run.stdout);
    let (announced, _) = printed.split_once("\n== ").expect(&printed);
    for part in ["Debian package", "npm packages"] {
        assert!(announced.contains(part), "{announced}");
    }
}
