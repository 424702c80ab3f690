//! Ports of this machine: which program uses one, and which port is free.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};

/// The number of ports above a used one that are tried.
const TRIED: u16 = 100;
/// The state of a listening socket (`TCP_LISTEN`).
const LISTENS: &str = "0A";

/// A listening process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortHolder {
    /// Process id.
    pub pid: u32,
    /// The name of its program.
    pub program: String,
}

/// The process that listens on a port of this machine, if this user may see it.
pub fn holder(port: u16) -> Option<PortHolder> {
    let sockets: Vec<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|table| listening(&table, port))
        .map(|inode| format!("socket:[{inode}]"))
        .collect();
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let mut numbered = processes.filter_map(|process| process.file_name().to_str()?.parse().ok());
    let pid: u32 = numbered.find(|pid| has_one(*pid, &sockets))?;
    let program = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    Some(PortHolder { pid, program: program.trim().to_owned() })
}

/// The inodes of the sockets that listen on the port.
fn listening(table: &str, port: u16) -> Vec<String> {
    let of_port = format!(":{port:04X}");
    let rows = table.lines().skip(1).map(|row| row.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row.len() > 9 && row[1].ends_with(&of_port) && row[3] == LISTENS)
        .map(|row| row[9].to_owned())
        .collect()
}

fn has_one(pid: u32, sockets: &[String]) -> bool {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    open.filter_map(|file| fs::read_link(file.path()).ok())
        .any(|file| sockets.iter().any(|socket| file.as_os_str() == socket.as_str()))
}

/// Listens on this port, or on the next free one if it is in use. The listener does not block.
pub fn listen_from(port: u16) -> Option<TcpListener> {
    let mut ports = (port..=u16::MAX).take(TRIED.into());
    let listener = ports.find_map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok())?;
    listener.set_nonblocking(true).ok()?;
    Some(listener)
}

/// The next free port above this one.
pub fn free_above(port: u16) -> Option<u16> {
    Some(listen_from(port.checked_add(1)?)?.local_addr().ok()?.port())
}
