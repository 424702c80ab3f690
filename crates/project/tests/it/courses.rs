//! The courses of a project are compared with those of a server, record by record.

use lyceum_project::courses::{
    App, LmsState, LmsWish, Owner, Presence, Record, RecordAction, Taught, change, records,
};
use lyceum_project::{Course, Lms};

const APP: App<'_> = App { slug: "word-rivers", name: "Word Rivers" };

fn course(grade: &str, total_xp: Option<f64>) -> Course {
    Course {
        subject: "Math".into(),
        grade: grade.into(),
        total_xp,
        masterable_units: None,
        title: None,
        course_code: None,
    }
}

fn wish(courses: Vec<Course>) -> LmsWish {
    LmsWish::of(&Lms { organization: None, courses }, APP).unwrap()
}

/// The state of a server after these courses were set up.
fn set_up(wish: &LmsWish) -> LmsState {
    let change = change(&LmsState::default(), wish, APP.slug).unwrap();
    let record =
        |kind: &str, id: &str| Record { kind: kind.into(), id: id.into(), state: Presence::Ok };
    let mut all = vec![record("org", "lyceum-platform")];
    for course in &change.courses {
        let id = course.course_id.as_deref().unwrap();
        all.extend(records(id).iter().map(|(kind, id)| record(kind, id)));
    }
    let organization = Owner { id: Some("lyceum-platform".into()), ..Owner::default() };
    LmsState { organization: Some(organization), courses: change.courses, records: all }
}

#[test]
fn each_record_of_a_course_is_created_changed_or_restored_by_name() {
    let wanted = wish(vec![course("3", Some(500.5)), course("K", Some(1.0))]);
    let first = change(&LmsState::default(), &wanted, APP.slug).unwrap();
    let ids: Vec<_> = first.records.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids[..2], ["word-rivers-math-3", "word-rivers-math-3-component"]);
    assert_eq!((ids.len(), ids[7]), (8, "word-rivers-math-k-component-resource"));
    assert!(first.records.iter().all(|it| it.action == RecordAction::Create));
    assert_eq!(first.courses[0].title, "Word Rivers: Math 3");
    assert_eq!(first.courses[0].course_code, "Math-3");

    let there = set_up(&wanted);
    assert_eq!(change(&there, &wanted, APP.slug), None);
    // Servers store XP in thousandths. A grade in another spelling is the same course with another title.
    let again = wish(vec![course("3", Some(500.500_000_000_1)), course("K", Some(1.0))]);
    assert_eq!(change(&there, &again, APP.slug), None);
    let respelled = wish(vec![course("03", Some(500.5)), course("K", Some(1.0))]);
    let respelled = change(&there, &respelled, APP.slug).unwrap();
    assert_eq!(respelled.records[0].id, "word-rivers-math-3");
    assert_eq!((respelled.records.len(), respelled.ended.len()), (4, 0));

    let more =
        change(&there, &wish(vec![course("3", Some(501.0)), course("K", Some(1.0))]), APP.slug);
    let actions: Vec<_> = more.unwrap().records.iter().map(|it| it.action).collect();
    assert_eq!(actions, [RecordAction::Change; 4]);
    let mut torn = there.clone();
    torn.records[0].state = Presence::Missing;
    torn.records[2].state = Presence::Deleted;
    let changed = change(&torn, &wanted, APP.slug).unwrap().records;
    let done: Vec<_> = changed.iter().map(|it| (it.action, it.kind.as_str())).collect();
    assert_eq!(done, [(RecordAction::Create, "org"), (RecordAction::Restore, "courseComponent")]);
    let fewer = change(&there, &wish(vec![course("3", Some(500.5))]), APP.slug).unwrap();
    assert_eq!((fewer.records.len(), fewer.ended), (0, vec!["word-rivers-math-k".to_owned()]));
    let none = change(&torn, &wish(Vec::new()), APP.slug).unwrap();
    assert_eq!((none.records.len(), none.courses.len(), none.ended.len()), (0, 0, 2));
    assert_eq!(change(&LmsState::default(), &wish(Vec::new()), APP.slug), None);
    // If courses move to another organization, the old one stays as it is.
    let elsewhere = Owner { id: Some("other-school".into()), ..Owner::default() };
    let moved = LmsWish { organization: elsewhere, ..wanted.clone() };
    let moved = change(&torn, &moved, APP.slug).unwrap().records;
    assert!(moved.iter().all(|it| it.kind != "org"), "{moved:?}");
    // A course that was set up under another id keeps that id.
    let own = Taught { course_id: Some("own-id".into()), ..there.courses[0].clone() };
    let named = LmsState { courses: vec![own], records: Vec::new(), ..there };
    let kept = change(&named, &wish(vec![course("3", Some(500.5))]), APP.slug).unwrap();
    assert_eq!(kept.records[0].id, "own-id");
}

#[test]
fn courses_need_their_xp_and_are_promoted_unchanged() {
    let lms = Lms { organization: None, courses: vec![course("3", None), course("4", Some(0.0))] };
    let error = LmsWish::of(&lms, APP).unwrap_err();
    assert_eq!(error.details.len(), 2, "{error:?}");
    assert!(error.message.contains("integrations.lms.courses[0].totalXp"), "{}", error.message);
    let there = set_up(&wish(vec![course("3", Some(500.5))]));
    let promoted = LmsWish::of_state(&there);
    assert_eq!(change(&there, &promoted, APP.slug), None);
    assert_eq!(change(&LmsState::default(), &promoted, APP.slug).unwrap().records.len(), 4);
    let nothing = LmsWish::of_state(&LmsState::default());
    assert_eq!(change(&there, &nothing, APP.slug).unwrap().ended, ["word-rivers-math-3"]);
}
