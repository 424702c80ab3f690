//! The visitor of a console page.

use http::{HeaderMap, StatusCode, header};
use lyceum_access::{AccessDenial, Person, Role, Scope, TokenHolder};
use lyceum_api::{Context, State};
use lyceum_bridge::zone::{InstantRange, Zone};
use lyceum_console::{Cell, Frame, FramedProblemPage, ListQuery, Screen, t, words};
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_http::answer::Answer;
use lyceum_http::auth::{self, Grant};
use lyceum_http::render;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{as_page, on_to, screens_of};
use crate::calendar::Calendar;
use crate::sign_in::FormGuard;

/// The signed-in person who opened a page of a screen that the person's role sees.
#[derive(Clone)]
pub(crate) struct Visitor {
    /// The person.
    pub(crate) person: Person,
    /// The time zone of the person's browser, or UTC until the browser has sent it, and the day there.
    pub(crate) calendar: Calendar,
    screen: &'static Screen,
    environment: &'static str,
    token: String,
}

impl Visitor {
    /// The visitor whom the access rule admitted to the screen.
    pub(super) fn of(context: &Context, screen: &'static Screen) -> Result<Self> {
        let holder = context.grant.as_ref().and_then(Grant::holder);
        let Some(TokenHolder::Person(person)) = holder else {
            return Err(Problem::internal("a console page was requested without a session"));
        };
        Ok(Self::with_session(&context.app, &context.headers, person, screen))
    }

    /// A person whose browser sent these headers, with a session.
    pub(crate) fn with_session(
        app: &State,
        headers: &HeaderMap,
        person: &Person,
        screen: &'static Screen,
    ) -> Self {
        Self {
            person: person.clone(),
            calendar: Calendar::of(app, headers),
            screen,
            environment: auth::environment(app),
            token: FormGuard::of_session(app, headers).token(),
        }
    }

    /// Whether the visitor's role has the scope.
    pub(super) fn has(&self, scope: Scope) -> bool {
        self.person.role.scopes().rights().allow(scope)
    }

    /// The frame of a page with this title.
    pub(super) fn frame(&self, title: impl Into<String>) -> Frame {
        Frame {
            name: self.person.name.clone(),
            email: self.person.email.clone(),
            role: self.person.role.name(),
            environment: self.environment,
            screens: screens_of(self.person.role),
            screen: self.screen,
            title: title.into(),
            token: self.token.clone(),
            zone: self.zone().name().to_owned(),
        }
    }

    /// The time zone of the person's browser.
    pub(super) fn zone(&self) -> &Zone {
        &self.calendar.zone
    }

    /// A cell for an instant. Exports contain it in UTC, and the page shows it in the visitor's time zone.
    pub(super) fn time(&self, instant: Timestamp) -> Cell {
        Cell::when(instant, self.calendar.moment(instant))
    }

    /// A cell for an instant of a log, with seconds.
    pub(super) fn exact_time(&self, instant: Timestamp) -> Cell {
        Cell::when(instant, self.calendar.moment_with_seconds(instant))
    }

    /// A cell for an instant, or a dash.
    pub(super) fn time_if_any(&self, instant: Option<Timestamp>) -> Cell {
        instant.map_or_else(Cell::none, |instant| self.time(instant))
    }

    /// A cell for an instant that is stored as text.
    pub(super) fn time_of_text(&self, text: &str) -> Cell {
        text.parse().map_or_else(|_| Cell::text(text), |instant| self.time(instant))
    }

    /// Formats an instant that is stored as text in the visitor's time zone.
    pub(super) fn format(&self, text: &str) -> String {
        text.parse().map_or_else(|_| text.to_owned(), |instant| self.calendar.moment(instant))
    }

    /// The token that each form of a page sends in its field `token`.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Shows a problem as a page in the frame.
    pub(crate) fn refused(&self, problem: &Problem) -> Result<Answer> {
        let status = render::status(problem.kind);
        let frame = self.frame(render::title(status));
        let page = FramedProblemPage {
            frame: &frame,
            message: render::sentence(problem),
            is_missing: status == StatusCode::NOT_FOUND,
        };
        Ok(as_page(lyceum_console::html(&page)?).status(status))
    }
}

/// Answers a browser that has no access to the screen. Without a session, it is redirected to the sign-in page and
/// comes back. A person with another role gets a page that explains the refusal.
pub(crate) fn redirect_or_refuse(
    context: &Context,
    screen: &'static Screen,
    denied: &AccessDenial,
) -> Result<Answer> {
    let holder = context.grant.as_ref().and_then(Grant::holder);
    if let Some(TokenHolder::Student(_)) = holder {
        let message = "this page is for people who accompany students; your lessons are at /learn";
        return Err(Problem::new(ProblemKind::Forbidden, message));
    }
    if let AccessDenial::Limited(_) = denied {
        let visitor = Visitor::of(context, screen)?;
        return visitor.refused(&auth::refusal(denied).problem);
    }
    let AccessDenial::Role(roles) = denied else {
        let here = context.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
        let next = if context.method == "POST" { screen.path } else { &here };
        let next = utf8_percent_encode(next, NON_ALPHANUMERIC);
        return Ok(on_to(&format!("/sign-in?next={next}")));
    };
    let visitor = Visitor::of(context, screen)?;
    let roles: Vec<String> = Role::ALL
        .into_iter()
        .filter(|role| roles.contain(*role))
        .map(|role| format!("'{}'", words::role(role.name())))
        .collect();
    let message = message!(
        "'{page}' is for {roles}; your role is '{role}', and an administrator can change it",
        page = screen.title(),
        roles = roles.join(&t!(" or ")),
        role = words::role(visitor.person.role.name())
    );
    visitor.refused(&Problem::new(ProblemKind::Forbidden, message))
}

/// Parses the list parameters of the address.
pub(super) fn query(context: &Context) -> ListQuery {
    ListQuery::of(context.uri.path(), context.query())
}

/// The range of instants from the start of the day `from` to the end of the day `to` in the visitor's time zone. A
/// bound is open if its parameter is missing. Errors: `Invalid`.
pub(super) fn days(
    query: &ListQuery,
    zone: &Zone,
) -> Result<(Option<Timestamp>, Option<Timestamp>)> {
    let named = |name| Some(query.parameter(name)).filter(|day| !day.is_empty());
    let (from, to) = (named("from"), named("to"));
    let range = InstantRange::inclusive(zone, from, to)?;
    Ok((from.map(|_| range.from), to.map(|_| range.to)))
}

/// The time zone that the page's script stored in a cookie.
pub(crate) fn zone(headers: &HeaderMap) -> Zone {
    let cookies = headers.get_all(header::COOKIE).iter();
    let mut pairs = cookies.filter_map(|value| value.to_str().ok()).flat_map(|all| all.split(';'));
    let zone_name = pairs.find_map(|pair| pair.trim().strip_prefix("lyceum-zone="));
    zone_name.and_then(|name| Zone::from_name(name).ok()).unwrap_or(Zone::UTC)
}
