//! Requests that clients sign with OAuth 1.0a (RFC 5849). Only routes with a scope for them accept them.

use std::sync::Arc;

use http::header;
use http::request::Parts;
use lyceum_access as access;
use lyceum_access::guess::{self, GuessedAccount};
use lyceum_access::{Access, CallerPlace, Client, SignatureRefusal, SignedRequest, client};
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use lyceum_store::Tx;

use super::{CallerKind, Grant, HeaderRefusal};
use crate::{Http, limits};

/// The rights of the client that signed the request; `None` if the request is not signed or the route does not accept
/// signed requests. In a sandbox, callers need no credentials.
///
/// Errors: the signature is refused; too many wrong ones.
pub(super) async fn grant(
    app: &Http,
    access: Access,
    parts: &Parts,
    place: &CallerPlace,
) -> Result<Option<Grant>, HeaderRefusal> {
    if !access.takes_signed_requests() || app.sandbox.is_some() {
        return Ok(None);
    }
    let url = format!("{}{}", app.base_url, parts.uri.path());
    let authorization = parts.headers.get(header::AUTHORIZATION);
    let authorization = authorization.map(|value| value.to_str().unwrap_or_default());
    let parsed =
        SignedRequest::parse(parts.method.as_str(), &url, parts.uri.query(), authorization);
    let verified = match parsed {
        None => return Ok(None),
        Some(Ok(request)) => verify(app, request, place).await?,
        Some(Err(refusal)) => Err(refusal),
    };
    let client = verified.map_err(|refusal| refused(&refusal, parts, &url))?;
    let caller = app.gate.client(app, &client.id).await?;
    let caller = caller.filter(|caller| !caller.is_revoked());
    let caller = caller.ok_or_else(|| refused(&SignatureRefusal::Wrong, parts, &url))?;
    let (scopes, now) = (client.signing_scopes(), app.clock.now());
    let token = access::Grant {
        client_id: client.id,
        scopes,
        rights: scopes.rights(),
        player: None,
        jti: String::new(),
        issued: now,
        expires: now,
    };
    Ok(Some(Grant { token: Arc::new(token), caller, kind: CallerKind::Client }))
}

/// Verifies the signature and uses up the nonce. Wrong signatures are counted for the sender's place, so that nobody
/// can lock out a client from elsewhere.
async fn verify(
    app: &Http,
    request: SignedRequest,
    place: &CallerPlace,
) -> Result<Result<Client, SignatureRefusal>> {
    let (now, keyring) = (app.clock.now(), app.gate.keyring());
    let subjects = subjects(request.client(), place);
    let (checked, signed) = (subjects.clone(), request.clone());
    let verified = app.db.read(move |tx| {
        guess::check(tx, now, &checked)?;
        signed.verify(tx, keyring.master(), now)
    });
    match verified.await? {
        Ok(client) => {
            let id = client.id.clone();
            let used = app.db.write(move |tx: &mut Tx<'_>| {
                if client::is_stale(tx, now, &id)? {
                    client::touch(tx, now, &id)?;
                }
                request.use_nonce(tx, now)
            });
            Ok(if used.await? { Ok(client) } else { Err(SignatureRefusal::Replayed) })
        }
        Err(SignatureRefusal::Wrong) => {
            app.db.write(move |tx| guess::count(tx, now, &subjects)).await?;
            Ok(Err(SignatureRefusal::Wrong))
        }
        Err(refusal) => Ok(Err(refusal)),
    }
}

fn subjects(client: &str, place: &CallerPlace) -> Vec<GuessedAccount> {
    let of_client = format!("signatures of the client {client}");
    vec![
        guess::from_place(&of_client, place, limits::GUESSES_ACCOUNT_AND_ADDRESS_COUNT),
        guess::from_place("signatures", place, limits::GUESSES_ADDRESS_COUNT),
    ]
}

fn refused(refusal: &SignatureRefusal, parts: &Parts, url: &str) -> HeaderRefusal {
    let kind = match refusal {
        SignatureRefusal::Malformed(_) => ProblemKind::Malformed,
        _ => ProblemKind::Unauthorized,
    };
    let message = match refusal {
        SignatureRefusal::Wrong => {
            message!("{refusal}; the signed request is {parts.method} {url}")
        }
        _ => Message::untranslated(refusal.to_string()),
    };
    HeaderRefusal::challenge(Problem::new(kind, message), r#"OAuth realm="lyceum""#)
}
