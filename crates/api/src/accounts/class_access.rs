//! Accounts and cards for the students of a class.

use lyceum_access::Scope;
use lyceum_access::class_secret::ClassSecretKind;
use lyceum_core::{Reach, Result};
use lyceum_http::answer::Answer;
use lyceum_http::route::post;
use lyceum_roster::kinds::CLASS;
use lyceum_roster::repository;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::caller_name;
use crate::{Context, Route, class_access};

pub(super) fn route() -> Route {
    post("/classes/{class}/access", Scope::PeopleManage, give)
        .named("giveClassAccess")
        .description("Creates accounts for the students of a class who have none, and cards for sign-in in class for those who have none.")
        .reads::<ClassAccessInput>()
        .answers::<ClassAccessOutcome>(200, "All students of the class have accounts and cards.")
}

/// The cards that the students of a class get for sign-in in class.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct ClassAccessInput {
    /// The sort of secret on the cards of students who have none.
    cards: ClassSecretKind,
}

/// The outcome for a class.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ClassAccessOutcome {
    /// The number of accounts that were created.
    created: usize,
}

async fn give(context: Context) -> Result<Answer> {
    let ClassAccessInput { cards } = context.body_as()?;
    let (keyring, now) = (context.app.gate.keyring(), context.app.clock.now());
    let (who, class) = (caller_name(&context), context.param("class").to_owned());
    let write = move |tx: &mut Tx<'_>| {
        repository::require(tx, &CLASS, &class)?;
        let master = keyring.master();
        class_access::create_access(tx, now, master, (&who, &class), &Reach::Everything, cards)
    };
    let created = context.app.db.write(write).await?;
    Ok(Answer::of(&ClassAccessOutcome { created }))
}
