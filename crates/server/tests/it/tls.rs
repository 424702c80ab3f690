//! TLS with files, and HTTP/2 over TLS.

use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper_util::rt::{TokioExecutor, TokioIo};
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::TestServer;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::probe;

#[test]
fn a_changed_certificate_is_used_without_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    let first = certify(&certificate, &key);
    let mut setup = probe::setup();
    setup.config.tls.certificate = Some(certificate.clone());
    setup.config.tls.key = Some(key.clone());
    lyceum_testkit::both_stores(&lyceum_api::migrations(), |target| {
        std::fs::write(&certificate, &first.0).unwrap();
        std::fs::write(&key, &first.1).unwrap();
        let server = TestServer::start_as(target, setup.clone());
        let trusts = |certificate: &str| {
            let client = TestClient::trusting(server.address(), certificate.as_bytes());
            client.get("/health").try_send().is_ok_and(|reply| reply.status == 200)
        };
        assert!(trusts(&first.0));
        assert!(server.address().starts_with("https://"));

        // If a new pair is incomplete, the previous one stays in use.
        std::fs::write(&certificate, "not a certificate").unwrap();
        std::thread::sleep(Duration::from_millis(2500));
        assert!(trusts(&first.0));

        let second = certify(&certificate, &key);
        let begun = Instant::now();
        while !trusts(&second.0) {
            assert!(begun.elapsed() < Duration::from_secs(10), "the new one is not in force");
            std::thread::sleep(Duration::from_millis(100));
        }
        assert!(!trusts(&first.0));
    });
}

fn certify(certificate: &Path, key: &Path) -> (String, String) {
    let created = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let pair = (created.cert.pem(), created.signing_key.serialize_pem());
    std::fs::write(certificate, &pair.0).unwrap();
    std::fs::write(key, &pair.1).unwrap();
    pair
}

#[test]
fn http_2_is_served_with_tls_and_without() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    certify(&certificate, &key);
    let without_tls = probe::setup();
    let mut with_tls = without_tls.clone();
    with_tls.listen_anew();
    with_tls.config.tls.certificate = Some(certificate.clone());
    with_tls.config.tls.key = Some(key);
    lyceum_testkit::both_stores(&lyceum_api::migrations(), |target| {
        let plain = TestServer::start_as(target, without_tls.clone());
        let encrypted = TestServer::start_as(target, with_tls.clone());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let stream = connect(&plain).await;
            assert_eq!(fifty_at_once(stream).await, 50);
            let mut roots = RootCertStore::empty();
            roots.add(CertificateDer::from_pem_file(&certificate).unwrap()).unwrap();
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let mut config = ClientConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_root_certificates(roots)
                .with_no_client_auth();
            config.alpn_protocols = vec![b"h2".to_vec()];
            let connector = TlsConnector::from(Arc::new(config));
            let name = "127.0.0.1".try_into().unwrap();
            let stream = connector.connect(name, connect(&encrypted).await).await.unwrap();
            assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
            assert_eq!(fifty_at_once(stream).await, 50);
        });
    });
}

#[test]
fn a_handshake_that_is_too_long_ends_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    certify(&certificate, &key);
    let mut setup = probe::setup();
    setup.config.tls.certificate = Some(certificate);
    setup.config.tls.key = Some(key);
    lyceum_testkit::both_stores(&lyceum_api::migrations(), |target| {
        let server = TestServer::start_as(target, setup.clone());
        let mut stream =
            std::net::TcpStream::connect(&server.setup().config.server.listen).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        // A ClientHello of 64 KB in records of 1 KB.
        let mut record = vec![22, 3, 1, 4, 0];
        record.extend([0; 1024]);
        let mut first = record.clone();
        first[5..9].copy_from_slice(&[1, 0, 0xff, 0xf0]);
        stream.write_all(&first).unwrap();
        for _ in 0..9 {
            // The server may have closed the connection already.
            let _ = stream.write_all(&record);
        }
        let mut answer = Vec::new();
        let end = stream.read_to_end(&mut answer).map_err(|error| error.kind());
        assert!(matches!(end, Ok(_) | Err(ErrorKind::ConnectionReset)), "{end:?}");
    });
}

async fn connect(server: &TestServer) -> TcpStream {
    TcpStream::connect(&server.setup().config.server.listen).await.unwrap()
}

/// Sends many requests over one connection before the first is answered, and counts the answers.
async fn fifty_at_once(
    stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
) -> usize {
    let io = TokioIo::new(stream);
    let (sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.unwrap();
    let connection = tokio::spawn(connection);
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let mut sender = sender.clone();
        calls.spawn(async move {
            let request = hyper::Request::get("http://127.0.0.1/probe/slow/50");
            let request = request.body(lyceum_http::Body::empty()).unwrap();
            sender.send_request(request).await.unwrap().status() == 200
        });
    }
    drop(sender);
    let answered = calls.join_all().await.into_iter().filter(|ok| *ok).count();
    connection.await.unwrap().unwrap();
    answered
}
