//! Each change that the console offers about people, classes, lessons and school hours is a call of the API, too.

use std::collections::BTreeSet;

use lyceum_server::routes;

/// The beginnings of the paths of these forms.
const SCREENS: [&str; 6] =
    ["/accounts", "/classes", "/people", "/profile", "/students", "/system/hours"];

/// A form, and the name of the route of the API that does the same.
const ACTIONS: &[(&str, &str)] = &[
    ("/accounts/new", "createAccount"),
    ("/accounts/{id}/role", "changeAccount"),
    ("/accounts/{id}/limit", "limitAccount"),
    ("/accounts/{id}/link", "createPasswordLink"),
    ("/accounts/{id}/identity", "linkAccountIdentity"),
    ("/accounts/{id}/unlink", "unlinkAccountIdentity"),
    ("/accounts/{id}/sessions", "endAccountSessions"),
    ("/accounts/{id}/disable", "disableAccount"),
    ("/accounts/{id}/enable", "enableAccount"),
    ("/classes/{id}/access/give", "createClassCards"),
    ("/classes/{id}/access/card", "renewClassCard"),
    ("/classes/{id}/access/open", "openClass"),
    ("/classes/{id}/access/close", "closeClass"),
    ("/classes/{id}/apps/approve", "approveClassApp"),
    ("/classes/{id}/apps/withdraw", "withdrawClassApp"),
    ("/classes/{id}/teaching", "teach"),
    ("/people/{id}/erase", "erasePerson"),
    ("/profile", "changeMe"),
    ("/profile/password", "changeOwnPassword"),
    ("/profile/sessions", "endOwnSession"),
    ("/students/{id}/teaching", "teach"),
    ("/system/hours/{org}", "putSchoolHours"),
    ("/system/hours/{org}/remove", "deleteSchoolHours"),
];

#[test]
fn each_change_of_people_classes_and_school_hours_is_a_call_of_the_api() {
    let (mut forms, mut calls) = (BTreeSet::new(), BTreeSet::new());
    for route in routes::all().into_iter().flat_map(|area| area.routes) {
        match route.screen {
            None => {
                calls.insert(route.name.into_owned());
            }
            Some(_) if route.method == "POST" => {
                let path = route.path.into_owned();
                if SCREENS.iter().any(|screen| path.starts_with(screen)) {
                    forms.insert(path);
                }
            }
            Some(_) => {}
        }
    }
    let rows: BTreeSet<String> = ACTIONS.iter().map(|(form, _)| (*form).to_owned()).collect();
    assert_eq!(rows, forms);
    for (form, name) in ACTIONS {
        assert!(calls.contains(*name), "the API has no route {name}, as {form} of the console");
    }
}
