//! The request that the demo sends to its own server: not worth an HTTP client.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, bail};

const TIMEOUT: Duration = Duration::from_secs(5);

/// Sends a GET request and returns the body. Errors: no connection, or a status other than 200.
pub(crate) fn get(host: &str, path: &str) -> Result<String> {
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n").as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").context("the answer has no body")?;
    let status = head.split(' ').nth(1).unwrap_or_default();
    if status != "200" {
        bail!("the server answered {status}: {body}");
    }
    Ok(body.to_owned())
}
