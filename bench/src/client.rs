//! A client that costs little, so that the server and not the load is what is measured.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::server::Server;

/// One connection, kept open, with one request in flight.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    /// The header lines of every request.
    headers: String,
}

impl Client {
    /// A client whose requests carry the header lines of the server.
    pub(crate) fn new(server: &Server) -> Result<Self> {
        Self::with(&server.address, &server.headers)
    }

    /// A client whose requests carry these header lines.
    pub(crate) fn with(address: &str, headers: &[String]) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let headers = [headers, &[format!("Host: {address}")]].concat();
        Ok(Self { stream: BufReader::new(stream), headers: headers.join("\r\n") })
    }

    /// A client with the session of a person. Errors: the password is wrong.
    pub(crate) fn signed_in(server: &Server, email: &str, password: &str) -> Result<Self> {
        let body = json!({ "email": email, "password": password }).to_string();
        let answer = ureq::post(format!("http://{}/api/auth/sign-in", server.address))
            .header("Content-Type", "application/json")
            .send(body)
            .with_context(|| format!("cannot sign in as {email}"))?;
        let cookie = answer.headers().get("set-cookie").context("a sign-in sets a cookie")?;
        let session = cookie.to_str()?.split(';').next().unwrap_or_default();
        Self::with(&server.address, &[format!("Cookie: {session}")])
    }

    /// The body of the answer. Errors: it was not answered 2xx.
    pub(crate) fn get(&mut self, path: &str) -> Result<String> {
        self.request("GET", path, "")
    }

    /// The body of the answer. Errors: it was not answered 2xx.
    pub(crate) fn send(&mut self, method: &str, path: &str, body: &Value) -> Result<String> {
        self.request(method, path, &body.to_string())
    }

    fn request(&mut self, method: &str, path: &str, body: &str) -> Result<String> {
        let (headers, length) = (&self.headers, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\n{headers}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let is_taken = line.starts_with("HTTP/1.1 2");
        let status = line.trim_end().to_owned();
        let mut length = 0;
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            match line.trim_end().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.parse()?;
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer)?;
        let answer = String::from_utf8(answer)?;
        ensure!(is_taken, "{method} {path} was answered '{status}': {answer}");
        Ok(answer)
    }
}

/// The text, or number, of a member that stands once in an answer of JSON, read without the rest.
pub(crate) fn member<'a>(answer: &'a str, name: &str) -> Result<&'a str> {
    let key = format!("\"{name}\":");
    let at = answer.find(&key).with_context(|| format!("the answer has no {name}: {answer}"))?;
    let value = answer[at + key.len()..].trim_start_matches('"');
    let end = value.find(['"', ',', '}']).context("the answer is JSON")?;
    Ok(&value[..end])
}
