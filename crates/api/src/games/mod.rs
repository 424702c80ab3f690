//! The game platform, below `/api`. Each part is one file with its table of routes.

mod achievements;
mod base;
pub mod catalogue;
mod class_apps;
mod class_sign_in;
pub mod demo;
mod inventory;
mod learning;
mod levels;
mod lms;
mod notifications;
mod play;
mod remote_learning;
mod remote_setup;
mod scores;
mod sessions;
mod states;
mod users;

pub use lms::writable;

use lyceum_http::render::Rendering;
use schemars::JsonSchema;

use crate::Area;

/// An empty object. The route ignores its members.
#[derive(JsonSchema)]
#[schemars(inline)]
struct IgnoredBody {}

pub(super) fn area() -> Area {
    let mut routes = base::routes();
    routes.extend(users::routes());
    routes.extend(catalogue::routes());
    routes.push(demo::route());
    routes.extend(inventory::routes());
    routes.extend(scores::routes());
    routes.extend(sessions::routes());
    routes.extend(states::routes());
    routes.extend(levels::routes());
    routes.extend(achievements::routes());
    routes.extend(notifications::routes());
    routes.extend(lms::routes());
    routes.extend(learning::routes());
    routes.extend(class_apps::routes());
    routes.extend(class_sign_in::routes());
    Area {
        name: "games",
        base: "/api",
        rendering: Rendering::Game,
        description: "The game platform: players, games, inventory, scores, levels and achievements.",
        routes,
    }
}
