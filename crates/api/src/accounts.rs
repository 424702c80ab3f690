//! The accounts of people, for administrators and clients that were named for it.

mod class_access;

use http::StatusCode;
use lyceum_access::Scope::PeopleManage;
use lyceum_access::account::{self, AccountChange, AccountFilter};
use lyceum_access::identity::{self, LinkedIdentity};
use lyceum_access::session::SessionFacts;
use lyceum_access::{Person, Role, limits as access_limits};
use lyceum_core::language::Language;
use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, Reach, Result};
use lyceum_games::PageRequest;
use lyceum_games::limits::GAME_PAGE_MAX_RECORDS;
use lyceum_http::answer::Answer;
use lyceum_http::auth::Grant;
use lyceum_http::route::{ParamPlace, delete, get, patch, post, put};
use lyceum_roster::reach as roster_reach;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::new_account::NewAccount;
use crate::shape::{one_of, text, whole_number};
use crate::{Context, Route, own_account};

pub(super) fn routes() -> Vec<Route> {
    let routes = [list_routes(), account_routes(), session_routes(), identity_routes()];
    routes.into_iter().flatten().collect()
}

fn list_routes() -> Vec<Route> {
    vec![
        get("", PeopleManage, list)
            .named("getAccounts")
            .description("Lists the accounts of people, disabled ones too, in the order of their making.")
            .param(ParamPlace::Query, "role", one_of(&Role::ALL.map(Role::name)), "The role.")
            .param(ParamPlace::Query, "filter", text(), "A part of the name, the e-mail address or the sourcedId of the user in the roster.")
            .page_limit(GAME_PAGE_MAX_RECORDS, GAME_PAGE_MAX_RECORDS)
            .param(ParamPlace::Query, "offset", whole_number(), "The number of accounts to skip.")
            .answers::<AccountList>(200, "The accounts."),
        post("", PeopleManage, create)
            .named("createAccount")
            .description("Creates an account, and a link with which its owner sets a password. The account of a student belongs to a user of the roster.")
            .reads::<AccountInput>()
            .answers::<CreatedAccount>(201, "The account was created."),
        class_access::route(),
    ]
}

/// A part of the accounts.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct AccountList {
    /// The accounts, in the order of their making.
    accounts: Vec<AccountView>,
    /// The number of all accounts that fit.
    total: i64,
}

/// An account to create.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
struct AccountInput {
    /// The e-mail address. A student may have none.
    email: Option<String>,
    /// The name; by default the e-mail address, or a student's name in the roster.
    name: Option<String>,
    /// The role.
    role: Role,
    /// The sourcedId of the student's user in the roster, for the role "student" only.
    roster_user: Option<String>,
}

/// A new account, with the link that sets its password.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct CreatedAccount {
    account: AccountView,
    /// The address at which the owner sets a password, once, within three days. Only this answer contains it.
    link: String,
}

async fn list(context: Context) -> Result<Answer> {
    let page = PageRequest::of(GAME_PAGE_MAX_RECORDS, context.query())?;
    let role = context.query_value("role").map(|role| role.parse());
    let filter = AccountFilter {
        role: role.transpose().map_err(|rule| Problem::invalid("role", rule))?,
        text: context.query_value("filter").unwrap_or_default(),
    };
    let read = move |tx: &mut Tx<'_>| account::page(tx, &filter, (page.limit, page.offset));
    let found = context.app.db.read(read).await?;
    let accounts = found.accounts.into_iter().map(AccountView::of).collect();
    Ok(Answer::of(&AccountList { accounts, total: found.total }))
}

async fn create(context: Context) -> Result<Answer> {
    let AccountInput { email, name, role, roster_user } = context.body_as()?;
    let new = NewAccount { email, name, role, roster_user, password: None };
    let (account, link) = create_with_link(&context, &caller_name(&context), new).await?;
    let created = CreatedAccount { account: AccountView::of(account), link };
    Ok(Answer::of(&created).status(StatusCode::CREATED))
}

fn account_routes() -> Vec<Route> {
    vec![
        get("/{id}", PeopleManage, read)
            .named("getAccount")
            .description("Reads an account.")
            .answers::<AccountView>(200, "The account."),
        patch("/{id}", PeopleManage, change)
            .named("changeAccount")
            .description("Changes name, role or language of an account. A new role revokes the API keys that the person made.")
            .reads::<AccountChangeInput>()
            .answers::<AccountView>(200, "The account was changed."),
        put("/{id}/limit", PeopleManage, limit)
            .named("limitAccount")
            .description("Limits a guide or developer to organizations with all below them, or to the classes of a teacher. An empty body gives access to everything.")
            .reads::<LimitInput>()
            .answers::<AccountView>(200, "The account was limited."),
        post("/{id}/disable", PeopleManage, disable)
            .named("disableAccount")
            .description("Disables an account: its sessions end, and the API keys that the person made are revoked.")
            .reads_as(&[])
            .answers::<AccountView>(200, "The account is disabled."),
        post("/{id}/enable", PeopleManage, enable)
            .named("enableAccount")
            .description("Enables a disabled account. The former password and sign-in service work again.")
            .reads_as(&[])
            .answers::<AccountView>(200, "The account is enabled."),
    ]
}

/// A change of an account. Members that are missing keep their values.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct AccountChangeInput {
    /// The name of its owner.
    name: Option<String>,
    /// The role of its owner. It cannot change to or from "student".
    role: Option<Role>,
    /// The language in which its owner reads pages, `en` or `es`. With an empty text the browser decides.
    language: Option<String>,
}

/// The part of the roster that a guide or developer has access to. Without members it is everything.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct LimitInput {
    /// The sourcedIds of organizations: these and all below them.
    organizations: Option<Vec<String>>,
    /// The sourcedId of a teacher: the classes of this teacher.
    teacher: Option<String>,
}

async fn read(context: Context) -> Result<Answer> {
    let id = context.param("id").to_owned();
    let account = context.app.db.read(move |tx| account::find(tx, &id)).await?;
    Ok(Answer::of(&AccountView::of(account)))
}

async fn change(context: Context) -> Result<Answer> {
    let AccountChangeInput { name, role, language } = context.body_as()?;
    let language = language.as_deref().map(parsed_language).transpose()?;
    let change = AccountChange { name, role, language };
    let work =
        move |tx: &mut Tx<'_>, now, who: &str, id: &str| account::change(tx, now, who, id, &change);
    Ok(Answer::of(&AccountView::of(with_account(&context, work).await?)))
}

async fn limit(context: Context) -> Result<Answer> {
    let LimitInput { organizations, teacher } = context.body_as()?;
    let reach = account_reach(organizations.unwrap_or_default(), teacher.unwrap_or_default())?;
    let work = move |tx: &mut Tx<'_>, now, who: &str, id: &str| {
        roster_reach::check(tx, &reach)?;
        account::limit(tx, now, who, id, &reach)
    };
    Ok(Answer::of(&AccountView::of(with_account(&context, work).await?)))
}

async fn disable(context: Context) -> Result<Answer> {
    Ok(Answer::of(&AccountView::of(with_account(&context, account::disable).await?)))
}

async fn enable(context: Context) -> Result<Answer> {
    Ok(Answer::of(&AccountView::of(with_account(&context, account::enable).await?)))
}

fn session_routes() -> Vec<Route> {
    vec![
        post("/{id}/link", PeopleManage, link)
            .named("createPasswordLink")
            .description(
                "Creates a link with which the person sets a new password. Former links stop.",
            )
            .reads_as(&[])
            .answers::<PasswordLink>(201, "The link."),
        get("/{id}/sessions", PeopleManage, sessions)
            .named("getAccountSessions")
            .description("Lists the sessions of a person.")
            .answers::<SessionList>(200, "The sessions."),
        delete("/{id}/sessions", PeopleManage, |context| end_sessions(context, false))
            .named("endAccountSessions")
            .description("Ends all sessions of a person.")
            .answers_empty(204, "The sessions have ended."),
        delete("/{id}/sessions/{session}", PeopleManage, |context| end_sessions(context, true))
            .named("endAccountSession")
            .description("Ends a session of a person.")
            .answers_empty(204, "The session has ended."),
    ]
}

/// A link that sets a password.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct PasswordLink {
    /// The address, which works once.
    link: String,
    /// When it stops working.
    expires: Timestamp,
}

/// The sessions of a person, the newest first.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AccountSessions")]
pub(super) struct SessionList {
    sessions: Vec<SessionFacts>,
}

impl SessionList {
    /// The sessions of the account with this id.
    pub(super) async fn of(context: &Context, id: &str) -> Result<Self> {
        Ok(Self { sessions: own_account::sessions(context, id).await? })
    }
}

async fn link(context: Context) -> Result<Answer> {
    let (_, link) = with_account(&context, account::new_link).await?;
    let expires = context.app.clock.now().plus_seconds(access_limits::SIGN_IN_LINK_LIFETIME_S);
    let link = PasswordLink { link: password_address(&context, &link), expires };
    Ok(Answer::of(&link).status(StatusCode::CREATED))
}

async fn sessions(context: Context) -> Result<Answer> {
    let id = context.param("id").to_owned();
    let account = context.app.db.read(move |tx| account::find(tx, &id)).await?;
    Ok(Answer::of(&SessionList::of(&context, &account.id).await?))
}

async fn end_sessions(context: Context, is_one: bool) -> Result<Answer> {
    let session = is_one.then(|| context.param("session").to_owned());
    let work = move |tx: &mut Tx<'_>, now, who: &str, id: &str| {
        account::end_sessions(tx, now, who, id, session.as_deref())
    };
    with_account(&context, work).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

fn identity_routes() -> Vec<Route> {
    vec![
        get("/{id}/identities", PeopleManage, identities)
            .named("getAccountIdentities")
            .description("Lists the identities at sign-in services that open an account.")
            .answers::<IdentityList>(200, "The identities."),
        post("/{id}/identities", PeopleManage, link_identity)
            .named("linkAccountIdentity")
            .description("Lets an identity at a sign-in service open an account. Students sign in there only if they were linked.")
            .reads::<IdentityInput>()
            .answers::<IdentityList>(201, "The identity opens the account."),
        delete("/{id}/identities", PeopleManage, unlink_identity)
            .named("unlinkAccountIdentity")
            .description("Lets the identity of an issuer open the account no more.")
            .param(ParamPlace::Query, "issuer", text(), "The address of the service; by default the one in the settings.")
            .answers_empty(204, "The identity opens nothing."),
    ]
}

/// The identities that open an account.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct IdentityList {
    identities: Vec<LinkedIdentity>,
}

/// An identity to link.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct IdentityInput {
    /// The address of the service; by default the one in the settings.
    issuer: Option<String>,
    /// The id of the person there: the claim `sub`.
    subject: String,
}

async fn identities(context: Context) -> Result<Answer> {
    let id = context.param("id").to_owned();
    let read = move |tx: &mut Tx<'_>| {
        let account = account::find(tx, &id)?;
        identity::of_account(tx, &account.id)
    };
    let identities = context.app.db.read(read).await?;
    Ok(Answer::of(&IdentityList { identities }))
}

async fn link_identity(context: Context) -> Result<Answer> {
    let IdentityInput { issuer, subject } = context.body_as()?;
    let issuer = issuer_or_own(&context, issuer)?;
    let work = move |tx: &mut Tx<'_>, now, who: &str, id: &str| {
        let account = account::find(tx, id)?;
        identity::link(tx, now, who, (&issuer, &subject), &account)?;
        identity::of_account(tx, &account.id)
    };
    let identities = with_account(&context, work).await?;
    Ok(Answer::of(&IdentityList { identities }).status(StatusCode::CREATED))
}

async fn unlink_identity(context: Context) -> Result<Answer> {
    let issuer = issuer_or_own(&context, context.query_value("issuer"))?;
    let work = move |tx: &mut Tx<'_>, now, who: &str, id: &str| {
        let account = account::find(tx, id)?;
        identity::unlink(tx, now, who, &issuer, &account)
    };
    with_account(&context, work).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

/// The issuer, by default that of the settings. Errors: `Invalid` if the settings have none.
fn issuer_or_own(context: &Context, issuer: Option<String>) -> Result<String> {
    issuer.or_else(|| context.app.config.oidc.issuer.clone()).ok_or_else(|| {
        Problem::invalid("issuer", "is required, because the settings name no sign-in service")
    })
}

/// An account.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Account")]
pub(super) struct AccountView {
    /// Its id.
    id: String,
    /// The e-mail address; null for a student without one.
    email: Option<String>,
    /// The name of its owner.
    name: String,
    /// The role of its owner.
    role: Role,
    /// The sourcedId of the student's user in the roster; null for everybody else.
    roster_user: Option<String>,
    /// Whether there is a password to sign in with.
    has_password: bool,
    /// The language in which its owner reads pages, `en` or `es`; null if the browser decides.
    language: Option<&'static str>,
    /// When it was created.
    created: Timestamp,
    /// When it was disabled; null if its owner can sign in.
    disabled: Option<Timestamp>,
    /// The part of the roster that its owner has access to, as text; "everything" without a limit.
    access: String,
}

impl AccountView {
    fn of(person: Person) -> Self {
        Self {
            email: Some(person.email).filter(|email| !email.is_empty()),
            access: match person.role {
                Role::Student => "the student's own lessons and results".to_owned(),
                _ => Reach::to_string(&person.reach),
            },
            id: person.id,
            name: person.name,
            role: person.role,
            roster_user: person.roster_user,
            has_password: person.has_password,
            language: person.language.map(Language::tag),
            created: person.created,
            disabled: person.disabled,
        }
    }
}

fn caller_name(context: &Context) -> String {
    context.grant.as_ref().map(Grant::name).unwrap_or_default().to_owned()
}

/// Makes a change of the account of the path, and answers it.
async fn with_account<T: Send + 'static>(
    context: &Context,
    work: impl Fn(&mut Tx<'_>, Timestamp, &str, &str) -> Result<T> + Send + 'static,
) -> Result<T> {
    let (now, who, id) =
        (context.app.clock.now(), caller_name(context), context.param("id").to_owned());
    context.app.db.write(move |tx| work(tx, now, &who, &id)).await
}

/// Creates an account and the address at which its owner sets a password.
pub async fn create_with_link(
    context: &Context,
    who: &str,
    new: NewAccount,
) -> Result<(Person, String)> {
    let (now, who) = (context.app.clock.now(), who.to_owned());
    let write = move |tx: &mut Tx<'_>| {
        let person = new.create(tx, now)?;
        account::note_created(tx, now, &who, &person)?;
        account::new_link(tx, now, &who, &person.id)
    };
    let (person, link) = context.app.db.write(write).await?;
    Ok((person, password_address(context, &link)))
}

/// The address at which the owner of a link sets a password.
pub fn password_address(context: &Context, link: &str) -> String {
    format!("{}/welcome?link={link}", context.base_url())
}

/// The reach of these organizations or of the classes of this teacher; without both, everything. Errors: `Invalid` for both.
pub fn account_reach(organizations: Vec<String>, teacher: String) -> Result<Reach> {
    match (organizations.is_empty(), teacher.is_empty()) {
        (true, true) => Ok(Reach::Everything),
        (true, false) => Ok(Reach::ClassesOf(teacher)),
        (false, true) => Reach::organizations(organizations),
        (false, false) => Err(Problem::invalid(
            "teacher",
            "must be empty if there are organizations; choose one of both",
        )),
    }
}

/// The language that has this tag; `None` for an empty tag, which lets the browser decide. Errors: `Invalid`.
pub fn parsed_language(tag: &str) -> Result<Option<Language>> {
    let chosen = Some(tag).filter(|tag| !tag.is_empty()).map(str::parse);
    chosen.transpose().map_err(|rule: Message| Problem::invalid("language", rule))
}
