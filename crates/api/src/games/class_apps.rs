//! The apps that the students of a class may open.

use http::StatusCode;
use lyceum_access::Scope::{BridgeRead, BridgeWrite};
use lyceum_core::Result;
use lyceum_hosting::class_apps::{self, Approver, ClassApp};
use lyceum_http::answer::Answer;
use lyceum_http::route::{delete, get, put};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Context, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/classes/{classId}/apps", BridgeRead, list)
            .within_reach()
            .named("getClassApps")
            .description("Lists the deployed apps that are approved for the students of a class.")
            .answers::<Apps>(200, "The apps."),
        put("/classes/{classId}/apps/{slug}", BridgeWrite, approve)
            .within_reach()
            .reads_as(&[])
            .named("approveClassApp")
            .description("Approves a deployed app for the students of a class: they find it on their home. A repeated request changes nothing.")
            .answers_empty(204, "It is approved."),
        delete("/classes/{classId}/apps/{slug}", BridgeWrite, withdraw)
            .within_reach()
            .named("withdrawClassApp")
            .description("Withdraws the approval of an app for a class.")
            .answers_empty(204, "It is not approved any more."),
    ]
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Apps {
    apps: Vec<ClassApp>,
}

async fn list(context: Context) -> Result<Answer> {
    let (class, reach) = (context.param("classId").to_owned(), context.reach());
    let read = move |tx: &mut Tx<'_>| class_apps::of_class(tx, &class, &reach);
    let found = context.app.db.read(read).await?;
    Ok(Answer::of(&Apps { apps: found.approved }))
}

async fn approve(context: Context) -> Result<Answer> {
    let approval = Approval::of(&context);
    let now = context.app.clock.now();
    let write = move |tx: &mut Tx<'_>| {
        let Approval { class, slug, id, name, reach } = &approval;
        class_apps::approve(tx, now, Approver { id, name }, (class, slug), reach)
    };
    context.app.db.write(write).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

async fn withdraw(context: Context) -> Result<Answer> {
    let approval = Approval::of(&context);
    let now = context.app.clock.now();
    let write = move |tx: &mut Tx<'_>| {
        let Approval { class, slug, id, name, reach } = &approval;
        class_apps::withdraw(tx, now, Approver { id, name }, (class, slug), reach)
    };
    context.app.db.write(write).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

/// A change of an approval, as the request names it.
struct Approval {
    class: String,
    slug: String,
    id: String,
    name: String,
    reach: lyceum_core::Reach,
}

impl Approval {
    fn of(context: &Context) -> Self {
        let grant = context.grant.as_ref().expect("the route requires a scope");
        Self {
            class: context.param("classId").to_owned(),
            slug: context.param("slug").to_owned(),
            id: grant.client_id().to_owned(),
            name: grant.name().to_owned(),
            reach: context.reach(),
        }
    }
}
