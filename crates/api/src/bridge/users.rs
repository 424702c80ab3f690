//! Lists of users by role and organization.

use lyceum_bridge::users;
use lyceum_core::{Problem, Result, limits, message};
use lyceum_http::answer::Answer;
use lyceum_http::route::{ParamPlace, get};
use lyceum_roster::collections::at;
use lyceum_roster::kinds::USER;
use lyceum_roster::repository::UserSelection;
use serde_json::json;

use crate::oneroster::{ListNarrowing, RouteEffect, access, listing, schema};
use crate::{Context, Route};

pub(super) fn routes() -> Vec<Route> {
    let texts = || json!({ "type": "array", "items": { "type": "string" } });
    let users = at(USER.path).expect("every record kind has a collection");
    let route = get("/users", access(&USER, RouteEffect::ReadCore), list_users)
        .within_reach()
        .named("getUsersByRole")
        .description("Lists the users who have these roles and no others.")
        .param(
            ParamPlace::Query,
            "roles",
            texts(),
            "The roles, at least one. Repeat the parameter for each one.",
        )
        .repeating()
        .param(
            ParamPlace::Query,
            "orgSourcedIds",
            texts(),
            "Users with a role at one of these organizations. Repeat the parameter for each one.",
        )
        .repeating()
        .answers_kind(200, "A page.", move || schema::collection(users));
    vec![schema::list_parameters(route)]
}

async fn list_users(context: Context) -> Result<Answer> {
    let people = UserSelection {
        roles: values(&context, "roles")?,
        orgs: values(&context, "orgSourcedIds")?,
    };
    if people.roles.is_empty() {
        return Err(Problem::invalid("roles", "is required; name a role such as 'student'"));
    }
    let users = at(USER.path).expect("every record kind has a collection");
    let narrow = ListNarrowing {
        people: Some(people),
        always: users::ALWAYS,
        finish: users::add_enrollments,
        ..ListNarrowing::default()
    };
    listing(context, users, narrow).await
}

/// The values of a parameter that may be repeated. One value may also contain several, separated by commas.
fn values(context: &Context, name: &str) -> Result<Vec<String>> {
    let pairs = context.query().filter(|(key, _)| key == name);
    let values: Vec<String> = pairs
        .flat_map(|(_, value)| value.split(',').map(str::to_owned).collect::<Vec<_>>())
        .filter(|value| !value.is_empty())
        .collect();
    if values.len() > limits::FILTER_MAX_CLAUSES {
        let most = limits::FILTER_MAX_CLAUSES;
        return Err(Problem::invalid(name, message!("has too many values; the limit is {most}")));
    }
    Ok(values)
}
