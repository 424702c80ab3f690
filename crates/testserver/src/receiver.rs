//! A program that receives the messages of webhooks.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A message as it arrived.
#[derive(Clone, Debug)]
pub struct ReceivedMessage {
    /// The path of the request.
    pub path: String,
    /// The header `webhook-id`.
    pub id: String,
    /// The header `webhook-timestamp`.
    pub timestamp: String,
    /// The header `webhook-signature`.
    pub signature: String,
    /// The body.
    pub text: String,
    /// When it arrived.
    pub at: Instant,
}

impl ReceivedMessage {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).expect("a message is JSON")
    }
}

/// Answers a message with a status code.
type Answering = dyn Fn(&ReceivedMessage) -> u16 + Send + Sync;

/// Listens on a port of the loopback and keeps what arrives.
pub struct Receiver {
    address: SocketAddr,
    messages: Arc<Mutex<Vec<ReceivedMessage>>>,
}

impl Receiver {
    /// A receiver that answers each message with the status code that the function returns. 0 closes the connection
    /// without an answer.
    pub fn start(answer: impl Fn(&ReceivedMessage) -> u16 + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let messages: Arc<Mutex<Vec<ReceivedMessage>>> = Arc::default();
        let (received, answer): (_, Arc<Answering>) = (Arc::clone(&messages), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (received, answer) = (Arc::clone(&received), Arc::clone(&answer));
                std::thread::spawn(move || serve(stream, &received, &*answer));
            }
        });
        Self { address, messages }
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The messages that arrived so far, in order.
    pub fn messages(&self) -> Vec<ReceivedMessage> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The messages once there are enough. Panics if there are fewer after the time.
    pub fn wait_for(&self, count: usize, patience: Duration) -> Vec<ReceivedMessage> {
        let since = Instant::now();
        loop {
            let messages = self.messages();
            if messages.len() >= count {
                return messages;
            }
            assert!(since.elapsed() < patience, "{} of {count} messages arrived", messages.len());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn serve(
    stream: TcpStream,
    messages: &Mutex<Vec<ReceivedMessage>>,
    answer: &Answering,
) -> Option<()> {
    let mut writer = stream.try_clone().ok()?;
    let mut reader = BufReader::new(stream);
    loop {
        let message = read(&mut reader)?;
        let status = answer(&message);
        messages.lock().unwrap_or_else(PoisonError::into_inner).push(message);
        if status == 0 {
            return None;
        }
        write!(writer, "HTTP/1.1 {status} Answer\r\ncontent-length: 0\r\n\r\n").ok()?;
    }
}

/// The next message of a connection; none at its end.
fn read(reader: &mut impl BufRead) -> Option<ReceivedMessage> {
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|bytes| *bytes > 0)?;
    let path = first.split(' ').nth(1)?.to_owned();
    let (mut id, mut timestamp, mut signature) = (String::new(), String::new(), String::new());
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "webhook-id" => value.clone_into(&mut id),
            "webhook-timestamp" => value.clone_into(&mut timestamp),
            "webhook-signature" => value.clone_into(&mut signature),
            "content-length" => length = value.parse().ok()?,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let text = String::from_utf8(body).ok()?;
    Some(ReceivedMessage { path, id, timestamp, signature, text, at: Instant::now() })
}
