//! Checks the parameters of a query. Repeated and misspelled parameters are refused, and writes also refuse unknown
//! ones.

use std::borrow::Cow;
use std::collections::HashSet;

use axum::http::Method;
use lyceum_core::text::near_miss;
use lyceum_core::{Problem, ProblemKind, Result};

use crate::limits;
use crate::render::Rendering;
use crate::route::{Param, ParamPlace, Route};

/// Refuses a query that would not do what its sender expects. Reads ignore unknown parameters that do not resemble a
/// known one, because proxies and scripts add their own parameters.
///
/// Pages for people are not checked, because other sites add parameters to links. Token requests ignore unknown
/// parameters (RFC 6749, section 3.2).
///
/// Errors: `Invalid` at the name of the parameter.
pub(crate) fn check(route: &Route, rendering: Rendering, query: Option<&str>) -> Result<()> {
    let Some(query) = query.filter(|query| !query.is_empty()) else { return Ok(()) };
    if matches!(rendering, Rendering::Page | Rendering::OAuth) {
        return Ok(());
    }
    let mut seen: HashSet<Cow<'_, str>> = HashSet::new();
    for (number, (name, _)) in form_urlencoded::parse(query.as_bytes()).enumerate() {
        if number >= limits::QUERY_PARAMETERS_MAX_COUNT {
            let most = limits::QUERY_PARAMETERS_MAX_COUNT;
            let message =
                format!("The query has too many parameters; the limit is {most} parameters.");
            return Err(Problem::new(ProblemKind::Malformed, message));
        }
        match declared(route).find(|param| param.name == name) {
            None => unknown(route, &name)?,
            Some(param) if param.repeats => {}
            Some(_) if seen.contains(&name) => {
                return Err(Problem::invalid(name, "was sent more than once; send it once"));
            }
            Some(_) => drop(seen.insert(name)),
        }
    }
    Ok(())
}

fn declared(route: &Route) -> impl Iterator<Item = &Param> {
    route.params.iter().filter(|param| param.place == ParamPlace::Query)
}

fn unknown(route: &Route, name: &str) -> Result<()> {
    let names = || declared(route).map(|param| param.name.as_ref());
    if let Some(meant) = near_miss(name, names()) {
        let message = format!("is not a parameter of this address; did you mean '{meant}'?");
        return Err(Problem::invalid(name, message));
    }
    if route.method == Method::GET {
        return Ok(());
    }
    let known: Vec<&str> = names().collect();
    let message = match known.as_slice() {
        [] => "is not a parameter of this address, which has none; leave it out".to_owned(),
        known => format!(
            "is not a parameter of this address; it has '{}'. Leave it out",
            known.join("', '")
        ),
    };
    Err(Problem::invalid(name, message))
}
