//! The learning integration of a sandbox: which server has the roster.

use lyceum_core::config::Secret;
use lyceum_core::{Detail, Problem, Result};
use lyceum_games::lms::IntegrationSetupOrganization;

use crate::demo::ORGANIZATION_ID;

/// Where the demo user learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LearningMode {
    /// In the sandbox, with generated courses and without another server.
    Mock,
    /// On a Lyceum server on the same machine.
    Local,
    /// On a remote platform, with real courses and credentials.
    Remote,
    /// Nowhere, because the project's config has no learning integration.
    Disabled,
}

/// The settings of the integration, from flags and variables.
#[derive(Clone, Debug, Default)]
pub struct Tracking {
    /// Whether to use a Lyceum server on the same machine.
    pub local: bool,
    /// Address of the roster API.
    pub oneroster_url: Option<String>,
    /// Address of the event API.
    pub caliper_url: Option<String>,
    /// Address of the token endpoint.
    pub auth_url: Option<String>,
    /// Id of the client on that platform.
    pub client_id: Option<String>,
    /// The client's secret.
    pub client_secret: Option<Secret>,
    /// The id of the student's course.
    pub course_id: Option<String>,
    /// The sourcedId of the student whom the demo user stands for.
    pub student_id: Option<String>,
    /// The demo user's role at the school, if it is set.
    pub role: Option<SchoolRole>,
    /// The demo user's organization.
    pub organization: DemoOrganization,
}

/// A user's role at a school.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SchoolRole {
    /// A learner.
    #[default]
    Student,
    /// A parent of a learner.
    Parent,
    /// A teacher.
    Teacher,
    /// An administrator of the school.
    Administrator,
    /// A guardian of a learner.
    Guardian,
}

impl SchoolRole {
    /// All roles with their names.
    pub const ALL: [(&'static str, Self); 5] = [
        ("student", Self::Student),
        ("parent", Self::Parent),
        ("teacher", Self::Teacher),
        ("administrator", Self::Administrator),
        ("guardian", Self::Guardian),
    ];

    /// The role with that name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, role)| *role)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let (name, _) = Self::ALL.iter().find(|(_, role)| *role == self).expect("all are there");
        name
    }

    /// The role's name in OneRoster (1.2, `RoleEnum`).
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Student => "student",
            Self::Parent => "parent",
            Self::Teacher => "teacher",
            Self::Administrator => "siteAdministrator",
            Self::Guardian => "guardian",
        }
    }

    /// The user's role in a class; `None` if the user is not in classes.
    pub fn in_class(self) -> Option<&'static str> {
        match self {
            Self::Student => Some("student"),
            Self::Teacher => Some("teacher"),
            Self::Administrator => Some("administrator"),
            Self::Parent | Self::Guardian => None,
        }
    }
}

/// An organization, with the properties that are set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DemoOrganization {
    /// Its sourcedId.
    pub id: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// `school`, `district`, `department`, …
    pub kind: Option<String>,
}

impl DemoOrganization {
    /// The organization, with defaults for properties that are not set.
    pub fn whole(&self) -> IntegrationSetupOrganization {
        let or =
            |text: &Option<String>, usual: &str| text.clone().or_else(|| Some(usual.to_owned()));
        IntegrationSetupOrganization {
            id: or(&self.id, ORGANIZATION_ID),
            name: or(&self.name, "Lyceum Studios"),
            kind: or(&self.kind, "department"),
        }
    }
}

impl LearningMode {
    /// The mode for these settings: local if requested, remote with credentials, disabled if a project's config has
    /// no integration, and otherwise mock.
    ///
    /// Errors: `Invalid`, with everything that is missing.
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
                        .into(),
            })
            .collect();
        if missing.is_empty() { Ok(Self::Remote) } else { Err(Problem::invalid_all(missing)) }
    }

    /// The mode's name for the start message; `None` if it is disabled.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Mock => Some("mock"),
            Self::Local => Some("local"),
            Self::Remote => Some("remote"),
            Self::Disabled => None,
        }
    }
}
