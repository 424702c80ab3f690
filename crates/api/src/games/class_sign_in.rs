//! Sign-in in class for the youngest: opening a class, and the cards of its students. People call these routes, as on the
//! page of a class in the console.

use http::StatusCode;
use lyceum_access::Scope::BridgeWrite;
use lyceum_access::class_secret::{ClassSecret, ClassSecretKind};
use lyceum_access::class_sign_in::{self, OpenClass};
use lyceum_access::limits::CLASS_SIGN_IN_MAX_MIN;
use lyceum_access::{MasterKey, Person, TokenHolder};
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result};
use lyceum_http::answer::Answer;
use lyceum_http::auth::Grant;
use lyceum_http::route::{delete, get, post, put};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::class_access::{self, StudentAccess};
use crate::{Context, Route};

pub(super) fn routes() -> Vec<Route> {
    sign_in_routes().into_iter().chain(card_routes()).collect()
}

fn sign_in_routes() -> Vec<Route> {
    vec![
        get("/classes/{classId}/sign-in", BridgeWrite, read)
            .within_reach()
            .named("getClassSignIn")
            .description("Reads the code with which the students of a class sign in now. Only people may call this; clients get 403.")
            .answers::<ClassSignIn>(200, "The code; null while the class is closed."),
        post("/classes/{classId}/sign-in", BridgeWrite, open)
            .within_reach()
            .named("openClass")
            .description("Opens a class for sign-in, or sets when the open class closes. Wrong answers of its students no longer count. Only people may call this; clients get 403.")
            .reads::<ClassOpening>()
            .answers::<ClassSignIn>(200, "The code, and when it stops working."),
        delete("/classes/{classId}/sign-in", BridgeWrite, close)
            .within_reach()
            .named("closeClass")
            .description("Closes a class for sign-in: its code stops, and the sessions that began with it end. Only people may call this; clients get 403.")
            .answers_empty(204, "The class is closed."),
    ]
}

/// The sign-in of a class.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct ClassSignIn {
    /// The code; null while the class is closed.
    code: Option<String>,
    /// When the code stops working; null while the class is closed.
    closes: Option<Timestamp>,
}

impl ClassSignIn {
    fn of(open: Option<OpenClass>) -> Self {
        Self {
            code: open.as_ref().map(OpenClass::shown_code),
            closes: open.map(|open| open.closes),
        }
    }
}

/// How long a class is open.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct ClassOpening {
    /// The minutes from now.
    #[schemars(range(min = 1, max = CLASS_SIGN_IN_MAX_MIN))]
    minutes: i64,
}

async fn read(context: Context) -> Result<Answer> {
    caller(&context)?;
    let (class, reach, now) =
        (context.param("classId").to_owned(), context.reach(), context.app.clock.now());
    let read = move |tx: &mut Tx<'_>| {
        class_access::require(tx, &class, &reach)?;
        class_sign_in::find(tx, now, &class)
    };
    Ok(Answer::of(&ClassSignIn::of(context.app.db.read(read).await?)))
}

async fn open(context: Context) -> Result<Answer> {
    let ClassOpening { minutes } = context.body_as()?;
    let (by, now) = (caller(&context)?, context.app.clock.now());
    let (class, reach) = (context.param("classId").to_owned(), context.reach());
    let write = move |tx: &mut Tx<'_>| {
        class_access::open(tx, now, &by, (&class, &reach), minutes).map(Some)
    };
    Ok(Answer::of(&ClassSignIn::of(context.app.db.write(write).await?)))
}

async fn close(context: Context) -> Result<Answer> {
    let (by, now) = (caller(&context)?, context.app.clock.now());
    let (class, reach) = (context.param("classId").to_owned(), context.reach());
    let write = move |tx: &mut Tx<'_>| class_access::close(tx, now, &by, (&class, &reach));
    context.app.db.write(write).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

fn card_routes() -> Vec<Route> {
    vec![
        get("/classes/{classId}/cards", BridgeWrite, cards)
            .within_reach()
            .named("getClassCards")
            .description("Lists the students of a class with their cards for sign-in in class. Only people may call this; clients get 403.")
            .answers::<ClassCards>(200, "The students, by name."),
        post("/classes/{classId}/cards", BridgeWrite, create_cards)
            .within_reach()
            .named("createClassCards")
            .description("Creates accounts and cards for the students of a class who have none. Only people may call this; clients get 403.")
            .reads::<CardKind>()
            .answers::<ClassCards>(200, "The students, by name."),
        put("/classes/{classId}/cards/{studentId}", BridgeWrite, renew)
            .within_reach()
            .named("renewClassCard")
            .description("Gives a student of a class a new card. The former card stops, and sessions that began with it end. Only people may call this; clients get 403.")
            .reads::<CardKind>()
            .answers::<ClassCards>(200, "The students, by name."),
    ]
}

/// The sort of secret on new cards.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct CardKind {
    /// The sort of secret on the card.
    kind: ClassSecretKind,
}

/// The students of a class with their cards.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ClassCards {
    students: Vec<ClassCard>,
}

impl ClassCards {
    fn answer(students: Vec<StudentAccess>) -> Answer {
        Answer::of(&Self { students: students.into_iter().map(ClassCard::of).collect() })
    }
}

async fn cards(context: Context) -> Result<Answer> {
    caller(&context)?;
    let (class, reach) = (context.param("classId").to_owned(), context.reach());
    let (keyring, now) = (context.app.gate.keyring(), context.app.clock.now());
    let read = move |tx: &mut Tx<'_>| {
        class_access::require(tx, &class, &reach)?;
        class_access::students(tx, now, keyring.master(), &class, &reach)
    };
    Ok(ClassCards::answer(context.app.db.read(read).await?))
}

async fn create_cards(context: Context) -> Result<Answer> {
    let (CardKind { kind }, by) = (context.body_as()?, caller(&context)?);
    change_cards(&context, move |tx, now, master, (class, reach)| {
        let who = by.account_name();
        class_access::create_access(tx, now, master, (who, class), reach, kind).map(drop)
    })
    .await
}

async fn renew(context: Context) -> Result<Answer> {
    let (CardKind { kind }, by) = (context.body_as()?, caller(&context)?);
    let student = context.param("studentId").to_owned();
    change_cards(&context, move |tx, now, master, (class, reach)| {
        let who = by.account_name();
        class_access::renew_of(tx, now, master, who, (class, &student), reach, kind)
    })
    .await
}

/// A student of a class with the card.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct ClassCard {
    /// The student's sourcedId.
    student_id: String,
    /// First and last name; the sourcedId if the student has neither.
    name: String,
    /// The id of the student's account; null without an account.
    account_id: Option<String>,
    /// The kind of the card; null without a card.
    kind: Option<ClassSecretKind>,
    /// The names of the pictures, or the words; null without a card.
    parts: Option<[String; 2]>,
}

impl ClassCard {
    fn of(student: StudentAccess) -> Self {
        let (kind, parts) = match student.secret {
            Some(ClassSecret { kind, parts }) => (Some(kind), Some(parts)),
            None => (None, None),
        };
        let account_id = student.account.map(|account| account.id);
        Self { student_id: student.user, name: student.name, account_id, kind, parts }
    }
}

/// Changes the cards of the class of the path, if it lies within the reach, and answers all of them.
async fn change_cards(
    context: &Context,
    change: impl Fn(&mut Tx<'_>, Timestamp, &MasterKey, (&str, &Reach)) -> Result<()> + Send + 'static,
) -> Result<Answer> {
    let (class, reach) = (context.param("classId").to_owned(), context.reach());
    let (keyring, now) = (context.app.gate.keyring(), context.app.clock.now());
    let write = move |tx: &mut Tx<'_>| {
        class_access::require(tx, &class, &reach)?;
        change(tx, now, keyring.master(), (&class, &reach))?;
        class_access::students(tx, now, keyring.master(), &class, &reach)
    };
    Ok(ClassCards::answer(context.app.db.write(write).await?))
}

/// The person who calls. Errors: `Forbidden` for clients and API keys, because cards open lessons in students' names.
fn caller(context: &Context) -> Result<Person> {
    match context.grant.as_ref().and_then(Grant::holder) {
        Some(TokenHolder::Person(person)) => Ok(person.clone()),
        _ => {
            let message = "only people open classes and see cards; sign in with `lyceum login`";
            Err(Problem::new(ProblemKind::Forbidden, message))
        }
    }
}
