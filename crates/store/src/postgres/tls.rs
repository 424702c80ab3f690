//! The checks of a PostgreSQL server's certificate.

use std::path::Path;
use std::sync::Arc;

use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

/// The roots of the system, as libpq names them.
const SYSTEM: &str = "system";

/// The values of `sslmode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TlsMode {
    /// No TLS.
    Disable,
    /// TLS where the server has it.
    Prefer,
    /// TLS, whosever certificate it is.
    Require,
    /// TLS, with a certificate of a known root.
    VerifyCa,
    /// TLS, with a certificate of a known root for the host.
    VerifyFull,
}

/// Files in the format PEM.
pub(crate) struct PemFiles<'f> {
    /// Of the roots that are trusted, or [`SYSTEM`].
    pub(crate) roots: Option<&'f str>,
    /// Of the own certificate and what is between it and its root.
    pub(crate) chain: Option<&'f str>,
    /// Of the own certificate's key.
    pub(crate) key: Option<&'f str>,
}

impl TlsMode {
    /// Reads the mode. The roots of the system belong to strangers, too, so with them only the name of the
    /// host shows whose certificate it is. Errors: `Invalid`.
    pub(crate) fn parse(text: Option<&str>, files: &PemFiles<'_>) -> Result<Self> {
        if files.roots == Some(SYSTEM) {
            return match text {
                None | Some("verify-full") => Ok(Self::VerifyFull),
                Some(weaker) => Err(refused(message!(
                    "sslmode '{weaker}' cannot be used with sslrootcert 'system': use verify-full"
                ))),
            };
        }
        Ok(match text {
            None | Some("prefer") => Self::Prefer,
            Some("disable") => Self::Disable,
            Some("require") => Self::Require,
            Some("verify-ca") => Self::VerifyCa,
            Some("verify-full") => Self::VerifyFull,
            Some(other) => {
                return Err(refused(message!(
                    "sslmode must be one of disable, prefer, require, verify-ca and verify-full, \
                     got '{other}'"
                )));
            }
        })
    }

    pub(crate) fn of_library(self) -> SslMode {
        match self {
            Self::Disable => SslMode::Disable,
            Self::Prefer => SslMode::Prefer,
            Self::Require | Self::VerifyCa | Self::VerifyFull => SslMode::Require,
        }
    }
}

fn refused(message: impl Into<Message>) -> Problem {
    Problem::new(ProblemKind::Invalid, message)
}

/// The TLS connector, and the mode, which root certificates make stricter as in libpq.
pub(crate) fn connector(
    mode: TlsMode,
    files: &PemFiles<'_>,
) -> Result<(TlsMode, MakeRustlsConnect)> {
    let mode = match (mode, files.roots) {
        (TlsMode::Require, Some(_)) => TlsMode::VerifyCa,
        (TlsMode::VerifyCa | TlsMode::VerifyFull, None) => {
            return Err(refused(
                "sslmode 'verify-ca' and 'verify-full' need sslrootcert: the file of the trusted \
                 root certificates, or 'system'",
            ));
        }
        (mode, _) => mode,
    };
    let provider = Arc::new(ring::default_provider());
    let roots = files.roots.filter(|_| mode != TlsMode::Disable).map(roots).transpose()?;
    let (trusted, roots) = roots.unzip();
    let roots = roots.map(|roots: RootCertStore| {
        WebPkiServerVerifier::builder_with_provider(roots.into(), provider.clone())
            .build()
            .map_err(|error| refused(message!("sslrootcert cannot be used: {error}")))
    });
    let verifier = CertificateVerifier {
        roots: roots.transpose()?,
        trusted: trusted.unwrap_or_default(),
        checks_name: mode == TlsMode::VerifyFull,
        provider: provider.clone(),
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(Problem::internal)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let config = match (files.chain, files.key) {
        (None, None) => config.with_no_client_auth(),
        (Some(chain), Some(key)) => {
            let failed = |error: &dyn std::fmt::Display| {
                refused(message!("sslcert '{chain}' and sslkey '{key}' cannot be used: {error}"))
            };
            let key = PrivateKeyDer::from_pem_file(key).map_err(|error| failed(&error))?;
            let chain = certificates("sslcert", chain)?;
            config.with_client_auth_cert(chain, key).map_err(|error| failed(&error))?
        }
        _ => return Err(refused("sslcert and sslkey belong together; set both or neither")),
    };
    Ok((mode, MakeRustlsConnect::new(config)))
}

/// The roots, also as they are.
fn roots(path: &str) -> Result<(Vec<CertificateDer<'static>>, RootCertStore)> {
    let mut store = RootCertStore::empty();
    let certificates = match path {
        SYSTEM => rustls_native_certs::load_native_certs().certs,
        path => certificates("sslrootcert", path)?,
    };
    let (added, _) = store.add_parsable_certificates(certificates.iter().cloned());
    match added {
        0 => Err(refused(message!("sslrootcert '{path}' contains no certificate"))),
        _ => Ok((certificates, store)),
    }
}

fn certificates(parameter: &str, path: &str) -> Result<Vec<CertificateDer<'static>>> {
    CertificateDer::pem_file_iter(Path::new(path))
        .and_then(Iterator::collect)
        .map_err(|error| refused(message!("{parameter} '{path}' cannot be read: {error}")))
}

/// Asks what the mode asks of a certificate: libpq knows fewer demands than browsers make.
#[derive(Debug)]
struct CertificateVerifier {
    /// `None` if any certificate will do.
    roots: Option<Arc<WebPkiServerVerifier>>,
    /// The roots as they are.
    trusted: Vec<CertificateDer<'static>>,
    checks_name: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for CertificateVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(roots) = &self.roots else { return Ok(ServerCertVerified::assertion()) };
        // The chain is looked at before the name.
        match roots.verify_server_cert(certificate, chain, host, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.checks_name => Ok(ServerCertVerified::assertion()),
            // A server may show a root itself, as self-signed certificates are made by default.
            Err(Error::InvalidCertificate(CertificateError::Other(cause)))
                if format!("{cause:?}").contains("CaUsedAsEndEntity")
                    && self.trusted.contains(certificate) =>
            {
                if self.checks_name {
                    verify_server_name(&ParsedCertificate::try_from(certificate)?, host)?;
                }
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
