//! Scopes: the one vocabulary of rights.
//!
//! Routes ask for one scope; a broader scope opens narrower ones (see [`Scope::opens`]). Both are
//! worked out when a token is read, so that a check at a route is a test of one bit.
//!
//! Writing does not include reading. Demographics are an area of their own, because the standard describes
//! `roster.readonly` as all reads except demographics. A client without a list of scopes has all except
//! `lyceum/passwords.read`, `lyceum/people.manage` and `lyceum/server.read`, which must be granted by name.

use std::fmt;
use std::str::FromStr;

use lyceum_core::text::near_miss;
use lyceum_core::{Message, message};

/// A scope: one of a standard's (a full URI: `OneRoster` 1.2, Open Badges 3.0, CLR 2.0; Caliper
/// and CASE define none), or one of the platform, `lyceum/<area>.<read|write>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "NAMES has the text of each, opens() what it stands for")]
pub enum Scope {
    OrRosterCoreReadonly,
    OrRosterReadonly,
    OrRosterDemographicsReadonly,
    OrGradebookCoreReadonly,
    OrGradebookReadonly,
    OrGradebookCreateput,
    OrGradebookCreatepost,
    OrGradebookDelete,
    OrAssessmentReadonly,
    OrAssessmentCreateput,
    OrAssessmentDelete,
    OrResourceCoreReadonly,
    OrResourceReadonly,
    RosterRead,
    RosterWrite,
    DemographicsRead,
    DemographicsWrite,
    GradebookRead,
    GradebookWrite,
    ResourcesRead,
    ResourcesWrite,
    ObCredentialReadonly,
    ObCredentialUpsert,
    ObProfileReadonly,
    ObProfileUpdate,
    ClrCredentialReadonly,
    ClrCredentialUpsert,
    ClrProfileReadonly,
    ClrProfileUpdate,
    EventsRead,
    EventsWrite,
    BridgeRead,
    BridgeWrite,
    AdaptiveRead,
    AdaptiveWrite,
    QtiRead,
    QtiWrite,
    CredentialsRead,
    CredentialsWrite,
    StandardsRead,
    StandardsWrite,
    GamesRead,
    GamesWrite,
    ProjectsRead,
    ProjectsWrite,
    PasswordsRead,
    WebhooksRead,
    WebhooksWrite,
    OrV1p1RosterCoreReadonly,
    OrV1p1RosterReadonly,
    OrV1p1RosterDemographicsReadonly,
    OrV1p1GradebookReadonly,
    OrV1p1ResourceReadonly,
    PeopleManage,
    ServerRead,
}

use Scope::{
    AdaptiveRead, AdaptiveWrite, BridgeRead, BridgeWrite, ClrCredentialReadonly,
    ClrCredentialUpsert, ClrProfileReadonly, ClrProfileUpdate, CredentialsRead, CredentialsWrite,
    DemographicsRead, DemographicsWrite, EventsRead, EventsWrite, GamesRead, GamesWrite,
    GradebookRead, GradebookWrite, ObCredentialReadonly, ObCredentialUpsert, ObProfileReadonly,
    ObProfileUpdate, OrAssessmentCreateput, OrAssessmentDelete, OrAssessmentReadonly,
    OrGradebookCoreReadonly, OrGradebookCreatepost, OrGradebookCreateput, OrGradebookDelete,
    OrGradebookReadonly, OrResourceCoreReadonly, OrResourceReadonly, OrRosterCoreReadonly,
    OrRosterDemographicsReadonly, OrRosterReadonly, OrV1p1GradebookReadonly,
    OrV1p1ResourceReadonly, OrV1p1RosterCoreReadonly, OrV1p1RosterDemographicsReadonly,
    OrV1p1RosterReadonly, PasswordsRead, PeopleManage, ProjectsRead, ProjectsWrite, QtiRead,
    QtiWrite, ResourcesRead, ResourcesWrite, RosterRead, RosterWrite, ServerRead, StandardsRead,
    StandardsWrite, WebhooksRead, WebhooksWrite,
};

macro_rules! standard {
    ($service:literal, $name:literal) => {
        concat!("https://purl.imsglobal.org/spec/", $service, "/scope/", $name)
    };
}

macro_rules! one_roster {
    ($name:literal) => {
        standard!("or/v1p2", $name)
    };
}

/// Every scope with its text, in the order of the enum.
const NAMES: [(Scope, &str); 55] = [
    (OrRosterCoreReadonly, one_roster!("roster-core.readonly")),
    (OrRosterReadonly, one_roster!("roster.readonly")),
    (OrRosterDemographicsReadonly, one_roster!("roster-demographics.readonly")),
    (OrGradebookCoreReadonly, one_roster!("gradebook-core.readonly")),
    (OrGradebookReadonly, one_roster!("gradebook.readonly")),
    (OrGradebookCreateput, one_roster!("gradebook.createput")),
    (OrGradebookCreatepost, one_roster!("gradebook.createpost")),
    (OrGradebookDelete, one_roster!("gradebook.delete")),
    (OrAssessmentReadonly, one_roster!("assessment.readonly")),
    (OrAssessmentCreateput, one_roster!("assessment.createput")),
    (OrAssessmentDelete, one_roster!("assessment.delete")),
    (OrResourceCoreReadonly, one_roster!("resource-core.readonly")),
    (OrResourceReadonly, one_roster!("resource.readonly")),
    (RosterRead, "lyceum/roster.read"),
    (RosterWrite, "lyceum/roster.write"),
    (DemographicsRead, "lyceum/demographics.read"),
    (DemographicsWrite, "lyceum/demographics.write"),
    (GradebookRead, "lyceum/gradebook.read"),
    (GradebookWrite, "lyceum/gradebook.write"),
    (ResourcesRead, "lyceum/resources.read"),
    (ResourcesWrite, "lyceum/resources.write"),
    (ObCredentialReadonly, standard!("ob/v3p0", "credential.readonly")),
    (ObCredentialUpsert, standard!("ob/v3p0", "credential.upsert")),
    (ObProfileReadonly, standard!("ob/v3p0", "profile.readonly")),
    (ObProfileUpdate, standard!("ob/v3p0", "profile.update")),
    (ClrCredentialReadonly, standard!("clr/v2p0", "credential.readonly")),
    (ClrCredentialUpsert, standard!("clr/v2p0", "credential.upsert")),
    (ClrProfileReadonly, standard!("clr/v2p0", "profile.readonly")),
    (ClrProfileUpdate, standard!("clr/v2p0", "profile.update")),
    (EventsRead, "lyceum/events.read"),
    (EventsWrite, "lyceum/events.write"),
    (BridgeRead, "lyceum/bridge.read"),
    (BridgeWrite, "lyceum/bridge.write"),
    (AdaptiveRead, "lyceum/adaptive.read"),
    (AdaptiveWrite, "lyceum/adaptive.write"),
    (QtiRead, "lyceum/qti.read"),
    (QtiWrite, "lyceum/qti.write"),
    (CredentialsRead, "lyceum/credentials.read"),
    (CredentialsWrite, "lyceum/credentials.write"),
    (StandardsRead, "lyceum/standards.read"),
    (StandardsWrite, "lyceum/standards.write"),
    (GamesRead, "lyceum/games.read"),
    (GamesWrite, "lyceum/games.write"),
    (ProjectsRead, "lyceum/projects.read"),
    (ProjectsWrite, "lyceum/projects.write"),
    (PasswordsRead, "lyceum/passwords.read"),
    (WebhooksRead, "lyceum/webhooks.read"),
    (WebhooksWrite, "lyceum/webhooks.write"),
    (OrV1p1RosterCoreReadonly, standard!("or/v1p1", "roster-core.readonly")),
    (OrV1p1RosterReadonly, standard!("or/v1p1", "roster.readonly")),
    (OrV1p1RosterDemographicsReadonly, standard!("or/v1p1", "roster-demographics.readonly")),
    (OrV1p1GradebookReadonly, standard!("or/v1p1", "gradebook.readonly")),
    (OrV1p1ResourceReadonly, standard!("or/v1p1", "resource.readonly")),
    (PeopleManage, "lyceum/people.manage"),
    (ServerRead, "lyceum/server.read"),
];

impl Scope {
    /// Every scope there is.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(scope, _)| *scope)
    }

    /// Its text in requests and tokens.
    pub fn name(self) -> &'static str {
        NAMES[self as usize].1
    }

    /// The access that it gives, as a sentence for the API document.
    pub const fn description(self) -> &'static str {
        match self {
            OrRosterCoreReadonly => "Read the core rosters (the standard's core endpoints).",
            OrRosterReadonly | RosterRead => "Read the rosters, without demographics.",
            OrRosterDemographicsReadonly | DemographicsRead => "Read demographics.",
            OrGradebookCoreReadonly => "Read the core of the gradebook.",
            OrGradebookReadonly | GradebookRead => "Read the gradebook.",
            OrGradebookCreateput => "Create and replace in the gradebook by PUT.",
            OrGradebookCreatepost => "Create in the gradebook by POST.",
            OrGradebookDelete => "Delete in the gradebook.",
            OrAssessmentReadonly => "Read assessment line items and results.",
            OrAssessmentCreateput => "Create and replace assessment line items and results.",
            OrAssessmentDelete => "Delete assessment line items and results.",
            OrResourceCoreReadonly => "Read the core of the resources.",
            OrResourceReadonly | ResourcesRead => "Read the resources.",
            RosterWrite => "Change the rosters.",
            DemographicsWrite => "Change demographics.",
            GradebookWrite => "Change the gradebook.",
            ResourcesWrite => "Change the resources.",
            ObCredentialReadonly => "Read badges.",
            ObCredentialUpsert => "Create and replace badges.",
            ObProfileReadonly => "Read the badges' profile.",
            ObProfileUpdate => "Change the badges' profile.",
            ClrCredentialReadonly => "Read learner records.",
            ClrCredentialUpsert => "Create and replace learner records.",
            ClrProfileReadonly => "Read the learner records' profile.",
            ClrProfileUpdate => "Change the learner records' profile.",
            EventsRead => "Read events.",
            EventsWrite => "Send events.",
            BridgeRead => "Read enrollments in courses, analytics and tracks.",
            BridgeWrite => "Enrol in courses, change goals and tracks.",
            AdaptiveRead => "Read lessons, progress and placement.",
            AdaptiveWrite => "Work through lessons and change lesson plans.",
            QtiRead => "Read assessment content.",
            QtiWrite => "Change assessment content.",
            CredentialsRead => "Read badges and learner records.",
            CredentialsWrite => "Change and issue badges and learner records.",
            StandardsRead => "Read academic standards.",
            StandardsWrite => "Change academic standards.",
            GamesRead => "Read games and their players' data.",
            GamesWrite => "Register games and act for players in them.",
            ProjectsRead => "Read hosted projects, their versions and logs.",
            ProjectsWrite => "Deploy projects and change their settings.",
            PasswordsRead => {
                "Decrypt the passwords of users in other systems. A client has this scope only \
                 if it is granted by name."
            }
            WebhooksRead => "Read webhooks, their filters and what was delivered.",
            WebhooksWrite => {
                "Change webhooks and replay deliveries. A webhook receives what its owner's other scopes read."
            }
            OrV1p1RosterCoreReadonly => "Read the core rosters by OneRoster 1.1.",
            OrV1p1RosterReadonly => "Read the rosters by OneRoster 1.1, without demographics.",
            OrV1p1RosterDemographicsReadonly => "Read demographics by OneRoster 1.1.",
            OrV1p1GradebookReadonly => "Read the gradebook by OneRoster 1.1.",
            OrV1p1ResourceReadonly => "Read the resources by OneRoster 1.1.",
            PeopleManage => "Export and erase persons, for clients that are granted it by name.",
            ServerRead => "Read the state of the servers, for clients that are granted it by name.",
        }
    }

    /// The narrower scopes that this one stands for as well. The standard's `roster.readonly`
    /// is every read except demographics, and so is our `roster.read`. Scopes of `OneRoster` 1.2 stand for those of 1.1.
    pub const fn opens(self) -> &'static [Self] {
        match self {
            OrRosterCoreReadonly | OrV1p1RosterReadonly => &[OrV1p1RosterCoreReadonly],
            OrRosterReadonly => {
                &[OrRosterCoreReadonly, OrV1p1RosterReadonly, OrV1p1RosterCoreReadonly]
            }
            OrRosterDemographicsReadonly => &[OrV1p1RosterDemographicsReadonly],
            OrGradebookReadonly => &[OrGradebookCoreReadonly, OrV1p1GradebookReadonly],
            OrResourceReadonly => &[OrResourceCoreReadonly, OrV1p1ResourceReadonly],
            RosterRead => &[
                OrRosterReadonly,
                OrRosterCoreReadonly,
                OrV1p1RosterReadonly,
                OrV1p1RosterCoreReadonly,
            ],
            DemographicsRead => &[OrRosterDemographicsReadonly, OrV1p1RosterDemographicsReadonly],
            GradebookRead => &[
                OrGradebookReadonly,
                OrGradebookCoreReadonly,
                OrAssessmentReadonly,
                OrV1p1GradebookReadonly,
            ],
            GradebookWrite => &[
                OrGradebookCreateput,
                OrGradebookCreatepost,
                OrGradebookDelete,
                OrAssessmentCreateput,
                OrAssessmentDelete,
            ],
            ResourcesRead => &[OrResourceReadonly, OrResourceCoreReadonly, OrV1p1ResourceReadonly],
            CredentialsRead => &[
                ObCredentialReadonly,
                ObProfileReadonly,
                ClrCredentialReadonly,
                ClrProfileReadonly,
            ],
            CredentialsWrite => {
                &[ObCredentialUpsert, ObProfileUpdate, ClrCredentialUpsert, ClrProfileUpdate]
            }
            _ => &[],
        }
    }

    const fn bit(self) -> u64 {
        1 << self as u64
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that names no scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownScope(pub String);

impl UnknownScope {
    /// The message for people, with the scope that was probably meant.
    pub fn text(&self) -> Message {
        let last = |scope: &'static str| scope.rsplit('/').next().unwrap_or(scope);
        let names = NAMES.iter().map(|(_, name)| *name);
        let similar = near_miss(&self.0, names.clone())
            .or_else(|| names.into_iter().find(|name| last(name) == self.0));
        match similar {
            Some(meant) => {
                message!("there is no scope '{scope}'; did you mean '{meant}'?", scope = self.0)
            }
            None => message!("there is no scope '{scope}'", scope = self.0),
        }
    }
}

impl fmt::Display for UnknownScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

impl std::error::Error for UnknownScope {}

impl FromStr for Scope {
    type Err = UnknownScope;

    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        let known = NAMES.iter().find(|(_, name)| *name == text);
        known.map(|(scope, _)| *scope).ok_or_else(|| UnknownScope(text.to_owned()))
    }
}

/// A set of scopes as granted: what a client has, what a token says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scopes(u64);

impl Scopes {
    /// The scopes of a client without a list: all of the platform except those that must be granted by name.
    pub const EVERYTHING: Self = Self(
        RosterRead.bit()
            | RosterWrite.bit()
            | DemographicsRead.bit()
            | DemographicsWrite.bit()
            | GradebookRead.bit()
            | GradebookWrite.bit()
            | ResourcesRead.bit()
            | ResourcesWrite.bit()
            | EventsRead.bit()
            | EventsWrite.bit()
            | BridgeRead.bit()
            | BridgeWrite.bit()
            | AdaptiveRead.bit()
            | AdaptiveWrite.bit()
            | QtiRead.bit()
            | QtiWrite.bit()
            | CredentialsRead.bit()
            | CredentialsWrite.bit()
            | StandardsRead.bit()
            | StandardsWrite.bit()
            | GamesRead.bit()
            | GamesWrite.bit()
            | ProjectsRead.bit()
            | ProjectsWrite.bit()
            | WebhooksRead.bit()
            | WebhooksWrite.bit(),
    );

    /// The scopes that requests signed with OAuth 1.0a can have: reading by `OneRoster` 1.1.
    pub const OF_SIGNED_REQUESTS: Self = Self(
        OrV1p1RosterCoreReadonly.bit()
            | OrV1p1RosterReadonly.bit()
            | OrV1p1RosterDemographicsReadonly.bit()
            | OrV1p1GradebookReadonly.bit()
            | OrV1p1ResourceReadonly.bit(),
    );

    /// These scopes and one more.
    #[must_use]
    pub const fn with(self, scope: Scope) -> Self {
        Self(self.0 | scope.bit())
    }

    /// The members, in the order of the vocabulary.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::all().filter(move |scope| self.0 & scope.bit() != 0)
    }

    /// Whether the sets have a member in common.
    pub const fn intersect(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The rights that they give.
    pub fn rights(self) -> Rights {
        let opened = self.iter().flat_map(|scope| scope.opens().iter().copied());
        Rights(self.0 | opened.fold(0, |mask, scope| mask | scope.bit()))
    }

    /// Reads a list that we wrote, where a newer release may have known more scopes.
    pub(crate) fn parse_known(text: &str) -> Self {
        text.split(' ').filter_map(|name| name.parse().ok()).collect()
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |mask, scope| mask | scope.bit()))
    }
}

impl FromStr for Scopes {
    type Err = UnknownScope;

    /// Reads scopes with spaces between them (RFC 6749, 3.3).
    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        text.split(' ').filter(|name| !name.is_empty()).map(str::parse).collect()
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, scope) in self.iter().enumerate() {
            let space = if n == 0 { "" } else { " " };
            write!(f, "{space}{scope}")?;
        }
        Ok(())
    }
}

/// The rights that scopes give, including narrower scopes: one bit for each scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rights(u64);

impl Rights {
    /// Whether the scope is allowed.
    pub fn allow(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// Whether at least one of the scopes is allowed.
    pub fn allow_any(self, scopes: Scopes) -> bool {
        self.0 & scopes.0 != 0
    }
}

#[cfg(test)]
mod tests;
