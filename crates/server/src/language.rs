//! The language and the calendar of the person who reads a page.

use std::future::{Future, poll_fn};
use std::pin::pin;

use axum::http::{HeaderMap, header};
use jiff::civil::Date;
use lyceum_access::TokenHolder;
use lyceum_access::account::{self, AccountChange};

use lyceum_bridge::zone::Zone;
use lyceum_console::{language, words};
use lyceum_core::language::Language;
use lyceum_core::time::{Timestamp, parse_date};
use lyceum_core::{Problem, Result};
use lyceum_store::Tx;

use crate::answer::Answer;
use crate::auth::Grant;
use crate::auth::people::{self, SessionCookies};
use crate::context::Context;
use crate::limits;
use crate::routes::console::{on_to, zone};
use crate::routes::sign_in::{Form, local};
use crate::state::App;

/// The language of a request's pages: the choice stored with the account, otherwise the choice in this browser, otherwise
/// the language that the browser prefers, otherwise English.
pub(crate) fn of(app: &App, holder: Option<&TokenHolder>, headers: &HeaderMap) -> Language {
    let of_account = holder.and_then(TokenHolder::language);
    let of_browser = || SessionCookies::Language.read(app, headers)?.parse().ok();
    let preferred = || Language::preferred(headers.get(header::ACCEPT_LANGUAGE)?.to_str().ok()?);
    of_account.or_else(of_browser).or_else(preferred).unwrap_or_default()
}

/// Whether a page is requested as a file, which has no language because programs read it.
pub(crate) fn is_file(query: Option<&str>) -> bool {
    let mut pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    pairs.any(|(name, _)| name == "export")
}

/// Runs a future whose pages are in this language.
pub(crate) async fn within<T>(chosen: Language, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|cx| language::within(chosen, || work.as_mut().poll(cx))).await
}

/// Takes the choice of a language: it is stored with the account of a signed-in person, and otherwise in the browser.
/// Errors: `Invalid` for an unknown language.
pub(crate) async fn choose(context: Context) -> Result<Answer> {
    let form = Form::read(&context).await?;
    let chosen = parsed(form.field("language"))?.unwrap_or_default();
    let referrer = context.header(header::REFERER).unwrap_or_default();
    let path = referrer.split_once("://").and_then(|(_, rest)| Some(&rest[rest.find('/')?..]));
    let back = on_to(match local(path.unwrap_or_default()) {
        "" => "/",
        path => path,
    });
    let grant = people::open_page(&context.app, &context.headers).await?;
    match grant.as_ref().and_then(Grant::holder) {
        Some(TokenHolder::Person(person)) => store(&context, person.id.clone(), chosen).await?,
        Some(TokenHolder::Student(student)) => {
            store(&context, student.person.id.clone(), chosen).await?;
        }
        _ => {
            let cookie = SessionCookies::Language.set(
                &context.app,
                chosen.tag(),
                limits::LANGUAGE_COOKIE_LIFETIME_S,
            );
            return Ok(back.header(header::SET_COOKIE, cookie));
        }
    }
    Ok(back)
}

/// The language that has this tag; `None` for an empty tag, which lets the browser decide. Errors: `Invalid`.
pub(crate) fn parsed(tag: &str) -> Result<Option<Language>> {
    let chosen = Some(tag).filter(|tag| !tag.is_empty()).map(str::parse);
    chosen.transpose().map_err(|rule: String| Problem::invalid("language", rule))
}

async fn store(context: &Context, account: String, chosen: Language) -> Result<()> {
    let now = context.app.clock.now();
    let change = AccountChange { language: Some(Some(chosen)), ..AccountChange::default() };
    let write = move |tx: &mut Tx<'_>| {
        let who = account::find(tx, &account)?;
        account::change(tx, now, who.account_name(), &account, &change)
    };
    context.app.db.write(write).await.map(|_| ())
}

/// The time zone of a reader and the current day there, with which pages show days and times.
#[derive(Clone)]
pub(crate) struct Calendar {
    /// The time zone.
    pub(crate) zone: Zone,
    today: Date,
}

impl Calendar {
    /// The calendar of the person whose browser sent these headers.
    pub(crate) fn of(app: &App, headers: &HeaderMap) -> Self {
        let zone = zone(headers);
        Self { today: zone.day_of(app.clock.now()), zone }
    }

    /// A day.
    pub(crate) fn day(&self, day: Date) -> String {
        words::day(day, self.today)
    }

    /// A day that is named as `2026-01-15`. Other texts are shown as they are.
    pub(crate) fn named_day(&self, name: &str) -> String {
        parse_date(name).map_or_else(|| name.to_owned(), |day| self.day(day))
    }

    /// The day of an instant.
    pub(crate) fn day_of(&self, instant: Timestamp) -> String {
        self.day(self.zone.day_of(instant))
    }

    /// The day and time of an instant.
    pub(crate) fn moment(&self, instant: Timestamp) -> String {
        words::moment(self.zone.local(instant), self.today)
    }

    /// The day and time of an instant with seconds, for logs.
    pub(crate) fn moment_with_seconds(&self, instant: Timestamp) -> String {
        words::moment_with_seconds(self.zone.local(instant), self.today)
    }
}
