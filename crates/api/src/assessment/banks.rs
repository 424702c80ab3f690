//! Assessment banks: several variations of a test for one lesson, which take turns.

use std::time::Duration;

use http::{StatusCode, header};
use lyceum_access::Scope::{QtiRead, QtiWrite};
use lyceum_assessment::banks::{self, Bank, BankInput, BankTurn, BankTurnRequest};
use lyceum_assessment::{Page, parse};
use lyceum_core::{Problem, Result, body, message};
use lyceum_http::answer::Answer;
use lyceum_http::etag;
use lyceum_http::route::{delete, get, post, put};
use lyceum_store::Tx;

use super::list::{self, ListPage};
use crate::{Context, Route, limits};

pub(super) fn routes() -> Vec<Route> {
    vec![
        list::parameters(get("", QtiRead, list_page), &banks::SORTS)
            .named("getAssessmentBanks")
            .description("Lists assessment banks, page by page.")
            .answers::<ListPage<Bank>>(200, "A page of banks."),
        post("", QtiWrite, create)
            .named("createAssessmentBank")
            .description("Stores several variations of a test for one lesson.")
            .reads::<BankInput>()
            .answers::<Bank>(201, "The bank."),
        get("/{bank}", QtiRead, show)
            .named("getAssessmentBank")
            .description("Reads an assessment bank.")
            .answers::<Bank>(200, "The bank."),
        put("/{bank}", QtiWrite, replace)
            .of_version()
            .named("putAssessmentBank")
            .description("Replaces a bank. Which test each user was served is not forgotten.")
            .reads::<BankInput>()
            .answers::<Bank>(200, "The bank."),
        delete("/{bank}", QtiWrite, remove)
            .of_version()
            .named("deleteAssessmentBank")
            .description("Deletes a bank and the list of tests that users were served. The tests stay.")
            .answers_empty(204, "Deleted."),
        post("/{bank}/next", QtiWrite, next)
            .named("nextAssessmentTest")
            .description("Serves a test for a user's attempt. Each user gets the tests in turn, beginning at the bank's turn at the first attempt. The same attempt is served the same test.")
            .reads::<BankTurnRequest>()
            .answers::<BankTurn>(200, "The test."),
    ]
}

async fn list_page(context: Context) -> Result<Answer> {
    let page = Page::read(&list::parameters_of(&context), &banks::SORTS)?;
    let requested = page.clone();
    let deadline = Duration::from_millis(limits::SCAN_MAX_MS);
    let read = move |tx: &mut Tx<'_>| banks::list(tx, &requested);
    let (banks, total) = context.app.db.scan(deadline, read).await?;
    Ok(list::answer(&context, &page, banks, total))
}

async fn create(context: Context) -> Result<Answer> {
    let (input, now) = (BankInput::read(parse(&context.body)?)?, context.app.clock.now());
    let bank = context.app.db.write(move |tx| banks::create(tx, now, &input)).await?;
    let tag = etag::tag(bank.version);
    Ok(Answer::of(&bank).status(StatusCode::CREATED).header(header::ETAG, tag))
}

async fn show(context: Context) -> Result<Answer> {
    let id = context.param("bank").to_owned();
    let bank = context.app.db.read(move |tx| banks::get(tx, &id)).await?;
    Ok(Answer::of(&bank).header(header::ETAG, etag::tag(bank.version)))
}

async fn replace(context: Context) -> Result<Answer> {
    let (mut body, id) = (parse(&context.body)?, context.param("bank").to_owned());
    let sent_identifier = body.entry("identifier").or_insert_with(|| id.as_str().into());
    if sent_identifier.as_str() != Some(id.as_str()) {
        let message = message!("the address names '{id}'; an identifier is not changed");
        return Err(Problem::invalid("identifier", message));
    }
    let (input, now, expected) =
        (BankInput::read(body)?, context.app.clock.now(), etag::expected(&context)?);
    let bank = context.app.db.write(move |tx| banks::replace(tx, now, &input, expected)).await?;
    Ok(Answer::of(&bank).header(header::ETAG, etag::tag(bank.version)))
}

async fn remove(context: Context) -> Result<Answer> {
    let (id, expected) = (context.param("bank").to_owned(), etag::expected(&context)?);
    context.app.db.write(move |tx| banks::delete(tx, &id, expected)).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

async fn next(context: Context) -> Result<Answer> {
    let bank = context.param("bank").to_owned();
    let BankTurnRequest { user_id: user, attempt } = body::of(parse(&context.body)?.into())?;
    if let Some(attempt) = attempt {
        let (bank, user) = (bank.clone(), user.clone());
        let served =
            move |tx: &mut lyceum_store::Tx<'_>| banks::find_drawn_test(tx, &bank, &user, attempt);
        if let Some(turn) = context.app.db.read(served).await? {
            return Ok(Answer::of(&turn));
        }
    }
    let serve = move |tx: &mut Tx<'_>| banks::next(tx, &bank, &user, attempt);
    Ok(Answer::of(&context.app.db.write(serve).await?))
}
