//! The logs of backends: recent output and requests.

use lyceum_access::Scope::ProjectsRead;
use lyceum_core::{Problem, Result, message};
use lyceum_hosting::engine::BackendLogLine;
use lyceum_hosting::limits::BACKEND_LOG_MAX_ENTRIES;
use lyceum_hosting::projects;
use lyceum_http::answer::Answer;
use lyceum_http::route::ParamPlace::Query;
use lyceum_http::route::get;
use serde_json::json;

use super::members;
use crate::shape::whole_number;
use crate::{Context, Route, limits};

pub(super) fn route() -> Route {
    let limit = json!({
        "type": "integer", "minimum": 1, "maximum": BACKEND_LOG_MAX_ENTRIES,
        "default": limits::BACKEND_LOG_PAGE_ENTRIES,
    });
    get("/{slug}/logs", ProjectsRead, members(logs))
        .named("getProjectLogs")
        .description("Returns the latest log lines of the backend: its output, its requests and the reasons why it ended, oldest first. To follow the log, request the lines after the last id.")
        .param(Query, "after", whole_number(), "Return lines after the line with this id. Without it, return the latest lines.")
        .param(Query, "limit", limit, "The maximum number of lines: the oldest ones after the id, or the newest ones without an id.")
        .answers::<Vec<BackendLogLine>>(200, "The lines.")
}

async fn logs(context: Context) -> Result<Answer> {
    let slug = context.param("slug").to_owned();
    let after: Option<i64> = context.parsed_query_value("after", "must be a whole number")?;
    let rule = || message!("must be from 1 to {BACKEND_LOG_MAX_ENTRIES}");
    let limit =
        context.parsed_query_value("limit", rule())?.unwrap_or(limits::BACKEND_LOG_PAGE_ENTRIES);
    if !(1..=BACKEND_LOG_MAX_ENTRIES).contains(&limit) {
        return Err(Problem::invalid("limit", rule()));
    }
    let sought = slug.clone();
    context.app.db.read(move |tx| projects::find(tx, &sought)).await?;
    let mut lines = context.app.hosted.logs(&slug);
    match after {
        Some(after) => {
            lines.retain(|line| line.id > after);
            lines.truncate(limit);
        }
        None => drop(lines.drain(..lines.len().saturating_sub(limit))),
    }
    Ok(Answer::of(&lines))
}
