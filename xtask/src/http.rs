//! The two requests that the demo sends to its own server: not worth an HTTP client.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, bail};

const TIMEOUT: Duration = Duration::from_secs(5);

/// Asks for a path. Errors: no connection, or an answer that is not 200.
pub(crate) fn get(host: &str, path: &str) -> Result<String> {
    exchange(host, &format!("GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n"))
}

/// Sends a form.
pub(crate) fn post_form(host: &str, path: &str, form: &str) -> Result<String> {
    let length = form.len();
    exchange(
        host,
        &format!(
            "POST {path} HTTP/1.0\r\nHost: {host}\r\nContent-Length: {length}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n\r\n{form}"
        ),
    )
}

fn exchange(host: &str, request: &str) -> Result<String> {
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").context("the answer has no body")?;
    let status = head.split(' ').nth(1).unwrap_or_default();
    if status != "200" {
        bail!("the server answered {status}: {body}");
    }
    Ok(body.to_owned())
}
