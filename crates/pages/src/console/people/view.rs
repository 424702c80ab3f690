//! People: the accounts, for administrators.

use askama::Template;
use lyceum_console::language::ProblemText;
use lyceum_console::{Column, FactList, Frame, List};

use crate::own_account::view::SessionLine;

/// The columns of the list of accounts.
pub(crate) const COLUMNS: &[Column] = &[
    Column::text("name", "Name").fixed(),
    Column::text("account", "E-mail address").fixed(),
    Column::text("role", "Role").fixed(),
    Column::text("access", "Access").fixed(),
    Column::text("created", "Created").fixed(),
    Column::text("state", "State").fixed(),
];

/// The page of all accounts.
#[derive(Template)]
#[template(path = "console/people/people.html")]
pub(crate) struct PeoplePage {
    /// The frame.
    pub frame: Frame,
    /// The accounts.
    pub list: List,
}

/// The form for a new account.
#[derive(Template)]
#[template(path = "console/people/account_new.html")]
pub(crate) struct NewAccountPage {
    /// The frame.
    pub frame: Frame,
    /// Why the account was not created.
    pub problem: Option<ProblemText>,
    /// The values that were entered: e-mail address, name, role, and the sourcedId of a student.
    pub entered: [String; 4],
    /// The names of the roles.
    pub roles: Vec<&'static str>,
}

/// The part of the roster to which an account is limited, as the form shows it.
pub(crate) struct AccountLimit {
    /// The sourcedIds of organizations, separated by spaces; may be empty.
    pub organizations: String,
    /// The sourcedId of the teacher to whose classes it is limited; empty if there is none.
    pub teacher: String,
}

/// The page of one account.
#[derive(Template)]
#[template(path = "console/people/account.html")]
pub(crate) struct AccountPage {
    /// The frame.
    pub frame: Frame,
    /// The page's address.
    pub path: String,
    /// Role, state and other facts.
    pub facts: FactList,
    /// A link that was just created, with which the owner sets a password.
    pub link: Option<String>,
    /// Whether the account is disabled.
    pub is_disabled: bool,
    /// The role and the roles to choose from; empty for a student.
    pub roles: Vec<(&'static str, bool)>,
    /// The limit of the account; `None` for an account that has no limit to choose.
    pub limit: Option<AccountLimit>,
    /// The identities at sign-in services: issuer and subject.
    pub identities: Vec<(String, String)>,
    /// The issuer of the sign-in service of this server; empty if there is none.
    pub issuer: String,
    /// The sessions.
    pub sessions: Vec<SessionLine>,
    /// The page for exporting and erasing the person.
    pub data: String,
}
