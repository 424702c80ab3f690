//! The figures of the console's pages about everybody equal those of the API, before and after writes of each kind that
//! changes them.

use std::collections::{HashMap, HashSet};

use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::TestServer;
use serde_json::{Value, json};

use crate::game_tokens::both_at;
use crate::large_network::{NOON, add_schools, append_all, begin_network, page, rows, work};

const ROSTERING: &str = "/ims/oneroster/rostering/v1p2";
const TODAY: &str = "2026-01-15";

/// The work and the goal of a student on a page: XP, goal, accuracy in percent, active minutes.
type Figures = [Option<f64>; 4];

/// All records of a collection, as the API lists them.
fn records(client: &TestClient, collection: &str) -> Vec<Value> {
    let path = format!("{ROSTERING}/{collection}?limit=3000&filter=status='active'");
    let page: Value = client.get(&path).expect(200).json();
    page[collection].as_array().unwrap().clone()
}

fn id(record: &Value) -> &str {
    record["sourcedId"].as_str().unwrap()
}

fn refers(record: &Value, field: &str) -> String {
    record[field]["sourcedId"].as_str().unwrap_or_default().to_owned()
}

/// The active enrollments of active users that have begun and not ended, as the rule of membership says.
fn current_enrollments(client: &TestClient) -> Vec<Value> {
    let users: HashSet<String> =
        records(client, "users").iter().map(|user| id(user).to_owned()).collect();
    let mut enrollments = records(client, "enrollments");
    enrollments.retain(|enrollment| {
        users.contains(&refers(enrollment, "user"))
            && enrollment["beginDate"].as_str().is_none_or(|begin| begin <= TODAY)
            && enrollment["endDate"].as_str().is_none_or(|end| end >= TODAY)
    });
    enrollments
}

/// The daily goal of each student with one: the sum of those of the enrollments, which replace those of the courses.
fn goals(client: &TestClient) -> HashMap<String, i64> {
    let goal = |record: &Value| record["metadata"]["goals"]["dailyXp"].as_i64();
    let courses: HashMap<String, Option<i64>> =
        records(client, "courses").iter().map(|one| (id(one).to_owned(), goal(one))).collect();
    let classes: HashMap<String, String> = records(client, "classes")
        .iter()
        .map(|one| (id(one).into(), refers(one, "course")))
        .collect();
    let mut goals = HashMap::new();
    for enrollment in current_enrollments(client) {
        let of_course = courses[&classes[&refers(&enrollment, "class")]];
        if let (Some(xp), "student") =
            (goal(&enrollment).or(of_course), enrollment["role"].as_str().unwrap())
        {
            *goals.entry(refers(&enrollment, "user")).or_default() += xp;
        }
    }
    goals
}

/// The figures of each student by full name, from the API.
fn of_api(client: &TestClient) -> HashMap<String, Figures> {
    let goals = goals(client);
    let mut figures = HashMap::new();
    for student in records(client, "users") {
        let days = format!("startDate={TODAY}&endDate={TODAY}");
        let path = format!("/bridge/analytics/activity?studentId={}&{days}", id(&student));
        let report: Value = client.get(&path).expect(200).json();
        let subjects = report["facts"][TODAY].as_object().cloned().unwrap_or_default();
        let sum = |group: &str, metric: &str| -> f64 {
            subjects.values().map(|one| one[group][metric].as_f64().unwrap_or_default()).sum()
        };
        let total = sum("activityMetrics", "totalQuestions");
        let share = sum("activityMetrics", "correctQuestions") * 100.0 / total;
        let name = ["givenName", "familyName"].map(|part| student[part].as_str().unwrap());
        let goal = goals.get(id(&student)).filter(|goal| **goal > 0);
        figures.insert(
            name.join(" "),
            [
                Some(sum("activityMetrics", "xpEarned")),
                goal.map(|goal| f64::from(i32::try_from(*goal).unwrap())),
                (total > 0.0).then_some(share),
                Some(sum("timeSpentMetrics", "activeSeconds") / 60.0),
            ],
        );
    }
    figures
}

fn exported(server: &TestServer, cookie: &str, path: &str) -> Vec<Value> {
    serde_json::from_str(&page(server, cookie, path)).unwrap()
}

fn name(row: &Value, key: &str) -> String {
    row[key].as_str().unwrap().to_owned()
}

/// The names in the first column of a page's list.
fn names(page: &str) -> Vec<String> {
    let of_row = |row: &String| {
        let (_, link) = row.split_once("<a href").unwrap();
        let (_, text) = link.split_once('>').unwrap();
        text.split_once("</a>").unwrap().0.to_owned()
    };
    rows(page).iter().map(of_row).collect()
}

/// Compares the pages Students and Today with the API.
fn compare_students(server: &TestServer, cookie: &str) {
    let expected = of_api(&server.client());
    let students = exported(server, cookie, "students?export=json");
    let mut shown: HashMap<String, Figures> = HashMap::new();
    for row in &students {
        let figures = ["xp", "goal", "accuracy", "minutes"].map(|key| row[key].as_f64());
        shown.insert(name(row, "name"), figures);
    }
    assert_eq!(shown, expected);
    let mut by_xp: Vec<&Value> = students.iter().collect();
    by_xp.sort_by(|a, b| b["xp"].as_f64().unwrap().total_cmp(&a["xp"].as_f64().unwrap()));
    let by_xp: Vec<String> = by_xp.into_iter().map(|row| name(row, "name")).collect();
    let listed = page(server, cookie, "students?sort=-xp");
    assert_eq!(names(&listed), by_xp[..50]);
    // The page of the order reads the goals of its rows only.
    for row in rows(&listed) {
        let student = names(&format!("<tbody>{row}</tr></tbody>")).remove(0);
        if let Some(goal) = expected[&student][1] {
            assert!(row.contains(&format!(">{goal}</a>")), "{student} {goal}: {row}");
        }
    }
    let today = page(server, cookie, "today");
    assert!(today.contains(&format!("{} students</a>", students.len())), "{today}");
    let mut groups = Vec::new();
    for group in ["", "working", "idle", "absent"] {
        for row in exported(server, cookie, &format!("today?group={group}&export=json")) {
            let figures = &expected[&name(&row, "student")];
            let own = ["xp", "goal", "accuracy"].map(|key| row[key].as_f64());
            assert_eq!(own, figures[..3], "{group} {row}");
            let is_absent = own[0] == Some(0.0) && row["seen"].is_null();
            assert_eq!(group == "absent", is_absent, "{row}");
            groups.push(group);
        }
    }
    let work_today = groups.iter().filter(|group| ["working", "idle"].contains(group)).count();
    assert_eq!(work_today, students.iter().filter(|row| !row["seen"].is_null()).count());
}

/// Compares the page Classes with the API.
fn compare_classes(server: &TestServer, cookie: &str) {
    let client = server.client();
    let mut members: HashMap<(String, String), HashSet<String>> = HashMap::new();
    for enrollment in current_enrollments(&client) {
        let role = enrollment["role"].as_str().unwrap().to_owned();
        let key = (refers(&enrollment, "class"), role);
        members.entry(key).or_default().insert(refers(&enrollment, "user"));
    }
    let count = |class: &Value, role: &str| {
        members.get(&(id(class).to_owned(), role.to_owned())).map_or(0, HashSet::len)
    };
    let courses: HashMap<String, String> = records(&client, "courses")
        .iter()
        .map(|one| (id(one).into(), name(one, "title")))
        .collect();
    let mut expected: Vec<(String, String, usize, usize)> = records(&client, "classes")
        .iter()
        .map(|class| {
            let course = courses[&refers(class, "course")].clone();
            (name(class, "title"), course, count(class, "student"), count(class, "teacher"))
        })
        .collect();
    expected.sort();
    let number = |row: &Value, key: &str| usize::try_from(row[key].as_u64().unwrap()).unwrap();
    let mut shown: Vec<(String, String, usize, usize)> =
        exported(server, cookie, "classes?export=json")
            .iter()
            .map(|row| {
                let sizes = (number(row, "students"), number(row, "teachers"));
                (name(row, "title"), name(row, "course"), sizes.0, sizes.1)
            })
            .collect();
    shown.sort();
    assert_eq!(shown, expected);
    // The usual order counts the members of its rows only.
    let listed = rows(&page(server, cookie, "classes"));
    assert_eq!(listed.len(), expected.len());
    for row in listed {
        let title = names(&format!("<tbody>{row}</tr></tbody>")).remove(0);
        let (.., students, _) = expected.iter().find(|class| class.0 == title).unwrap();
        assert!(row.contains(&format!(">{students}</a>")), "{title} {students}: {row}");
    }
}

/// Writes that change what the pages show.
fn change(server: &TestServer) {
    let client = server.client();
    let patch = |collection: &str, id: &str, one: &str, changes: Value| {
        let path = format!("{ROSTERING}/{collection}/{id}");
        client.patch(&path).json(&json!({ one: changes })).expect(200);
    };
    let goals = |xp: u32| json!({ "metadata": { "goals": { "dailyXp": xp } } });
    patch("courses", "math-1", "course", goals(31));
    patch("enrollments", "s0-u4-c1", "enrollment", goals(90));
    patch("enrollments", "s0-u5-c0", "enrollment", json!({ "endDate": "2026-01-14" }));
    patch("enrollments", "s0-u6-c0", "enrollment", json!({ "beginDate": "2026-01-16" }));
    patch("classes", "s0-c3", "class", json!({ "course": { "sourcedId": "math-0" } }));
    patch("classes", "s0-c5", "class", json!({ "title": "Renamed" }));
    patch("users", "s0-u8", "user", json!({ "givenName": "Renamed" }));
    client.delete(&format!("{ROSTERING}/enrollments/s0-u7-c2")).expect(204);
    client.delete(&format!("{ROSTERING}/users/s0-u10")).expect(204);
    let school = json!({ "sourcedId": "s0" });
    let user = json!({ "sourcedId": "new", "enabledUser": true, "givenName": "New",
        "familyName": "Comer", "email": "new@example.org", "primaryOrg": school,
        "roles": [{ "roleType": "primary", "role": "student", "org": school }] });
    client.post(&format!("{ROSTERING}/users")).json(&json!({ "user": user })).expect(201);
    let enrollment = json!({ "sourcedId": "new-c0", "role": "student", "school": school,
        "user": { "sourcedId": "new" }, "class": { "sourcedId": "s0-c0" } });
    client
        .post(&format!("{ROSTERING}/enrollments"))
        .json(&json!({ "enrollment": enrollment }))
        .expect(201);
    // A student who did nothing before, and students who did.
    let events = [("new", 4001), ("s0-u11", 4002), ("s0-u12", 4003)];
    append_all(server, &events.map(|(student, number)| work(student, number)));
}

#[test]
fn pages_show_what_the_api_answers_after_every_write() {
    both_at(NOON, |server, _| {
        let cookie = begin_network(server);
        add_schools(server, 0, 1);
        compare_students(server, &cookie);
        compare_classes(server, &cookie);
        change(server);
        compare_students(server, &cookie);
        compare_classes(server, &cookie);
    });
}
