//! TLS with certificates from PEM files, which are read again when they change.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use lyceum_core::messages::io_reason;
use lyceum_core::{Problem, ProblemKind, Result, message};
use rustls::ServerConfig;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{self, AsyncReadExt, Join, Take};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use x509_parser::error::X509Error;
use x509_parser::parse_x509_certificate;

use crate::limits;

/// A TCP connection after its TLS handshake.
pub type TlsConnection = TlsStream<Join<Take<OwnedReadHalf>, OwnedWriteHalf>>;

/// The certificate and key files, and their current content.
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    current: ArcSwap<UsedCertificate>,
}

/// A certificate in use.
struct UsedCertificate {
    config: Arc<ServerConfig>,
    /// The earliest expiry in its chain, in seconds since 1970; `None` if it cannot be read.
    expires_s: Option<i64>,
}

impl Tls {
    /// Reads the files. Errors: a file cannot be read or contains no certificate or key, or the two do not match.
    pub fn open(certificate: &Path, key: &Path) -> Result<Self> {
        let current = ArcSwap::from_pointee(read(certificate, key)?);
        Ok(Self { certificate: certificate.to_owned(), key: key.to_owned(), current })
    }

    /// When the certificate in use expires, in seconds since 1970; `None` if it cannot be read.
    pub fn expires_s(&self) -> Option<i64> {
        self.current.load().expires_s
    }

    /// Performs the handshake of a connection with the current certificate. Errors: the handshake fails.
    ///
    /// Rustls keeps an incomplete handshake message in memory, up to 64 KB. Until the handshake is complete, the client
    /// can therefore send only a limited number of bytes.
    pub async fn accept(&self, stream: TcpStream) -> io::Result<TlsConnection> {
        let (reader, writer) = stream.into_split();
        let limited = io::join(reader.take(limits::TLS_HANDSHAKE_MAX_BYTES), writer);
        let config = Arc::clone(&self.current.load().config);
        let mut connection = TlsAcceptor::from(config).accept(limited).await?;
        connection.get_mut().0.reader_mut().set_limit(u64::MAX);
        Ok(connection)
    }

    /// Checks the files for changes until the server ends. If new files cannot be used, the previous ones stay in use.
    pub async fn follow(&self) {
        let mut tick = tokio::time::interval(Duration::from_millis(limits::TLS_POLL_MS));
        let mut seen = self.changed();
        loop {
            tick.tick().await;
            let changed = self.changed();
            if changed == seen {
                continue;
            }
            seen = changed;
            match read(&self.certificate, &self.key) {
                Ok(used) => {
                    self.current.store(Arc::new(used));
                    tracing::info!("the new TLS certificate is in use");
                }
                Err(problem) => {
                    tracing::error!("the previous TLS certificate stays in use: {problem}");
                }
            }
        }
    }

    /// The modification time of each file; `None` while it does not exist.
    fn changed(&self) -> [Option<SystemTime>; 2] {
        let changed = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
        [changed(&self.certificate), changed(&self.key)]
    }
}

fn read(certificate: &Path, key: &Path) -> Result<UsedCertificate> {
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|fault| unreadable(certificate, &fault))?;
    let expires_s = expiry_s(&chain)
        .inspect_err(|error| tracing::warn!(%error, "the expiry of the TLS certificate is unknown"))
        .ok();
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|fault| unreadable(key, &fault))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has what TLS 1.2 and 1.3 need")
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|fault| unusable(certificate, &fault))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(UsedCertificate { config: Arc::new(config), expires_s })
}

/// The earliest expiry in a chain, in seconds since 1970.
fn expiry_s(chain: &[CertificateDer<'_>]) -> Result<i64, X509Error> {
    let mut first = i64::MAX;
    for certificate in chain {
        let (_, certificate) = parse_x509_certificate(certificate)?;
        first = first.min(certificate.validity().not_after.timestamp());
    }
    Ok(first)
}

fn unreadable(path: &Path, fault: &PemError) -> Problem {
    match fault {
        PemError::Io(error) => unusable(path, &io_reason(error)),
        PemError::NoItemsFound => unusable(path, &"it has no certificate or key in PEM"),
        fault => unusable(path, fault),
    }
}

fn unusable(path: &Path, fault: &dyn std::fmt::Display) -> Problem {
    let message = message!(
        "the TLS file '{path}' cannot be used: {fault}; check the settings in [tls]",
        path = path.display()
    );
    Problem::new(ProblemKind::Unavailable, message)
}
