//! The APIs of badges, learner records, standards, games, content and projects for a client with a limit.

use std::collections::BTreeSet;

use lyceum_testkit::naive_reach::WholeRoster;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{TestServer, both};
use serde_json::{Value, json};

use super::{FAR, NEAR, near, plant};
use crate::access::limited_client;
use crate::{badges, case};

fn get(client: &TestClient, path: &str) -> Value {
    client.get(path).expect(200).json()
}

/// The sourcedIds of the learners of the credentials in a list.
fn learners(list: &Value) -> BTreeSet<String> {
    let all = list["credential"].as_array().expect("a list of credentials").iter();
    let learner = |one: &Value| {
        let id = one["credentialSubject"]["id"].as_str().unwrap();
        id.rsplit('/').next().unwrap().to_owned()
    };
    all.map(learner).collect()
}

/// Of these sourcedIds of users, those within the near district.
fn users_within(server: &TestServer, all: BTreeSet<String>) -> BTreeSet<String> {
    let seen = WholeRoster::read(server.db()).seen("user", &near());
    all.into_iter().filter(|user| seen.contains(user)).collect()
}

fn texts(list: &Value, name: &str) -> BTreeSet<String> {
    let all = list.as_array().unwrap_or_else(|| panic!("{list}")).iter();
    all.map(|one| one[name].as_str().unwrap().to_owned()).collect()
}

#[test]
fn badges_and_records_of_the_own_district() {
    both(|server| {
        plant(server);
        let (all, limited) =
            (server.client(), limited_client(server, &[&format!("{NEAR}-district")]));
        for path in
            ["/ims/ob/v3p0/credentials", "/ims/ob/v3p0/assertions", "/ims/clr/v2p0/credentials"]
        {
            let own = learners(&get(&limited, path));
            assert_eq!(own, users_within(server, learners(&get(&all, path))), "{path}");
            assert_eq!(own.len(), 4, "{path}");
            assert_eq!(limited.get(path).expect(200).header("x-total-count"), "4", "{path}");
        }
        let far = get(&all, &format!("/ims/ob/v3p0/assertions?userId={FAR}-ann"));
        let badge =
            far["credential"][0]["id"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        let records = get(&all, "/ims/clr/v2p0/credentials");
        let is_far = |one: &&Value| one["credentialSubject"]["id"].as_str().unwrap().contains(FAR);
        let record = records["credential"].as_array().unwrap().iter().find(is_far).unwrap();
        let record = record["id"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        let before = (far.clone(), get(&all, &format!("/ims/clr/v2p0/clr/{record}/versions")));
        let reads = [
            format!("/ims/ob/v3p0/assertions?userId={FAR}-ann"),
            format!("/ims/ob/v3p0/assertions/{badge}"),
            format!("/ims/clr/v2p0/clr/{record}"),
            format!("/ims/clr/v2p0/clr/{record}/achievements"),
            format!("/ims/clr/v2p0/clr/{record}/versions"),
            format!("/ims/clr/v2p0/clr/{record}/versions/1"),
        ];
        for path in reads {
            assert_eq!(limited.get(&path).send().status, 404, "{path}");
        }
        let writes = [
            format!("/ims/ob/v3p0/assertions/{badge}/revoke"),
            format!("/ims/clr/v2p0/clr/{record}/revoke"),
            format!("/ims/clr/v2p0/clr/{record}/compile"),
            format!("/ims/clr/v2p0/clr/{FAR}-ann/compile"),
        ];
        for path in writes {
            assert_eq!(limited.post(&path).json(&json!({})).send().status, 404, "{path}");
        }
        assert_eq!(limited.delete(&format!("/ims/clr/v2p0/clr/{record}")).send().status, 404);
        let achievement = badges::definition()["credentialSubject"]["id"].clone();
        let award = |user: &str| {
            let award = json!({ "achievementId": achievement, "userId": format!("{user}-ann") });
            limited.post("/ims/ob/v3p0/issue-badge").json(&award).send().status
        };
        assert!((400..500).contains(&award(FAR)));
        assert_eq!(award(NEAR), 201);
        // The public page by its random id is for everybody who knows it.
        server.anonymous().get(&format!("/credentials/{badge}.json")).expect(200);
        let after = (
            get(&all, &format!("/ims/ob/v3p0/assertions?userId={FAR}-ann")),
            get(&all, &format!("/ims/clr/v2p0/clr/{record}/versions")),
        );
        assert_eq!(after, before);
    });
}

#[test]
fn players_of_the_own_district() {
    both(|server| {
        plant(server);
        let (all, limited) =
            (server.client(), limited_client(server, &[&format!("{NEAR}-district")]));
        for (path, name) in [
            ("/api/users?limit=100", "id"),
            ("/api/leaderboard?gameId=rivers&limit=100", "userId"),
            ("/api/games/rivers/leaderboard?limit=100", "userId"),
        ] {
            let own = texts(&get(&limited, path), name);
            let expected = users_within(server, texts(&get(&all, path), name));
            assert_eq!(own, expected, "{path}");
            assert!(own.contains(&format!("{NEAR}-ann")), "{path}");
        }
        let (far, near) = (format!("{FAR}-ann"), format!("{NEAR}-ann"));
        let scores = || get(&all, &format!("/api/users/{FAR}-ann/scores"));
        let before = scores();
        let reads = |user: &str| {
            [
                format!("/api/users/{user}"),
                format!("/api/users/{user}/scores"),
                format!("/api/inventory?userId={user}"),
                format!("/api/levels/me?userId={user}"),
                format!("/api/notifications?userId={user}"),
                format!("/api/lms/xp/total?userId={user}"),
                format!("/api/lms/xp/today?userId={user}"),
                format!("/api/lms/xp/history?userId={user}"),
                format!("/api/games/rivers/state?userId={user}"),
                format!("/api/games/rivers/sessions?userId={user}"),
                format!("/api/games/rivers/achievements?userId={user}"),
            ]
        };
        for path in reads(&far) {
            assert_eq!(limited.get(&path).send().status, 403, "{path}");
        }
        for path in reads(&near) {
            assert_eq!(limited.get(&path).send().status, 200, "{path}");
        }
        let submit = |user: &str| {
            let path = format!("/api/games/rivers/scores?userId={user}");
            limited.post(&path).json(&json!({ "score": 9 })).send().status
        };
        assert_eq!((submit(&far), submit(&near)), (403, 201));
        let token = |user: &str| {
            let body = json!({ "userId": user });
            limited.post("/api/games/rivers/token").json(&body).send().status
        };
        assert_eq!((token(&far), token(&near)), (403, 200));
        assert_eq!(scores(), before);
        // The player's own token is not limited.
        let body = json!({ "userId": far });
        let player: Value = all.post("/api/games/rivers/token").json(&body).expect(200).json();
        let player = server.anonymous().with_token(player["token"].as_str().unwrap());
        assert!(texts(&get(&player, "/api/leaderboard"), "userId").contains(&near));
    });
}

#[test]
fn standards_content_and_projects_are_shared_or_belong_to_members() {
    both(|server| {
        plant(server);
        let (all, limited) =
            (server.client(), limited_client(server, &[&format!("{NEAR}-district")]));
        let seen = WholeRoster::read(server.db()).seen("course", &near());
        let coverage = format!("/ims/case/v1p1/CFItems/{}/coverage", case::item(2));
        for (path, key) in [("/ims/case/v1p1/alignments", "alignments"), (&*coverage, "coverage")] {
            let expected = texts(&get(&all, path)[key], "id");
            let expected: BTreeSet<String> =
                expected.into_iter().filter(|id| seen.contains(id)).collect();
            assert_eq!(texts(&get(&limited, path)[key], "id"), expected, "{path}");
            assert_eq!(expected.len(), 2, "{path}: two courses of the district");
        }
        let aligned = |word: &str| format!("/ims/case/v1p1/alignments/course/{word}-course");
        assert_eq!(limited.get(&aligned(FAR)).send().status, 404);
        let set =
            |word: &str| limited.put(&aligned(word)).json(&json!({ "items": [] })).send().status;
        assert_eq!((set(FAR), set(NEAR)), (404, 200));
        assert_eq!(limited.delete(&aligned(FAR)).send().status, 404);
        assert_eq!(get(&all, &aligned(FAR))["items"].as_array().unwrap().len(), 1);
        assert_eq!(get(&limited, "/api/projects"), json!([]));
    });
}
