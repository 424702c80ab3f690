//! The rule of access, caller by caller.

use super::*;

const DEVELOPER: Caller<'static> = Caller::Person(Role::Developer, &Reach::Everything);
const BOUND: Caller<'static> = Caller::Key(Role::Developer, Some("rivers"), &Reach::Everything);

fn client(scopes: &[Scope]) -> Caller<'static> {
    let scopes: Scopes = scopes.iter().copied().collect();
    Caller::Client(scopes.rights(), &Reach::Everything)
}

fn ann() -> Player {
    Player { user: "ann".to_owned(), game: "g1".to_owned() }
}

fn on_route(caller: Caller<'_>, access: impl Into<Access>) -> Result<AccessReach, AccessDenial> {
    allowed(caller, access.into(), RequestSubject::Route(LimitedCallers::Refused))
}

fn about(caller: Caller<'_>, subject: RequestSubject<'_>) -> Result<AccessReach, AccessDenial> {
    on_subject(caller, subject)
}

fn game(slug: &str, is_member: bool) -> RequestSubject<'_> {
    let id = if slug == "rivers" { "g1" } else { "g2" };
    RequestSubject::Game { id, slug, is_member }
}

#[test]
fn a_public_route_gives_access_to_nothing_else() {
    for caller in [Caller::Nobody, client(&[]), DEVELOPER] {
        assert_eq!(on_route(caller, Access::Public), Ok(AccessReach::Open));
    }
}

#[test]
fn a_route_requires_the_scope_that_it_names() {
    let scopes = Scopes::from_iter([Scope::RosterRead]);
    assert_eq!(on_route(Caller::Nobody, Scope::RosterRead), Err(AccessDenial::SignedOut));
    let refused = Err(AccessDenial::Scope(scopes));
    assert_eq!(on_route(client(&[Scope::RosterWrite]), Scope::RosterRead), refused);
    assert_eq!(on_route(DEVELOPER, Scope::RosterRead), refused);
    assert!(on_route(client(&[Scope::RosterRead]), Scope::RosterRead).is_ok());
    assert_eq!(on_route(Caller::Nobody, Access::Optional(scopes)), Ok(AccessReach::Open));
    assert_eq!(on_route(DEVELOPER, Access::Optional(scopes)), refused);
}

#[test]
fn a_student_has_access_only_to_the_routes_of_students() {
    let (own, class) =
        (Caller::Student(StudentSession::Own), Caller::Student(StudentSession::Class));
    let lessons = Access::Student(StudentSession::Class);
    let whole = Access::Student(StudentSession::Own);
    for (caller, access) in [(own, whole), (own, lessons), (class, lessons)] {
        assert_eq!(on_route(caller, access), Ok(AccessReach::Open));
    }
    assert_eq!(on_route(class, whole), Err(AccessDenial::ClassSession));
    for caller in [Caller::Nobody, client(&[Scope::RosterRead]), Caller::Backend("g1")] {
        assert_eq!(on_route(caller, lessons), Err(AccessDenial::SignedOut));
    }
    for role in [Role::Administrator, Role::Guide, Role::Developer] {
        let refused = on_route(Caller::Person(role, &Reach::Everything), lessons);
        assert_eq!(refused, Err(AccessDenial::Role(Roles::STUDENT)), "{role}");
    }
    for caller in [own, class] {
        assert_eq!(on_route(caller, Access::SignedIn), Err(AccessDenial::Student));
        let page = Access::Page(Scopes::default());
        assert!(matches!(on_route(caller, page), Err(AccessDenial::Role(_))));
        for scope in Scope::all() {
            assert!(matches!(on_route(caller, scope), Err(AccessDenial::Scope(_))), "{scope}");
        }
        assert!(about(caller, game("rivers", true)).is_err());
        assert!(about(caller, RequestSubject::Player { user: "ann", is_own: true }).is_err());
        assert!(about(caller, RequestSubject::Project("rivers", true)).is_err());
        assert!(about(caller, RequestSubject::NewProject("lakes")).is_err());
        assert!(about(caller, RequestSubject::Platform).is_err());
    }
}

#[test]
fn a_page_requires_a_person_whose_role_has_its_scopes() {
    let page = Access::Page(Scopes::default().with(Scope::EventsRead));
    for role in [Role::Administrator, Role::Guide] {
        assert!(on_route(Caller::Person(role, &Reach::Everything), page).is_ok());
    }
    assert!(matches!(on_route(DEVELOPER, page), Err(AccessDenial::Role(_))));
    for caller in [Caller::Nobody, client(&[]), Caller::Key(Role::Guide, None, &Reach::Everything)]
    {
        assert_eq!(on_route(caller, page), Err(AccessDenial::SignedOut));
    }
    let roles = |scopes: &[Scope]| Roles::with(scopes.iter().copied().collect()).to_string();
    assert_eq!(roles(&[]), "'administrator' or 'guide' or 'developer'");
    assert_eq!(roles(&[Scope::EventsRead]), "'administrator' or 'guide'");
    assert_eq!(roles(&[Scope::EventsRead, Scope::EventsWrite]), "'administrator'");
    assert_eq!(roles(&[Scope::ProjectsRead]), "'administrator' or 'developer'");
}

#[test]
fn demo_visitors_have_their_own_routes() {
    let ann = ann();
    let visitor = Caller::DemoVisitor(&ann);
    assert_eq!(on_route(visitor, Access::player(Scope::GamesRead)), Err(AccessDenial::Demo));
    assert!(on_route(visitor, Access::visitor(Scope::GamesRead)).is_ok());
    assert!(matches!(on_route(visitor, Scope::GamesRead), Err(AccessDenial::Scope(_))));
    let name = RequestSubject::Name { user: "bob", is_own: false };
    assert_eq!(about(visitor, name), Err(AccessDenial::Demo));
}

#[test]
fn only_members_and_the_own_key_have_access_to_a_project() {
    let rivers = RequestSubject::Project("rivers", false);
    for caller in
        [DEVELOPER, Caller::Person(Role::Guide, &Reach::Everything), Caller::Backend("g1")]
    {
        assert_eq!(about(caller, rivers), Err(AccessDenial::Project("rivers".to_owned())));
    }
    assert!(about(DEVELOPER, RequestSubject::Project("rivers", true)).is_ok());
    assert!(about(BOUND, rivers).is_ok());
    assert!(about(BOUND, RequestSubject::Project("lakes", false)).is_err());
    assert!(about(BOUND, RequestSubject::NewProject("lakes")).is_err());
    assert!(about(DEVELOPER, RequestSubject::NewProject("lakes")).is_ok());
    assert!(
        about(Caller::Person(Role::Guide, &Reach::Everything), RequestSubject::NewProject("lakes"))
            .is_err()
    );
    assert!(about(client(&[]), rivers).is_ok());
}

#[test]
fn players_and_backends_have_access_only_to_their_own_game() {
    let ann = ann();
    let token = Caller::Player { player: &ann, trust: PlayerTrust::Person };
    let own = [token, Caller::DemoVisitor(&ann), Caller::Backend("g1"), BOUND];
    for caller in own {
        assert!(about(caller, game("rivers", false)).is_ok(), "{caller:?}");
        let refused = Err(AccessDenial::Game("lakes".to_owned()));
        assert_eq!(about(caller, game("lakes", false)), refused, "{caller:?}");
    }
    assert!(about(DEVELOPER, game("rivers", false)).is_err());
    assert!(about(DEVELOPER, game("rivers", true)).is_ok());
    for caller in [client(&[Scope::GamesRead]), Caller::Person(Role::Guide, &Reach::Everything)] {
        assert!(about(caller, game("lakes", false)).is_ok());
    }
}

#[test]
fn only_administrators_guides_and_clients_with_roster_scopes_see_people() {
    let reader = client(&[Scope::GamesRead, Scope::RosterRead]);
    for caller in [
        reader,
        Caller::Person(Role::Guide, &Reach::Everything),
        Caller::Person(Role::Administrator, &Reach::Everything),
    ] {
        assert!(reach(caller).names_people());
        assert_eq!(PlayerTrust::of_maker(caller), PlayerTrust::Person);
    }
    let ann = ann();
    let game_player = Caller::Player { player: &ann, trust: PlayerTrust::Game };
    let player = Caller::Key(Role::Developer, None, &Reach::Everything);
    for caller in [client(&[Scope::GamesRead]), DEVELOPER, BOUND, game_player, player] {
        assert!(!reach(caller).names_people());
        assert_ne!(PlayerTrust::of_maker(caller), PlayerTrust::Person);
    }
    let bound_guide = Caller::Key(Role::Guide, Some("rivers"), &Reach::Everything);
    assert!(!reach(bound_guide).names_people());
}

#[test]
fn a_developer_sees_only_the_players_of_own_games() {
    for caller in [DEVELOPER, BOUND] {
        for is_own in [false, true] {
            let player = RequestSubject::Player { user: "ann", is_own };
            let name = RequestSubject::Name { user: "ann", is_own };
            assert_eq!(about(caller, player).is_ok(), is_own);
            assert_eq!(about(caller, name).is_ok(), is_own);
        }
        for is_student in [false, true] {
            let all = RequestSubject::PlayerOfAllGames { user: "ann", is_student };
            assert_eq!(about(caller, all).is_ok(), is_student);
        }
        assert_eq!(about(caller, RequestSubject::Platform), Err(AccessDenial::Platform));
    }
}

#[test]
fn a_game_token_gives_access_only_to_its_player() {
    let ann = ann();
    for trust in [PlayerTrust::Game, PlayerTrust::Games, PlayerTrust::Person] {
        let token = Caller::Player { player: &ann, trust };
        let player = |user| RequestSubject::Player { user, is_own: false };
        assert!(about(token, player("ann")).is_ok());
        assert!(about(token, player("bob")).is_err());
        let all = |user, is_student| RequestSubject::PlayerOfAllGames { user, is_student };
        assert_eq!(about(token, all("ann", false)).is_ok(), trust != PlayerTrust::Game);
        assert!(about(token, all("ann", true)).is_ok());
        assert!(about(token, all("bob", true)).is_err());
        for is_own in [false, true] {
            let other = RequestSubject::Name { user: "bob", is_own };
            assert_eq!(about(token, other).is_ok(), is_own);
        }
        assert!(about(token, RequestSubject::Name { user: "ann", is_own: false }).is_ok());
        assert_eq!(about(token, RequestSubject::Platform), Err(AccessDenial::Platform));
    }
}

#[test]
fn a_game_token_sees_no_more_than_its_creator() {
    let key = Caller::Key(Role::Developer, None, &Reach::Everything);
    for maker in [client(&[Scope::GamesWrite]), key] {
        assert_eq!(PlayerTrust::of_maker(maker), PlayerTrust::Games);
        let all = RequestSubject::PlayerOfAllGames { user: "ann", is_student: false };
        assert!(about(maker, all).is_ok(), "maker and token see the same");
    }
    for maker in [DEVELOPER, BOUND, Caller::Backend("g1")] {
        assert_eq!(PlayerTrust::of_maker(maker), PlayerTrust::Game);
    }
}

#[test]
fn a_backend_sees_its_own_game_and_more_about_its_students() {
    let backend = Caller::Backend("g1");
    assert!(about(backend, RequestSubject::Player { user: "bob", is_own: false }).is_ok());
    for known in [false, true] {
        let all = RequestSubject::PlayerOfAllGames { user: "bob", is_student: known };
        let name = RequestSubject::Name { user: "bob", is_own: known };
        assert_eq!(about(backend, all).is_ok(), known);
        assert_eq!(about(backend, name).is_ok(), known);
    }
}

#[test]
fn only_administrators_and_clients_change_the_platform() {
    let may = [
        client(&[Scope::GamesWrite]),
        Caller::Person(Role::Administrator, &Reach::Everything),
        Caller::Key(Role::Administrator, None, &Reach::Everything),
    ];
    for caller in may {
        assert!(about(caller, RequestSubject::Platform).is_ok());
    }
    let may_not = [
        Caller::Key(Role::Developer, None, &Reach::Everything),
        Caller::Backend("g1"),
        Caller::Nobody,
    ];
    for caller in may_not {
        assert_eq!(about(caller, RequestSubject::Platform), Err(AccessDenial::Platform));
    }
}
