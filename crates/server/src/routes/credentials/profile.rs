//! The profile of an issuer, as the standards' `profile` service shows and changes it.

use axum::http::StatusCode;
use lyceum_access::Scope::{
    ClrProfileReadonly, ClrProfileUpdate, CredentialsRead, CredentialsWrite, ObProfileReadonly,
    ObProfileUpdate,
};
use lyceum_core::Result;
use lyceum_credentials::body;
use lyceum_credentials::issuer::{self, Issuer};

use super::{client, schema};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Access, Route, get, post, put};

/// Whose service it is.
#[derive(Clone, Copy)]
pub(in crate::routes) enum Standard {
    OpenBadges,
    Clr,
}

/// The routes of the service; `one` begins their names.
pub(in crate::routes) fn routes(one: &str, standard: Standard) -> Vec<Route> {
    let (reads, writes): (Access, Access) = match standard {
        Standard::OpenBadges => (
            [ObProfileReadonly, CredentialsRead].into(),
            [ObProfileUpdate, CredentialsWrite].into(),
        ),
        Standard::Clr => (
            [ClrProfileReadonly, CredentialsRead].into(),
            [ClrProfileUpdate, CredentialsWrite].into(),
        ),
    };
    vec![
        get("/profile", reads, shown)
            .named(format!("get{one}Profile"))
            .says("The profile that the caller issues as: its own, else the server's.")
            .answers_schema(200, "The profile.", schema::profile()),
        put("/profile", writes, replaced)
            .named(format!("put{one}Profile"))
            .says("Changes the profile that the caller issues as; credentials that were issued keep theirs.")
            .reads_schema(schema::profile())
            .answers_schema(200, "Changed.", schema::profile()),
        post("/profile", writes, created)
            .named(format!("create{one}Profile"))
            .says("Gives the caller a profile of its own, with a key of its own.")
            .reads_schema(schema::profile())
            .answers_schema(201, "Made; the caller issues as this from now on.", schema::profile())
            .answers_schema(200, "The caller has this profile already.", schema::profile()),
    ]
}

async fn shown(context: Context) -> Result<Answer> {
    let (client, base_url) = (client(&context), context.base_url().to_owned());
    let issuer = context.app.db.read(move |tx| Issuer::of_client(tx, &base_url, &client)).await?;
    Ok(Answer::of(&issuer.profile))
}

async fn replaced(context: Context) -> Result<Answer> {
    let profile = body::parse(&context.body)?;
    let (client, base_url) = (client(&context), context.base_url().to_owned());
    let (now, keyring) = (context.app.clock.now(), context.app.gate.keyring());
    let write = move |tx: &mut lyceum_store::Tx<'_>| {
        issuer::replace(tx, now, keyring.master(), &base_url, &client, &profile)
    };
    let issuer = context.app.db.write(write).await?;
    Ok(Answer::of(&issuer.profile))
}

async fn created(context: Context) -> Result<Answer> {
    let profile = body::parse(&context.body)?;
    let (client, base_url) = (client(&context), context.base_url().to_owned());
    let (now, keyring) = (context.app.clock.now(), context.app.gate.keyring());
    let write = move |tx: &mut lyceum_store::Tx<'_>| {
        issuer::create(tx, now, keyring.master(), &base_url, &client, &profile)
    };
    let (issuer, is_new) = context.app.db.write(write).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(Answer::of(&issuer.profile).status(status))
}
