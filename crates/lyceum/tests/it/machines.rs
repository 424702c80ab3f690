//! Machines of a school's own network: each is a Debian whose first process is systemd, with processes, mounts, a host name
//! and a network interface of its own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tempfile::TempDir;

use crate::packages::{debian, run};
use crate::served::target;

const BOOT_MAX: Duration = Duration::from_mins(3);

/// The network with the addresses 10.0.0.0/24. The test itself is at 10.0.0.9. It ends with this value.
pub(crate) struct Network {
    /// The root file system of its machines.
    system: PathBuf,
    process: Child,
    _input: ChildStdin,
}

impl Network {
    /// A network for machines with these packages of Debian.
    pub(crate) fn new(packages: &[&str]) -> Self {
        // Inside of the network, nothing can be downloaded.
        let system = debian(packages);
        let script = "ip link set lo up && ip link add lan type bridge && ip address add 10.0.0.9/24 dev lan && \
                      ip link set lan up && echo ready && exec cat";
        let mut command = Command::new("unshare");
        command.args(["--net", "sh", "-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(
            line, "ready\n",
            "the network was not made; the test needs iproute2 and the right to make namespaces"
        );
        let input = process.stdin.take().unwrap();
        Self { system, process, _input: input }
    }

    /// Runs a part of a test in the network: on a thread of its own, because threads never come back.
    pub(crate) fn enter(&self, part: impl FnOnce() + Send) {
        let own = fs::File::open(format!("/proc/{}/ns/net", self.process.id())).unwrap();
        scope(|scope| {
            let inside = scope.spawn(|| {
                move_into_link_name_space(own.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
                part();
            });
            if let Err(panic) = inside.join() {
                std::panic::resume_unwind(panic);
            }
        });
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Makes a root file system the root, with what systemd expects of a container, and starts it. The arguments are the
/// folder, the process of the network, the host name and the address.
const BOOT: &str = r#"
set -e
root=$1 network=$2 name=$3 address=$4
nsenter --net=/proc/$network/ns/net sh -c "
    ip link add $name type veth peer name eth0 netns 1 && ip link set $name master lan up"
ip link set lo up
ip address add $address/24 dev eth0
ip link set eth0 up
hostname $name
mount --make-rprivate /
mount --bind $root $root
cd $root
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do
    touch dev/$device
    mount --bind /dev/$device dev/$device
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mkdir -p outside
pivot_root . outside
umount -l outside
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /usr/lib/systemd/systemd
"#;

/// Moves its process into a group of its own, of which the machine sees nothing else, and boots.
const ISOLATE: &str = r#"
set -e
group=$1 root=$2
mount --make-rprivate /
mount -t cgroup2 cgroup2 $root/mnt
mkdir $root/mnt/$group
echo $$ > $root/mnt/$group/cgroup.procs
umount $root/mnt
shift
exec unshare --pid --fork --kill-child --cgroup --uts --ipc --net sh -c "$BOOT" boot "$@"
"#;

/// A machine that runs. It is switched off with this value.
pub(crate) struct TestMachine {
    pub(crate) name: &'static str,
    pub(crate) address: &'static str,
    root: TempDir,
    group: String,
    process: Child,
    /// The process id of its systemd, as this machine sees it.
    systemd: String,
}

impl TestMachine {
    /// Installs Debian and switches the machine on.
    pub(crate) fn start(network: &Network, name: &'static str, address: &'static str) -> Self {
        let root = tempfile::tempdir_in(target()).unwrap();
        run(Command::new("tar").arg("-xf").arg(&network.system).arg("-C").arg(root.path()));
        fs::write(root.path().join("etc/hostname"), name).unwrap();
        fs::write(root.path().join("etc/hosts"), "127.0.0.1 localhost\n").unwrap();
        let group = format!("lyceum-test-{}-{name}", std::process::id());
        let mut command = Command::new("setpriv");
        // A test that is killed leaves no machine behind.
        command.args(["--pdeathsig", "KILL", "unshare", "--mount", "sh", "-c"]);
        command.args([ISOLATE, "isolate", &group]).arg(root.path());
        command.args([&network.process.id().to_string(), name, address]).env("BOOT", BOOT);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let process = command.spawn().unwrap();
        let mut machine = Self { name, address, root, group, process, systemd: String::new() };
        machine.wait_until_booted();
        machine
    }

    fn wait_until_booted(&mut self) {
        let since = Instant::now();
        let children = format!("/proc/{0}/task/{0}/children", self.process.id());
        loop {
            let ended = self.process.try_wait().unwrap();
            assert!(
                ended.is_none() && since.elapsed() < BOOT_MAX,
                "{} does not boot: {ended:?}",
                self.name
            );
            sleep(Duration::from_millis(20));
            let Ok(child) = fs::read_to_string(&children) else { continue };
            child.trim().clone_into(&mut self.systemd);
            let program = fs::read_link(format!("/proc/{}/exe", self.systemd));
            if program.is_ok_and(|program| program.ends_with("systemd")) {
                let state = self.command("systemctl is-system-running").output().unwrap();
                if ["running\n", "degraded\n"].map(str::as_bytes).contains(&&*state.stdout) {
                    return;
                }
            }
        }
    }

    /// A script that runs on the machine as root, in the folder `/root`.
    fn command(&self, script: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.systemd, "--all", "bash", "-euo", "pipefail", "-c"]);
        command.arg(format!("exec 2>&1\ncd /root\n{script}")).stdin(Stdio::null()).env_clear();
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", "/root");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    }

    /// Runs a script that must succeed; what it printed.
    pub(crate) fn run(&self, script: &str) -> String {
        let output = self.command(script).output().unwrap();
        let printed =
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "on {}:\n{script}\n{printed}\n{}", self.name, self.log());
        printed
    }

    /// The last lines of the log of the server.
    pub(crate) fn log(&self) -> String {
        let output =
            self.command("journalctl --unit lyceum | grep --invert-match lyceum::request").output();
        let text = String::from_utf8_lossy(&output.unwrap().stdout).into_owned();
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(40)..].join("\n")
    }

    /// The path of what its processes see at a path, also in memory.
    pub(crate) fn seen(&self, path: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{path}", self.systemd))
    }

    /// The path of one of the files on its disk.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path.trim_start_matches('/'))
    }

    /// Copies a file into the folder `/root`.
    pub(crate) fn receive(&self, file: &Path) {
        fs::copy(file, self.path("root").join(file.file_name().unwrap())).unwrap();
    }

    /// Cuts the power.
    pub(crate) fn switch_off(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for TestMachine {
    fn drop(&mut self) {
        self.switch_off();
        // Groups are removed from the innermost one outwards, when their last process has ended.
        let script = "mount --make-rprivate / && mount -t cgroup2 cgroup2 $1/mnt && for try in 1 2 3 4 5; do \
                      find $1/mnt/$2 -depth -type d -exec rmdir {} + && break; sleep 0.2; done";
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", script, "sh"]).arg(self.root.path()).arg(&self.group);
        let _ = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}
