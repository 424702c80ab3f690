//! The platform as a backend sees it: its API, and the identity of callers.

use std::net::{IpAddr, Ipv4Addr};

use http::HeaderMap;
use http_body_util::BodyExt;
use lyceum_core::{PayloadDialect, Problem, ProblemKind, Result};
use lyceum_games::{games, lms, players};
use lyceum_hosting::engine::PlatformApi;
use lyceum_hosting::user::UserClaims;
use lyceum_http::render::Rendering;
use lyceum_http::{Body, Peer, auth};

use crate::App;

/// The API that a project's backend reaches as `env.LYCEUM`. It calls the server's routes without a network connection.
pub(super) fn api(app: &App, slug: &str) -> Option<PlatformApi> {
    let dispatch = app.hosted.dispatch.get()?.clone();
    let backend = auth::CallingBackend::of(slug, &app.config.limits);
    Some(PlatformApi::new(move |mut request| {
        let (dispatch, backend) = (dispatch.clone(), backend.clone());
        Box::pin(async move {
            request.extensions_mut().insert(backend);
            let request = request.map(Body::new);
            let answer = match dispatch.upgrade() {
                Some(dispatch) => {
                    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
                    dispatch.handle(request, Peer { address, running: None }).await
                }
                None => {
                    let ends = Problem::new(ProblemKind::Unavailable, "the server is stopping");
                    Rendering::Game.answer(&ends, PayloadDialect::Platform).into()
                }
            };
            answer.map(|body| body.map_err(Into::into).boxed_unsync())
        })
    }))
}

/// The player of the request's game token for this project; `None` without such a token.
pub(super) async fn user(
    app: &App,
    slug: &str,
    learns: bool,
    headers: &HeaderMap,
) -> Result<Option<UserClaims>> {
    let Some(token) = auth::bearer(headers) else { return Ok(None) };
    let Some((player, tells)) = auth::player(app, token).await? else { return Ok(None) };
    let (slug, now) = (slug.to_owned(), app.clock.now());
    app.db
        .read(move |tx| {
            let own = games::lookup(tx, &slug)?.filter(|game| game.id == player.game);
            let Some(game) = own else { return Ok(None) };
            let may_see_identity =
                game.shares_identity && (tells || lms::teaches(tx, now, &game, &player.user)?);
            match players::present(tx, &player.user) {
                Ok(identity) if may_see_identity => Ok(Some(UserClaims::of(identity, learns))),
                Ok(identity) => Ok(Some(UserClaims::of(identity.without_name(), learns))),
                Err(problem) if problem.kind == ProblemKind::Unauthorized => Ok(None),
                Err(problem) => Err(problem),
            }
        })
        .await
}
