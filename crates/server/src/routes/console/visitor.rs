//! Who looks at a page of the console.

use axum::http::header;
use lyceum_access::{Denied, Holder, Person};
use lyceum_bridge::zone::{Range, Zone};
use lyceum_console::{Cell, Frame, Query, Refused, Screen};
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{as_page, on_to};
use crate::answer::Answer;
use crate::auth::{self, Grant};
use crate::context::Context;
use crate::render;
use crate::routes::sign_in::Guard;

/// Who is signed in, at a screen that their role sees.
#[derive(Clone)]
pub(crate) struct Visitor {
    /// Who.
    pub(crate) person: Person,
    /// The zone that their browser shows times in; UTC until it has said so.
    pub(crate) zone: Zone,
    screen: &'static Screen,
    environment: &'static str,
    token: String,
}

impl Visitor {
    /// Who was let in at the screen by the rule of access.
    pub(super) fn of(context: &Context, screen: &'static Screen) -> Result<Self> {
        let holder = context.grant.as_ref().and_then(Grant::holder);
        let Some(Holder::Person(person)) = holder else {
            return Err(Problem::internal("a page was opened for nobody"));
        };
        Ok(Self {
            person: person.clone(),
            zone: zone(context),
            screen,
            environment: auth::environment(&context.app),
            token: Guard::of(context, true).token(),
        })
    }

    /// What stands around a page of that title.
    pub(super) fn frame(&self, title: impl Into<String>) -> Frame {
        Frame {
            name: self.person.name.clone(),
            email: self.person.email.clone(),
            role: self.person.role.name(),
            environment: self.environment,
            screen: self.screen,
            title: title.into(),
            token: self.token.clone(),
            zone: self.zone.name().to_owned(),
        }
    }

    /// An instant: exports have it in UTC, people read it in their zone.
    pub(super) fn time(&self, instant: Timestamp) -> Cell {
        Cell::when(instant, self.zone.written(instant))
    }

    /// An instant, or a dash.
    pub(super) fn time_if_any(&self, instant: Option<Timestamp>) -> Cell {
        instant.map_or_else(Cell::none, |instant| self.time(instant))
    }

    /// An instant that is stored as text.
    pub(super) fn time_of_text(&self, text: &str) -> Cell {
        text.parse().map_or_else(|_| Cell::text(text), |instant| self.time(instant))
    }

    /// An instant that is stored as text, as people read it.
    pub(super) fn written(&self, text: &str) -> String {
        text.parse().map_or_else(|_| text.to_owned(), |instant| self.zone.written(instant))
    }

    /// What every form of a page carries in its field `token`.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// A problem, told in the frame.
    pub(super) fn refused(&self, problem: &Problem) -> Result<Answer> {
        let status = render::status(problem.kind);
        let frame = self.frame(render::title(status));
        let page = Refused { frame: &frame, message: &render::sentence(problem) };
        Ok(as_page(lyceum_console::html(&page)?).status(status))
    }
}

/// Answers a browser that may not see the screen: without a session it is sent to sign in and comes back,
/// a person of another role gets a page that says so.
pub(crate) fn turn_away(
    context: &Context,
    screen: &'static Screen,
    denied: &Denied,
) -> Result<Answer> {
    let Denied::Role(roles) = denied else {
        let here = context.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
        let next = if context.method == "POST" { screen.path } else { &here };
        let next = utf8_percent_encode(next, NON_ALPHANUMERIC);
        return Ok(on_to(&format!("/sign-in?next={next}")));
    };
    let visitor = Visitor::of(context, screen)?;
    let message = format!(
        "'{}' is for {roles}; your role is '{}', and an administrator can change it",
        screen.name, visitor.person.role,
    );
    visitor.refused(&Problem::new(ProblemKind::Forbidden, message))
}

/// What a list's address asks.
pub(super) fn query(context: &Context) -> Query {
    Query::of(context.uri.path(), context.query())
}

/// The first instant of the day `from` and the one behind the day `to` that a list is asked for, as the
/// visitor's zone has them; open where none is named. Errors: `Invalid`.
pub(super) fn days(query: &Query, zone: &Zone) -> Result<(Option<Timestamp>, Option<Timestamp>)> {
    let named = |name| Some(query.own(name)).filter(|day| !day.is_empty());
    let (from, to) = (named("from"), named("to"));
    let range = Range::inclusive(zone, from, to)?;
    Ok((from.map(|_| range.from), to.map(|_| range.to)))
}

/// The zone that the browser's script has told.
fn zone(context: &Context) -> Zone {
    let cookies = context.headers.get_all(header::COOKIE).iter();
    let mut pairs = cookies.filter_map(|value| value.to_str().ok()).flat_map(|all| all.split(';'));
    let told = pairs.find_map(|pair| pair.trim().strip_prefix("lyceum-zone="));
    told.and_then(|name| Zone::named(name).ok()).unwrap_or(Zone::UTC)
}
