//! The scopes of each route: those of the standard (OneRoster 1.2, OpenAPI `security`), and the platform's own scopes
//! for everything else.

use http::Method;
use lyceum_access::Scope;
use lyceum_http::route::Access;
use lyceum_roster::kind::{RecordKind, Service};

/// The kind of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RouteEffect {
    /// Reads a collection or one of its records.
    ReadCore,
    /// Reads the records that belong to another record.
    ReadScoped,
    /// Creates by POST.
    Post,
    /// Creates or replaces by PUT, changes by PATCH.
    Put,
    /// Deletes.
    Delete,
}

impl RouteEffect {
    /// The kind of a method on a collection.
    pub(super) fn by(method: &Method) -> Self {
        match method.as_str() {
            "POST" => Self::Post,
            "PUT" | "PATCH" => Self::Put,
            "DELETE" => Self::Delete,
            _ => Self::ReadCore,
        }
    }
}

/// The access to routes of this kind for a kind of records.
pub(crate) fn access(kind: &RecordKind, does: RouteEffect) -> Access {
    use RouteEffect::{Delete, Post, Put, ReadCore, ReadScoped};
    match (kind.service, kind.one, does) {
        (_, "demographics", ReadCore | ReadScoped) => {
            [Scope::OrRosterDemographicsReadonly, Scope::DemographicsRead].into()
        }
        (_, "demographics", _) => Scope::DemographicsWrite.into(),
        // The standard has no components, so the scopes for courses also apply to them.
        (Service::Rostering, _, ReadCore) => {
            [Scope::OrRosterReadonly, Scope::OrRosterCoreReadonly, Scope::RosterRead].into()
        }
        (Service::Rostering, _, ReadScoped) => [Scope::OrRosterReadonly, Scope::RosterRead].into(),
        (Service::Rostering, ..) => Scope::RosterWrite.into(),
        (Service::Gradebook, "assessmentLineItem" | "assessmentResult", does) => match does {
            ReadCore | ReadScoped => [Scope::OrAssessmentReadonly, Scope::GradebookRead].into(),
            Delete => [Scope::OrAssessmentDelete, Scope::GradebookWrite].into(),
            Put | Post => [Scope::OrAssessmentCreateput, Scope::GradebookWrite].into(),
        },
        (Service::Gradebook, _, does) => match does {
            ReadCore => {
                [Scope::OrGradebookReadonly, Scope::OrGradebookCoreReadonly, Scope::GradebookRead]
                    .into()
            }
            ReadScoped => [Scope::OrGradebookReadonly, Scope::GradebookRead].into(),
            Post => [Scope::OrGradebookCreatepost, Scope::GradebookWrite].into(),
            Put => [Scope::OrGradebookCreateput, Scope::GradebookWrite].into(),
            Delete => [Scope::OrGradebookDelete, Scope::GradebookWrite].into(),
        },
        (Service::Resources, _, ReadCore) => {
            [Scope::OrResourceReadonly, Scope::OrResourceCoreReadonly, Scope::ResourcesRead].into()
        }
        (Service::Resources, _, ReadScoped) => {
            [Scope::OrResourceReadonly, Scope::ResourcesRead].into()
        }
        (Service::Resources, ..) => Scope::ResourcesWrite.into(),
    }
}
