//! Machines as network namespaces: each has one cable to a bridge. A cable can be pulled, and packets between two machines
//! dropped without a message.

use std::ffi::OsStr;
use std::fs;
use std::net::Ipv4Addr;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::BRIDGE;

/// Runs a command that must succeed.
#[track_caller]
pub(super) fn run(line: &str) {
    let output = Command::new("sh").args(["-c", line]).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Makes the bridge in the network namespace of this process.
pub(super) fn make_bridge() {
    run(&format!(
        "ip link set lo up && ip link add bridge type bridge && ip addr add {BRIDGE}/24 dev bridge && \
         ip link set bridge up"
    ));
}

/// A network namespace. It ends with this value.
pub(super) struct Machine {
    /// A process that only holds the namespace.
    namespace_process: Child,
    pub(super) address: Ipv4Addr,
}

impl Machine {
    /// Makes a machine whose address ends with the number.
    pub(super) fn connect(number: u8) -> Self {
        let mut unshare = Command::new("unshare");
        let namespace_process = unshare.args(["--net", "sleep", "infinity"]).spawn().unwrap();
        let [a, b, c, _] = BRIDGE.octets();
        let machine = Self { namespace_process, address: Ipv4Addr::new(a, b, c, number) };
        let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/net")).ok();
        let id = machine.namespace_process.id().to_string();
        while namespace(&id).is_none_or(|own| Some(own) == namespace("self")) {
            sleep(Duration::from_millis(2));
        }
        let cable = machine.cable();
        run(&format!(
            "ip link add {cable} type veth peer name eth0 netns {id} && \
             ip link set {cable} master bridge up && nsenter --net --target {id} sh -c \
             'ip link set lo up && ip addr add {}/24 dev eth0 && ip link set eth0 up'",
            machine.address
        ));
        machine
    }

    /// A command on this machine.
    pub(super) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command
            .args(["--net", "--target", &self.namespace_process.id().to_string(), "--"])
            .arg(program);
        command.stdin(Stdio::null());
        command
    }

    /// A command on this machine as another user.
    pub(super) fn command_as(
        &self,
        (user, group): (u32, u32),
        program: impl AsRef<OsStr>,
    ) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--net", "--target", &self.namespace_process.id().to_string()]);
        command.args(["--setuid", &user.to_string(), "--setgid", &group.to_string(), "--"]);
        command.arg(program).stdin(Stdio::null());
        command
    }

    fn cable(&self) -> String {
        format!("cable{}", self.address.octets()[3])
    }

    /// Drops all packets from and to this machine.
    pub(super) fn disconnect(&self) {
        self.filter("-I", "0.0.0.0/0");
    }

    /// Drops the packets between this machine and another one.
    pub(super) fn disconnect_from(&self, other: Ipv4Addr) {
        self.filter("-I", &other.to_string());
    }

    /// Ends all cuts.
    pub(super) fn reconnect(&self) {
        let id = self.namespace_process.id();
        run(&format!(
            "nsenter --net --target {id} sh -c 'iptables -F INPUT && iptables -F OUTPUT'"
        ));
    }

    fn filter(&self, action: &str, other: &str) {
        let id = self.namespace_process.id();
        run(&format!(
            "nsenter --net --target {id} sh -c 'iptables {action} INPUT -i eth0 -s {other} -j DROP && \
             iptables {action} OUTPUT -o eth0 -d {other} -j DROP'"
        ));
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.namespace_process.kill();
        let _ = self.namespace_process.wait();
    }
}
