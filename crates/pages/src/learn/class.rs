//! Sign-in in class: a student enters the code of the class, chooses the own name, and answers with the pictures or words on
//! the own card. It works without scripts, and the device needs nothing but a cookie with the code.

pub(crate) mod view;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header;
use lyceum_access::TokenHolder;
use lyceum_access::class_secret::{ClassAnswer, ClassSecretKind, PICTURES};
use lyceum_access::class_sign_in::{self, OpenClass};
use lyceum_access::limits::CLASS_SESSION_LIFETIME_S;
use lyceum_api::class_access::{self, StudentAccess};
use lyceum_api::{Context, Route};
use lyceum_core::{Problem, ProblemKind, Reach, Result};
use lyceum_http::answer::Answer;
use lyceum_http::auth::people::{self, SessionCookies};
use lyceum_http::render::{self, as_page, on_to, sentence};
use lyceum_http::route::{Access, get, post};
use lyceum_store::Tx;

use super::FORM;
use crate::learn::class::view::{ClassCodePage, ClassNamesPage, ClassSecretPage};
use crate::sign_in::{Form, FormGuard, clear_stored_data};

/// The first of these pages.
pub(crate) const CLASS_PAGE: &str = "/learn/class";
const CODE_LABEL: &str = "class code in a browser";

pub(super) fn routes() -> Vec<Route> {
    let form =
        |route: Route| route.reads_as(FORM).reads_up_to(lyceum_api::limits::SIGN_IN_FORM_MAX_BYTES);
    vec![
        get("/class", Access::Public, show),
        form(post("/class", Access::Public, enter)),
        form(post("/class/leave", Access::Public, leave)),
        get("/class/{student}", Access::Public, show_secret_form),
        form(post("/class/{student}", Access::Public, answer)),
    ]
}

/// Shows the names of the class whose code this browser has, or asks for a code.
async fn show(context: Context) -> Result<Answer> {
    if let Some(grant) = people::open_page(&context.app, &context.headers).await?
        && let Some(TokenHolder::Student(_)) = grant.holder()
    {
        return Ok(on_to("/learn"));
    }
    let Some((class, students)) = known_class(&context).await? else {
        return code_page(&context, None).await;
    };
    let names = shown_names(&students);
    let can_sign_in =
        |one: &StudentAccess| Some((one.account.as_ref()?.id.clone(), one.secret.is_some()));
    let students = students.iter().zip(names).filter_map(|(one, name)| match can_sign_in(one)? {
        (id, true) => Some((id, name)),
        _ => None,
    });
    let guard = guard(&context).await?;
    let view = ClassNamesPage { token: guard.token(), class, students: students.collect() };
    guard.add_cookie(as_page(lyceum_console::html(&view)?))
}

async fn code_page(context: &Context, problem: Option<&Problem>) -> Result<Answer> {
    let guard = guard(context).await?;
    let view = ClassCodePage { token: guard.token(), problem: problem.map(sentence) };
    let page = as_page(lyceum_console::html(&view)?);
    guard.add_cookie(match problem {
        Some(problem) => page.status(render::status(problem.kind)),
        None => page,
    })
}

/// Takes the code that a student typed. The browser keeps it, so the next student begins with the names.
async fn enter(context: Context) -> Result<Answer> {
    let form = Form::read(&context).await?;
    let (now, place) = (context.app.clock.now(), context.place.clone());
    let typed = form.field("code").to_owned();
    let entered = move |tx: &mut Tx<'_>| class_sign_in::enter_code(tx, now, &typed, &place);
    match context.app.db.write(entered).await {
        Ok(Some(open)) => {
            let open_s = open.closes.seconds() - now.seconds();
            let cookie =
                SessionCookies::Class.set(&context.app, &sealed_code(&context, &open.code), open_s);
            Ok(on_to(CLASS_PAGE).header(header::SET_COOKIE, cookie))
        }
        Ok(None) => code_page(&context, Some(&no_class())).await,
        Err(problem) if problem.cause.is_some() => Err(problem),
        Err(problem) => code_page(&context, Some(&problem)).await,
    }
}

/// Forgets the code.
async fn leave(context: Context) -> Result<Answer> {
    Form::read(&context).await?;
    Ok(on_to(CLASS_PAGE).header(header::SET_COOKIE, SessionCookies::Class.set(&context.app, "", 0)))
}

/// Asks the chosen student for the first picture, or for the words.
async fn show_secret_form(context: Context) -> Result<Answer> {
    let student = context.param("student").to_owned();
    secret_page(&context, &student, None, None).await
}

/// Takes the first picture, and shows the pictures again; takes both or the words, and signs in.
async fn answer(context: Context) -> Result<Answer> {
    let form = Form::read(&context).await?;
    let student = context.param("student").to_owned();
    let answer = match (form.field("first"), form.field("second"), form.field("words")) {
        (first, "", "") => {
            let first = PICTURES.into_iter().find(|name| *name == first);
            return secret_page(&context, &student, first, None).await;
        }
        (_, "", words) => ClassAnswer::from_words(words),
        (first, second, _) => ClassAnswer::from_pictures(first, second),
    };
    let (app, place) = (&context.app, context.place.clone());
    let (now, environment) = (app.clock.now(), app.config.server.env);
    let former = people::session(app, &context.headers).map(str::to_owned);
    let had_session = former.is_some();
    let (code, keyring, wanted) = (code(&context), app.gate.keyring(), student.clone());
    let signed_in = app.db.write(move |tx| {
        let master = keyring.master();
        // The class may have closed, and the student may have left it, since the page was shown.
        let Some(open) = class_sign_in::of_code(tx, now, &code)? else { return Ok(None) };
        let students = class_access::students(tx, now, master, &open.class, &Reach::Everything)?;
        let accounts = students.into_iter().filter_map(|one| one.account);
        let Some(student) = { accounts }.find(|account| account.id == wanted) else {
            return Ok(None);
        };
        let (answer, former) = ((&answer, &place), former.as_deref());
        class_sign_in::sign_in(tx, (now, environment), master, &open, &student, answer, former)
            .map(Some)
    });
    match signed_in.await {
        Ok(Some(Some(session))) => {
            let cookie = SessionCookies::Session.set(app, &session, CLASS_SESSION_LIFETIME_S);
            let answer = on_to("/learn").header(header::SET_COOKIE, cookie);
            Ok(if had_session { clear_stored_data(answer) } else { answer })
        }
        Ok(Some(None)) => {
            let message = "that was not right; try again, or ask your teacher";
            let problem = Problem::new(ProblemKind::Unauthorized, message);
            secret_page(&context, &student, None, Some(&problem)).await
        }
        Ok(None) => code_page(&context, Some(&no_class())).await,
        Err(problem) if problem.cause.is_some() => Err(problem),
        Err(problem) => secret_page(&context, &student, None, Some(&problem)).await,
    }
}

async fn secret_page(
    context: &Context,
    student: &str,
    first: Option<&str>,
    problem: Option<&Problem>,
) -> Result<Answer> {
    let Some((_, students)) = known_class(context).await? else {
        return code_page(context, Some(&no_class())).await;
    };
    let names = shown_names(&students);
    let is_chosen =
        |one: &StudentAccess| one.account.as_ref().is_some_and(|account| account.id == student);
    let chosen = students.iter().zip(names).find(|(one, _)| is_chosen(one));
    let Some((StudentAccess { secret: Some(secret), .. }, name)) = chosen else {
        return Ok(on_to(CLASS_PAGE));
    };
    let guard = guard(context).await?;
    let view = ClassSecretPage {
        token: guard.token(),
        student: student.to_owned(),
        name,
        problem: problem.map(sentence),
        pictures: match secret.kind {
            ClassSecretKind::Pictures => &PICTURES,
            ClassSecretKind::Words => &[],
        },
        first: first.map(str::to_owned),
    };
    let page = as_page(lyceum_console::html(&view)?);
    guard.add_cookie(match problem {
        Some(problem) => page.status(render::status(problem.kind)),
        None => page,
    })
}

/// The title and the students of the open class whose code this browser has.
async fn known_class(context: &Context) -> Result<Option<(String, Vec<StudentAccess>)>> {
    let (code, now) = (code(context), context.app.clock.now());
    if code.is_empty() {
        return Ok(None);
    }
    let keyring = context.app.gate.keyring();
    let read = move |tx: &mut Tx<'_>| {
        let Some(OpenClass { class, .. }) = class_sign_in::of_code(tx, now, &code)? else {
            return Ok(None);
        };
        let students =
            class_access::students(tx, now, keyring.master(), &class, &Reach::Everything)?;
        Ok(Some((class_access::title(tx, &class)?, students)))
    };
    context.app.db.read(read).await
}

/// The code for the cookie. It is sealed, so that a browser cannot try codes that [`enter`] does not count.
fn sealed_code(context: &Context, code: &str) -> String {
    let keyring = context.app.gate.keyring();
    URL_SAFE_NO_PAD.encode(keyring.master().seal(CODE_LABEL, code.as_bytes()))
}

/// The code of the class that was entered in this browser; empty if there is none.
fn code(context: &Context) -> String {
    let keyring = context.app.gate.keyring();
    let sealed = SessionCookies::Class.read(&context.app, &context.headers);
    let sealed = sealed.and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
    let plain = sealed.and_then(|sealed| keyring.master().open(CODE_LABEL, &sealed));
    plain.and_then(|plain| String::from_utf8(plain).ok()).unwrap_or_default()
}

/// The guard of the forms, for a browser with or without a session of somebody else.
async fn guard(context: &Context) -> Result<FormGuard> {
    let signed_in = people::open_page(&context.app, &context.headers).await?;
    Ok(FormGuard::of(context, signed_in.is_some()))
}

fn no_class() -> Problem {
    let message = "no class is open with this code; ask your teacher for the code";
    Problem::new(ProblemKind::NotFound, message)
}

/// The names as everybody with the code sees them: without the rest of the last name, unless two would be the same.
fn shown_names(students: &[StudentAccess]) -> Vec<String> {
    let short: Vec<String> = students.iter().map(|one| short_name(&one.name)).collect();
    let is_single = |name: &String| short.iter().filter(|other| *other == name).count() == 1;
    let named = students.iter().zip(&short);
    named
        .map(|(one, short)| if is_single(short) { short.clone() } else { one.name.clone() })
        .collect()
}

/// First name and first letter of the last name.
fn short_name(name: &str) -> String {
    match name.rsplit_once(' ') {
        Some((first, last)) => {
            let letter: String = last.chars().take(1).collect();
            format!("{first} {letter}.")
        }
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_unless_two_students_would_have_the_same() {
        let student = |name: &str| StudentAccess {
            user: name.to_owned(),
            name: name.to_owned(),
            account: None,
            secret: None,
        };
        let names = ["Ann Lee", "Ann Low", "Bob van Dyk", "Cem"].map(student);
        assert_eq!(shown_names(&names), ["Ann Lee", "Ann Low", "Bob van D.", "Cem"]);
    }
}
