//! Sign-in with the OpenID provider: the redirect to it, and the return with a code.

use http::header;
use lyceum_access::identity::{self, IdentityRule};
use lyceum_access::oidc::{IdTokenClaims, SignInAttempt, refused};
use lyceum_access::{Person, Role, StudentSession, TokenHolder, session};
use lyceum_api::shape::text;
use lyceum_api::{Context, Route};
use lyceum_core::config::{NewAccounts, OidcSettings};
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_http::answer::Answer;
use lyceum_http::auth::people::{self, SessionCookies};
use lyceum_http::auth::{Grant, sign_in};
use lyceum_http::route::{Access, ParamPlace, get};
use lyceum_roster::repository;
use lyceum_store::Tx;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::{elsewhere, local, onward, refuse};
use crate::limits;

/// The beginning of the cookie if the student who is signed in links an identity, in place of the next page; the form
/// token of the student's session follows. Paths begin with `%2F` there.
const LINKING: &str = "link.";

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/sign-in/oidc", Access::Public, begin)
            .named("beginOpenIdSignIn")
            .description("Sends the browser to the OpenID provider of the settings.")
            .param(ParamPlace::Query, "next", text(), "The path to go on to.")
            .param(ParamPlace::Query, "link", text(), "The form token of a signed-in student, who links the identity instead of signing in.")
            .answers_empty(303, "Leads to the provider."),
        get("/sign-in/oidc/callback", Access::Public, end)
            .named("endOpenIdSignIn")
            .description("Receives the browser after the sign-in at the provider, starts a session and redirects to the next page.")
            .param(ParamPlace::Query, "state", text(), "The `state` that the server sent with the browser.")
            .param(ParamPlace::Query, "code", text(), "The authorization code from the provider.")
            .answers_empty(303, "A person is signed in; redirects to the next page."),
    ]
}

/// Sends the browser to the provider. The cookie contains the values that the answer is compared with, and the next
/// page.
async fn begin(context: Context) -> Result<Answer> {
    let oidc = configured(&context)?;
    let (next, link) = (context.query_value("next"), context.query_value("link"));
    if let Some(token) = &link {
        student_who_links(&context, token).await?;
    }
    let attempt = SignInAttempt::begin();
    let going = context.app.providers.authorization(&context.app, oidc, &attempt).await;
    let address = match going {
        Ok(address) => address,
        Err(problem) => return show_problem(&context, problem).await,
    };
    let next = next.unwrap_or_default();
    let then = match link {
        Some(token) => format!("{LINKING}{token}"),
        None => utf8_percent_encode(local(&next), NON_ALPHANUMERIC).to_string(),
    };
    let value = format!("{}.{then}", attempt.secret());
    let cookie = SessionCookies::Attempt.set(&context.app, &value, limits::OIDC_ATTEMPT_LIFETIME_S);
    Ok(elsewhere(&address).header(header::SET_COOKIE, cookie))
}

/// Receives the browser from the provider, and starts a session for the account of the identity.
async fn end(context: Context) -> Result<Answer> {
    let value = SessionCookies::Attempt.read(&context.app, &context.headers).unwrap_or_default();
    let (secret, next) = value.split_once('.').unwrap_or_default();
    let next = percent_decode_str(next).decode_utf8_lossy().into_owned();
    let attempt = SignInAttempt::of_secret(secret);
    let cleared_cookie = SessionCookies::Attempt.set(&context.app, "", 0);
    if let Some(token) = next.strip_prefix(LINKING) {
        let mut answer = match link(&context, &attempt, token).await {
            Ok(()) => elsewhere("/learn/account"),
            Err(problem) => show_problem(&context, problem).await?,
        };
        answer.headers.append(header::SET_COOKIE, cleared_cookie);
        return Ok(answer);
    }
    match person(&context, &attempt).await {
        Ok(person) => {
            let session = sign_in::begin_session(&context, &person).await?;
            let mut answer = onward(&context, &person, local(&next), &session);
            answer.headers.append(header::SET_COOKIE, cleared_cookie);
            Ok(answer)
        }
        Err(problem) => {
            let mut answer = show_problem(&context, problem).await?;
            answer.headers.append(header::SET_COOKIE, cleared_cookie);
            Ok(answer)
        }
    }
}

async fn person(context: &Context, attempt: &SignInAttempt) -> Result<Person> {
    let (issuer, claims) = identity(context, attempt).await?;
    let oidc = configured(context)?;
    let (now, rule) = (context.app.clock.now(), rule(oidc));
    let found = move |tx: &mut Tx<'_>| {
        // A student without an account must not get the account of a guide.
        let email = claims.email.as_deref();
        let is_student =
            email.map(|email| repository::has_student_with_email(tx, email)).transpose()?;
        let new_accounts = rule.new_accounts.filter(|_| is_student != Some(true));
        let rule = IdentityRule { new_accounts, ..rule.clone() };
        identity::person(tx, now, &issuer, &claims, &rule)
    };
    context.app.db.write(found).await
}

/// Links the identity to the account of the student who is signed in and began the linking.
async fn link(context: &Context, attempt: &SignInAttempt, token: &str) -> Result<()> {
    let student = student_who_links(context, token).await?;
    let (issuer, claims) = identity(context, attempt).await?;
    let (now, rule) = (context.app.clock.now(), rule(configured(context)?));
    let link =
        move |tx: &mut Tx<'_>| identity::link_own(tx, now, (&issuer, &claims), &rule, &student);
    context.app.db.write(link).await
}

/// The signed-in student whose own page asks for linking: it sends the form token of the session. Errors: `Forbidden`.
async fn student_who_links(context: &Context, token: &str) -> Result<Person> {
    let student = signed_in_student(context).await?;
    let session = people::session(&context.app, &context.headers).unwrap_or_default();
    match session::is_form_token(session, token) {
        true => Ok(student),
        false => Err(not_signed_in()),
    }
}

/// The student who signed in alone in this browser. Errors: `Forbidden`.
async fn signed_in_student(context: &Context) -> Result<Person> {
    let grant = people::open_page(&context.app, &context.headers).await?;
    match grant.as_ref().and_then(Grant::holder) {
        Some(TokenHolder::Student(student)) if student.session == StudentSession::Own => {
            Ok(student.person.clone())
        }
        _ => Err(not_signed_in()),
    }
}

fn not_signed_in() -> Problem {
    let message = "sign in as the student, then link the sign-in service at /learn/account";
    Problem::new(ProblemKind::Forbidden, message)
}

/// The issuer, and the identity that it confirms.
async fn identity(context: &Context, attempt: &SignInAttempt) -> Result<(String, IdTokenClaims)> {
    let oidc = configured(context)?;
    let sent = |wanted: &str| context.query_value(wanted).unwrap_or_default();
    if attempt.secret().is_empty() || !attempt.is_state(&sent("state")) {
        let message = "this sign-in was not begun in this browser, or took too long; begin again";
        return Err(Problem::new(ProblemKind::Forbidden, message));
    }
    let issuer = oidc.issuer.clone().unwrap_or_default();
    // RFC 9207: refuse an answer from another provider.
    if !matches!(sent("iss"), show_problem if show_problem.is_empty() || show_problem == issuer) {
        return Err(refused("another provider answered"));
    }
    let code = sent("code");
    if code.is_empty() {
        return Err(refused(message!(
            "the provider sent '{sent}' instead of a code",
            sent = sent("error")
        )));
    }
    let claims = context.app.providers.claims(&context.app, oidc, attempt, &code).await?;
    Ok((issuer, claims))
}

fn configured(context: &Context) -> Result<&OidcSettings> {
    let oidc = &context.app.config.oidc;
    let message = "this server has no sign-in service; sign in by password";
    match oidc.issuer.is_some() {
        true => Ok(oidc),
        false => Err(Problem::new(ProblemKind::NotFound, message)),
    }
}

fn rule(oidc: &OidcSettings) -> IdentityRule {
    let new_accounts = oidc.new_accounts.map(|new| match new {
        NewAccounts::Guide => Role::Guide,
        NewAccounts::Developer => Role::Developer,
    });
    IdentityRule { domains: oidc.domains.clone(), new_accounts }
}

/// Shows the sign-in page with a problem. The cause is in the log.
async fn show_problem(context: &Context, problem: Problem) -> Result<Answer> {
    if problem.kind == ProblemKind::Internal {
        return Err(problem);
    }
    let cause = problem.cause.as_ref().map(tracing::field::display);
    tracing::warn!(request_id = %context.request_id, cause, "the sign-in with OpenID failed");
    refuse(context, "", "", &problem).await
}
