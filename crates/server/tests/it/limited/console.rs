//! The console of people with a limit: a crawl along all links, and the addresses of what lies outside.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lyceum_access::Role;
use lyceum_core::Reach;
use lyceum_testserver::client::Reply;
use lyceum_testserver::server::{TestServer, both};

use super::{FAR, NEAR, NEXT, limited_person, near, plant};
use crate::events::Stream;

fn open(server: &TestServer, cookie: &str, path: &str) -> Reply {
    server.anonymous().get(path).header("cookie", cookie).send()
}

/// The addresses within the console to which a page links, without other orders and spans of the same page.
fn links(page: &str) -> Vec<String> {
    let targets = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let targets = targets.map(|target| target.replace("&#38;", "&").replace("&amp;", "&"));
    let target = |target: String| target.split('#').next().unwrap_or_default().to_owned();
    let is_page = |target: &String| {
        target.starts_with("/console")
            && !target.starts_with("/console/assets/")
            && !target.contains("sort=")
            && !target.contains("days=")
    };
    targets.map(target).filter(is_page).collect()
}

/// All pages and files to which a person comes from Home, by their address. Each link must work.
fn crawl(server: &TestServer, cookie: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open_links = vec!["/console".to_owned()];
    while let Some(path) = open_links.pop() {
        if found.contains_key(&path) {
            continue;
        }
        let reply = open(server, cookie, &path);
        assert_eq!(reply.status, 200, "a link leads to {path}: {}", reply.text());
        let page = reply.text();
        open_links.extend(links(&page));
        found.insert(path, page);
        assert!(found.len() < 2000, "the crawl does not end");
    }
    found
}

/// The first two parts of the paths of the pages that contain the word.
fn screens_with(pages: &BTreeMap<String, String>, word: &str) -> BTreeSet<String> {
    let with_word = pages.iter().filter(|(_, page)| page.contains(word));
    let screen = |path: &str| path.split(['?', '/']).skip(1).take(2).collect::<Vec<_>>().join("/");
    with_word.map(|(path, _)| screen(path)).collect()
}

#[test]
fn no_page_of_the_console_shows_a_name_outside_of_the_reach() {
    both(|server| {
        plant(server);
        let far = [FAR];
        let of_class = [FAR, NEXT];
        let teacher = Reach::ClassesOf(format!("{NEAR}-teacher"));
        let all =
            crawl(server, &limited_person(server, "all@x.test", Role::Guide, &Reach::Everything));
        let expected: BTreeSet<String> = ["today", "students", "classes", "courses", "badges"]
            .map(|name| format!("console/{name}"))
            .into();
        let learning: BTreeSet<String> =
            expected.iter().filter(|name| !name.ends_with("today")).cloned().collect();
        for word in [FAR, NEAR, NEXT] {
            assert!(screens_with(&all, word).is_superset(&learning), "{word} is on all screens");
        }
        for (email, reach, words) in
            [("org@x.test", near(), &far[..]), ("teacher@x.test", teacher, &of_class[..])]
        {
            let cookie = limited_person(server, email, Role::Guide, &reach);
            let pages = crawl(server, &cookie);
            for (path, page) in &pages {
                for word in words {
                    assert!(!page.contains(word), "{email} finds '{word}' at {path}: {page}");
                    assert!(!path.contains(word), "{email} comes to {path}");
                }
            }
            assert!(screens_with(&pages, NEAR).is_superset(&learning), "{email}");
            let screens: BTreeSet<String> = screens_with(&pages, "<main");
            assert!(screens.is_superset(&expected), "{email}: {screens:?}");
        }
        let org = limited_person(server, "count@x.test", Role::Guide, &near());
        let home = open(server, &org, "/console").text();
        assert!(home.contains(">4</a>") && !home.contains("Incoming events"), "{home}");
    });
}

#[test]
fn the_event_log_of_a_limited_guide_has_events_of_the_own_district() {
    both(|server| {
        plant(server);
        let all = limited_person(server, "all@x.test", Role::Guide, &Reach::Everything);
        let own = limited_person(server, "own@x.test", Role::Guide, &near());
        let stream = |cookie: &str| {
            let path = "/console/events/stream?follow=false";
            let nobody = server.anonymous();
            let call = nobody.get(path).header("cookie", cookie);
            call.header("last-event-id", "0").expect(200).text()
        };
        let lists =
            ["", "?export=csv", "?export=json"].map(|query| format!("/console/events{query}"));
        for path in &lists {
            let page = open(server, &own, path).text();
            assert!(page.contains(NEAR) && !page.contains(FAR), "{path}: {page}");
            assert!(!page.contains("/console/events/refused"), "{path}: {page}");
            assert!(open(server, &all, path).text().contains(FAR), "{path}");
        }
        let (own_stream, all_stream) = (stream(&own), stream(&all));
        assert!(own_stream.contains(NEAR) && !own_stream.contains(FAR), "{own_stream}");
        assert!(all_stream.contains(FAR), "{all_stream}");
        for path in ["/console", "/console/events/live"] {
            assert_eq!(open(server, &own, path).status, 200, "{path}");
        }
        assert_eq!(open(server, &own, "/console/events/refused").status, 403);
        let far = super::event(&format!("{FAR}-ann"));
        let one = format!("/console/events/one?id={}", far["data"][0]["id"].as_str().unwrap());
        assert_eq!((open(server, &own, &one).status, open(server, &all, &one).status), (404, 200));
    });
}

#[test]
fn a_search_finds_only_what_lies_within_the_reach() {
    both(|server| {
        plant(server);
        let teacher = Reach::ClassesOf(format!("{NEAR}-teacher"));
        let all = limited_person(server, "all@x.test", Role::Guide, &Reach::Everything);
        let district = limited_person(server, "org@x.test", Role::Guide, &near());
        let classes = limited_person(server, "teacher@x.test", Role::Guide, &teacher);
        for (cookie, word, is_found) in [
            (&all, FAR, true),
            (&all, NEXT, true),
            (&district, FAR, false),
            (&district, NEXT, true),
            (&district, NEAR, true),
            (&classes, FAR, false),
            (&classes, NEXT, false),
            (&classes, NEAR, true),
        ] {
            for part in ["", "&part=1"] {
                let page = open(server, cookie, &format!("/console/search?q={word}{part}")).text();
                for path in ["students", "classes", "courses"] {
                    let href = format!("href=\"/console/{path}/{word}-");
                    assert_eq!(page.contains(&href), is_found, "{word}: {path}: {page}");
                }
            }
        }
        // A query of everything names nobody from outside.
        for query in ["an", "cl", "co", "qu"] {
            let page = open(server, &district, &format!("/console/search?q={query}")).text();
            assert!(!page.contains(FAR), "{query}: {page}");
        }
    });
}

#[test]
fn open_pages_of_today_are_updated_only_for_students_within_the_reach() {
    both(|server| {
        plant(server);
        let reaches = [Reach::Everything, near(), Reach::ClassesOf(format!("{NEXT}-teacher"))];
        let cookies = reaches.iter().zip(["all@x.test", "near@x.test", "next@x.test"]);
        let cookies: Vec<String> = cookies
            .map(|(reach, email)| limited_person(server, email, Role::Guide, reach))
            .collect();
        // The second time, the server looks again after the last page was closed.
        for round in 0..2 {
            let mut streams: Vec<Stream> = cookies
                .iter()
                .map(|cookie| {
                    let headers = format!("Cookie: {cookie}\r\n");
                    Stream::at(&server.address(), "/console/today/stream", &headers)
                })
                .collect();
            let words = [
                (FAR, [true, false, false]),
                (NEAR, [true, true, false]),
                (NEXT, [true, true, true]),
            ];
            for (number, (word, is_told)) in words.into_iter().enumerate() {
                let mut event = super::event(&format!("{word}-ann"));
                let id = format!("urn:uuid:00000000-0000-4000-9000-0000000000{round}{number}");
                event["data"][0]["id"] = id.into();
                server.client().post("/ims/caliper/v1p2/events").json(&event).expect(200);
                for (stream, (is_told, reach)) in
                    streams.iter_mut().zip(is_told.iter().zip(&reaches))
                {
                    // On PostgreSQL, an event after a gap waits for transactions of other tests.
                    let wait = Duration::from_secs(if *is_told { 60 } else { 1 });
                    assert_eq!(stream.has_data_within(wait), *is_told, "{word} {reach:?}");
                }
            }
        }
    });
}
