//! The adaptive layer. Each part is one file with its table of routes. The same routes are served below `/powerpath`
//! (`lyceum_http::aliases`).

mod assignments;
mod course_progress;
mod external;
mod lesson_plans;
mod lessons;
mod placement;
mod render_config;
mod screening;
pub mod teaching;
mod tests;

use std::time::Duration;

use lyceum_core::{Result, body};
use lyceum_roster::render::RecordView;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use lessons::{within, write};

use crate::Area;
use crate::Context;
use crate::oneroster;
use lyceum_http::render::Rendering;

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
    routes.extend(teaching::routes());
    Area {
        name: "adaptive",
        base: "/adaptive",
        rendering: Rendering::Imsx,
        description: "Lessons, attempts, placement and lesson plans.",
        routes,
    }
}

/// The query's pairs as an object of texts.
fn query(context: &Context) -> Value {
    let pairs = context.query();
    pairs.map(|(name, value)| (name.into_owned(), Value::from(value.into_owned()))).collect()
}

/// Parses the query as a type whose members are texts. Errors: those of [`body::of`].
fn query_as<T: DeserializeOwned + JsonSchema + 'static>(context: &Context) -> Result<T> {
    body::of(query(context))
}

/// The answer to a successful request.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Success<T> {
    /// Always true.
    success: bool,
    #[serde(flatten)]
    answer: T,
}

impl<T> Success<T> {
    fn of(answer: T) -> Self {
        Self { success: true, answer }
    }
}

/// Runs a read that may be long on a thread for long reads.
async fn scan<T: Send + 'static>(
    context: Context,
    work: impl Fn(&mut Tx<'_>, &Context) -> Result<T> + Send + Sync + 'static,
) -> Result<T> {
    let deadline = Duration::from_secs(context.app.config.server.request_timeout_s);
    let db = context.app.db.clone();
    db.scan(deadline, move |tx| work(tx, &context)).await
}

/// Shows the records of an answer in the dialect of the request.
fn view(context: &Context) -> RecordView<'_> {
    RecordView { base_url: context.base_url(), dialect: context.dialect, fields: None }
}
