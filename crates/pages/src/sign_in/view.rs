//! The pages on which people sign in, set a password with a link, and give a program access. They need no JavaScript.

use askama::Template;
use lyceum_console::language::ProblemText;

/// The sign-in page.
#[derive(Template)]
#[template(path = "sign_in/sign_in.html")]
pub(crate) struct SignInPage<'a> {
    /// The token that each form sends in its field `token`, against forged requests.
    pub token: String,
    /// The path to open after signing in.
    pub next: &'a str,
    /// The same path, encoded for a query.
    pub next_encoded: String,
    /// The e-mail address that was entered.
    pub email: &'a str,
    /// Why the previous submission failed.
    pub problem: Option<ProblemText>,
    /// Whether the server has any account.
    pub has_accounts: bool,
    /// The name of the person who is signed in.
    pub signed_in: Option<&'a str>,
    /// The name of the OpenID provider, if there is one.
    pub provider: Option<&'a str>,
    /// The address of the app's demo, which needs no account.
    pub demo: Option<String>,
}

/// The page that creates the first administrator.
#[derive(Template)]
#[template(path = "sign_in/first.html")]
pub(crate) struct FirstAdministratorPage<'a> {
    /// The token that the form sends in its field `token`, against forged requests.
    pub token: String,
    /// The secret from the link.
    pub link: &'a str,
    /// The e-mail address that was entered.
    pub email: &'a str,
    /// The name that was entered.
    pub name: &'a str,
    /// Why the previous submission failed.
    pub problem: Option<ProblemText>,
    /// Whether the link is valid.
    pub is_open: bool,
}

/// The page of a one-time link, on which a person sets a password.
#[derive(Template)]
#[template(path = "sign_in/welcome.html")]
pub(crate) struct WelcomePage<'a> {
    /// The token that the form sends in its field `token`, against forged requests.
    pub token: String,
    /// The secret from the link.
    pub link: &'a str,
    /// Why the previous submission failed.
    pub problem: Option<ProblemText>,
    /// The name and e-mail address of the person; `None` if the link is not valid.
    pub owner: Option<(&'a str, &'a str)>,
}

/// The page on which a person gives a program access.
#[derive(Template)]
#[template(path = "sign_in/device.html")]
pub(crate) struct DevicePage<'a> {
    /// The token that each form sends in its field `token`, against forged requests.
    pub token: String,
    /// The name of the person who is signed in.
    pub name: &'a str,
    /// The person's e-mail address.
    pub email: &'a str,
    /// The environment of the server: `staging`, `production` or `local`.
    pub environment: &'a str,
    /// The step that the page shows.
    pub step: DeviceStep<'a>,
    /// Why the previous submission failed.
    pub problem: Option<ProblemText>,
}

/// A step of giving a program access.
pub(crate) enum DeviceStep<'a> {
    /// The person enters the code.
    EnterCode,
    /// The person allows or denies access for this code.
    Decide(&'a str),
    /// The decision: whether the program has access.
    Decided(bool),
}
