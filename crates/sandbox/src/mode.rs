//! The learning integration of a sandbox: whom it learns with.

use lyceum_core::config::Secret;
use lyceum_core::{Detail, Problem, Result};
use lyceum_games::lms::NewOrganization;

use crate::demo::ORGANIZATION_ID;

/// Whom the demo user learns with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The sandbox itself: made-up courses, no other server.
    Mock,
    /// A Lyceum beside it.
    Local,
    /// A platform elsewhere, with real courses and credentials.
    Remote,
    /// Nobody: the project's config has no learning integration.
    Disabled,
}

/// What is said of the integration, by flags and variables.
#[derive(Clone, Debug, Default)]
pub struct Tracking {
    /// A Lyceum beside the sandbox is used.
    pub local: bool,
    /// Address of the rosters.
    pub oneroster_url: Option<String>,
    /// Address of the events.
    pub caliper_url: Option<String>,
    /// Address that gives tokens.
    pub auth_url: Option<String>,
    /// Id of the client there.
    pub client_id: Option<String>,
    /// Its secret.
    pub client_secret: Option<Secret>,
    /// The course that the student learns.
    pub course_id: Option<String>,
    /// The student whom the demo user is.
    pub student_id: Option<String>,
    /// What the demo user is to the school, where somebody said it.
    pub role: Option<Role>,
    /// Whose the demo user is.
    pub organization: Organization,
}

/// What a user is to a school.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Learns.
    #[default]
    Student,
    /// Whose child learns.
    Parent,
    /// Teaches.
    Teacher,
    /// Runs the school.
    Administrator,
    /// Looks after a learner.
    Guardian,
}

impl Role {
    /// Every role with its name.
    pub const ALL: [(&'static str, Self); 5] = [
        ("student", Self::Student),
        ("parent", Self::Parent),
        ("teacher", Self::Teacher),
        ("administrator", Self::Administrator),
        ("guardian", Self::Guardian),
    ];

    /// The role of that name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, role)| *role)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let (name, _) = Self::ALL.iter().find(|(_, role)| *role == self).expect("all are there");
        name
    }

    /// The word of OneRoster for it (1.2, `RoleEnum`).
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Student => "student",
            Self::Parent => "parent",
            Self::Teacher => "teacher",
            Self::Administrator => "siteAdministrator",
            Self::Guardian => "guardian",
        }
    }

    /// What the user is in a class; none: the user is in no class.
    pub fn in_class(self) -> Option<&'static str> {
        match self {
            Self::Student => Some("student"),
            Self::Teacher => Some("teacher"),
            Self::Administrator => Some("administrator"),
            Self::Parent | Self::Guardian => None,
        }
    }
}

/// An organization, as far as somebody said what it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Organization {
    /// Its sourcedId.
    pub id: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// `school`, `district`, `department`, …
    pub kind: Option<String>,
}

impl Organization {
    /// The organization, with what nobody said.
    pub fn whole(&self) -> NewOrganization {
        let or =
            |text: &Option<String>, usual: &str| text.clone().or_else(|| Some(usual.to_owned()));
        NewOrganization {
            id: or(&self.id, ORGANIZATION_ID),
            name: or(&self.name, "Lyceum Studios"),
            kind: or(&self.kind, "department"),
        }
    }
}

impl Mode {
    /// The mode that follows: local where that was asked for, remote with credentials, disabled where a
    /// project's config has no integration, else mock.
    ///
    /// Errors: `Invalid`, naming each thing that is missing.
    pub fn of(tracking: &Tracking, config: Option<&lyceum_project::Config>) -> Result<Self> {
        let has_addresses = tracking.oneroster_url.is_some()
            || tracking.caliper_url.is_some()
            || tracking.auth_url.is_some();
        let has_credentials = tracking.client_id.is_some() || tracking.client_secret.is_some();
        if tracking.local {
            let halves = [
                ("TRACKING_API_CLIENT_ID", tracking.client_id.is_some()),
                ("TRACKING_API_CLIENT_SECRET", tracking.client_secret.is_some()),
            ];
            return match halves.iter().find(|(_, is_there)| !is_there && has_credentials) {
                Some((name, _)) => Err(Problem::invalid(
                    *name,
                    "is required, because the id and the secret belong together",
                )),
                None => Ok(Self::Local),
            };
        }
        if !has_addresses && !has_credentials {
            let is_off = config.is_some_and(|config| config.integrations.lms.is_none());
            return Ok(if is_off { Self::Disabled } else { Self::Mock });
        }
        let needed = [
            ("TRACKING_API_CLIENT_ID", tracking.client_id.is_some()),
            ("TRACKING_API_CLIENT_SECRET", tracking.client_secret.is_some()),
            ("TRACKING_API_AUTH_URL", tracking.auth_url.is_some()),
            ("--tracking-oneroster-url", tracking.oneroster_url.is_some()),
            ("--tracking-student-id", tracking.student_id.is_some()),
        ];
        let missing: Vec<Detail> = needed
            .into_iter()
            .filter(|(_, is_there)| !is_there)
            .map(|(name, _)| Detail {
                path: name.to_owned(),
                message:
                    "is required: a remote integration needs addresses, credentials and a student"
                        .to_owned(),
            })
            .collect();
        if missing.is_empty() { Ok(Self::Remote) } else { Err(Problem::invalid_all(missing)) }
    }

    /// Its name where the start tells its result; none where it is disabled.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Mock => Some("mock"),
            Self::Local => Some("local"),
            Self::Remote => Some("remote"),
            Self::Disabled => None,
        }
    }
}
