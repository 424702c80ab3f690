//! Finds or creates the account for an identity at an OpenID provider.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_store::Tx;
use serde_json::json;

use crate::audit::AuditChange;
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

/// The account that an identity opens. Once it has opened one it opens that one, whatever becomes of its
/// e-mail address; the first time the account is the one of its confirmed address, or a new one where the
/// rule makes it.
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
    let email = claims.email.as_deref().ok_or_else(|| {
        refused("the sign-in service does not confirm your e-mail address; confirm it there first")
    })?;
    let domain = email.rsplit('@').next().unwrap_or_default();
    if !rule.domains.is_empty() && !rule.domains.iter().any(|one| one.eq_ignore_ascii_case(domain))
    {
        return Err(refused(format!(
            "people with addresses of '{domain}' cannot sign in to this server"
        )));
    }
    let person = match (person::by_email(tx, email)?, rule.new_accounts) {
        (Some(known), _) if known.disabled.is_some() => {
            return Err(refused("your account is disabled; ask an administrator"));
        }
        (Some(known), _) => known,
        (None, Some(new)) => make(tx, now, email, claims, new)?,
        (None, None) => {
            let message = format!("'{email}' has no account; ask an administrator to create one");
            return Err(refused(message));
        }
    };
    if repository::has_one(tx, issuer, &person.id)? {
        let message = format!(
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

fn make(
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

fn refused(message: impl Into<String>) -> Problem {
    Problem::new(ProblemKind::Forbidden, message)
}
