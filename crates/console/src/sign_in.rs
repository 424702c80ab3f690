//! The pages on which people sign in, set a password by a link, and give a program access. They need no script.

use askama::Template;

/// The sign-in page.
#[derive(Template)]
#[template(path = "sign_in/sign_in.html")]
pub struct SignIn<'a> {
    /// What the forms carry in their field `token`.
    pub token: String,
    /// The path to go on to.
    pub next: &'a str,
    /// The same as a value of a query.
    pub next_encoded: String,
    /// The address that was typed.
    pub email: &'a str,
    /// What went wrong with the last try.
    pub problem: Option<String>,
    /// Whether the server has any account.
    pub has_accounts: bool,
    /// The name of the person who is signed in.
    pub signed_in: Option<&'a str>,
    /// What the OpenID provider is called, where there is one.
    pub provider: Option<&'a str>,
    /// The demo of the app to go on to, which needs no account.
    pub demo: Option<String>,
}

/// The page that creates the first administrator.
#[derive(Template)]
#[template(path = "sign_in/first.html")]
pub struct First<'a> {
    /// What the form carries in its field `token`.
    pub token: String,
    /// The link's secret.
    pub link: &'a str,
    /// The address that was typed.
    pub email: &'a str,
    /// The name that was typed.
    pub name: &'a str,
    /// What went wrong with the last try.
    pub problem: Option<String>,
    /// Whether the link works.
    pub is_open: bool,
}

/// The page of a one-time link, on which its owner sets a password.
#[derive(Template)]
#[template(path = "sign_in/welcome.html")]
pub struct Welcome<'a> {
    /// What the form carries in its field `token`.
    pub token: String,
    /// The link's secret.
    pub link: &'a str,
    /// What went wrong with the last try.
    pub problem: Option<String>,
    /// Name and e-mail address of the link's owner; none if the link does not work.
    pub owner: Option<(&'a str, &'a str)>,
}

/// The page on which a person gives a program access.
#[derive(Template)]
#[template(path = "sign_in/device.html")]
pub struct Device<'a> {
    /// What the forms carry in their field `token`.
    pub token: String,
    /// The name of the person who is signed in.
    pub name: &'a str,
    /// Their address.
    pub email: &'a str,
    /// What the server is: `staging`, `production` or `local`.
    pub environment: &'a str,
    /// What the page asks.
    pub step: Step<'a>,
    /// What went wrong with the last try.
    pub problem: Option<String>,
}

/// A step of giving a program access.
pub enum Step<'a> {
    /// Type the code.
    EnterCode,
    /// Decide about this code.
    Decide(&'a str),
    /// Decided: whether the program has access.
    Decided(bool),
}
