//! The adaptive layer: what a learner works through. One file a part, each with a table. The same
//! is served below `/powerpath` (`crate::aliases`).

mod assignments;
mod course_progress;
mod external;
mod lesson_plans;
mod lessons;
mod placement;
mod plan_schema;
mod render_config;
mod schema;
mod screening;
pub(super) mod shape;
mod tests;

use std::time::Duration;

use lyceum_core::Result;
use lyceum_roster::record::Object;
use lyceum_roster::render::View;
use lyceum_store::Tx;

pub(super) use lessons::write;

use super::oneroster::{self, object};
use crate::context::Context;
use crate::render::Rendering;
use crate::route::Area;

pub(super) fn area() -> Area {
    let mut routes = vec![oneroster::syllabus()];
    routes.extend(lessons::routes());
    routes.extend(tests::routes());
    routes.extend(external::routes());
    routes.extend(placement::routes());
    routes.extend(lesson_plans::routes());
    routes.extend(course_progress::routes());
    routes.extend(assignments::routes());
    routes.extend(render_config::routes());
    routes.extend(screening::routes());
    Area {
        name: "adaptive",
        base: "/adaptive",
        rendering: Rendering::Imsx,
        says: "What a learner works through.",
        routes,
    }
}

/// The query's pairs as an object of texts.
fn query(context: &Context) -> Object {
    let pairs = context.query();
    pairs.map(|(name, value)| (name.into_owned(), value.into_owned().into())).collect()
}

/// Reads what may be much, where a long read holds up nobody.
async fn scan<T: Send + 'static>(
    context: Context,
    work: impl Fn(&mut Tx<'_>, &Context) -> Result<T> + Send + Sync + 'static,
) -> Result<T> {
    let deadline = Duration::from_secs(context.app.config.server.request_timeout_s);
    let db = context.app.db.clone();
    db.scan(deadline, move |tx| work(tx, &context)).await
}

/// The records of an answer are shown so.
fn view(context: &Context) -> View<'_> {
    View { base_url: context.base_url(), dialect: context.dialect, fields: None }
}
