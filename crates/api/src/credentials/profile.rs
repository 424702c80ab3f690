//! The `profile` service of the standards: reads and changes the profile of an issuer.

use http::StatusCode;
use lyceum_access::Scope::{
    ClrProfileReadonly, ClrProfileUpdate, CredentialsRead, CredentialsWrite, ObProfileReadonly,
    ObProfileUpdate,
};
use lyceum_core::Result;
use lyceum_credentials::body;
use lyceum_credentials::issuer::{self, Issuer, IssuerProfile};
use lyceum_http::answer::Answer;
use lyceum_http::route::{Access, get, post, put};

use super::client;
use crate::{Context, Route};

/// The standard that defines the service.
#[derive(Clone, Copy)]
pub(crate) enum Standard {
    OpenBadges,
    Clr,
}

/// The routes of the service. Their names contain `one`.
pub(crate) fn routes(one: &str, standard: Standard) -> Vec<Route> {
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
        get("/profile", reads, show)
            .of_no_organization()
            .named(format!("get{one}Profile"))
            .description("Reads the profile in whose name the caller issues: its own, or the server's if it has none.")
            .answers::<IssuerProfile>(200, "The profile."),
        // The profile may be that of the server, so that limited callers create their own instead.
        put("/profile", writes, replaced)
            .named(format!("put{one}Profile"))
            .description("Replaces the profile in whose name the caller issues. Credentials that were issued before do not change.")
            .reads::<IssuerProfile>()
            .answers::<IssuerProfile>(200, "The new profile."),
        post("/profile", writes, created)
            .of_no_organization()
            .named(format!("create{one}Profile"))
            .description("Creates a profile for the caller, with its own key.")
            .reads::<IssuerProfile>()
            .answers::<IssuerProfile>(201, "The profile was created. The caller issues in its name from now on.")
            .answers::<IssuerProfile>(200, "The caller has this profile already."),
    ]
}

async fn show(context: Context) -> Result<Answer> {
    let (client, base_url) = (client(&context), context.base_url().to_owned());
    let issuer = context.app.db.read(move |tx| Issuer::of_client(tx, &base_url, &client)).await?;
    Ok(Answer::of(&issuer.profile))
}

async fn replaced(context: Context) -> Result<Answer> {
    let profile: IssuerProfile = body::read(&context.body)?;
    let (client, base_url) = (client(&context), context.base_url().to_owned());
    let (now, keyring) = (context.app.clock.now(), context.app.gate.keyring());
    let write = move |tx: &mut lyceum_store::Tx<'_>| {
        issuer::replace(tx, now, keyring.master(), &base_url, &client, &profile)
    };
    let issuer = context.app.db.write(write).await?;
    Ok(Answer::of(&issuer.profile))
}

async fn created(context: Context) -> Result<Answer> {
    let profile: IssuerProfile = body::read(&context.body)?;
    let (client, base_url) = (client(&context), context.base_url().to_owned());
    let (now, keyring) = (context.app.clock.now(), context.app.gate.keyring());
    let write = move |tx: &mut lyceum_store::Tx<'_>| {
        issuer::create(tx, now, keyring.master(), &base_url, &client, &profile)
    };
    let (issuer, is_new) = context.app.db.write(write).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(Answer::of(&issuer.profile).status(status))
}
