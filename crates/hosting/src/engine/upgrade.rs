//! Requests that leave HTTP, such as web sockets: the caller's connection is joined to a separate connection to the
//! process.

use std::path::Path;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, UPGRADE};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;
use tokio::net::UnixStream;

use super::connections::{Body, BoxError};
use super::process::OpenRequest;

/// Whether the caller wants to leave HTTP (RFC 9110, 7.8).
pub(super) fn is_upgrade<B>(request: &Request<B>) -> bool {
    let named =
        request.headers().get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let mut options = named.flat_map(|options| options.split(','));
    request.headers().contains_key(UPGRADE)
        && options.any(|option| option.trim().eq_ignore_ascii_case("upgrade"))
}

/// Sends the request. If the backend agrees, bytes are copied both ways until one side closes. The process counts as
/// in use meanwhile.
pub(super) async fn send(
    socket: &Path,
    mut request: Request<Body>,
    open_request: OpenRequest,
) -> Result<Response<Body>, BoxError> {
    let caller = hyper::upgrade::on(&mut request);
    let stream = UnixStream::connect(socket).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection.with_upgrades());
    let mut response = sender.send_request(request).await?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        return Ok(response.map(|body| {
            // The connection must live as long as its response is read.
            let kept = (sender, open_request);
            body.map_frame(move |frame| {
                let _kept = &kept;
                frame
            })
            .map_err(Into::into)
            .boxed_unsync()
        }));
    }
    let backend = hyper::upgrade::on(&mut response);
    tokio::spawn(async move {
        let open_request = open_request;
        if let (Ok(caller), Ok(backend)) = tokio::join!(caller, backend) {
            let (mut caller, mut backend) = (TokioIo::new(caller), TokioIo::new(backend));
            tokio::select! {
                _ = copy_bidirectional(&mut caller, &mut backend) => {}
                _ = open_request.0.wait_for_end() => {}
            }
        }
    });
    Ok(response.map(|_| Empty::<Bytes>::new().map_err(|never| match never {}).boxed_unsync()))
}
