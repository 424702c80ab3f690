//! Where the demo user learns follows from the settings.

use lyceum_core::ProblemKind;
use lyceum_core::config::Secret;
use lyceum_project::Config;
use lyceum_sandbox::{DemoOrganization, LearningMode, SchoolRole, Tracking};

fn remote() -> Tracking {
    Tracking {
        oneroster_url: Some("https://roster.example.org".into()),
        auth_url: Some("https://auth.example.org/token".into()),
        client_id: Some("client".into()),
        client_secret: Some(Secret::new("secret")),
        student_id: Some("ann".into()),
        ..Tracking::default()
    }
}

fn config(text: &str) -> Config {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lyceum.config.json");
    std::fs::write(&file, text).unwrap();
    Config::read(&file, |_| unreachable!("JSON is not evaluated")).unwrap()
}

/// The names of the settings that are missing.
fn missing(tracking: &Tracking) -> Vec<String> {
    let refused = LearningMode::of(tracking, None).unwrap_err();
    assert_eq!(refused.kind, ProblemKind::Invalid);
    refused.details.into_iter().map(|detail| detail.path).collect()
}

#[test]
fn without_settings_the_config_decides() {
    let none = Tracking::default();
    assert_eq!(LearningMode::of(&none, None).unwrap(), LearningMode::Mock);
    let without = config(r#"{ "name": "Rivers" }"#);
    assert_eq!(LearningMode::of(&none, Some(&without)).unwrap(), LearningMode::Disabled);
    let text = r#"{ "name": "Rivers", "integrations": { "lms": { "courses": [{ "subject": "Math", "grade": 3 }] } } }"#;
    assert_eq!(LearningMode::of(&none, Some(&config(text))).unwrap(), LearningMode::Mock);
    // Settings outweigh the config.
    assert_eq!(LearningMode::of(&remote(), Some(&without)).unwrap(), LearningMode::Remote);
    let local = Tracking { local: true, ..Tracking::default() };
    assert_eq!(LearningMode::of(&local, Some(&without)).unwrap(), LearningMode::Local);
}

#[test]
fn a_remote_platform_needs_every_setting() {
    assert_eq!(LearningMode::of(&remote(), None).unwrap(), LearningMode::Remote);
    for (tracking, name) in [
        (Tracking { client_id: None, ..remote() }, "TRACKING_API_CLIENT_ID"),
        (Tracking { client_secret: None, ..remote() }, "TRACKING_API_CLIENT_SECRET"),
        (Tracking { auth_url: None, ..remote() }, "TRACKING_API_AUTH_URL"),
        (Tracking { oneroster_url: None, ..remote() }, "--tracking-oneroster-url"),
        (Tracking { student_id: None, ..remote() }, "--tracking-student-id"),
    ] {
        assert_eq!(missing(&tracking), [name]);
    }
    let only_events =
        Tracking { caliper_url: Some("https://events.example.org".into()), ..Tracking::default() };
    assert_eq!(missing(&only_events).len(), 5, "all that is missing is named at once");
}

#[test]
fn a_local_server_needs_both_halves_of_the_credentials_or_none() {
    let local = |client_id: Option<&str>, secret: Option<&str>| Tracking {
        local: true,
        client_id: client_id.map(str::to_owned),
        client_secret: secret.map(Secret::new),
        ..Tracking::default()
    };
    assert_eq!(LearningMode::of(&local(None, None), None).unwrap(), LearningMode::Local);
    assert_eq!(LearningMode::of(&local(Some("c"), Some("s")), None).unwrap(), LearningMode::Local);
    assert_eq!(missing(&local(Some("c"), None)), ["TRACKING_API_CLIENT_SECRET"]);
    assert_eq!(missing(&local(None, Some("s"))), ["TRACKING_API_CLIENT_ID"]);
}

#[test]
fn roles_have_names_and_parents_are_in_no_class() {
    for (name, role) in SchoolRole::ALL {
        assert_eq!((SchoolRole::of(name), role.name()), (Some(role), name));
    }
    assert_eq!(SchoolRole::of("pupil"), None);
    let in_classes: Vec<&str> =
        SchoolRole::ALL.iter().filter_map(|(_, role)| role.in_class()).collect();
    assert_eq!(in_classes, ["student", "teacher", "administrator"]);
}

#[test]
fn an_organization_has_defaults_for_what_is_not_set() {
    let whole =
        DemoOrganization { name: Some("North".into()), ..DemoOrganization::default() }.whole();
    assert_eq!(whole.name.as_deref(), Some("North"));
    assert_eq!(
        (whole.id.as_deref(), whole.kind.as_deref()),
        (Some("demo-org"), Some("department"))
    );
}
