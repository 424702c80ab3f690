//! Shared parts of the sign-in pages: sending a page, and guarding its forms.

use askama::Template;
use http::{HeaderMap, HeaderValue, header};
use lyceum_access::{limits, session};
use lyceum_api::{Context, State};
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_http::answer::Answer;
use lyceum_http::auth::people::{self, SessionCookies};
use lyceum_http::multipart::{self, FormField};
use lyceum_http::render::as_page;
use lyceum_http::route::Access;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The policy of the console's pages, but without scripts.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src data:; font-src 'self'; base-uri 'none'; \
     form-action 'self'; frame-ancestors 'none'",
);

/// Renders a page.
pub(super) fn show_page(view: &impl Template) -> Result<Answer> {
    let mut answer = as_page(lyceum_console::html(view)?);
    answer.headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    Ok(answer)
}

/// The secret from which form tokens are made: the session, or a separate cookie before there is a session.
pub(crate) struct FormGuard {
    secret: String,
    cookie: Option<HeaderValue>,
}

impl FormGuard {
    /// The guard of a browser. It creates the cookie if the browser has neither.
    pub(crate) fn of(context: &Context, signed_in: bool) -> Self {
        let (app, headers) = (&context.app, &context.headers);
        match signed_in {
            true => Self::of_session(app, headers),
            false => Self::of_secret(app, SessionCookies::Form.read(app, headers)),
        }
    }

    /// The guard of a browser with a session.
    pub(crate) fn of_session(app: &State, headers: &HeaderMap) -> Self {
        Self::of_secret(app, people::session(app, headers))
    }

    fn of_secret(app: &State, known: Option<&str>) -> Self {
        if let Some(secret) = known {
            return Self { secret: secret.to_owned(), cookie: None };
        }
        let secret = session::new_form_secret();
        let cookie = SessionCookies::Form.set(app, &secret, limits::PAGE_SESSION_LIFETIME_S);
        Self { secret, cookie: Some(cookie) }
    }

    /// The token for the page's forms.
    pub(crate) fn token(&self) -> String {
        session::form_token(&self.secret)
    }

    /// Sends the page, with the cookie that its forms need.
    #[expect(clippy::unnecessary_wraps, reason = "it ends handlers")]
    pub(crate) fn add_cookie(self, page: Answer) -> Result<Answer> {
        Ok(match self.cookie {
            Some(cookie) => page.header(header::SET_COOKIE, cookie),
            None => page,
        })
    }
}

/// A form of a page, for the API document.
#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "the guard checks the token before the fields are read")]
pub(crate) struct GuardedForm<T> {
    /// The token that the page put into the form.
    token: String,
    #[serde(flatten)]
    fields: T,
}

/// A form that a page of this server sent.
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// Parses a form. Errors: the form does not come from a page that this server showed to this browser.
    pub(crate) async fn read(context: &Context) -> Result<Self> {
        let (app, headers) = (&context.app, &context.headers);
        let media = context.header(header::CONTENT_TYPE).unwrap_or_default();
        let form = Self(match multipart::parts(media, &context.body).await {
            Some(parts) => parts.iter().filter_map(FormField::field).collect(),
            None => {
                let pairs = form_urlencoded::parse(&context.body);
                pairs.map(|(name, value)| (name.into(), value.into())).collect()
            }
        });
        let signed_in = match context.route.access {
            Access::Page(_) | Access::Student(_) => true, // Nobody else gets here.
            _ => people::open_page(app, headers).await?.is_some(),
        };
        let known = match signed_in {
            true => people::session(app, headers),
            false => SessionCookies::Form.read(app, headers),
        };
        let is_ours =
            known.is_some_and(|secret| session::is_form_token(secret, form.field("token")));
        if is_ours && people::is_own(app, headers) {
            return Ok(form);
        }
        let message = "this form is too old or was not sent by a page of this server; go back, load \
                       the page again and send it once more, with cookies allowed";
        Err(Problem::new(ProblemKind::Forbidden, message))
    }

    /// The values of a field that may be repeated.
    pub(crate) fn every<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        let found = self.0.iter().filter(move |(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The fields as a type in which each field is a text with a default. The first value of a repeated field counts.
    pub(super) fn fields<T: DeserializeOwned>(self) -> T {
        let mut fields = Map::new();
        for (name, value) in self.0 {
            fields.entry(name).or_insert_with(|| value.into());
        }
        serde_json::from_value(Value::Object(fields)).expect("the fields are texts")
    }

    /// The value of a field; empty if it was not sent.
    pub(crate) fn field(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }
}
