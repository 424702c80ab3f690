//! Compares the access of every kind of caller to every route with the reviewed file `expected.txt`. A route without a
//! line fails, and so does a line without a route. `LYCEUM_BLESS=1` rewrites the file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lyceum_access::{Player, session};
use lyceum_api::Route;
use lyceum_http::route::Access;
use lyceum_server::routes;
use lyceum_testserver::server::{Setup, TestServer, both_as};
use serde_json::{Value, json};

use super::callers::{Caller, Callers};

/// The callers of a server, followed by those of a sandbox.
const COLUMNS: [&str; 16] = [
    "nobody", "scope", "others", "school", "admin", "guide", "sguide", "student", "dev", "devkey",
    "bound", "player", "demo", "local", "mock", "backend",
];
/// The number of columns for callers of a server that is not a sandbox.
const SERVED: usize = 13;

const ABOUT: &str = "\
# Who may call what: one line for each route, one column for each kind of caller.
#
#   in       the caller gets through: any answer but those below, also 404 or 422
#   401      refused without a token or session
#   403      refused; a form of a public page answers so, too, without the token of its page
#   sign-in  sent to the sign-in page
#   some     some of the route's scopes open it alone, and others do not
#
# The second column says what the request is about: rivers is the own game and project, ann its player;
# planets is another game, bob a player of planets alone.
#
#   nobody   no token                        player   a game token of ann in rivers
#   scope    a client with the route's       demo     a demo visitor of rivers
#            scopes, together and each alone
#   others   a client with all other scopes  In a sandbox:
#   school   a client with all scopes that   local    no token
#            is limited to a school          mock     any token: the demo user, who makes games
#   admin, guide, dev: people by a token,    backend  the backend of rivers
#            on pages by a session
#   sguide   a guide limited to a school
#   student  ann, by a session of her own
#   devkey   a developer's key
#   bound    a developer's key for rivers
#
# LYCEUM_BLESS=1 cargo test -p lyceum-server --test it access::matrix writes this file anew: review the diff.
";

/// A request of the test to a route.
pub(super) struct RouteRequest {
    pub(super) route: Arc<Route>,
    /// The path of the route, with its base.
    pub(super) pattern: String,
    about: &'static str,
    game: Option<&'static str>,
    is_own_player: bool,
}

fn places() -> Vec<RouteRequest> {
    let mut places = Vec::new();
    for area in routes::all() {
        for route in area.routes {
            let pattern = format!("{}{}", area.base, route.path);
            let route = Arc::new(route);
            for (about, game, is_own_player) in subjects(area.name, &route) {
                let (route, pattern) = (Arc::clone(&route), pattern.clone());
                places.push(RouteRequest { route, pattern, about, game, is_own_player });
            }
        }
    }
    places
}

/// The subjects that requests to a route can have.
fn subjects(area: &str, route: &Route) -> Vec<(&'static str, Option<&'static str>, bool)> {
    let names = |name: &str| {
        route.path.contains(&format!("{{{name}}}")) || route.params.iter().any(|p| p.name == name)
    };
    let mut subjects = Vec::new();
    match area {
        "projects" | "console" if names("slug") => {
            subjects.push(("own-project", Some("rivers"), true));
            subjects.push(("other-project", Some("planets"), true));
        }
        "games" if names("gameId") || route.name == "createItem" => {
            subjects.push(("own-game", Some("rivers"), true));
            subjects.push(("other-game", Some("planets"), true));
        }
        _ => {}
    }
    if area == "games" && names("userId") && !route.path.contains("{gameId}") {
        subjects.push(("own-player", None, true));
        subjects.push(("other-player", None, false));
    }
    if subjects.is_empty() || route.name == "createItem" {
        subjects.push(("-", None, true));
    }
    subjects
}

impl RouteRequest {
    pub(super) fn key(&self) -> String {
        format!("{} {} {}", self.route.method, self.pattern, self.about)
    }

    fn is_platform(&self) -> bool {
        self.pattern.starts_with("/api/")
    }

    fn address(&self, caller: &Caller) -> String {
        let user = if self.is_own_player { &caller.user } else { "bob" };
        let fill = |segment: &str| match segment {
            "{gameId}" | "{slug}" => self.game.unwrap_or("x-unknown").to_owned(),
            "{userId}" if self.pattern.starts_with("/api/users/") => user.to_owned(),
            _ if segment.starts_with('{') => "x-unknown".to_owned(),
            _ => segment.to_owned(),
        };
        let path: Vec<String> = self.pattern.split('/').map(fill).collect();
        let mut query = Vec::new();
        for param in &self.route.params {
            let is_query = param.place == lyceum_http::route::ParamPlace::Query;
            match (&*param.name, self.game) {
                ("gameId", Some(game)) if is_query => query.push(format!("gameId={game}")),
                ("userId", _) if is_query && self.pattern.starts_with("/api/") => {
                    query.push(format!("userId={user}"));
                }
                _ => {}
            }
        }
        format!("{}?{}", path.join("/"), query.join("&")).trim_end_matches('?').to_owned()
    }

    /// The type and text of the body. If the handler applies the access rule, the body must be valid up to that point.
    fn body(&self, caller: &Caller) -> Option<(&'static str, String)> {
        if self.route.reads.media.is_empty() {
            return None;
        }
        let is_page = matches!(self.route.access, Access::Page(_) | Access::Student(_));
        if is_page && !self.route.reads.media[0].ends_with("json") {
            let cookie = caller.cookie.as_deref()?;
            let token = session::form_token(cookie.split_once('=').unwrap().1);
            let form = format!("token={token}&version=1&revision=1");
            return Some(("application/x-www-form-urlencoded", form));
        }
        let body = self.game_body()?;
        Some(("application/json", body.to_string()))
    }

    fn game_body(&self) -> Option<Value> {
        let activity = json!({ "activityId": "a", "subject": "Math", "grade": "03" });
        Some(match &*self.route.name {
            "createGame" => json!({ "slug": "lakes", "displayName": "Lakes" }),
            "createGameToken" => json!({ "userId": "ann" }),
            "putGameIdentity" => json!({ "shares": false }),
            "createItem" => {
                let slug = format!("item-{}", self.about);
                json!({ "slug": slug, "displayName": "Item", "gameId": self.game })
            }
            "addToInventory" | "removeFromInventory" => json!({ "itemId": "boat", "qty": 1 }),
            "submitScore" | "submitScoreOfGame" => json!({ "score": 1 }),
            "saveState" => json!({ "state": {} }),
            "putLevels" => {
                json!({ "levels": [{ "level": 1, "xpRequired": 0, "creditsReward": 0 }] })
            }
            "putAchievement" => json!({ "title": "First" }),
            "advanceAchievement" => json!({ "progress": 1 }),
            "setUpIntegration" => {
                json!({ "courses": [{ "subject": "Math", "grade": 3, "totalXp": 9 }] })
            }
            "endActivity" => json!({
                "activityData": activity, "timingData": { "durationSeconds": 60 },
                "scoreData": { "correctQuestions": 1, "totalQuestions": 1 },
            }),
            "addTimeSpent" => json!({
                "activityData": activity, "timingData": { "activeSeconds": 1, "inactiveSeconds": 0 },
            }),
            "putXpToday" => json!({ "xp": 1 }),
            "createDemoToken" | "changeGame" | "startSession" | "endSession"
            | "unlockAchievement" | "readNotifications" | "readNotification" => json!({}),
            name => {
                let is_game = self.about != "-" && !self.about.ends_with("project");
                assert!(!is_game, "give '{name}' a body that the rule of access is asked about");
                return None;
            }
        })
    }

    /// Sends the request, reads the head of the answer and sorts it.
    pub(super) fn class(&self, server: &TestServer, caller: &Caller) -> &'static str {
        let mut head = format!(
            "{} {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nSec-Fetch-Site: same-origin\r\n",
            self.route.method,
            self.address(caller)
        );
        let is_page = matches!(self.route.access, Access::Page(_) | Access::Student(_));
        match (&caller.token, &caller.cookie) {
            (token, Some(cookie)) if is_page || token.is_none() => {
                write!(head, "Cookie: {cookie}\r\n").unwrap();
            }
            (Some(token), _) => write!(head, "Authorization: Bearer {token}\r\n").unwrap(),
            _ => {}
        }
        if caller.backend {
            head.push_str("Lyceum-Backend: rivers\r\n");
        }
        let body = match self.body(caller) {
            Some((media, body)) => {
                write!(head, "Content-Type: {media}\r\nContent-Length: {}\r\n", body.len())
                    .unwrap();
                body
            }
            None => String::new(),
        };
        write!(head, "\r\n{body}").unwrap();
        let mut stream = TcpStream::connect(&server.setup().config.server.listen).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let mut part = [0; 4096];
        while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
            match stream.read(&mut part) {
                Ok(read @ 1..) => answer.extend_from_slice(&part[..read]),
                end => panic!("{} is not answered: {end:?}", self.key()),
            }
        }
        let answer = String::from_utf8_lossy(&answer).to_lowercase();
        let status: u16 = answer[9..12].parse().unwrap();
        match status {
            401 => {
                let asks = answer.contains("www-authenticate: bearer");
                assert!(asks || self.route.access.scopes().is_none(), "{}", self.key());
                "401"
            }
            403 => "403",
            303 if answer.contains("location: /sign-in?next=") => "sign-in",
            405 => panic!("{} is not served", self.key()),
            429 => "429",
            0..=499 | 501 | 503 => "in",
            _ => "broken",
        }
    }
}

/// The lines of the file by route and subject, with the words of the columns.
type Lines = BTreeMap<String, Vec<String>>;

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/access/expected.txt")
}

fn read_lines() -> Lines {
    let text = fs::read_to_string(file()).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let words = lines.map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    let lines = words.filter(|words| words[0] != "method").map(|words| {
        assert_eq!(words.len(), 3 + COLUMNS.len(), "columns of {}", words[..3].join(" "));
        (words[..3].join(" "), words[3..].to_vec())
    });
    lines.collect()
}

fn write_lines(order: &[String], lines: &Lines) {
    let mut text = ABOUT.to_owned();
    let mut line = |key: &str, columns: &[String]| {
        let mut words = key.split(' ');
        let mut word = || words.next().unwrap();
        let mut line = format!("{:<6} {:<76} {:<13}", word(), word(), word());
        for word in columns {
            write!(line, " {word:<7}").unwrap();
        }
        writeln!(text, "{}", line.trim_end()).unwrap();
    };
    line("method path about", &COLUMNS.map(str::to_owned));
    for key in order {
        line(key, &lines[key]);
    }
    fs::write(file(), text).unwrap();
}

/// Sends requests to all routes as all callers. Returns the differences from the lines.
fn walk(
    callers: &mut Callers<'_>,
    columns: std::ops::Range<usize>,
    lines: &mut Lines,
    is_blessed: bool,
) -> Vec<String> {
    let is_whole = lyceum_testkit::full_size()
        || callers.server.db().dialect() == lyceum_store::SqlDialect::Sqlite;
    let mut differences = Vec::new();
    for place in places() {
        // PostgreSQL matters only for routes whose access rule reads the store.
        if !is_whole && !place.is_platform() {
            continue;
        }
        let key = place.key();
        for column in columns.clone() {
            let class = callers.class(COLUMNS[column], &place);
            if is_blessed {
                let unknown = || vec!["?".to_owned(); COLUMNS.len()];
                class.clone_into(&mut lines.entry(key.clone()).or_insert_with(unknown)[column]);
            } else if let Some(line) = lines.get(&key)
                && line[column] != class
            {
                let wanted = &line[column];
                differences.push(format!("{key}: {} got {class}, not {wanted}", COLUMNS[column]));
            }
        }
    }
    differences
}

#[test]
fn every_route_answers_every_kind_of_caller_as_the_file_says() {
    #[expect(clippy::disallowed_methods, reason = "blessing is not a setting")]
    let is_blessed = std::env::var("LYCEUM_BLESS").is_ok_and(|value| value == "1");
    let order: Vec<String> = places().iter().map(RouteRequest::key).collect();
    let known = read_lines();
    if !is_blessed {
        let missing: Vec<_> = order.iter().filter(|key| !known.contains_key(*key)).collect();
        let left: Vec<_> = known.keys().filter(|key| !order.contains(key)).collect();
        assert!(missing.is_empty(), "routes without a line: {missing:#?}");
        assert!(left.is_empty(), "lines without a route: {left:#?}");
    }
    let found = std::cell::RefCell::new((known, Vec::new()));
    let run = |setup: Setup, columns: std::ops::Range<usize>| {
        both_as(&setup, |server| {
            if is_blessed && server.db().dialect() != lyceum_store::SqlDialect::Sqlite {
                return;
            }
            let mut callers = match columns.start {
                0 => Callers::of_server(server),
                _ => Callers::of_sandbox(server),
            };
            let (lines, differences) = &mut *found.borrow_mut();
            differences.extend(walk(&mut callers, columns.clone(), lines, is_blessed));
        });
    };
    let mut setup = Setup::default();
    setup.config.limits.requests_per_second = 0;
    run(setup.clone(), 0..SERVED);
    let demo = Player { user: "demo".to_owned(), game: String::new() };
    run(Setup { sandbox: Some((demo, true)), ..setup }, SERVED..COLUMNS.len());
    let (lines, differences) = found.into_inner();
    if is_blessed {
        write_lines(&order, &lines);
    }
    assert!(differences.is_empty(), "{differences:#?}");
}
