//! The language of the pages of a request.

use std::future::{Future, poll_fn};
use std::pin::pin;

use http::{HeaderMap, header};
use lyceum_access::TokenHolder;
use lyceum_console::language;
use lyceum_core::language::Language;

use crate::Http;
use crate::auth::people::SessionCookies;

/// The language of a request's pages: the choice stored with the account, otherwise the choice in this browser, otherwise
/// the language that the browser prefers, otherwise English.
pub fn of(app: &Http, holder: Option<&TokenHolder>, headers: &HeaderMap) -> Language {
    let of_account = holder.and_then(TokenHolder::language);
    let of_browser = || SessionCookies::Language.read(app, headers)?.parse().ok();
    let preferred = || Language::preferred(headers.get(header::ACCEPT_LANGUAGE)?.to_str().ok()?);
    of_account.or_else(of_browser).or_else(preferred).unwrap_or_default()
}

/// Whether a page is requested as a file, which has no language because programs read it.
pub fn is_file(query: Option<&str>) -> bool {
    let mut pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    pairs.any(|(name, _)| name == "export")
}

/// Runs a future whose pages are in this language.
pub async fn within<T>(chosen: Language, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|cx| language::within(chosen, || work.as_mut().poll(cx))).await
}
