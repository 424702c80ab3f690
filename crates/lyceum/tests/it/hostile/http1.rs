//! Connections from many addresses, and HTTP/1.1 as bytes.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use socket2::{Domain, Socket, Type};

/// A connection from one of many addresses of the loopback: the first number says which.
pub(super) fn connect(from: usize, to: SocketAddr) -> TcpStream {
    try_connect(from, to).unwrap()
}

pub(super) fn try_connect(from: usize, to: SocketAddr) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    let address = Ipv4Addr::new(127, 0, 1, u8::try_from(1 + from % 250).unwrap());
    socket.bind(&SocketAddr::from((address, 0)).into())?;
    socket.connect(&to.into())?;
    let stream = TcpStream::from(socket);
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.set_write_timeout(Some(Duration::from_secs(10)))?;
    Ok(stream)
}

/// Sends bytes; a server that closes the connection meanwhile is right.
pub(super) fn send(stream: &mut TcpStream, bytes: impl AsRef<[u8]>) {
    let _ = stream.write_all(bytes.as_ref());
}

/// Sends a request; the status of its answer, 0 where none came.
pub(super) fn status(stream: &mut TcpStream, request: &str) -> u16 {
    send(stream, request);
    let mut answer = [0; 4096];
    let read = stream.read(&mut answer).unwrap_or_default();
    let text = String::from_utf8_lossy(&answer[..read]);
    text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default()
}

/// The head of a request, which says that so many bytes follow.
pub(super) fn post(path: &str, media: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {media}\r\nContent-Length: {length}\r\n\r\n"
    )
}
