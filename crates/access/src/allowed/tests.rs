//! The rule of access, caller by caller.

use super::*;

const DEVELOPER: Caller<'static> = Caller::Person(Role::Developer);
const BOUND: Caller<'static> = Caller::Key(Role::Developer, Some("rivers"));

fn client(scopes: &[Scope]) -> Caller<'static> {
    let scopes: Scopes = scopes.iter().copied().collect();
    Caller::Client(scopes.rights())
}

fn ann() -> Player {
    Player { user: "ann".to_owned(), game: "g1".to_owned() }
}

fn on_route(caller: Caller<'_>, access: impl Into<Access>) -> Result<Reach, Denied> {
    allowed(caller, access.into(), Subject::Route)
}

fn about(caller: Caller<'_>, subject: Subject<'_>) -> Result<Reach, Denied> {
    on_subject(caller, subject)
}

fn game(slug: &str, is_member: bool) -> Subject<'_> {
    let id = if slug == "rivers" { "g1" } else { "g2" };
    Subject::Game { id, slug, is_member }
}

#[test]
fn a_public_route_opens_nothing_but_itself() {
    for caller in [Caller::Nobody, client(&[]), DEVELOPER] {
        assert_eq!(on_route(caller, Access::Public), Ok(Reach::Open));
    }
}

#[test]
fn a_scope_is_needed_where_a_route_names_it() {
    let scopes = Scopes::from_iter([Scope::RosterRead]);
    assert_eq!(on_route(Caller::Nobody, Scope::RosterRead), Err(Denied::SignedOut));
    let refused = Err(Denied::Scope(scopes));
    assert_eq!(on_route(client(&[Scope::RosterWrite]), Scope::RosterRead), refused);
    assert_eq!(on_route(DEVELOPER, Scope::RosterRead), refused);
    assert!(on_route(client(&[Scope::RosterRead]), Scope::RosterRead).is_ok());
    assert_eq!(on_route(Caller::Nobody, Access::Optional(scopes)), Ok(Reach::Open));
    assert_eq!(on_route(DEVELOPER, Access::Optional(scopes)), refused);
}

#[test]
fn a_page_is_for_people_with_its_roles() {
    let page = Access::Page(Roles::named(&["guide"]));
    for role in [Role::Administrator, Role::Guide] {
        assert!(on_route(Caller::Person(role), page).is_ok());
    }
    assert!(matches!(on_route(DEVELOPER, page), Err(Denied::Role(_))));
    for caller in [Caller::Nobody, client(&[]), Caller::Key(Role::Guide, None)] {
        assert_eq!(on_route(caller, page), Err(Denied::SignedOut));
    }
    assert_eq!(Roles::named(&["guide"]).to_string(), "'administrator' or 'guide'");
}

#[test]
fn demo_visitors_have_their_own_routes() {
    let ann = ann();
    let visitor = Caller::DemoVisitor(&ann);
    assert_eq!(on_route(visitor, Access::player(Scope::GamesRead)), Err(Denied::Demo));
    assert!(on_route(visitor, Access::visitor(Scope::GamesRead)).is_ok());
    assert!(matches!(on_route(visitor, Scope::GamesRead), Err(Denied::Scope(_))));
    let name = Subject::Name { user: "bob", is_own: false };
    assert_eq!(about(visitor, name), Err(Denied::Demo));
}

#[test]
fn a_project_belongs_to_its_members_and_its_key() {
    let rivers = Subject::Project("rivers", false);
    for caller in [DEVELOPER, Caller::Person(Role::Guide), Caller::Backend("g1")] {
        assert_eq!(about(caller, rivers), Err(Denied::Project("rivers".to_owned())));
    }
    assert!(about(DEVELOPER, Subject::Project("rivers", true)).is_ok());
    assert!(about(BOUND, rivers).is_ok());
    assert!(about(BOUND, Subject::Project("lakes", false)).is_err());
    assert!(about(BOUND, Subject::NewProject("lakes")).is_err());
    assert!(about(DEVELOPER, Subject::NewProject("lakes")).is_ok());
    assert!(about(Caller::Person(Role::Guide), Subject::NewProject("lakes")).is_err());
    assert!(about(client(&[]), rivers).is_ok());
}

#[test]
fn a_game_is_open_to_its_own() {
    let ann = ann();
    let token = Caller::Player { player: &ann, trust: Trust::Person };
    let own = [token, Caller::DemoVisitor(&ann), Caller::Backend("g1"), BOUND];
    for caller in own {
        assert!(about(caller, game("rivers", false)).is_ok(), "{caller:?}");
        let refused = Err(Denied::Game("lakes".to_owned()));
        assert_eq!(about(caller, game("lakes", false)), refused, "{caller:?}");
    }
    assert!(about(DEVELOPER, game("rivers", false)).is_err());
    assert!(about(DEVELOPER, game("rivers", true)).is_ok());
    for caller in [client(&[Scope::GamesRead]), Caller::Person(Role::Guide)] {
        assert!(about(caller, game("lakes", false)).is_ok());
    }
}

#[test]
fn only_administrators_guides_and_clients_with_the_roster_know_people() {
    let reader = client(&[Scope::GamesRead, Scope::RosterRead]);
    for caller in [reader, Caller::Person(Role::Guide), Caller::Person(Role::Administrator)] {
        assert!(reach(caller).names_people());
        assert_eq!(Trust::of_maker(caller), Trust::Person);
    }
    let ann = ann();
    let made = Caller::Player { player: &ann, trust: Trust::Game };
    let player = Caller::Key(Role::Developer, None);
    for caller in [client(&[Scope::GamesRead]), DEVELOPER, BOUND, made, player] {
        assert!(!reach(caller).names_people());
        assert_ne!(Trust::of_maker(caller), Trust::Person);
    }
    let bound_guide = Caller::Key(Role::Guide, Some("rivers"));
    assert!(!reach(bound_guide).names_people());
}

#[test]
fn a_developer_sees_the_players_of_own_games_alone() {
    for caller in [DEVELOPER, BOUND] {
        for is_own in [false, true] {
            let player = Subject::Player { user: "ann", is_own };
            let name = Subject::Name { user: "ann", is_own };
            assert_eq!(about(caller, player).is_ok(), is_own);
            assert_eq!(about(caller, name).is_ok(), is_own);
        }
        for is_student in [false, true] {
            let all = Subject::PlayerOfAllGames { user: "ann", is_student };
            assert_eq!(about(caller, all).is_ok(), is_student);
        }
        assert_eq!(about(caller, Subject::Platform), Err(Denied::Platform));
    }
}

#[test]
fn a_game_token_is_for_its_player() {
    let ann = ann();
    for trust in [Trust::Game, Trust::Games, Trust::Person] {
        let token = Caller::Player { player: &ann, trust };
        let player = |user| Subject::Player { user, is_own: false };
        assert!(about(token, player("ann")).is_ok());
        assert!(about(token, player("bob")).is_err());
        let all = |user, is_student| Subject::PlayerOfAllGames { user, is_student };
        assert_eq!(about(token, all("ann", false)).is_ok(), trust != Trust::Game);
        assert!(about(token, all("ann", true)).is_ok());
        assert!(about(token, all("bob", true)).is_err());
        for is_own in [false, true] {
            let other = Subject::Name { user: "bob", is_own };
            assert_eq!(about(token, other).is_ok(), is_own);
        }
        assert!(about(token, Subject::Name { user: "ann", is_own: false }).is_ok());
        assert_eq!(about(token, Subject::Platform), Err(Denied::Platform));
    }
}

#[test]
fn a_token_is_trusted_as_far_as_its_maker_sees() {
    let key = Caller::Key(Role::Developer, None);
    for maker in [client(&[Scope::GamesWrite]), key] {
        assert_eq!(Trust::of_maker(maker), Trust::Games);
        let all = Subject::PlayerOfAllGames { user: "ann", is_student: false };
        assert!(about(maker, all).is_ok(), "maker and token see the same");
    }
    for maker in [DEVELOPER, BOUND, Caller::Backend("g1")] {
        assert_eq!(Trust::of_maker(maker), Trust::Game);
    }
}

#[test]
fn a_backend_sees_its_own_game_and_beyond_it_its_students() {
    let backend = Caller::Backend("g1");
    assert!(about(backend, Subject::Player { user: "bob", is_own: false }).is_ok());
    for known in [false, true] {
        let all = Subject::PlayerOfAllGames { user: "bob", is_student: known };
        let name = Subject::Name { user: "bob", is_own: known };
        assert_eq!(about(backend, all).is_ok(), known);
        assert_eq!(about(backend, name).is_ok(), known);
    }
}

#[test]
fn the_platform_is_changed_by_administrators_and_clients() {
    let may = [
        client(&[Scope::GamesWrite]),
        Caller::Person(Role::Administrator),
        Caller::Key(Role::Administrator, None),
    ];
    for caller in may {
        assert!(about(caller, Subject::Platform).is_ok());
    }
    let may_not = [Caller::Key(Role::Developer, None), Caller::Backend("g1"), Caller::Nobody];
    for caller in may_not {
        assert_eq!(about(caller, Subject::Platform), Err(Denied::Platform));
    }
}
