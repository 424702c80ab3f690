//! The process that has a port, and ports that are free.

use std::net::{Ipv4Addr, TcpListener};

use lyceum_sandbox::ports::{free_above, holder, listen_from};

#[test]
fn a_used_port_has_a_holder_and_a_free_one_above_it() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let found = holder(port).unwrap();
    assert_eq!(found.pid, std::process::id());
    assert!(!found.program.is_empty());
    if let Some(free) = free_above(port) {
        assert!(free > port);
    }
    if let Some(next) = listen_from(port) {
        assert!(next.local_addr().unwrap().port() > port);
    }
    drop(listener);
    assert_eq!(holder(port), None);
    assert_eq!(free_above(u16::MAX), None);
}
