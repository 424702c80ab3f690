//! Finds or creates the account for an identity at an OpenID provider.

use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::audit::AuditChange;
use crate::limits;
use crate::oidc::IdTokenClaims;
use crate::person::{self, NewPerson, Person, Role};
use crate::repository::identities as repository;

/// The people whom the provider may sign in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdentityRule {
    /// Domains of e-mail addresses, such as `example.org`; empty: every one.
    pub domains: Vec<String>,
    /// The role of new accounts; `None` if only administrators create accounts.
    pub new_accounts: Option<Role>,
}

impl IdentityRule {
    /// Refuses an identity whose confirmed e-mail address is missing or of another domain, if the rule names domains.
    /// Errors: `Forbidden`.
    fn check_domain(&self, claims: &IdTokenClaims) -> Result<()> {
        if self.domains.is_empty() {
            return Ok(());
        }
        let domain = confirmed_email(claims)?.rsplit('@').next().unwrap_or_default();
        match self.domains.iter().any(|one| one.eq_ignore_ascii_case(domain)) {
            true => Ok(()),
            false => Err(refused(message!(
                "people with addresses of '{domain}' cannot sign in to this server"
            ))),
        }
    }
}

fn confirmed_email(claims: &IdTokenClaims) -> Result<&str> {
    claims.email.as_deref().ok_or_else(|| {
        refused("the sign-in service does not confirm your e-mail address; confirm it there first")
    })
}

/// An identity at a sign-in service that opens an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct LinkedIdentity {
    /// The address of the service.
    pub issuer: String,
    /// The id of the person there: the claim `sub`.
    pub subject: String,
    /// When it was linked.
    pub linked: Timestamp,
}

/// The identities that open an account.
pub fn of_account(tx: &mut Tx<'_>, account: &str) -> Result<Vec<LinkedIdentity>> {
    let identities = repository::of_person(tx, account)?.into_iter();
    let identity = |(issuer, subject, linked)| LinkedIdentity { issuer, subject, linked };
    Ok(identities.map(identity).collect())
}

/// Lets an identity open an account from now on, by the hand of an administrator or of the signed-in owner.
/// Errors: `Invalid` for an empty issuer or subject; `Conflict` if it opens another account, or another identity of the
/// issuer opens this one.
pub fn link(
    tx: &mut Tx<'_>,
    now: Timestamp,
    who: &str,
    (issuer, subject): (&str, &str),
    account: &Person,
) -> Result<()> {
    for (field, value) in [("issuer", issuer), ("subject", subject)] {
        if value.is_empty() || value.len() > limits::IDENTITY_MAX_BYTES {
            let rule = message!("must have 1 to {n} bytes", n = limits::IDENTITY_MAX_BYTES);
            return Err(Problem::invalid(field, rule));
        }
    }
    match repository::person(tx, issuer, subject)? {
        Some(known) if known == account.id => return Ok(()),
        Some(_) => {
            let message = "this identity of the sign-in service belongs to another account; an administrator can \
                           unlink it there";
            return Err(Problem::new(ProblemKind::Conflict, message));
        }
        None => {}
    }
    if repository::has_one(tx, issuer, &account.id)? {
        let message =
            "the account has an identity of this sign-in service already; unlink it first";
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    repository::insert(tx, now, (issuer, subject), &account.id)?;
    let change = AuditChange { who, what: "user.identity", subject: account.account_name() };
    change.note(tx, now, &json!({ "issuer": issuer, "subject": subject }))
}

/// Lets the identity with which the signed-in owner of an account just signed in at the provider open the account.
/// Errors: as [`link`]; `Forbidden` for an e-mail address that the rule does not admit.
pub fn link_own(
    tx: &mut Tx<'_>,
    now: Timestamp,
    (issuer, claims): (&str, &IdTokenClaims),
    rule: &IdentityRule,
    account: &Person,
) -> Result<()> {
    rule.check_domain(claims)?;
    link(tx, now, account.account_name(), (issuer, &claims.subject), account)
}

/// Lets the identity of an issuer open the account no more. Errors: `NotFound`.
pub fn unlink(
    tx: &mut Tx<'_>,
    now: Timestamp,
    who: &str,
    issuer: &str,
    account: &Person,
) -> Result<()> {
    if !repository::delete(tx, issuer, &account.id)? {
        return Err(Problem::not_found("identity of the issuer", issuer));
    }
    let change = AuditChange { who, what: "user.unlink", subject: account.account_name() };
    change.note(tx, now, &json!({ "issuer": issuer }))
}

/// The account that an identity opens. Later it opens the same account, even after a change of its
/// e-mail address; the first time the account is the one of its confirmed address, or a new one where the
/// rule makes it. The account of a student is never found by an address: it must be linked before ([`link`]).
///
/// Errors: an address that is not confirmed, of another domain, without an account, or of an account that
/// another identity of the provider opens; an account that is disabled.
pub fn person(
    tx: &mut Tx<'_>,
    now: Timestamp,
    issuer: &str,
    claims: &IdTokenClaims,
    rule: &IdentityRule,
) -> Result<Person> {
    if let Some(id) = repository::person(tx, issuer, &claims.subject)? {
        let known = person::find(tx, &id)?;
        return known
            .filter(|known| known.disabled.is_none())
            .ok_or_else(|| refused("your account is disabled; ask an administrator"));
    }
    let email = confirmed_email(claims)?;
    rule.check_domain(claims)?;
    let person = match (person::by_email(tx, email)?, rule.new_accounts) {
        (Some(known), _) if known.disabled.is_some() => {
            return Err(refused("your account is disabled; ask an administrator"));
        }
        (Some(known), _) if known.role == Role::Student => {
            let message = "a student's account must be linked to the sign-in service first; sign in in another way and \
                           link it under 'Your account', or ask an administrator";
            return Err(refused(message));
        }
        (Some(known), _) => known,
        (None, Some(new)) => create_person(tx, now, email, claims, new)?,
        (None, None) => {
            let message = message!("'{email}' has no account; ask an administrator to create one");
            return Err(refused(message));
        }
    };
    if repository::has_one(tx, issuer, &person.id)? {
        let message = message!(
            "the account of '{email}' belongs to another identity of the sign-in service; ask an \
             administrator to unlink it"
        );
        return Err(refused(message));
    }
    repository::insert(tx, now, (issuer, &claims.subject), &person.id)?;
    let change = AuditChange { who: &person.email, what: "user.identity", subject: &person.email };
    change.note(tx, now, &json!({ "issuer": issuer, "subject": claims.subject }))?;
    Ok(person)
}

fn create_person(
    tx: &mut Tx<'_>,
    now: Timestamp,
    email: &str,
    claims: &IdTokenClaims,
    role: Role,
) -> Result<Person> {
    let name = claims.name.clone().unwrap_or_else(|| email.to_owned());
    let new = NewPerson { email: email.to_owned(), name, role, password: None };
    let person = person::create(tx, now, &new)?;
    let change = AuditChange { who: &person.email, what: "user.create", subject: &person.email };
    change.note(tx, now, &json!({ "role": role.name(), "by": "sign-in service" }))?;
    Ok(person)
}

fn refused(message: impl Into<Message>) -> Problem {
    Problem::new(ProblemKind::Forbidden, message)
}
