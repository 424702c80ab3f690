//! The public page of a credential. It needs neither scripts nor a session, so it has a style of its own.

use askama::Template;
use lyceum_core::Message;
use lyceum_core::time::Timestamp;

/// The style of the page.
pub(super) const STYLE: &str = include_str!("credential.css");

/// The page of one credential. Askama escapes each text.
#[derive(Template)]
#[template(path = "credential/credential.html")]
pub(super) struct CredentialPage<'p> {
    /// The public id of the credential.
    pub id: &'p str,
    /// The file type of the picture: "png" if the badge has its own image, otherwise "svg".
    pub picture: &'static str,
    /// The name of the badge.
    pub name: String,
    /// The description of the achievement.
    pub description: String,
    /// The name of the learner, if it is a user of this server.
    pub learner: Option<String>,
    /// The text of the issuer about the learner, as HTML.
    pub narrative: String,
    /// The issuer.
    pub issuer: Party,
    /// The creator of the achievement, if the credential names one.
    pub creator: Option<Party>,
    /// The ids of the recipient in the credential.
    pub recipient: Vec<(&'static str, String)>,
    /// The criteria of the achievement.
    pub criteria: Party,
    /// The evidence.
    pub evidence: Vec<Party>,
    /// Labels and dates, such as "Awarded".
    pub dates: Vec<(&'static str, CredentialDate)>,
    /// The day of the revocation and its reason.
    pub revoked: Option<(CredentialDate, &'p str)>,
    /// The day on which it expired, if nothing else is wrong with it.
    pub expired: Option<CredentialDate>,
    /// Whether all checks passed.
    pub verified: bool,
    /// The checks of the server, made when the page is read.
    pub checks: Vec<CredentialCheck>,
    /// Whether the credential exists as a JWT.
    pub has_jwt: bool,
}

/// A name with its text, and a link if its id is a web address.
pub(super) struct Party {
    /// Its name.
    pub name: String,
    /// A text about it, as HTML.
    pub html: String,
    /// Its id, if that is a web address.
    pub link: Option<String>,
    /// Its id.
    pub id: String,
}

/// A day for people, and the exact text of the credential.
pub(super) struct CredentialDate {
    /// The day for people: 15 January 2026.
    pub day: String,
    /// The text in the credential.
    pub exact: String,
}

impl CredentialDate {
    /// Reads an instant in ISO 8601. Other text is shown unchanged.
    pub(super) fn of(exact: &str) -> Self {
        let at: Option<Timestamp> = exact.parse().ok();
        let day = at.map_or_else(|| exact.to_owned(), long_day);
        Self { day, exact: exact.to_owned() }
    }
}

/// The day of an instant in UTC: 15 January 2026.
fn long_day(at: Timestamp) -> String {
    let text = at.to_string();
    let mut parts = text.split(['-', 'T']);
    let (Some(year), Some(month), Some(day)) = (parts.next(), parts.next(), parts.next()) else {
        return text;
    };
    let day = day.trim_start_matches('0');
    match month {
        "01" => t!("{day} January {year}", day = day, year = year),
        "02" => t!("{day} February {year}", day = day, year = year),
        "03" => t!("{day} March {year}", day = day, year = year),
        "04" => t!("{day} April {year}", day = day, year = year),
        "05" => t!("{day} May {year}", day = day, year = year),
        "06" => t!("{day} June {year}", day = day, year = year),
        "07" => t!("{day} July {year}", day = day, year = year),
        "08" => t!("{day} August {year}", day = day, year = year),
        "09" => t!("{day} September {year}", day = day, year = year),
        "10" => t!("{day} October {year}", day = day, year = year),
        "11" => t!("{day} November {year}", day = day, year = year),
        _ => t!("{day} December {year}", day = day, year = year),
    }
}

/// A check of the credential.
pub(super) struct CredentialCheck {
    /// Its name.
    pub name: &'static str,
    /// `passed`, `failed` or another outcome of a check.
    pub outcome: &'static str,
    /// The finding, for people.
    pub message: Message,
}
