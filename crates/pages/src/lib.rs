//! The pages for people: the console, the pages of students, sign-in, games to play, and the documentation. A page's
//! handler asks the crate that owns the data, or a function of `api`, and fills the view beside it. Views are built from
//! the parts in the crate `console`.
//!
//! | what | where |
//! |---|---|
//! | the console, one file for each screen | `console` |
//! | the pages of students, and what their scripts read and change | `learn` |
//! | signing in, setting a password with a link, giving a program access | `sign_in` |
//! | the public page of a credential | `credential` |
//! | the page of an app; the documentation and the API explorer | `play`, `docs` |
//! | the language that a reader chooses; days and times in the reader's words | `calendar` |
//! | what a browser sees that has no access to a page, or whose page failed | `frames` |
//! | password and sessions on the pages of the own account | `own_account` |
//! | limits | `limits` |

#[macro_use]
extern crate lyceum_console;

mod calendar;
mod console;
mod credential;
mod docs;
mod frames;
mod learn;
pub mod limits;
mod own_account;
mod play;
mod sign_in;

use lyceum_api::Area;

pub use frames::PAGE_PROBLEMS;

/// The areas of all pages.
pub fn areas() -> Vec<Area> {
    let mut areas =
        vec![docs::area(), sign_in::area(), console::area(), play::area(), credential::area()];
    areas.extend(learn::areas());
    areas
}
