//! The access of a route, which its line in the table names.

use std::fmt;

use crate::person::Role;
use crate::scope::{Scope, Scopes};
use crate::student::StudentSession;

/// The callers that may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everybody, without a token.
    Public,
    /// Everybody who is signed in: a person by a session, or any valid token or key.
    SignedIn,
    /// A person who is signed in in a browser, whose role has all of these scopes: a page shows what the API shows.
    Page(Scopes),
    /// A student who is signed in in a browser, with this session or one that opens more.
    Student(StudentSession),
    /// A token with one of these scopes.
    Any(Scopes),
    /// A token with one of the first scopes and one of the second.
    Both(Scopes, Scopes),
    /// As `Any`; without a token the route answers what is open to everybody.
    Optional(Scopes),
    /// A game token, which names a player, or a token with one of these scopes.
    Player(Scopes),
    /// As `Player`; the token of a demo visitor opens it, too.
    Visitor(Scopes),
}

impl Access {
    /// Players, and clients with the scope.
    pub fn player(scope: Scope) -> Self {
        Self::Player([scope].into_iter().collect())
    }

    /// Players, demo visitors, and clients with the scope.
    pub fn visitor(scope: Scope) -> Self {
        Self::Visitor([scope].into_iter().collect())
    }

    /// The scopes of which a client's token must hold one; none on routes without scopes.
    pub fn scopes(self) -> Option<Scopes> {
        match self {
            Self::Public | Self::SignedIn | Self::Page(_) | Self::Student(_) => None,
            Self::Any(scopes)
            | Self::Both(scopes, _)
            | Self::Optional(scopes)
            | Self::Player(scopes)
            | Self::Visitor(scopes) => Some(scopes),
        }
    }

    /// Whether callers may sign requests with OAuth 1.0a instead of sending a token.
    pub fn takes_signed_requests(self) -> bool {
        self.scopes().is_some_and(|scopes| scopes.intersect(Scopes::OF_SIGNED_REQUESTS))
    }

    /// The scopes of which a token needs one in addition to one of [`Access::scopes`].
    pub fn also(self) -> Option<Scopes> {
        match self {
            Self::Both(_, also) => Some(also),
            _ => None,
        }
    }
}

impl From<Scope> for Access {
    fn from(scope: Scope) -> Self {
        Self::from([scope])
    }
}

impl<const N: usize> From<[Scope; N]> for Access {
    fn from(scopes: [Scope; N]) -> Self {
        Self::Any(scopes.into_iter().collect())
    }
}

/// The roles that see a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles(u8);

impl Roles {
    /// The student alone.
    pub const STUDENT: Self = Self(Self::bit(Role::Student));

    /// The roles of staff that have all of these scopes.
    pub fn with(scopes: Scopes) -> Self {
        let has_all = |role: &Role| {
            let rights = role.scopes().rights();
            scopes.iter().all(|scope| rights.allow(scope))
        };
        let roles = Role::STAFF.into_iter().filter(has_all);
        Self(roles.fold(0, |all, role| all | Self::bit(role)))
    }

    /// Whether the role is one of them.
    pub fn contain(self, role: Role) -> bool {
        self.0 & Self::bit(role) != 0
    }

    const fn bit(role: Role) -> u8 {
        1 << role as u8
    }
}

impl fmt::Display for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Role::ALL.into_iter().filter(|role| self.contain(*role));
        let named: Vec<String> = named.map(|role| format!("'{role}'")).collect();
        f.write_str(&named.join(" or "))
    }
}

/// The answer of a route to callers who are limited to a part of the roster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LimitedCallers {
    /// It refuses them, because it reads or changes more than their part.
    #[default]
    Refused,
    /// It serves them their part: its handler passes their reach to every query.
    Served,
    /// It serves them like everybody, because nothing that it is about belongs to an organization.
    Unaffected,
}
