//! The access of a class's students: accounts, cards, and opening the class for sign-in.

use lyceum_access::class_secret::ClassSecretKind;
use lyceum_access::{class_sign_in, limits};
use lyceum_api::class_access::{self, StudentAccess};
use lyceum_api::{Context, Route};
use lyceum_console::{Button, Cell, List, Row, links, screens, t};
use lyceum_core::{Problem, Reach, Result};
use lyceum_http::answer::Answer;
use lyceum_store::Tx;

use super::visitor::query;
use super::{Form, Visitor, action, on_to, page, show_list, show_page};
use crate::learn::CLASS_PAGE;
use crate::learn::class::view::{COLUMNS, ClassAccessPage, ClassCardsPage, StudentCard};

pub(super) fn routes() -> Vec<Route> {
    let screen = &screens::CLASSES;
    vec![
        page("/classes/{id}/access", screen, show).within_reach(),
        page("/classes/{id}/access/cards", screen, cards).within_reach(),
        action("/classes/{id}/access/give", screen, give).within_reach(),
        action("/classes/{id}/access/card", screen, renew).within_reach(),
        action("/classes/{id}/access/open", screen, open).within_reach(),
        action("/classes/{id}/access/close", screen, close).within_reach(),
    ]
}

async fn show(context: Context, visitor: Visitor) -> Result<Answer> {
    let (id, reach, now) =
        (context.param("id").to_owned(), context.reach(), context.app.clock.now());
    let (keyring, class) = (context.app.gate.keyring(), id.clone());
    let read = move |tx: &mut Tx<'_>| {
        class_access::require(tx, &class, &reach)?;
        let students = class_access::students(tx, now, keyring.master(), &class, &reach)?;
        let open = class_sign_in::find(tx, now, &class)?;
        Ok((class_access::title(tx, &class)?, students, open))
    };
    let (title, students, open) = context.app.db.read(read).await?;
    let path = links::class_access(&id);
    let rows = students.iter().map(|student| row(student, &path, &visitor)).collect();
    let list = List::new("Students", COLUMNS, query(&context), rows)
        .or_else("This class has no students yet. Enroll students over the API, or import a roster with enrollments.");
    let view = ClassAccessPage {
        frame: visitor.frame(t!("Student access")),
        class: (links::class(&id), title),
        open: open.map(|open| (open.shown_code(), visitor.calendar.moment(open.closes))),
        address: format!("{}{CLASS_PAGE}", context.base_url()),
        max_minutes: limits::CLASS_SIGN_IN_MAX_MIN,
        waiting: students.iter().filter(|one| one.secret.is_none()).count(),
        path,
        list,
    };
    show_list("student-access", &view.list, &view)
}

fn row(student: &StudentAccess, path: &str, visitor: &Visitor) -> Row {
    let account = match &student.account {
        Some(_) => Cell::text(t!("active")).toned("good"),
        None => Cell::text(t!("none")),
    };
    let card = match &student.secret {
        Some(secret) if secret.kind == ClassSecretKind::Pictures => Cell::text(t!("pictures")),
        Some(_) => Cell::text(t!("words")),
        None => Cell::text(t!("none")),
    };
    let button = |kind: &str, description: String| match &student.account {
        Some(_) => Cell::button(Button {
            path: format!("{path}/card"),
            fields: vec![
                ("token", visitor.token().to_owned()),
                ("student", student.user.clone()),
                ("kind", kind.to_owned()),
            ],
            description,
            tone: "",
        }),
        None => Cell::default(),
    };
    vec![
        Cell::text(&student.name).to(links::student(&student.user)),
        account,
        card,
        button("pictures", t!("New pictures")),
        button("words", t!("New words")),
    ]
}

async fn cards(context: Context, visitor: Visitor) -> Result<Answer> {
    let (id, reach, now) =
        (context.param("id").to_owned(), context.reach(), context.app.clock.now());
    let (keyring, class) = (context.app.gate.keyring(), id.clone());
    let read = move |tx: &mut Tx<'_>| {
        class_access::require(tx, &class, &reach)?;
        let students = class_access::students(tx, now, keyring.master(), &class, &reach)?;
        Ok((class_access::title(tx, &class)?, students))
    };
    let (title, students) = context.app.db.read(read).await?;
    let card = |one: StudentAccess| {
        let secret = one.secret?;
        let is_pictures = secret.kind == ClassSecretKind::Pictures;
        Some(StudentCard { name: one.name, is_pictures, parts: secret.parts })
    };
    show_page(&ClassCardsPage {
        frame: visitor.frame(t!("Cards of {class}", class = title)),
        access: (links::class_access(&id), t!("Student access")),
        address: format!("{}{CLASS_PAGE}", context.base_url()),
        cards: students.into_iter().filter_map(card).collect(),
    })
}

async fn give(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let kind = chosen_kind(&form)?;
    let (keyring, now) = (context.app.gate.keyring(), context.app.clock.now());
    change(&context, move |tx, class, reach| {
        let who = visitor.person.account_name();
        class_access::create_access(tx, now, keyring.master(), (who, class), reach, kind).map(drop)
    })
    .await
}

async fn renew(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let (kind, student) = (chosen_kind(&form)?, form.field("student").to_owned());
    let (keyring, now) = (context.app.gate.keyring(), context.app.clock.now());
    change(&context, move |tx, class, reach| {
        let (master, who) = (keyring.master(), visitor.person.account_name());
        class_access::renew_of(tx, now, master, who, (class, &student), reach, kind)
    })
    .await
}

async fn open(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let rule = "must be a number of minutes";
    let minutes: i64 =
        form.field("minutes").parse().map_err(|_| Problem::invalid("minutes", rule))?;
    let now = context.app.clock.now();
    change(&context, move |tx, class, reach| {
        class_access::open(tx, now, &visitor.person, (class, reach), minutes).map(drop)
    })
    .await
}

async fn close(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    let now = context.app.clock.now();
    change(&context, move |tx, class, reach| {
        class_access::close(tx, now, &visitor.person, (class, reach))
    })
    .await
}

/// Changes the class of the path, if it lies within the visitor's reach, and goes back to the page.
async fn change(
    context: &Context,
    work: impl Fn(&mut Tx<'_>, &str, &Reach) -> Result<()> + Send + 'static,
) -> Result<Answer> {
    let (id, reach) = (context.param("id").to_owned(), context.reach());
    let to = links::class_access(&id);
    let write = move |tx: &mut Tx<'_>| {
        class_access::require(tx, &id, &reach)?;
        work(tx, &id, &reach)
    };
    context.app.db.write(write).await?;
    Ok(on_to(&to))
}

fn chosen_kind(form: &Form) -> Result<ClassSecretKind> {
    form.field("kind").parse().map_err(|rule| Problem::invalid("kind", rule))
}
