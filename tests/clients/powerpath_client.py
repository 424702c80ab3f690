"""Drives every operation of the published client `timeback-powerpath` against a running server.

`--phase write` builds courses with the published OneRoster and QTI clients, works through lessons,
plans, places and assigns, reads each effect back by another operation, and fails if one public method
was not used. `--phase read`, after a restart on the same data, reads again and compares.
"""
import asyncio
import json
import sys

from timeback_common import InputValidationError, NotFoundError
from timeback_edubridge import EdubridgeClient
from timeback_oneroster import OneRosterClient
from timeback_powerpath import PowerPathClient, resources
from timeback_qti import QtiClient

from cases import ref
from harness import Checks, Coverage, arguments, resource_classes
from qti_client import XML

ADA = "pp-ada"


class School:
    """The clients that the script works with, and the ids of what it made."""

    def __init__(self, base, path, roster, qti, bridge):
        self.base, self.path, self.roster, self.qti, self.bridge = base, path, roster, qti, bridge
        self.made = {}

    async def test(self, name, count, difficulty="easy"):
        """Stores a test of that many questions, whose right answer is B; its address."""
        for n in range(count):
            await self.qti.assessment_items.create_from_xml({
                "format": "xml", "xml": XML.format(id=f"{name}-{n}", title=f"Question {n}"),
                "metadata": {"difficulty": difficulty}})
        items = [{"identifier": f"{name}-{n}", "href": f"{name}-{n}", "sequence": n + 1} for n in range(count)]
        section = {"identifier": "s", "title": "S", "visible": True, "sequence": 1, "qti-assessment-item-ref": items}
        await self.qti.assessment_tests.create({"identifier": name, "title": name, "qti-test-part": [
            {"identifier": "p", "navigationMode": "linear", "submissionMode": "individual", "qti-assessment-section": [section]}]})
        return f"https://content.example/assessment-tests/{name}"


async def build(check, school):
    roster = school.roster
    await roster.schools.create({"sourcedId": "pp-school", "status": "active", "name": "School", "type": "school"})
    for course, subject, grade in (("pp-math", "Math", 3), ("pp-low", "Math", 2), ("pp-read", "Reading", 4)):
        await roster.courses.create({"sourcedId": course, "status": "active", "title": f"Course {course}", "courseCode": course,
                                     "grades": [grade], "subjects": [subject], "org": ref("pp-school")})
    for who in (ADA, "pp-ben"):
        await roster.users.create({
            "sourcedId": who, "status": "active", "enabledUser": True, "givenName": who, "familyName": "P", "email": f"{who}@pp.example",
            "grades": [], "primaryOrg": ref("pp-school"), "roles": [{"roleType": "primary", "role": "student", "org": ref("pp-school")}]})
    for course in ("pp-math", "pp-read"):
        await school.bridge.enrollments.enroll(ADA, course)
    check.that("the school is there", True)


async def making(check, school):
    tests = school.path.assessments
    for name, kind, count in (("pp100", "powerpath-100", 14), ("quiz", "quiz", 2), ("unit", "unit-test", 1)):
        made = await tests.create_internal_test({
            "courseId": "pp-math", "lessonType": kind, "testType": "qti", "lessonTitle": f"Lesson {name}", "unitTitle": f"Unit {name}",
            "xp": 10, "grades": [3], "qti": {"url": await school.test(f"t-{name}", count)}})
        check.equal(f"{name} is made", (made.lesson_type, made.test_type, made.grades), (kind, "qti", ["03"]))
        school.made[name] = made.lesson_id
        school.made[f"{name}-unit"] = made.course_component_id
        school.made[f"{name}-resource"] = made.resource_id
    bank = await tests.create_internal_test({
        "courseId": "pp-math", "lessonType": "quiz", "testType": "assessment-bank", "courseComponentSourcedId": school.made["quiz-unit"],
        "assessmentBank": {"resources": [{"url": await school.test(f"t-bank-{n}", 1)} for n in (1, 2)]}})
    school.made["bank"] = bank.lesson_id
    check.equal("a bank has its tests, in the unit that was named", (len(bank.child_resource_ids), bank.course_component_id), (2, school.made["quiz-unit"]))
    for grade in (2, 3):
        made = await tests.create_internal_test({
            "courseId": "pp-math", "lessonType": "placement", "testType": "qti", "lessonTitle": f"Placement {grade}", "grades": [grade],
            "courseIdOnFail": "pp-low", "qti": {"url": await school.test(f"t-place-{grade}", 1)}})
        school.made[f"place-{grade}"] = made.lesson_id
        check.equal("a placement test knows where it leads", made.course_id_on_fail, "pp-low")
    out = await tests.create_external_test_out({
        "courseId": "pp-read", "toolProvider": "mastery-track", "grades": [4], "xp": 40, "launchUrl": "https://tool.example/run",
        "vendorId": "v-4", "lessonTitle": "Test out of reading"})
    check.equal("a test elsewhere is made", (out.lesson_type, out.tool_provider, out.launch_url, out.vendor_id),
                ("test-out", "mastery-track", "https://tool.example/run", "v-4"))
    school.made["out"] = out.lesson_id
    place = await tests.create_external_placement_test({"courseId": "pp-read", "toolProvider": "edulastic", "grades": [4], "courseIdOnFail": "pp-read"})
    school.made["place-read"] = place.lesson_id
    resource = await school.roster.resources.get(school.made["quiz-resource"])
    check.equal("the resource says what it is", (resource.metadata["lessonType"], resource.metadata["xp"], resource.metadata["subject"]), ("quiz", 10, "Math"))
    await check.raises("an unknown course has no tests", NotFoundError, tests.create_internal_test(
        {"courseId": "none", "lessonType": "quiz", "testType": "qti", "qti": {"url": "https://x.example/t"}}))
    await check.refuses("a course has one test-out", 409, tests.create_external_test_out(
        {"courseId": "pp-read", "toolProvider": "edulastic", "grades": [4], "xp": 1}))
    syllabus = (await school.path.syllabus.get("pp-math", {"status": "active"})).syllabus
    titles = [unit["title"] for unit in syllabus["subComponents"]]
    check.equal("the syllabus has the units in their order", titles[:3], ["Unit pp100", "Unit quiz", "Unit unit"])
    deleted = (await school.path.syllabus.get("pp-math", {"status": "tobedeleted"})).syllabus
    check.equal("nothing of it is deleted", deleted["subComponents"], [])


async def adaptive(check, school):
    tests, lesson = school.path.assessments, school.made["pp100"]
    at = {"student": ADA, "lesson": lesson}
    await check.refuses("who is not enrolled may not", 422, tests.get_next_question({"student": "pp-ben", "lesson": lesson}))
    await check.raises("an unknown lesson is not found", NotFoundError, tests.get_next_question({"student": ADA, "lesson": "none"}))
    scores, seen = [], []
    for _ in range(11):
        asked = await tests.get_next_question(at)
        scores.append(asked.score)
        seen.append(asked.question.id)
        done = await tests.update_student_question_response({**at, "question": asked.question.id, "response": "B"})
    check.equal("eleven right answers end it", (scores[1], done.powerpath_score, done.response_result.is_correct), (14, 100, True))
    check.equal("no question came twice", len(set(seen)), 11)
    check.equal("it earned its XP and a quarter", (done.xp, done.multiplier, done.accuracy), (12.5, 1.25, 100))
    progress = await tests.get_assessment_progress(at)
    check.equal("progress says the same", (progress.score, progress.xp, progress.correct_questions, progress.attempt), (100, 12.5, 11, 1))
    check.equal("three questions remain", progress.remaining_questions_per_difficulty.easy, 3)
    over = await tests.get_next_question(at)
    check.equal("it is over", (over.score, over.question.id, over.question.correct), (100, seen[-1], True))
    again = (await tests.create_new_attempt(at)).attempt
    check.equal("another attempt begins", (again.attempt, again.score, again.score_status), (2, 0, "not submitted"))
    asked = await tests.get_next_question(at)
    check.that("with a question that was not seen", asked.question.id not in seen, asked.question.id)
    wrong = await tests.update_student_question_response({**at, "question": asked.question.id, "responses": {"RESPONSE": "A"}})
    check.equal("a wrong answer is told", (wrong.response_result.is_correct, wrong.powerpath_score), (False, 0))
    reset = await tests.reset_attempt(at)
    check.equal("the attempt begins anew", (reset.success, reset.score), (True, 0))
    progress = await tests.get_assessment_progress({**at, "attempt": 2})
    check.equal("without its answer", (progress.total_questions, progress.seen_questions), (0, []))
    attempts = (await tests.get_attempts(at)).attempts
    check.equal("both attempts are listed", [(a.attempt, a.score_status, a.xp) for a in attempts], [(1, "fully graded", 12.5), (2, "not submitted", None)])


async def quiz(check, school):
    tests, lesson = school.path.assessments, school.made["quiz"]
    at = {"student": ADA, "lesson": lesson}
    progress = await tests.get_assessment_progress(at)
    check.equal("a quiz is shown whole", ([q.index for q in progress.questions], progress.finalized), ([0, 1], False))
    for question, response in zip(progress.questions, "BA"):
        told = await tests.update_student_question_response({**at, "question": question.id, "response": response})
        check.equal("an answer is taken, not told", told.lesson_type, "quiz")
        if response == "B":
            await check.refuses("half of it cannot be finished", 422, tests.final_student_assessment_response(at))
    progress = await tests.get_assessment_progress(at)
    check.equal("what was right is not told yet", [q.correct for q in progress.questions], [None, None])
    for _ in range(2):
        final = await tests.final_student_assessment_response(at)
        check.equal("it is finished, once", (final.finalized, final.attempt), (True, 1))
    progress = await tests.get_assessment_progress(at)
    check.equal("now it is told", ([q.correct for q in progress.questions], progress.score, progress.xp), ([True, False], 50, 0))
    found = await school.path.lesson_plans.get_course_progress("pp-math", ADA)
    own = [i for i in found.line_items if i.get("courseComponentResourceSourcedId") == lesson]
    check.equal("the course's progress has its result", [r["score"] for i in own for r in i["results"]], [50])


async def placing(check, school):
    tests, placement, asked = school.path.assessments, school.path.placement, {"student": ADA, "subject": "Math"}
    level = await placement.get_current_level(asked)
    check.equal("placement begins with the lowest grade", (level.grade_level, level.onboarded, level.available_tests), ("2", False, 2))
    for grade, answer in ((2, "B"), (3, "A")):
        following = await placement.get_next_placement_test(asked)
        check.equal(f"the test of grade {grade} is next", following.lesson, school.made[f"place-{grade}"])
        at = {"student": ADA, "lesson": following.lesson}
        for question in (await tests.get_assessment_progress(at)).questions:
            await tests.update_student_question_response({**at, "question": question.id, "response": answer})
        check.equal("it is finished", (await tests.final_student_assessment_response(at)).lesson_type, "placement")
    level = await placement.get_current_level(asked)
    check.equal("the second was not passed, and placement is over", (level.grade_level, level.onboarded), ("3", True))
    courses = [e.course.id for e in await school.bridge.enrollments.list(user_id=ADA)]
    check.that("it led to the course for that", "pp-low" in courses, repr(courses))
    tests_of = (await placement.get_all_placement_tests(asked)).placement_tests
    check.equal("all tests have their results", [[r["score"] for r in t["assessment_results"]] for t in tests_of], [[100], [0]])
    check.equal("and their resources", [t["resources_metadata"]["grades"] for t in tests_of], [["02"], ["03"]])
    whole = await placement.get_placement(ADA)
    told = {p["subject"]: (p["currentLevel"], p["onboarded"]) for p in whole["placements"]}
    check.equal("each subject has its standing", told, {"Math": ("3", True), "Reading": ("4", False)})
    progress = {p["course"]["sourcedId"]: p for p in (await placement.get_subject_progress(asked)).progress}
    math = progress["pp-math"]
    check.equal("the subject's courses are told", sorted(progress), ["pp-low", "pp-math"])
    check.equal("with what was done in them", (math["inEnrolled"], math["completedLessons"], math["totalLessons"], math["totalXpEarned"], math["totalAttainableXp"]),
                (True, 4, 6, 12.5, 30))
    await check.raises("a subject without tests is told", NotFoundError, placement.get_current_level({"student": ADA, "subject": "Writing"}))
    reset = await placement.reset_user_placement(asked)
    check.equal("placement is set back", (reset.success, reset.placement_results_deleted, reset.onboarding_reset), (True, 2, True))
    check.equal("and begins again", (await placement.get_next_placement_test(asked)).lesson, school.made["place-2"])


async def outside(check, school):
    tests, out = school.path.assessments, school.made["out"]
    before = await tests.test_out({"student": ADA, "course": "pp-read"})
    check.equal("the test-out lesson of a course", (before.lesson_id, before.finalized, before.tool_provider), (out, False, "mastery-track"))
    none = await tests.test_out({"student": ADA, "course": "pp-low"})
    check.equal("a course may have none", (none.lesson_id, none.tool_provider), (None, None))
    eligible = await school.path.test_out.get_eligibility(ADA, "Reading")
    check.equal("who learns there may test out", (eligible.eligible, eligible.reason), (True, None))
    other = await school.path.test_out.get_eligibility(ADA, "Math")
    check.that("elsewhere not, and it is said why", not other.eligible and other.reason, repr(other))
    elected = await school.path.test_out.create_assignment({"oneRosterSourcedId": ADA, "subject": "Reading"})
    check.equal("a test-out is assigned", (elected.success, elected.data["lessonId"], elected.data["testUrl"]), (True, out, "https://tool.example/run"))
    await check.refuses("not where there is none", 409, school.path.test_out.create_assignment({"oneRosterSourcedId": ADA, "subject": "Math"}))
    at = {"student": ADA, "lesson": out}
    made = await tests.make_external_test_assignment({**at, "applicationName": "app", "skipCourseEnrollment": True})
    check.equal("the assignment tells where to go", (made.tool_provider, made.attempt, made.test_url, made.test_id),
                ("mastery-track", 1, "https://tool.example/run", "v-4"))
    waiting = await tests.import_external_test_assignment_results({**at, "applicationName": "app"})
    check.equal("without a result it is not finished", (waiting.finalized, waiting.attempt), (False, 1))
    await school.path.lesson_plans.update_student_item_response({
        "studentId": ADA, "componentResourceId": out,
        "result": {"status": "active", "score": 95, "scoreDate": "2026-02-01", "scoreStatus": "fully graded",
                   "metadata": {"attempt": 1, "correctQuestions": 19, "totalQuestions": 20}}})
    done = await tests.import_external_test_assignment_results(at)
    check.equal("with one it is", (done.finalized, done.lesson_id, done.lesson_type), (True, out, "test-out"))
    after = await tests.test_out({"student": ADA, "course": "pp-read"})
    check.equal("so says the course", (after.finalized, after.attempt), (True, 1))
    attempts = (await tests.get_attempts(at)).attempts
    check.equal("and the attempts", [(a.score, a.score_status, a.xp) for a in attempts], [(95, "fully graded", 40)])
    grades = await school.bridge.analytics.get_highest_grade_mastered(ADA, "Reading")
    check.equal("the grade is mastered", grades.grades.test_out_grade, "04")
    used_up = await school.path.test_out.get_eligibility(ADA, "Reading")
    check.that("once is enough", not used_up.eligible, repr(used_up))
    await check.refuses("a lesson of this server is not assigned elsewhere", 422, tests.make_external_test_assignment({"student": ADA, "lesson": school.made["quiz"]}))


async def assigning(check, school):
    client = school.path.test_assignments
    made = await client.create({"student": ADA, "subject": "Math", "grade": 3, "testName": "Lesson unit"})
    check.equal("the test of that name is assigned", (made.lesson_id, made.resource_id), (school.made["unit"], school.made["unit-resource"]))
    read = await client.get(made.assignment_id)
    check.equal("it is read back", (read.student_sourced_id, read.student_email, read.subject, read.grade, read.assignment_status, read.test_name),
                (ADA, f"{ADA}@pp.example", "Math", "03", "assigned", "Lesson unit"))
    named = await client.update(made.assignment_id, {"testName": "Another name"})
    check.equal("it is named anew", (named.test_name, (await client.get(made.assignment_id)).test_name), ("Another name", "Another name"))
    at = {"student": ADA, "lesson": made.lesson_id}
    question = (await school.path.assessments.get_assessment_progress(at)).questions[0]
    check.equal("it is under way", (await client.get(made.assignment_id)).assignment_status, "in_progress")
    await school.path.assessments.update_student_question_response({**at, "question": question.id, "response": "B"})
    await school.path.assessments.final_student_assessment_response(at)
    done = await client.get(made.assignment_id)
    check.that("it is completed with its lesson", done.assignment_status == "completed" and done.completed_at, repr(done))
    bulk = await client.bulk({"items": [{"student": "pp-ben", "subject": "Math", "grade": grade} for grade in (2, 3, 9)] + [
        {"student": "nobody", "subject": "Math", "grade": 2}]})
    check.equal("many are assigned, each by itself", (bulk.success, len(bulk.results), [e.row for e in bulk.errors]), (False, 2, [3, 4]))
    table = await client.import_assignments({"spreadsheetUrl": "https://sheets.example/x", "sheet": "One"})
    check.that("a table elsewhere is not read, and it is said", not table.success and "csv" in table.errors[0].message, repr(table))
    page = await client.list({"student": "pp-ben", "limit": 1, "offset": 1})
    check.equal("a student's are listed by page", (len(page.test_assignments), page.total_count, page.page_count, page.page_number), (1, 2, 2, 2))
    check.equal("and as a whole", [a.grade for a in await client.list_all({"student": "pp-ben"})], ["02", "03"])
    streamed = [a.grade async for a in client.stream({"student": "pp-ben", "limit": 1, "grade": 3})]
    check.equal("and filtered", streamed, ["03"])
    everybody = await client.admin({"status": "completed", "subject": "Math"})
    check.equal("of all students those that are completed", [a.sourced_id for a in everybody.test_assignments], [made.assignment_id])
    check.equal("all of all", len(await client.admin_list_all()), 4)
    check.equal("one after the other", len([a async for a in client.admin_stream({"limit": 2})]), 4)
    await client.delete(bulk.results[0].assignment_id)
    await check.raises("what is deleted is gone", NotFoundError, client.get(bulk.results[0].assignment_id))
    await check.raises("a grade is required", InputValidationError, client.create({"student": ADA, "subject": "Math"}))


async def planning(check, school):
    plans = school.path.lesson_plans
    plan = (await plans.create({"courseId": "pp-math", "userId": ADA})).lesson_plan_id
    school.made["plan"] = plan
    check.equal("a student has one plan in a course", (await plans.create({"courseId": "pp-math", "userId": ADA})).lesson_plan_id, plan)
    unit, quiz_unit, lesson = (school.made[name] for name in ("pp100-unit", "quiz-unit", "quiz"))
    resource = lambda identifier: {"type": "resource", "id": identifier}  # noqa: E731
    component = lambda identifier: {"type": "component", "id": identifier}  # noqa: E731
    asked = [
        ("set-skipped", {"target": resource(school.made["bank"]), "value": True}),
        ("add-custom-resource", {"resource_id": school.made["unit-resource"], "parent_component_id": quiz_unit}),
        ("move-item-before", {"target": component(quiz_unit), "reference_id": unit}),
        ("move-item-after", {"target": component(unit), "reference_id": school.made["unit-unit"]}),
        ("move-item-to-start", {"target": resource(school.made["unit-resource"])}),
        ("move-item-to-end", {"target": component(quiz_unit)}),
        ("change-item-parent", {"target": resource(school.made["unit"]), "new_parent_id": quiz_unit, "position": "start"}),
        ("move-item-before", {"target": component("none"), "reference_id": unit})]
    for kind, payload in asked:
        told = await plans.create_operations(plan, {"operation": {"type": kind, "payload": payload}, "reason": f"for {kind}"})
        check.that(f"{kind} is written down", told.success and told.operation_id, repr(told))
    synced = await plans.sync(plan)
    check.equal("all are applied but the one that cannot be", ([r.success for r in synced.operation_results], synced.operation_count), ([True] * 7 + [False], 8))
    structure = (await plans.get_structure(plan)).lesson_plan["structure"]
    check.equal("the last unit is the quizzes'", structure[-1]["componentId"], quiz_unit)
    check.equal("with its lessons as they were moved", [(n["itemId"], n["skipped"]) for n in structure[-1]["componentResources"]],
                [(school.made["unit"], False), (school.made["unit-resource"], False), (lesson, False), (school.made["bank"], True)])
    seen = (await plans.get_tree(plan)).lesson_plan
    check.equal("the student does not see what is skipped", [n["sourcedId"] for n in seen["subComponents"][-1]["componentResources"]],
                [school.made["unit"], school.made["unit-resource"], lesson])
    check.equal("by course and student it is the same", (await plans.get("pp-math", ADA)).lesson_plan, seen)
    log = (await plans.list_operations(plan)).operations
    check.equal("the log has everything", [(o.type, o.sequence_number) for o in log], [(kind, n + 1) for n, (kind, _) in enumerate(asked)])
    again = await plans.recreate(plan)
    check.equal("replayed it is the same", (again.operation_count, (await plans.get_tree(plan)).lesson_plan), (8, seen))
    check.equal("a course without news changes no plan", (await plans.sync_course("pp-math")).lesson_plans_affected, [])
    await school.roster.courses.create_component({"sourcedId": "pp-new", "status": "active", "title": "News", "sortOrder": 99, "course": ref("pp-math")})
    check.equal("one with news does", (await plans.sync_course("pp-math")).lesson_plans_affected, [plan])
    gone = (await plans.create({"courseId": "pp-read", "userId": ADA})).lesson_plan_id
    await plans.delete_all("pp-read")
    await check.raises("deleted plans are gone", NotFoundError, plans.get_tree(gone))
    written = await plans.update_student_item_response({"studentId": ADA, "componentResourceId": school.made["bank"], "result": {
        "status": "active", "score": 70, "scoreDate": "2026-02-01", "scoreStatus": "partially graded", "comment": "so far"}})
    check.that("a result is written", written.success, repr(written))
    found = await plans.get_course_progress("pp-math", ADA)
    own = [r for i in found.line_items for r in i["results"] if i.get("courseComponentResourceSourcedId") == school.made["bank"]]
    check.equal("and found in the course", [(r["score"], r["comment"]) for r in own], [(70, "so far")])


async def showing(check, school):
    client, screening = school.path.render_config, school.path.screening
    put = await client.upsert({"courseIds": ["pp-math", "pp-read"], "rendererId": "r-1", "rendererUrl": "https://render.example/r", "suppressFeedback": True})
    check.equal("two courses are set", put.updated, ["pp-math", "pp-read"])
    read = await client.get("pp-math")
    check.equal("it is read back", (read.renderer_id, read.renderer_url, read.suppress_feedback, read.suppress_correct_response),
                ("r-1", "https://render.example/r", True, False))
    check.equal("it is deleted", (await client.delete("pp-read")).deleted, "pp-read")
    await check.raises("and gone", NotFoundError, client.get("pp-read"))
    assigned = await screening.assign_test({"userId": ADA, "subject": "Math"})
    check.equal("a screening test is assigned", assigned.success, True)
    session = (await screening.get_session(ADA)).model_dump()["session"]
    check.equal("the session has it", [(t["subject"], t["status"]) for t in session["tests"]], [("Math", "assigned")])
    check.equal("no result is invented", (await screening.get_results(ADA)).model_dump()["Math"], None)
    check.equal("the session is reset", (await screening.reset_session({"userId": ADA})).success, True)
    check.equal("and empty", (await screening.get_session(ADA)).model_dump()["session"], None)
    await screening.assign_test({"userId": ADA, "subject": "Reading"})


async def snapshot(school):
    """What there is, for the comparison after a restart."""
    plain = lambda model: model.model_dump(mode="json", by_alias=True)  # noqa: E731
    path, made = school.path, school.made
    asked = {"student": ADA, "subject": "Math"}
    lessons = {name: {"student": ADA, "lesson": made[name]} for name in ("pp100", "quiz", "unit", "out")}
    there = {
        "made": made,
        "attempts": {name: plain(await path.assessments.get_attempts(at)) for name, at in lessons.items()},
        "progress": {name: plain(await path.assessments.get_assessment_progress(at)) for name, at in lessons.items()},
        "test out": plain(await path.assessments.test_out({"student": ADA, "course": "pp-read"})),
        "placement": [plain(await path.placement.get_next_placement_test(asked)), plain(await path.placement.get_subject_progress(asked)),
                      await path.placement.get_placement(ADA)],
        "plans": [plain(await path.lesson_plans.get_tree(made["plan"])), plain(await path.lesson_plans.list_operations(made["plan"])),
                  plain(await path.lesson_plans.get_course_progress("pp-math", ADA))],
        "assignments": plain(await path.test_assignments.admin()),
        "render configuration": plain(await path.render_config.get("pp-math")),
        "screening": plain(await path.screening.get_session(ADA)),
        "syllabus": plain(await path.syllabus.get("pp-math")),
    }
    # A restarted server may have another address.
    return json.loads(json.dumps(there).replace(school.base, "http://server"))


async def main():
    options, check = arguments(), Checks()
    coverage = Coverage(resource_classes(resources))
    own = {"base_url": options.base, "auth_url": options.auth, "client_id": options.id, "client_secret": options.secret}
    async with PowerPathClient(**own) as path, OneRosterClient(**own) as roster, QtiClient(**own) as qti, EdubridgeClient(**own) as bridge:
        check.that("the token endpoint answers", (await path.check_auth())["ok"])
        school = School(options.base, path, roster, qti, bridge)
        if options.phase == "read":
            with open(options.state, encoding="utf-8") as handle:
                school.made = json.load(handle)["made"]
        steps = (build, making, adaptive, quiz, placing, outside, assigning, planning, showing)
        await check.phase(options, steps, snapshot, school)
    if options.phase == "write":
        coverage.whole(check)
    return check.summary()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
