//! Connections with TLS and without a token.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tempfile::TempDir;

use super::http1::{connect, post, send};
use super::sized;
use super::target::{Cost, Target};

type Secured = StreamOwned<ClientConnection, TcpStream>;

/// A server with a certificate of its own, and what its callers need to trust it.
struct SecuredTarget {
    target: Target,
    config: Arc<ClientConfig>,
    _files: TempDir,
}

impl SecuredTarget {
    fn start() -> Self {
        let created = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let files = tempfile::tempdir().unwrap();
        let file = |name: &str, text: String| -> &'static str {
            let path = files.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned().leak()
        };
        let settings = [
            ("LYCEUM_TLS__CERTIFICATE", file("certificate.pem", created.cert.pem())),
            ("LYCEUM_TLS__KEY", file("key.pem", created.signing_key.serialize_pem())),
        ];
        let target = Target::within(settings.to_vec().leak(), None);
        Self { target, config: Arc::new(trusting(created.cert.der())), _files: files }
    }

    /// A connection after its handshake.
    fn connect(&self, from: usize) -> Secured {
        let name = "127.0.0.1".try_into().unwrap();
        let mut connection = ClientConnection::new(Arc::clone(&self.config), name).unwrap();
        let mut stream = connect(from, self.target.address());
        while connection.is_handshaking() {
            connection.complete_io(&mut stream).unwrap();
        }
        StreamOwned::new(connection, stream)
    }
}

fn trusting(certificate: &CertificateDer<'static>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

#[test]
#[ignore = "soak"]
fn idle_tls_connections_use_little_memory() {
    let secured = SecuredTarget::start();
    let connections = sized(400, 10_000);
    secured.target.withstands(Cost { connections, ..Cost::default() }, || {
        (0..connections).map(|from| secured.connect(from)).collect::<Vec<_>>()
    });
}

#[test]
#[ignore = "soak"]
fn handshakes_that_do_not_end_use_little_memory() {
    let secured = SecuredTarget::start();
    let connections = sized(400, 10_000);
    secured.target.withstands(Cost { connections, ..Cost::default() }, || {
        let begun = |from: usize| {
            let mut stream = connect(from, secured.target.address());
            // The head of a ClientHello of 4 KB, and most of it: as much as the server reads of a handshake.
            send(&mut stream, [22, 3, 1, 0x0f, 0xf0, 1, 0, 0x0f, 0xec, 3, 3]);
            send(&mut stream, vec![0; 4_000]);
            stream
        };
        (0..connections).map(begun).collect::<Vec<_>>()
    });
}

#[test]
#[ignore = "soak"]
fn slow_bodies_over_tls_use_little_memory() {
    let secured = SecuredTarget::start();
    let connections = sized(300, 3_000);
    secured.target.withstands(Cost { connections, ..Cost::default() }, || {
        let begun = |from: usize| {
            let mut stream = secured.connect(from);
            let head = post("/oauth2/token", "application/x-www-form-urlencoded", 16_000);
            // A server that has no memory for it closes.
            let _ = stream.write_all(format!("{head}{}", "a".repeat(15_000)).as_bytes());
            let _ = stream.flush();
            stream
        };
        (0..connections).map(begun).collect::<Vec<_>>()
    });
}
