//! Tests of names and rights of scopes.

use super::*;

#[test]
fn every_name_is_parsed_as_its_scope() {
    for (n, (scope, name)) in NAMES.iter().enumerate() {
        assert_eq!((*scope as usize, scope.name(), name.parse()), (n, *name, Ok(*scope)));
    }
}

#[test]
fn everything_includes_all_scopes_except_those_granted_by_name() {
    let rights = Scopes::EVERYTHING.rights();
    for scope in Scope::all() {
        assert_eq!(
            rights.allow(scope),
            ![PasswordsRead, PeopleManage, ServerRead].contains(&scope)
        );
    }
}

#[test]
fn only_administrators_have_the_scopes_granted_by_name() {
    for named in [PasswordsRead, PeopleManage, ServerRead] {
        for scope in Scope::all().filter(|scope| *scope != named) {
            assert!(!Scopes::from_iter([scope]).rights().allow(named), "{scope}");
        }
        for role in crate::Role::ALL {
            let is_administrator = role == crate::Role::Administrator;
            assert_eq!(role.scopes().rights().allow(named), is_administrator, "{role}");
        }
    }
}

#[test]
fn a_scope_includes_all_scopes_of_the_scopes_it_includes() {
    for scope in Scope::all() {
        for opened in scope.opens() {
            for further in opened.opens() {
                assert!(scope.opens().contains(further), "{scope} → {opened} → {further}");
            }
        }
    }
}

#[test]
fn reading_the_roster_includes_neither_demographics_nor_writes() {
    for broad in [OrRosterReadonly, RosterRead] {
        let rights = Scopes::from_iter([broad]).rights();
        assert!(rights.allow(OrRosterCoreReadonly));
        assert!(!rights.allow(OrRosterDemographicsReadonly));
        assert!(!rights.allow(RosterWrite));
        assert!(!rights.allow(OrGradebookReadonly));
    }
    let core = Scopes::from_iter([OrRosterCoreReadonly]).rights();
    assert!(!core.allow(OrRosterReadonly));
    assert!(core.allow_any([OrRosterReadonly, OrRosterCoreReadonly].into_iter().collect()));
}

#[test]
fn scopes_are_parsed_from_a_list_and_printed_as_one() {
    let text = "lyceum/roster.write  lyceum/roster.read";
    let scopes: Scopes = text.parse().unwrap();
    assert_eq!(scopes.to_string(), "lyceum/roster.read lyceum/roster.write");
    let unknown = "lyceum/roster.read root".parse::<Scopes>();
    assert_eq!(unknown, Err(UnknownScope("root".to_owned())));
    assert_eq!(Scopes::parse_known("root lyceum/roster.read"), [RosterRead].into_iter().collect());
}
