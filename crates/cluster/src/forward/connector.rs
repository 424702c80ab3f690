//! Connects to other nodes, with TLS if their addresses begin with `https://`.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper::http::uri::{Authority, Scheme};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use lyceum_core::Result;
use lyceum_core::config::Config;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tower::Service;

use crate::limits;

/// The scheme and authority of a node's address. An address without a scheme has the one of this server. `None` if
/// other nodes cannot reach the address.
pub(super) fn place(address: &str, has_tls: bool) -> Option<(Scheme, Authority)> {
    let (scheme, rest) = match address.split_once("://") {
        Some(("http", rest)) => (Scheme::HTTP, rest),
        Some(("https", rest)) => (Scheme::HTTPS, rest),
        Some(_) => return None,
        None => (if has_tls { Scheme::HTTPS } else { Scheme::HTTP }, address),
    };
    let authority: Authority = rest.trim_end_matches('/').parse().ok()?;
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let is_unspecified = host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_unspecified());
    (!is_unspecified).then_some((scheme, authority))
}

/// Opens connections to nodes.
#[derive(Clone)]
pub(super) struct NodeConnector {
    tls: Arc<ClientConfig>,
    /// The host of the public address, for which the certificates of all nodes are valid.
    public_host: String,
}

impl NodeConnector {
    /// Trusts the roots of the system, and the certificates of this server's own chain, because nodes may share a
    /// certificate of a private authority.
    pub(super) fn new(config: &Config) -> Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if let Some(file) = &config.tls.certificate {
            let chain =
                CertificateDer::pem_file_iter(file).map_err(lyceum_core::Problem::internal)?;
            roots.add_parsable_certificates(chain.flatten());
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(lyceum_core::Problem::internal)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let public: Option<Uri> = config.public_url().parse().ok();
        let public_host = public.as_ref().and_then(Uri::host).unwrap_or_default().to_owned();
        Ok(Self { tls: Arc::new(tls), public_host })
    }

    async fn connect(self, uri: Uri) -> io::Result<NodeStream> {
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let is_secure = uri.scheme() == Some(&Scheme::HTTPS);
        let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
        let stream = TcpStream::connect((host, port)).await?;
        stream.set_nodelay(true)?;
        if !is_secure {
            return Ok(NodeStream(TokioIo::new(Box::new(stream))));
        }
        let is_address = host.parse::<std::net::IpAddr>().is_ok();
        let name = if is_address { self.public_host } else { host.to_owned() };
        let name = ServerName::try_from(name).map_err(io::Error::other)?;
        let stream = TlsConnector::from(self.tls).connect(name, stream).await?;
        Ok(NodeStream(TokioIo::new(Box::new(stream))))
    }
}

impl Service<Uri> for NodeConnector {
    type Response = NodeStream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<NodeStream>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.clone().connect(uri);
        let limit = Duration::from_millis(limits::FORWARD_CONNECT_MAX_MS);
        Box::pin(async move { timeout(limit, connecting).await? })
    }
}

/// A stream of bytes in both directions.
trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ByteStream for T {}

/// A connection to a node, plain or with TLS.
pub(super) struct NodeStream(TokioIo<Box<dyn ByteStream>>);

impl Connection for NodeStream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for NodeStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl Write for NodeStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, parts)
    }
}
