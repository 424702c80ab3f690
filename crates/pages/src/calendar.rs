//! The language that a reader of pages chooses, and the calendar by which pages show days and times.

use http::{HeaderMap, header};
use jiff::civil::Date;
use lyceum_access::TokenHolder;
use lyceum_access::account::{self, AccountChange};
use lyceum_api::accounts::parsed_language;
use lyceum_api::limits::SIGN_IN_FORM_MAX_BYTES;
use lyceum_api::{Context, Route};
use lyceum_bridge::zone::Zone;
use lyceum_console::words;
use lyceum_core::Result;
use lyceum_core::language::Language;
use lyceum_core::time::{Timestamp, parse_date};
use lyceum_http::Http;
use lyceum_http::answer::Answer;
use lyceum_http::auth::Grant;
use lyceum_http::auth::people::{self, SessionCookies};
use lyceum_http::render::on_to;
use lyceum_http::route::{Access, post};
use lyceum_store::Tx;
use schemars::JsonSchema;

use crate::console::zone;
use crate::sign_in::{FORM, Form, GuardedForm, local};

pub(crate) fn language_route() -> Route {
    post("/language", Access::Public, choose)
        .reads_as(FORM)
        .reads_up_to(SIGN_IN_FORM_MAX_BYTES)
        .reads::<GuardedForm<LanguageForm>>()
        .named("postLanguage")
        .description("Chooses the language of the pages, for the signed-in person or otherwise for this browser, and redirects to the page that sent the form.")
        .answers_empty(303, "Leads back to the page.")
}

/// The fields of the choice of a language.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the handler reads the fields by name")]
struct LanguageForm {
    /// `en` or `es`.
    language: String,
}

/// Takes the choice of a language: it is stored with the account of a signed-in person, and otherwise in the browser.
/// Errors: `Invalid` for an unknown language.
async fn choose(context: Context) -> Result<Answer> {
    let form = Form::read(&context).await?;
    let chosen = parsed_language(form.field("language"))?.unwrap_or_default();
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
                crate::limits::LANGUAGE_COOKIE_LIFETIME_S,
            );
            return Ok(back.header(header::SET_COOKIE, cookie));
        }
    }
    Ok(back)
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
    pub zone: Zone,
    today: Date,
}

impl Calendar {
    /// The calendar of the person whose browser sent these headers.
    pub(crate) fn of(app: &Http, headers: &HeaderMap) -> Self {
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
