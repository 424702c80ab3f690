//! The pages on which people see and change their own accounts.

use askama::Template;
use askama::filters::HtmlSafe;
use lyceum_console::Frame;
use lyceum_console::language::ProblemText;
use lyceum_core::language::Language;

use crate::learn::view::StudentFrame;

/// A session of the person who looks at the page.
pub(crate) struct SessionLine {
    /// Its id in forms.
    pub id: String,
    /// Where it is: "Browser", "Command line" or "Class".
    pub place: String,
    /// When it began.
    pub began: String,
    /// When it was last used.
    pub used: String,
    /// Whether the page was opened with it.
    pub is_current: bool,
}

/// The forms of an account that pages of people and of students share. Templates write `{{ forms }}`.
#[derive(Template)]
#[template(path = "own_account/account_forms.html")]
pub(crate) struct AccountForms {
    /// The address below which the forms are sent, such as `/console/profile`.
    pub path: &'static str,
    /// The token that each form sends in its field `token`, against forged requests.
    pub token: String,
    /// Whether the account has a password.
    pub has_password: bool,
    /// The sessions.
    pub sessions: Vec<SessionLine>,
    /// Why the previous change failed.
    pub problem: Option<ProblemText>,
    /// A sentence about the change that was made.
    pub done: Option<String>,
}

impl HtmlSafe for AccountForms {}

/// The account of a person who is not a student.
#[derive(Template)]
#[template(path = "own_account/profile.html")]
pub(crate) struct ProfilePage {
    /// The frame.
    pub frame: Frame,
    /// The language that the person has chosen.
    pub language: Option<Language>,
    /// The forms.
    pub forms: AccountForms,
}

impl ProfilePage {
    /// The languages to choose from: tag, own name, and whether it is the chosen one.
    fn languages(&self) -> impl Iterator<Item = (&'static str, &'static str, bool)> {
        let chosen = self.language;
        Language::ALL.into_iter().map(move |one| (one.tag(), one.name(), chosen == Some(one)))
    }
}

/// The account of a student.
#[derive(Template)]
#[template(path = "own_account/account.html")]
pub(crate) struct StudentAccountPage {
    /// The frame.
    pub frame: StudentFrame,
    /// The names with which the student signs in.
    pub sign_in_names: Vec<String>,
    /// The name of the sign-in service, and whether it is linked; `None` if the server has none.
    pub provider: Option<(String, bool)>,
    /// The forms.
    pub forms: AccountForms,
}
