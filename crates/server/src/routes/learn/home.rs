//! The first page of a student.

use lyceum_access::StudentSession;
use lyceum_console::learn::StudentHomePage;
use lyceum_core::Result;

use super::{frame, page};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::Route;
use crate::routes::console::as_page;

pub(super) fn routes() -> Vec<Route> {
    vec![page("", StudentSession::Class, show)]
}

async fn show(context: Context) -> Result<Answer> {
    let name = context.signed_in_student()?.person.name.clone();
    let view = StudentHomePage { frame: frame(&context, name)? };
    Ok(as_page(lyceum_console::html(&view)?))
}
