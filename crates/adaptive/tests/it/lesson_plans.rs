//! Lesson plans: a student's copy of a course, and the log that changes it.

use lyceum_adaptive::lesson_plans;
use lyceum_core::ProblemKind::NotFound;
use serde_json::{Value, json};

use crate::school::{ALL, School, both, one, paths, refused, request, shown, view};

/// The course `art` with two units: `u1` has the lessons `a` and `b` and the part `u1p`, `u2` has `c`. The resource
/// `r-extra` is in no course.
fn course(school: &School) {
    let text = json!({ "type": "text" });
    let extra = json!({
        "sourcedId": "r-extra", "title": "Text extra", "vendorResourceId": "x", "metadata": text,
    });
    school.record("resources", extra);
    for (id, parent, order) in [("u1", None, 1), ("u1p", Some("u1"), 1), ("u2", None, 2)] {
        school.unit("art", id, parent, order);
    }
    for (id, place) in [("a", ("u1", 1)), ("b", ("u1", 2)), ("c", ("u2", 1))] {
        school.place(id, place, None, (id, &text));
    }
}

/// The plan of a user, and whether it is new.
fn plan(school: &School, user: &str) -> (String, bool) {
    let new = request(json!({ "courseId": "art", "userId": user }));
    school.write(|tx, context| lesson_plans::create(tx, context.now, &new, ALL)).unwrap()
}

/// The plan's items as one line: `u1(a b u1p())`, with a minus before skipped ones.
fn outline(school: &School, plan: &str) -> String {
    let read = school.write(|tx, _| lesson_plans::structure(tx, plan, &view(), ALL)).unwrap();
    let mut out = String::new();
    write(&serde_json::from_str::<Value>(&read).unwrap()["structure"], &mut out);
    out
}

fn write(nodes: &Value, out: &mut String) {
    for (n, node) in nodes.as_array().unwrap().iter().enumerate() {
        assert_eq!(node["order"], (n + 1).to_string(), "{node}");
        if !out.is_empty() && !out.ends_with('(') {
            out.push(' ');
        }
        if node["skipped"] == true {
            out.push('-');
        }
        out.push_str(node["itemId"].as_str().unwrap());
        if node["type"] == "component" {
            out.push('(');
            write(&node["componentResources"], out);
            write(&node["subComponents"], out);
            out.push(')');
        }
    }
}

fn ask(school: &School, plan: &str, kind: &str, payload: &Value) {
    let sent =
        json!({ "operation": { "type": kind, "payload": payload }, "reason": "for the test" });
    let work = school.write(|tx, context| {
        lesson_plans::request_operation(tx, context.now, plan, &sent, None, ALL)
    });
    work.unwrap();
}

fn sync(school: &School, plan: &str) -> Value {
    shown(school.write(|tx, _| lesson_plans::sync(tx, plan, ALL)).unwrap())
}

fn resource(id: &str) -> Value {
    json!({ "type": "resource", "id": id })
}

fn part(id: &str) -> Value {
    json!({ "type": "component", "id": id })
}

const START: &str = "u1(a b u1p()) u2(c)";

#[test]
fn a_plan_is_a_copy_that_operations_change() {
    both(|school| {
        course(school);
        let (mine, is_new) = plan(school, "amy");
        assert!(is_new);
        assert_eq!(plan(school, "amy"), (mine.clone(), false));
        assert_eq!(outline(school, &mine), START);

        // What is asked is done by the next sync, once, each by itself.
        for (kind, payload) in [
            ("set-skipped", json!({ "target": resource("b"), "value": true })),
            ("move-item-before", json!({ "target": part("u2"), "reference_id": "u1" })),
            ("move-item-after", json!({ "target": resource("c"), "reference_id": "x" })),
        ] {
            ask(school, &mine, kind, &payload);
        }
        assert_eq!(outline(school, &mine), START);
        let synced = sync(school, &mine);
        assert_eq!((&synced["success"], &synced["operationCount"]), (&json!(false), &json!(3)));
        let results = synced["operationResults"].as_array().unwrap();
        assert_eq!(results[0], json!({ "success": true }));
        assert_eq!(results[2]["errors"][0]["message"], "the plan has no resource 'x'");
        assert_eq!(outline(school, &mine), "u2(c) u1(a -b u1p())");
        assert_eq!(sync(school, &mine)["operationCount"], 0);

        for (kind, payload, outlined) in [
            ("move-item-to-end", json!({ "target": part("u2") }), "u1(a -b u1p()) u2(c)"),
            ("move-item-to-start", json!({ "target": resource("b") }), "u1(-b a u1p()) u2(c)"),
            ("move-item-to-start", json!({ "target": part("u2") }), "u2(c) u1(-b a u1p())"),
            (
                "change-item-parent",
                json!({ "target": resource("a"), "newParentId": "u2", "position": "start" }),
                "u2(a c) u1(-b u1p())",
            ),
            (
                "change-item-parent",
                json!({ "target": part("u2"), "new_parent_id": "u1p" }),
                "u1(-b u1p(u2(a c)))",
            ),
            (
                "move-item-after",
                json!({ "target": part("u2"), "referenceId": "u1" }),
                "u1(-b u1p()) u2(a c)",
            ),
            (
                "move-item-after",
                json!({ "target": resource("c"), "reference_id": "b" }),
                "u1(-b c u1p()) u2(a)",
            ),
            (
                "add-custom-resource",
                json!({ "resource_id": "r-extra", "parent_component_id": "u1" }),
                "u1(-b c r-extra u1p()) u2(a)",
            ),
            (
                "move-item-before",
                json!({ "target": resource("r-extra"), "reference_id": "a" }),
                "u1(-b c u1p()) u2(r-extra a)",
            ),
            (
                "set-skipped",
                json!({ "target": part("u1"), "value": true }),
                "-u1(-b c u1p()) u2(r-extra a)",
            ),
        ] {
            ask(school, &mine, kind, &payload);
            assert_eq!(sync(school, &mine)["success"], true, "{kind}");
            assert_eq!(outline(school, &mine), outlined, "{kind}");
        }

        // The student sees what is not skipped, with its records.
        let seen = school.write(|tx, _| {
            let (by_course, by_id) =
                (lesson_plans::of(tx, "art", "amy", ALL)?, lesson_plans::get(tx, &mine, ALL)?);
            let by_course = lesson_plans::visible(tx, &by_course, &view())?;
            assert_eq!(by_course, lesson_plans::visible(tx, &by_id, &view())?);
            Ok(by_course)
        });
        let seen: Value = serde_json::from_str(&seen.unwrap()).unwrap();
        assert_eq!(
            (&seen["course"]["title"], &seen["userId"]),
            (&json!("Course art"), &json!("amy"))
        );
        let parts = seen["subComponents"].as_array().unwrap();
        assert_eq!((parts.len(), &parts[0]["title"]), (1, &json!("u2")), "{seen}");
        let lessons = &parts[0]["componentResources"];
        assert_eq!(lessons[0]["resource"]["title"], "Text extra");
        assert_eq!(lessons[1]["resource"]["vendorResourceId"], "a");
        assert_eq!(lessons[1]["resource"]["sourcedId"], "r-a");
        assert_eq!(lessons[1]["title"], "Lesson a");

        let log = shown(school.write(|tx, _| lesson_plans::operations(tx, &mine, ALL)).unwrap());
        assert_eq!((log.as_array().unwrap().len(), &log[12]["sequenceNumber"]), (13, &json!(13)));
        assert_eq!(log[0]["payload"], json!({ "target": resource("b"), "value": true }));
        assert_eq!(log[0]["reason"], "for the test");
        assert_eq!(outline(school, &plan(school, "bob").0), START, "the plan of another student");
    });
}

#[test]
fn plans_follow_a_course_when_they_are_recreated() {
    both(|school| {
        course(school);
        let ((amy, _), (bob, _)) = (plan(school, "amy"), plan(school, "bob"));
        ask(school, &amy, "move-item-to-start", &json!({ "target": part("u2") }));
        assert_eq!(sync(school, &amy)["success"], true);
        school.unit("art", "u3", None, 3);
        school.delete("courses/components", "u2");
        assert_eq!(outline(school, &amy), "u2(c) u1(a b u1p())");

        // The move of what the course no longer has is refused, and the log keeps it.
        let again = shown(school.write(|tx, _| lesson_plans::recreate(tx, &amy, ALL)).unwrap());
        assert_eq!((&again["operationCount"], &again["success"]), (&json!(1), &json!(false)));
        assert_eq!(outline(school, &amy), "u1(a b u1p()) u3()");

        let sync = || school.write(|tx, _| lesson_plans::sync_course(tx, "art", ALL)).unwrap();
        assert_eq!(sync(), [bob.as_str()]);
        assert_eq!(outline(school, &bob), "u1(a b u1p()) u3()");
        assert_eq!(sync(), [] as [&str; 0]);

        assert_eq!(school.write(|tx, _| lesson_plans::delete_all(tx, "art", ALL)).unwrap(), 2);
        refused(school.write(|tx, _| lesson_plans::get(tx, &amy, ALL)), NotFound, "");
        refused(school.write(|tx, _| lesson_plans::operations(tx, &amy, ALL)), NotFound, "");
        refused(school.write(|tx, _| lesson_plans::of(tx, "art", "bob", ALL)), NotFound, "");
        assert_eq!(outline(school, &plan(school, "amy").0), "u1(a b u1p()) u3()");
    });
}

#[test]
fn operations_that_make_no_sense_change_nothing() {
    one(|school| {
        course(school);
        let (mine, _) = plan(school, "amy");
        let operation = |kind: &str, payload: Value| json!({ "operation": { "type": kind, "payload": payload } });
        for (sent, places) in [
            (json!({}), vec!["operation"]),
            (json!({ "operation": {} }), vec!["operation.type"]),
            (operation("turn", json!({})), vec!["operation.type"]),
            (
                operation("set-skipped", json!({})),
                vec!["operation.payload.target", "operation.payload.value"],
            ),
            (
                operation("set-skipped", json!({ "target": { "type": "unit" }, "value": 1 })),
                vec![
                    "operation.payload.target.type",
                    "operation.payload.target.id",
                    "operation.payload.value",
                ],
            ),
            (
                operation("move-item-after", json!({ "target": part("u1") })),
                vec!["operation.payload.reference_id"],
            ),
            (
                operation(
                    "add-custom-resource",
                    json!({ "resource_id": "x", "parent_component_id": "u1" }),
                ),
                vec!["operation.payload.resource_id"],
            ),
        ] {
            let refused = school.write(|tx, context| {
                lesson_plans::request_operation(tx, context.now, &mine, &sent, None, ALL)
            });
            assert_eq!(paths(&refused.unwrap_err()), places, "{sent}");
        }
        // The log has none of them; what makes no sense in the tree is told by the sync.
        let log = school.write(|tx, _| lesson_plans::operations(tx, &mine, ALL)).unwrap();
        assert!(log.is_empty());
        for (kind, payload) in [
            ("change-item-parent", json!({ "target": part("u1"), "new_parent_id": "u1p" })),
            ("move-item-before", json!({ "target": part("u1"), "reference_id": "u1p" })),
            ("move-item-before", json!({ "target": part("u1"), "reference_id": "a" })),
            ("move-item-before", json!({ "target": part("u1"), "reference_id": "u1" })),
        ] {
            ask(school, &mine, kind, &payload);
        }
        let synced = sync(school, &mine);
        let results = synced["operationResults"].as_array().unwrap();
        let failed = results.iter().filter(|result| result["success"] == false).count();
        assert_eq!((results.len(), failed), (4, 4), "{synced}");
        assert_eq!(outline(school, &mine), START);
    });
}
