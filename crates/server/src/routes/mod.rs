//! The areas of the API. Each has one file or folder.

mod accounts;
mod adaptive;
mod assessment;
mod auth;
pub(crate) mod bridge;
mod changes;
mod clr;
pub(crate) mod console;
pub(crate) mod credentials;
pub(crate) mod docs;
mod events;
pub(crate) mod games;
pub(crate) mod health;
mod imports;
pub(crate) mod learn;
mod nodes;
pub(crate) mod oneroster;
pub(crate) mod people;
mod play;
pub(crate) mod projects;
pub(crate) mod sign_in;
pub(crate) mod standards;
mod tokens;
mod webhooks;

use crate::route::Area;

/// All areas, and therefore all routes, of the server.
pub fn all() -> Vec<Area> {
    let mut areas =
        vec![health::area(), docs::area(), tokens::area(), auth::area(), sign_in::area()];
    areas.push(console::area());
    areas.push(play::area());
    areas.extend(learn::areas());
    areas.extend(oneroster::areas());
    areas.push(changes::area());
    areas.extend(imports::areas());
    areas.extend(events::areas());
    areas.push(adaptive::area());
    areas.push(bridge::area());
    areas.push(games::area());
    areas.extend(projects::areas());
    areas.push(people::area());
    areas.push(nodes::area());
    areas.extend(assessment::areas());
    areas.extend(credentials::areas());
    areas.push(clr::area());
    areas.extend(standards::areas());
    areas.extend(webhooks::areas());
    areas.push(docs::discovery());
    areas
}
