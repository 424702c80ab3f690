//! What a backend knows of the platform: its API, and who calls.

use std::net::{IpAddr, Ipv4Addr};

use axum::http::HeaderMap;
use http_body_util::BodyExt;
use lyceum_core::{Dialect, Problem, ProblemKind, Result};
use lyceum_games::{games, players};
use lyceum_hosting::engine::Api;
use lyceum_hosting::user::User;
use lyceum_roster::fields;

use crate::auth;
use crate::render::Rendering;
use crate::state::App;

/// The API as `env.LYCEUM` of a project's backend reaches it: the server's own, without a connection.
pub(super) fn api(app: &App, slug: &str) -> Option<Api> {
    let dispatch = app.hosted.dispatch.get()?.clone();
    let backend = auth::Backend::of(slug, &app.config.limits);
    Some(Api::new(move |mut request| {
        let (dispatch, backend) = (dispatch.clone(), backend.clone());
        Box::pin(async move {
            request.extensions_mut().insert(backend);
            let answer = match dispatch.upgrade() {
                Some(dispatch) => dispatch.handle(request, IpAddr::V4(Ipv4Addr::LOCALHOST)).await,
                None => {
                    let ends = Problem::new(ProblemKind::Unavailable, "the server is stopping");
                    Rendering::Game.answer(&ends, Dialect::Platform).into()
                }
            };
            answer.map(|body| body.map_err(Into::into).boxed_unsync())
        })
    }))
}

/// The player whose game token for this project came with the request; none: nobody's.
pub(super) async fn user(
    app: &App,
    slug: &str,
    learns: bool,
    headers: &HeaderMap,
) -> Result<Option<User>> {
    let Some(token) = auth::bearer(headers) else { return Ok(None) };
    let Some(player) = auth::player(app, token).await? else { return Ok(None) };
    let slug = slug.to_owned();
    app.db
        .read(move |tx| {
            let is_its_game = games::lookup(tx, &slug)?.is_some_and(|game| game.id == player.game);
            let record = match players::present(tx, &player.user) {
                Ok(record) if is_its_game => record,
                Ok(_) => return Ok(None),
                Err(problem) if problem.kind == ProblemKind::Unauthorized => return Ok(None),
                Err(problem) => return Err(problem),
            };
            let text = |name: &str| fields::text(&record, name).to_owned();
            let names = (text("givenName"), text("familyName"));
            Ok(Some(User::new(player.user.clone(), names, text("email"), learns)))
        })
        .await
}
