//! What the pages share: how they are sent, and how their forms are guarded.

use askama::Template;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use lyceum_access::session;
use lyceum_core::{Problem, ProblemKind, Result, limits};

use crate::answer::Answer;
use crate::auth::people::{self, Cookie};
use crate::context::Context;
use crate::multipart::{self, Part};
use crate::route::Access;

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const CSS: HeaderValue = HeaderValue::from_static("text/css; charset=utf-8");
/// Nothing runs, nothing comes from elsewhere, no form leads elsewhere, no page shows this one in itself.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; \
     frame-ancestors 'none'",
);
const SNIFF: HeaderName = HeaderName::from_static("x-content-type-options");

/// A page, rendered; nobody but its reader keeps it.
pub(super) fn shown(page: &impl Template) -> Result<Answer> {
    let page = page.render().map_err(Problem::internal)?;
    Ok(Answer::typed(HTML, Body::from(page))
        .header(header::CONTENT_SECURITY_POLICY, POLICY)
        .header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))
        .header(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"))
        .header(SNIFF, HeaderValue::from_static("nosniff")))
}

pub(super) fn style() -> Answer {
    Answer::typed(CSS, Body::from(include_str!("../../../assets/people.css")))
        .header(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600"))
        .header(SNIFF, HeaderValue::from_static("nosniff"))
}

/// What a form's token is made from: the session, or before there is one a cookie for that alone.
pub(crate) struct Guard {
    secret: String,
    cookie: Option<HeaderValue>,
}

impl Guard {
    /// The guard of a browser; makes the cookie where it has neither.
    pub(crate) fn of(context: &Context, signed_in: bool) -> Self {
        let (app, headers) = (&context.app, &context.headers);
        let known = match signed_in {
            true => people::session(app, headers),
            false => Cookie::Form.read(app, headers),
        };
        if let Some(secret) = known {
            return Self { secret: secret.to_owned(), cookie: None };
        }
        let secret = session::new_form_secret();
        let cookie = Cookie::Form.set(app, &secret, limits::PAGE_SESSION_LIFETIME_S);
        Self { secret, cookie: Some(cookie) }
    }

    /// What the page's forms carry.
    pub(crate) fn token(&self) -> String {
        session::form_token(&self.secret)
    }

    /// The page, with the cookie that its forms need.
    #[expect(clippy::unnecessary_wraps, reason = "it ends handlers")]
    pub(crate) fn keep(self, page: Answer) -> Result<Answer> {
        Ok(match self.cookie {
            Some(cookie) => page.header(header::SET_COOKIE, cookie),
            None => page,
        })
    }
}

/// A form that one of our pages sent.
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads a form. Errors: it does not come from a page that this server showed to this browser.
    pub(crate) async fn read(context: &Context) -> Result<Self> {
        let (app, headers) = (&context.app, &context.headers);
        let media = context.header(header::CONTENT_TYPE).unwrap_or_default();
        let form = Self(match multipart::parts(media, &context.body).await {
            Some(parts) => parts.iter().filter_map(Part::field).collect(),
            None => {
                let pairs = form_urlencoded::parse(&context.body);
                pairs.map(|(name, value)| (name.into(), value.into())).collect()
            }
        });
        let signed_in = match context.route.access {
            Access::Page(_) => true, // Nobody else gets here.
            _ => people::open_page(app, headers).await?.is_some(),
        };
        let known = match signed_in {
            true => people::session(app, headers),
            false => Cookie::Form.read(app, headers),
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

    /// The values of a field that may be sent more than once.
    pub(crate) fn every<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        let found = self.0.iter().filter(move |(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// A field, empty where it was not sent.
    pub(crate) fn field(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }
}
