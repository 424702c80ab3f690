//! The kinds of callers for the test of all routes.

use std::collections::BTreeMap;

use lyceum_access::session::SessionKind;
use lyceum_access::student::{self, NewStudent};
use lyceum_access::{
    DEMO_CLIENT, Keyring, Player, Realm, Rights, Role, Scope, Scopes, person, session,
};
use lyceum_core::{PayloadDialect, Reach};
use lyceum_games::{games, visitors};
use lyceum_testserver::server::TestServer;
use serde_json::json;

use super::matrix::RouteRequest;
use super::reach::played;
use super::{bound_key, limited_client};
use crate::enrolling::{post, user};
use crate::people;
use crate::projects::{build, plan, send, state, upload, wanted};

/// The credentials that a caller sends.
#[derive(Clone, Default)]
pub(super) struct Caller {
    pub(super) token: Option<String>,
    pub(super) cookie: Option<String>,
    pub(super) backend: bool,
    /// The user whom the caller names as its player.
    pub(super) user: String,
}

impl Caller {
    fn with(token: impl Into<String>) -> Self {
        Self { token: Some(token.into()), user: "ann".to_owned(), ..Self::default() }
    }
}

/// The callers of a server by column, and the means to create more.
pub(super) struct Callers<'s> {
    pub(super) server: &'s TestServer,
    clients: BTreeMap<String, String>,
    fixed: BTreeMap<&'static str, Caller>,
}

impl<'s> Callers<'s> {
    pub(super) fn of_server(server: &'s TestServer) -> Self {
        let client = played(server);
        let zip = build("an app");
        upload(&client, &zip);
        for slug in ["rivers", "planets"] {
            let state = state(&client, slug);
            let deployed = send(&client, &plan(&state, &wanted(&state, &zip, &[])), &[]);
            assert_eq!(deployed.status, 201, "{}", deployed.text());
        }
        for (email, role) in [
            ("ada@example.org", Role::Administrator),
            ("gil@example.org", Role::Guide),
            ("sue@example.org", Role::Guide),
            ("dev@example.org", Role::Developer),
        ] {
            people::person(server, email, email, role);
        }
        let join = server.db().write_blocking(|tx| {
            let developer = person::require(tx, "dev@example.org")?;
            lyceum_access::join(tx, "rivers", &developer.id)?;
            let ann = NewStudent {
                roster_user: "ann".to_owned(),
                name: "Ann".to_owned(),
                email: Some("ann@example.org".to_owned()),
                password: None,
            };
            student::create(tx, server.setup().clock.now(), &ann)?;
            person::limit(tx, "sue@example.org", &Reach::organizations(["s"])?)
        });
        join.unwrap();
        let school = limited_client(server, &["s"]);
        let environment = server.setup().config.server.env;
        let key = people::key(server, "ci", Role::Developer, environment);
        let bound = bound_key(server, "rivers");
        let token = post(&client, "/api/games/rivers/token", &json!({ "userId": "ann" }), 200);
        let fixed = BTreeMap::from([
            ("nobody", Caller { user: "ann".to_owned(), ..Caller::default() }),
            ("school", Caller::with(school.token().unwrap())),
            ("devkey", Caller::with(key)),
            ("bound", Caller::with(bound.token().unwrap())),
            ("player", Caller::with(token["token"].as_str().unwrap())),
        ]);
        let mut callers = Self { server, clients: BTreeMap::new(), fixed };
        callers.sign_in();
        callers.visit();
        callers
    }

    pub(super) fn of_sandbox(server: &'s TestServer) -> Self {
        let client = played(server);
        user(&client, "demo", "student", &["03"], "s");
        let local = Caller { user: "ann".to_owned(), ..Caller::default() };
        let mock = Caller { user: "demo".to_owned(), ..Caller::with("mock") };
        let backend = Caller { backend: true, ..local.clone() };
        let fixed = BTreeMap::from([("local", local), ("mock", mock), ("backend", backend)]);
        Self { server, clients: BTreeMap::new(), fixed }
    }

    /// Creates sessions of people, for tokens and for pages.
    fn sign_in(&mut self) {
        let (now, environment) =
            (self.server.setup().clock.now(), self.server.setup().config.server.env);
        for (column, email) in [
            ("admin", "ada@example.org"),
            ("guide", "gil@example.org"),
            ("sguide", "sue@example.org"),
            ("dev", "dev@example.org"),
            ("student", "ann@example.org"),
        ] {
            let begin = |sort| {
                let begun = self.server.db().write_blocking(|tx| {
                    let person = person::require(tx, email)?;
                    session::start(tx, now, environment, &person, sort, None)
                });
                begun.unwrap()
            };
            let cookie = Some(format!("lyceum={}", begin(SessionKind::Page)));
            let token = (column != "student").then(|| begin(SessionKind::Token));
            self.fixed
                .insert(column, Caller { token, cookie, user: "ann".to_owned(), backend: false });
        }
    }

    /// Creates a new demo visitor, because each has only few requests per second.
    fn visit(&mut self) {
        let setup = self.server.setup();
        let realm = Realm::new(setup.config.server.env, &setup.config.public_url());
        let now = setup.clock.now();
        let begun = self.server.db().write_blocking(|tx| {
            let game = games::find(tx, "rivers")?;
            let user = visitors::begin_demo(tx, now, &game)?.id;
            let keyring = Keyring::open(tx, now, &realm, &setup.master)?;
            let player = Player { user, game: game.id };
            let issued = keyring.issue_game(DEMO_CLIENT, &player, now, 600);
            Ok((player.user, issued.token))
        });
        let (user, token) = begun.unwrap();
        self.fixed.insert("demo", Caller { user, ..Caller::with(token) });
    }

    fn client(&mut self, scopes: &[Scope]) -> Caller {
        let server = self.server;
        let name = scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>().join(" ");
        let token = self
            .clients
            .entry(name)
            .or_insert_with(|| server.token(scopes, PayloadDialect::Platform));
        Caller::with(token.clone())
    }

    pub(super) fn class(&mut self, column: &'static str, place: &RouteRequest) -> &'static str {
        let scopes = place.route.access.scopes();
        match (column, scopes) {
            ("scope", Some(scopes)) => self.class_of_scopes(scopes, place),
            ("scope", None) => place.class(self.server, &self.client(&[])),
            ("others", Some(scopes)) => {
                let closed = |scope: &Scope| !rights(*scope).allow_any(scopes);
                let others: Vec<Scope> = Scope::all().filter(closed).collect();
                assert!(!others.is_empty(), "{} is open to every scope", place.key());
                place.class(self.server, &self.client(&others))
            }
            ("others", None) => place.class(self.server, &self.client(&[Scope::EventsRead])),
            _ => {
                let mut class = place.class(self.server, &self.fixed[column]);
                while class == "429" {
                    assert_eq!(column, "demo", "{} counts requests", place.key());
                    self.visit();
                    class = place.class(self.server, &self.fixed[column]);
                }
                if place.pattern.ends_with("sign-out") && self.fixed.contains_key("admin") {
                    self.sign_in();
                }
                class
            }
        }
    }

    fn class_of_scopes(&mut self, scopes: Scopes, place: &RouteRequest) -> &'static str {
        let also = place.route.access.also().unwrap_or_default();
        if also != Scopes::default() {
            let half: Vec<Scope> = scopes.iter().collect();
            assert_eq!(place.class(self.server, &self.client(&half)), "403", "{}", place.key());
        }
        let with_also = |scopes: &[Scope]| -> Vec<Scope> {
            scopes.iter().copied().chain(also.iter()).collect()
        };
        let all: Vec<Scope> = scopes.iter().collect();
        let class = place.class(self.server, &self.client(&with_also(&all)));
        let opens = |scope: &Scope| rights(*scope).allow_any(scopes);
        for scope in Scope::all().filter(opens) {
            if place.class(self.server, &self.client(&with_also(&[scope]))) != class {
                return "some";
            }
        }
        class
    }
}

fn rights(scope: Scope) -> Rights {
    Scopes::from_iter([scope]).rights()
}
