//! The one rule of access: who may do what. It is pure. What it needs from the store, such as whether a
//! person is a member of a project, the caller of [`allowed`] reads in its transaction and passes in.

mod access;

use lyceum_core::Reach;

use crate::person::Role;
use crate::scope::{Rights, Scope, Scopes};
use crate::student::StudentSession;
use crate::token::Player;
pub use access::{Access, LimitedCallers, Roles};

/// The caller.
#[derive(Clone, Copy, Debug)]
pub enum Caller<'a> {
    /// Nobody: neither a token nor a session.
    Nobody,
    /// A registered client, with the rights of its token and its reach.
    Client(Rights, &'a Reach),
    /// A person who is signed in, with the reach of the account.
    Person(Role, &'a Reach),
    /// A student who is signed in in a browser.
    Student(StudentSession),
    /// An API key with a role, the slug of the one project that it is for, and its reach.
    Key(Role, Option<&'a str>, &'a Reach),
    /// A game token.
    Player {
        /// The player that the token names.
        player: &'a Player,
        /// The access that the token gives beyond the game.
        trust: PlayerTrust,
    },
    /// A game token of an anonymous visitor.
    DemoVisitor(&'a Player),
    /// The backend of the game with this id.
    Backend(&'a str),
    /// The caller without a token in a sandbox, where everything belongs to the developer.
    Sandbox(Rights, Option<&'a Player>),
}

/// The access of a game token to its player's data beyond its game. It follows from who asked for the token, and never
/// from what was done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayerTrust {
    /// Data about the courses that the game teaches its students: a developer, a key of one project or a
    /// backend asked.
    Game,
    /// Data of the player in all games, but not the player's identity: a caller who acts for all players and knows no
    /// people asked.
    Games,
    /// All: the player signed in, or one who knows people asked.
    Person,
}

impl PlayerTrust {
    /// The trust of a token that this caller requests.
    pub fn of_maker(maker: Caller<'_>) -> Self {
        match reach(maker) {
            AccessReach::Everything { people } | AccessReach::Roster { people } => match people {
                true => Self::Person,
                false => Self::Games,
            },
            _ => Self::Game,
        }
    }
}

impl<'a> Caller<'a> {
    fn rights(self) -> Rights {
        match self {
            Self::Nobody
            | Self::Student(_)
            | Self::Player { .. }
            | Self::DemoVisitor(_)
            | Self::Backend(_) => Rights::default(),
            Self::Client(rights, _) | Self::Sandbox(rights, _) => rights,
            Self::Person(role, _) | Self::Key(role, ..) => role.scopes().rights(),
        }
    }

    /// The part of the roster that the caller has access to, where a scope admits it to the roster.
    pub fn roster_reach(self) -> &'a Reach {
        match self {
            Self::Person(Role::Administrator, _) | Self::Key(Role::Administrator, ..) => {
                &Reach::Everything
            }
            Self::Client(_, reach) | Self::Person(_, reach) | Self::Key(_, _, reach) => reach,
            Self::Nobody
            | Self::Student(_)
            | Self::Player { .. }
            | Self::DemoVisitor(_)
            | Self::Backend(_)
            | Self::Sandbox(..) => &Reach::Everything,
        }
    }
}

/// The subject of a request, with the facts from the store that the rule needs.
#[derive(Clone, Copy, Debug)]
pub enum RequestSubject<'a> {
    /// The route alone: nothing is known yet of what the request names.
    Route(LimitedCallers),
    /// A project that exists, and whether the caller is a person who is a member of it.
    Project(&'a str, bool),
    /// A project that does not exist yet: it belongs to its maker.
    NewProject(&'a str),
    /// A game with all data in it, of any player.
    Game {
        /// Its id.
        id: &'a str,
        /// Its slug, which is that of its project.
        slug: &'a str,
        /// Whether the caller is a person who is a member of its project.
        is_member: bool,
    },
    /// The items and scores of a player in the caller's games.
    Player {
        /// The user's sourcedId.
        user: &'a str,
        /// Whether the user has played a game of the caller's, or lies within the caller's part of the roster.
        is_own: bool,
    },
    /// The data of a player across all games: XP, level, notifications and items of the platform.
    PlayerOfAllGames {
        /// The user's sourcedId.
        user: &'a str,
        /// Whether the user is a student of a course that a game of the caller's teaches, or lies within the
        /// caller's part of the roster. Schools enrol; callers cannot make it true.
        is_student: bool,
    },
    /// The public data of a player in a game: id and username.
    Name {
        /// The user's sourcedId.
        user: &'a str,
        /// As for a player, or whether the user is a student of a game of the caller's.
        is_own: bool,
    },
    /// A change of what all games share: the table of levels, items that belong to no game.
    Platform,
}

/// The extent of the access that is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessReach {
    /// Public data.
    Open,
    /// Everything that the route is about.
    Everything {
        /// Whether names, e-mail addresses and enrollments of people are part of it.
        people: bool,
    },
    /// The part of the roster that the caller is limited to, and all games with the players in this part.
    Roster {
        /// Whether names, e-mail addresses and enrollments of people are part of it.
        people: bool,
    },
    /// The projects that belong to the caller, with their games.
    OwnProjects,
    /// A project, with its game.
    Project(String),
    /// The game with this id, for each player that the caller names.
    Game(String),
    /// A player in one game.
    Player {
        /// The player and the game.
        player: Player,
        /// The access beyond the game.
        trust: PlayerTrust,
    },
}

impl AccessReach {
    /// Whether it includes the names and e-mail addresses of people, even if their game does not share them.
    pub fn names_people(&self) -> bool {
        matches!(self, Self::Everything { people: true } | Self::Roster { people: true })
    }

    /// Whether it includes only the caller's games and their students.
    pub fn is_of_own_games(&self) -> bool {
        match self {
            Self::Open | Self::Everything { .. } | Self::Roster { .. } => false,
            Self::OwnProjects | Self::Project(_) | Self::Game(_) => true,
            Self::Player { trust, .. } => *trust == PlayerTrust::Game,
        }
    }
}

/// The reason why a request is denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessDenial {
    /// The caller shows neither a token nor a session.
    SignedOut,
    /// The token has none of these scopes.
    Scope(Scopes),
    /// The person has none of these roles.
    Role(Roles),
    /// A student asks for more than the student's own pages.
    Student,
    /// A student asks for more than lessons with the session of a class sign-in.
    ClassSession,
    /// A demo visitor asks for more than the demo.
    Demo,
    /// The project of this slug does not belong to the caller.
    Project(String),
    /// The game of this slug is not the caller's.
    Game(String),
    /// The player with this id is not the caller's.
    Player(String),
    /// Only administrators and clients change data that all games share.
    Platform,
    /// The caller is limited to this part of the roster, and the route cannot serve a part.
    Limited(Reach),
}

/// Decides whether the caller may call a route of that access about the subject, and how far the answer
/// may go.
pub fn allowed(
    caller: Caller<'_>,
    access: Access,
    subject: RequestSubject<'_>,
) -> Result<AccessReach, AccessDenial> {
    check_route(caller, access)?;
    match access {
        Access::Public => Ok(AccessReach::Open),
        Access::Optional(_) if matches!(caller, Caller::Nobody) => Ok(AccessReach::Open),
        _ => on_subject(caller, subject),
    }
}

/// The part of [`allowed`] about the subject, for a caller whom the route has admitted.
pub(crate) fn on_subject(
    caller: Caller<'_>,
    subject: RequestSubject<'_>,
) -> Result<AccessReach, AccessDenial> {
    match subject {
        RequestSubject::Route(LimitedCallers::Refused) if caller.roster_reach().is_limited() => {
            Err(AccessDenial::Limited(caller.roster_reach().clone()))
        }
        RequestSubject::Route(_) => Ok(reach(caller)),
        RequestSubject::Project(slug, is_member) => on_project(caller, slug, is_member),
        RequestSubject::NewProject(slug) => {
            let is_maker = matches!(caller, Caller::Person(role, _) if role != Role::Guide);
            on_project(caller, slug, is_maker)
        }
        RequestSubject::Game { id, slug, is_member } => on_game(caller, (id, slug), is_member),
        RequestSubject::Player { user, is_own } => on_player(caller, user, is_own),
        RequestSubject::PlayerOfAllGames { user, is_student } => {
            on_player_of_all_games(caller, user, is_student)
        }
        RequestSubject::Name { user, is_own } => on_name(caller, user, is_own),
        RequestSubject::Platform => match caller {
            Caller::Client(_, Reach::Everything)
            | Caller::Sandbox(..)
            | Caller::Person(Role::Administrator, _)
            | Caller::Key(Role::Administrator, None, _) => Ok(reach(caller)),
            _ => Err(AccessDenial::Platform),
        },
    }
}

fn check_route(caller: Caller<'_>, access: Access) -> Result<(), AccessDenial> {
    let is_nobody = matches!(caller, Caller::Nobody);
    let with_scope = |scopes| match caller.rights().allow_any(scopes) {
        true => Ok(()),
        false if is_nobody => Err(AccessDenial::SignedOut),
        false => Err(AccessDenial::Scope(scopes)),
    };
    match access {
        Access::SignedIn if is_nobody => Err(AccessDenial::SignedOut),
        Access::SignedIn if matches!(caller, Caller::Student(_)) => Err(AccessDenial::Student),
        Access::Public | Access::SignedIn => Ok(()),
        Access::Page(scopes) => match caller {
            Caller::Person(role, _) if Roles::with(scopes).contain(role) => Ok(()),
            Caller::Person(..) | Caller::Student(_) => Err(AccessDenial::Role(Roles::with(scopes))),
            _ => Err(AccessDenial::SignedOut),
        },
        Access::Student(least) => match caller {
            Caller::Student(session) if session >= least => Ok(()),
            Caller::Student(_) => Err(AccessDenial::ClassSession),
            Caller::Person(..) => Err(AccessDenial::Role(Roles::STUDENT)),
            _ => Err(AccessDenial::SignedOut),
        },
        Access::Optional(_) if is_nobody => Ok(()),
        Access::Any(scopes) | Access::Optional(scopes) => with_scope(scopes),
        Access::Both(scopes, also) => with_scope(scopes).and_then(|()| with_scope(also)),
        Access::Player(scopes) => match caller {
            Caller::Player { .. } | Caller::Backend(_) | Caller::Sandbox(_, Some(_)) => Ok(()),
            Caller::DemoVisitor(_) => Err(AccessDenial::Demo),
            _ => with_scope(scopes),
        },
        Access::Visitor(scopes) => match caller {
            Caller::DemoVisitor(_) => Ok(()),
            _ => check_route(caller, Access::Player(scopes)),
        },
    }
}

/// The widest access that a caller can have.
fn reach(caller: Caller<'_>) -> AccessReach {
    match caller {
        // What a student may see, the handlers of student routes find by the student's own id.
        Caller::Nobody | Caller::Student(_) => AccessReach::Open,
        Caller::Person(Role::Developer, _) => AccessReach::OwnProjects,
        Caller::Key(_, Some(slug), _) => AccessReach::Project(slug.to_owned()),
        // A user of a sandbox who does not make games may only play.
        Caller::Sandbox(rights, Some(player)) if !rights.allow(Scope::GamesRead) => {
            AccessReach::Player { player: player.clone(), trust: PlayerTrust::Person }
        }
        Caller::Sandbox(..) => AccessReach::Everything { people: true },
        _ if caller.roster_reach().is_limited() => {
            AccessReach::Roster { people: caller.rights().allow(Scope::OrRosterReadonly) }
        }
        Caller::Client(..) | Caller::Person(..) | Caller::Key(_, None, _) => {
            AccessReach::Everything { people: caller.rights().allow(Scope::OrRosterReadonly) }
        }
        Caller::Backend(game) => AccessReach::Game(game.to_owned()),
        Caller::Player { player, trust } => AccessReach::Player { player: player.clone(), trust },
        Caller::DemoVisitor(player) => {
            AccessReach::Player { player: player.clone(), trust: PlayerTrust::Person }
        }
    }
}

fn on_game(
    caller: Caller<'_>,
    (id, slug): (&str, &str),
    is_member: bool,
) -> Result<AccessReach, AccessDenial> {
    let reach = reach(caller);
    let is_own = match &reach {
        AccessReach::Open => false,
        AccessReach::Everything { .. } | AccessReach::Roster { .. } => true,
        AccessReach::OwnProjects => is_member,
        AccessReach::Project(own) => own == slug,
        AccessReach::Game(own) => own == id,
        AccessReach::Player { player, .. } => player.game == id,
    };
    if is_own { Ok(reach) } else { Err(AccessDenial::Game(slug.to_owned())) }
}

fn on_player(caller: Caller<'_>, user: &str, is_own: bool) -> Result<AccessReach, AccessDenial> {
    let reach = reach(caller);
    let is_own = match &reach {
        AccessReach::Open => false,
        // A backend names the players of its game, also for the first time; it sees no other game.
        AccessReach::Everything { .. } | AccessReach::Game(_) => true,
        AccessReach::OwnProjects | AccessReach::Project(_) | AccessReach::Roster { .. } => is_own,
        AccessReach::Player { player, .. } => player.user == user,
    };
    if is_own { Ok(reach) } else { Err(AccessDenial::Player(user.to_owned())) }
}

fn on_player_of_all_games(
    caller: Caller<'_>,
    user: &str,
    is_student: bool,
) -> Result<AccessReach, AccessDenial> {
    let reach = reach(caller);
    let is_named = match &reach {
        AccessReach::Open => false,
        AccessReach::Roster { .. } => is_student,
        AccessReach::Player { player, .. } => player.user == user,
        _ => true,
    };
    match is_named && (is_student || !reach.is_of_own_games()) {
        true => Ok(reach),
        false => Err(AccessDenial::Player(user.to_owned())),
    }
}

fn on_name(caller: Caller<'_>, user: &str, is_own: bool) -> Result<AccessReach, AccessDenial> {
    let reach = reach(caller);
    let is_open = match (&reach, caller) {
        (AccessReach::Open, _) => false,
        (AccessReach::Everything { .. }, _) => true,
        (AccessReach::Player { player, .. }, _) if player.user == user => true,
        (_, Caller::DemoVisitor(_)) => return Err(AccessDenial::Demo),
        _ => is_own,
    };
    if is_open { Ok(reach) } else { Err(AccessDenial::Player(user.to_owned())) }
}

fn on_project(
    caller: Caller<'_>,
    slug: &str,
    is_member: bool,
) -> Result<AccessReach, AccessDenial> {
    let is_own = match caller {
        Caller::Sandbox(..) => true,
        // A project holds data of players of all organizations.
        Caller::Client(..) | Caller::Key(_, None, _) => !caller.roster_reach().is_limited(),
        Caller::Person(role, _) => role == Role::Administrator || is_member,
        Caller::Key(_, Some(own), _) => own == slug,
        Caller::Nobody
        | Caller::Student(_)
        | Caller::Player { .. }
        | Caller::DemoVisitor(_)
        | Caller::Backend(_) => false,
    };
    match is_own {
        true => Ok(AccessReach::Project(slug.to_owned())),
        false => Err(AccessDenial::Project(slug.to_owned())),
    }
}

#[cfg(test)]
mod tests;
