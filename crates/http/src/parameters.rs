//! Checks the parameters of a query. Repeated and misspelled parameters are refused, and writes also refuse unknown
//! ones. Notices tell the callers of reads about unknown ones.

use std::borrow::Cow;
use std::collections::HashSet;

use http::Method;
use lyceum_core::text::near_miss;
use lyceum_core::{Detail, Problem, ProblemKind, Result, message};

use crate::render::Rendering;
use crate::route::{Param, ParamPlace, Route};
use crate::{Application, limits};

/// Refuses a query that would not do what its sender expects. Reads ignore unknown parameters that do not resemble a
/// known one, because proxies and scripts add their own parameters.
///
/// Pages for people are not checked, because other sites add parameters to links. Token requests ignore unknown
/// parameters (RFC 6749, section 3.2).
///
/// Returns a notice for each ignored parameter, and for each number above the `maximum` of its parameter: the handler
/// uses the maximum instead, or refuses the number. Errors: `Invalid` at the name of the parameter.
pub(crate) fn check(
    route: &Route<impl Application>,
    rendering: Rendering,
    query: Option<&str>,
) -> Result<Vec<Detail>> {
    let mut notices = Vec::new();
    let Some(query) = query.filter(|query| !query.is_empty()) else { return Ok(notices) };
    if matches!(rendering, Rendering::Page | Rendering::OAuth) {
        return Ok(notices);
    }
    let mut seen: HashSet<Cow<'_, str>> = HashSet::new();
    for (number, (name, value)) in form_urlencoded::parse(query.as_bytes()).enumerate() {
        if number >= limits::QUERY_PARAMETERS_MAX_COUNT {
            let most = limits::QUERY_PARAMETERS_MAX_COUNT;
            let message =
                message!("The query has too many parameters; the limit is {most} parameters.");
            return Err(Problem::new(ProblemKind::Malformed, message));
        }
        let is_repeated = seen.contains(&name);
        match declared(route).find(|param| param.name == name) {
            None if is_repeated => {}
            None => notices.push(ignored(route, &name)?),
            Some(param) if param.repeats => {}
            Some(_) if is_repeated => {
                return Err(Problem::invalid(name, "was sent more than once; send it once"));
            }
            Some(param) => notices.extend(lowered(param, &value)),
        }
        seen.insert(name);
    }
    Ok(notices)
}

fn declared(route: &Route<impl Application>) -> impl Iterator<Item = &Param> {
    route.params.iter().filter(|param| param.place == ParamPlace::Query)
}

/// The notice about an unknown parameter. Errors: `Invalid` if a known one was probably meant, or if the route writes.
fn ignored(route: &Route<impl Application>, name: &str) -> Result<Detail> {
    let names = || declared(route).map(|param| param.name.as_ref());
    if let Some(meant) = near_miss(name, names()) {
        let message = message!("is not a parameter of this address; did you mean '{meant}'?");
        return Err(Problem::invalid(name, message));
    }
    if route.method == Method::GET {
        let path = name[..name.floor_char_boundary(limits::NOTICE_NAME_MAX_BYTES)].to_owned();
        let message = "is not a parameter of this address and was ignored".into();
        return Ok(Detail { path, message });
    }
    let known: Vec<&str> = names().collect();
    let message = match known.as_slice() {
        [] => "is not a parameter of this address, which has none; leave it out".into(),
        known => message!(
            "is not a parameter of this address; it has '{known}'. Leave it out",
            known = known.join("', '")
        ),
    };
    Err(Problem::invalid(name, message))
}

/// The notice about a number above the maximum.
fn lowered(param: &Param, value: &str) -> Option<Detail> {
    let maximum = param.schema["maximum"].as_u64()?;
    let number = value.parse::<u64>().ok().filter(|number| *number > maximum)?;
    let message = message!("was lowered from {number} to the maximum of {maximum}");
    Some(Detail { path: param.name.to_string(), message })
}
