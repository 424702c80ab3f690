//! The console shows and changes for a role only what the API shows and changes for it.

use lyceum_access::allowed::{Caller, allowed};
use lyceum_access::{RequestSubject, Role};
use lyceum_api::Route;
use lyceum_core::Reach;
use lyceum_http::route::{Access, LimitedCallers};
use lyceum_server::routes;

const ROSTER: &str = "GET /ims/oneroster/rostering/v1p2";

/// The routes of the API that show or change the same as a page or form, by the beginning of its method and path below
/// `/console`. The first fitting line counts. Without routes, a page shows what is the visitor's own, or its parts by role.
fn same() -> Vec<(&'static str, Vec<String>)> {
    let of = |start, routes: &[&str]| (start, routes.iter().map(|one| (*one).to_owned()).collect());
    let users = format!("{ROSTER}/users");
    vec![
        of("GET /unknown", &["GET /caliper/events"]),
        of("GET /today", &[&users, "GET /bridge/analytics/activity"]),
        of("GET /students/{id}/attempt", &["GET /adaptive/getAttemptLog"]),
        of("GET /students/{id}/event", &["GET /caliper/events/{externalId}"]),
        of(
            "GET /students",
            &[
                &users,
                "GET /bridge/analytics/activity",
                "GET /adaptive/getAttempts",
                "GET /caliper/events",
                "GET /ims/ob/v3p0/credentials",
            ],
        ),
        of("POST /students/{id}/teaching", &["POST /adaptive/teaching"]),
        of("POST /classes/{id}/teaching", &["POST /adaptive/teaching"]),
        of("POST /classes/{id}/apps/approve", &["PUT /api/classes/{classId}/apps/{slug}"]),
        of("POST /classes/{id}/apps/withdraw", &["DELETE /api/classes/{classId}/apps/{slug}"]),
        of("POST /classes/{id}/access/open", &["POST /api/classes/{classId}/sign-in"]),
        of("POST /classes/{id}/access/close", &["DELETE /api/classes/{classId}/sign-in"]),
        of("POST /classes/{id}/access", &["POST /api/classes/{classId}/cards"]),
        of("GET /classes/{id}/access", &["GET /api/classes/{classId}/cards"]),
        of("GET /classes", &[&format!("{ROSTER}/classes"), &users]),
        of("GET /courses", &[&format!("{ROSTER}/courses"), "GET /adaptive/syllabus/{courseId}"]),
        of("GET /items", &["GET /assessment-items/{identifier}"]),
        of("POST /items", &["GET /assessment-items/{identifier}"]),
        of("POST /badges/issue", &["POST /ims/ob/v3p0/issue-badge"]),
        of("POST /badges/verify", &["POST /verify"]),
        of("POST /badges", &["POST /ims/ob/v3p0/assertions/{id}/revoke"]),
        of("GET /badges/records", &["GET /ims/clr/v2p0/credentials"]),
        of("GET /badges", &["GET /ims/ob/v3p0/credentials"]),
        of("GET /events/stream", &["GET /events/stream"]),
        // Replays send, and the API shows nobody what it rejected.
        of("GET /events/refused", &["POST /ims/caliper/v1p2/events", "GET /caliper/events"]),
        of("GET /events", &["GET /caliper/events"]),
        of("POST /events", &["POST /ims/caliper/v1p2/events"]),
        of("GET /imports", &["POST /ims/oneroster/rostering/v1p2/users"]),
        of("POST /imports", &["POST /ims/oneroster/rostering/v1p2/users"]),
        of("GET /projects", &["GET /api/projects/{slug}", "GET /api/projects/{slug}/bucket"]),
        of("POST /projects", &["POST /api/projects/{slug}/deployments"]),
        of("GET /webhooks", &["GET /webhooks/{id}/deliveries"]),
        of("POST /webhooks", &["POST /webhooks/{id}/deliveries/replay"]),
        of("GET /accounts", &["GET /api/people"]),
        of("POST /accounts", &["POST /api/people"]),
        of("GET /people", &["GET /api/people/{id}/export"]),
        of("POST /people", &["POST /api/people/{id}/erase"]),
        of("GET /system", &["GET /api/nodes"]),
        of("POST /system/hours", &["PUT /bridge/school-hours/{orgId}"]),
        of("POST /system", &["GET /api/nodes"]),
        of("GET /search", &[]),
        of("GET /keys", &[]),
        of("POST /keys", &[]),
        of("GET /profile", &[]),
        of("POST /profile", &[]),
        of("GET ", &[]),
    ]
}

fn admits(role: Role, access: Access) -> bool {
    let person = Caller::Person(role, &Reach::Everything);
    allowed(person, access, RequestSubject::Route(LimitedCallers::Unaffected)).is_ok()
}

#[test]
fn a_role_sees_and_changes_through_the_console_only_what_the_api_gives_it() {
    let areas = routes::all();
    let route = |area: &str, one: &Route| format!("{} {area}{}", one.method, one.path);
    let access = |name: &str| {
        let mut routes =
            areas.iter().flat_map(|area| area.routes.iter().map(|one| (area.base, one)));
        let found = routes.find(|(base, one)| route(base, one) == name);
        found.unwrap_or_else(|| panic!("the API has no route '{name}'")).1.access
    };
    let (mut same, mut wider) = (same(), Vec::new());
    let mut used = vec![false; same.len()];
    let console = areas.iter().find(|area| area.name == "console").unwrap();
    for page in console.routes.iter().filter(|one| one.screen.is_some()) {
        let name = route("", page);
        let fits = |(start, _): &(&str, _)| match *start {
            "GET " => name == "GET ",
            start => name.starts_with(start),
        };
        let line = same.iter().position(fits);
        let line = line.unwrap_or_else(|| panic!("say which route of the API is like '{name}'"));
        used[line] = true;
        for (role, like) in
            Role::ALL.iter().flat_map(|role| same[line].1.iter().map(move |one| (role, one)))
        {
            if admits(*role, page.access) && !admits(*role, access(like)) {
                wider.push(format!("{name} admits '{role}', and {like} does not"));
            }
        }
    }
    assert!(wider.is_empty(), "{wider:#?}");
    let mut used = used.into_iter();
    same.retain(|_| used.next() == Some(false));
    assert!(same.is_empty(), "no page begins so: {same:?}");
}
