"""What only one service has: agents, credentials, enrolling, components, structures, the creates
below another record, and the export. `write_*` makes, `read_*` holds after a restart too."""
import io
import zipfile

from timeback_common import NotFoundError, ValidationError

from cases import line_item, period, ref, result, teacher, user
from reading import ids


async def write_people(check, client):
    for i in range(1, 6):
        await client.users.create(teacher(i))
    await client.users.create({**user(1, "parent", "Guardian"), "password": "never-shown"})
    check.equal("users: a password is never shown", (await client.users.get("parent-1")).password, None)
    child, parent = client.users("student-1"), client.users("parent-1")
    check.equal("users: no agents at first", await child.agents(), [])
    await child.add_agent({"agentSourcedId": "parent-1"})
    await child.add_agent({"agentSourcedId": "teacher-1"})
    check.equal("users: agents", sorted(ids(await child.agents())), ["parent-1", "teacher-1"])
    check.equal("users: agent_for", ids(await parent.agent_for()), ["student-1"])
    check.equal("users: agents stand in the record", sorted(a.sourced_id for a in (await child.get()).agents),
                ["parent-1", "teacher-1"])
    await child.remove_agent("teacher-1")
    check.equal("users: an agent is removed", ids(await child.agents()), ["parent-1"])
    check.equal("users: and is agent for nobody", await client.users("teacher-1").agent_for(), [])
    await check.raises("users: an agent who does not exist", ValidationError, child.add_agent({"agentSourcedId": "nobody"}))


async def write_credentials(check, client, state):
    pupil = client.users("student-2")
    first = await pupil.register_credential(
        {"applicationName": "reader", "credentials": {"username": "pupil2", "password": "pa'ss wörd"}})
    check.that("users: register_credential answers ids", first.user_profile_id and first.credential_id and first.message)
    second = await pupil.create_credential(
        {"applicationName": "maths", "credentials": {"username": "pupil2", "password": "second"}})
    check.that("users: create_credential answers another id", second.credential_id not in ("", first.credential_id))
    await check.raises("users: decrypt of a missing credential", NotFoundError, pupil.decrypt_credential("none"))
    await check.raises("users: decrypt through another user", NotFoundError,
                       client.users("student-3").decrypt_credential(first.credential_id))
    state["credentials"] = [first.credential_id, second.credential_id]


async def read_people(check, client, state):
    check.equal("users: agents", ids(await client.users("student-1").agents()), ["parent-1"])
    check.equal("users: agent_for", ids(await client.users("parent-1").agent_for()), ["student-1"])
    got = [(await client.users("student-2").decrypt_credential(c)).password for c in state["credentials"]]
    check.equal("users: decrypt_credential", got, ["pa'ss wörd", "second"])
    check.equal("users: demographics of a user", (await client.users("student-2").demographics()).sourced_id, "student-2")
    raw = await client.get_transport().get("/ims/oneroster/rostering/v1p2/users/student-2/demographics")
    check.equal("users: demographics are inside the user", raw["user"]["demographics"]["cityOfBirth"], "Port 2")
    check.equal("students: a teacher is none", await client.students.exists("teacher-1"), False)
    check.equal("teachers: a student is none", await client.teachers.exists("student-1"), False)
    check.equal("schools: a district is none", await client.schools.exists("district-1"), False)
    check.equal("terms: a grading period is none", await client.terms.exists("gradingPeriod-1"), False)
    check.equal("users: filter by role finds the parent",
                ids(await client.users.list_all(where={"role": {"in_": ["parent", "relative"]}})), ["parent-1"])
    check.equal("users: filter by roles.role", ids(await client.users.list_all(where={"roles.role": "parent"})), ["parent-1"])


async def write_enrolling(check, client):
    answer = await client.classes("class-1").enroll(
        {"sourcedId": "teacher-1", "role": "teacher", "primary": "true", "beginDate": "2024-09-01",
         "endDate": "2026-06-30", "metadata": {"k": "v"}})
    allocated = answer["sourcedIdPairs"]["allocatedSourcedId"]
    made = await client.enrollments.get(allocated)
    check.equal("classes: enroll a teacher", (made.user.sourced_id, made.class_.sourced_id, made.role, made.primary),
                ("teacher-1", "class-1", "teacher", True))
    await client.enrollments(allocated).delete()
    check.equal("enrollments: the handle deletes", (await client.enrollments.get(allocated)).status, "tobedeleted")
    check.equal("classes: a removed teacher leaves the list", await client.classes("class-1").teachers(), [])
    answer = await client.classes("class-3").enroll_user("student-5", role="student", primary=False,
                                                         begin_date="2024-09-02", end_date="2024-09-03")
    allocated = answer["sourcedIdPairs"]["allocatedSourcedId"]
    check.equal("classes: enroll_user", ids(await client.classes("class-3").students()), ["student-5"])
    check.equal("users: sees the class", sorted(ids(await client.users("student-5").classes())), ["class-1", "class-3"])
    await client.enrollments.delete(allocated)
    check.equal("users: sees it no more", ids(await client.users("student-5").classes()), ["class-1"])
    await client.enrollments.create(
        {"sourcedId": "enrollment-teacher", "user": ref("teacher-1"), "class": ref("class-1"),
         "school": ref("school-1"), "role": "teacher", "primary": "true", "beginDate": "2024-08-01"})
    await check.raises("classes: enroll somebody who does not exist", ValidationError,
                       client.classes("class-1").enroll({"sourcedId": "nobody", "role": "student"}))


def component(i, parent):
    return {"sourcedId": f"component-{i}", "status": "active", "title": f"Unit {i}", "course": ref("course-1"),
            "sortOrder": i, "parent": parent, "prerequisites": ["component-1"] if i == 2 else [],
            "prerequisiteCriteria": "ALL", "unlockDate": "2025-10-01", "metadata": {"n": i}}


def lesson(i, resource):
    return {"sourcedId": f"lesson-{i}", "status": "active", "title": f"Lesson {i}", "sortOrder": i,
            "courseComponent": ref("component-2"), "resource": ref(resource),
            "lessonType": "quiz" if i == 1 else "powerpath-100", "metadata": {"n": i}}


async def write_content(check, client):
    courses = client.courses
    for i, parent in [(1, None), (2, ref("component-1")), (3, ref("component-2")), (9, ref("component-3"))]:
        pair = (await courses.create_component(component(i, parent)))["sourcedIdPairs"]
        check.equal(f"components: create {i}", pair["allocatedSourcedId"], f"component-{i}")
    await courses.update_component("component-9", {**component(9, ref("component-1")), "title": "Moved"})
    moved = await courses.get_component("component-9")
    check.equal("components: update is read back", (moved.title, moved.parent.sourced_id), ("Moved", "component-1"))
    await check.raises("components: a cycle is refused", ValidationError,
                       courses.update_component("component-1", component(1, ref("component-3"))))
    await courses.delete_component("component-9")
    check.equal("components: a deleted one reads as tobedeleted", (await courses.get_component("component-9")).status, "tobedeleted")
    for i, resource in [(1, "resource-1"), (2, "resource-2"), (9, "resource-3")]:
        pair = (await courses.create_component_resource(lesson(i, resource)))["sourcedIdPairs"]
        check.equal(f"component resources: create {i}", pair["allocatedSourcedId"], f"lesson-{i}")
    await courses.update_component_resource("lesson-9", {**lesson(9, "resource-4"), "title": "Changed"})
    changed = await courses.get_component_resource("lesson-9")
    check.equal("component resources: update is read back", (changed.title, changed.resource.sourced_id), ("Changed", "resource-4"))
    await courses.delete_component_resource("lesson-9")
    check.equal("component resources: a deleted one reads as tobedeleted",
                (await courses.get_component_resource("lesson-9")).status, "tobedeleted")
    await courses.patch("course-1", {"resources": [ref("resource-1"), ref("resource-2")]})
    await client.classes.patch("class-1", {"resources": [ref("resource-3")]})
    await client.users.patch("student-1", {"resources": [ref("resource-5")]})
    await check.raises("components: an update of nothing", NotFoundError,
                       courses.update_component("component-8", component(8, None)))


async def write_structure(check, client):
    answer = await client.courses.create_structure({
        "course": {"sourcedId": "course-structured", "status": "active", "title": "Structured", "org": ref("school-1"),
                   "courseCode": "ST"},
        "courseStructure": {"url": "https://content.example/test/1", "skillCode": "S1", "lessonCode": "L1",
                            "title": "Fractions", "lesson-title": "Halves", "unit": "Unit One"}})
    check.that("courses: create_structure answers the course's id", "course-structured" in str(answer["sourcedIdPairs"]), answer)


async def read_content(check, client):
    courses, below_one = client.courses, {"course.sourcedId": "course-1"}
    units = ["component-1", "component-2", "component-3"]
    check.equal("components: list", sorted(ids(await courses.components(where=below_one, limit=2))), units)
    streamed = [c.sourced_id async for c in courses.stream_components(where=below_one, limit=1, max_items=2)]
    check.equal("components: stream", len(streamed), 2)
    nested = await courses.components(where={"parent.sourcedId": "component-1"})
    check.equal("components: by parent", ids(nested), ["component-2"])
    one = await courses.get_component("component-2")
    check.equal("components: get", (one.title, one.sort_order, one.parent.sourced_id, one.prerequisites,
                                    one.prerequisite_criteria, one.metadata),
                ("Unit 2", 2, "component-1", ["component-1"], "ALL", {"n": 2}))
    check.that("components: unlockDate", (one.unlock_date or "").startswith("2025-10-01"), one.unlock_date)
    inside = {"courseComponent.sourcedId": "component-2"}
    check.equal("component resources: list", sorted(ids(await courses.component_resources(where=inside, limit=1))), ["lesson-1", "lesson-2"])
    streamed = [c.sourced_id async for c in courses.stream_component_resources(where=inside, limit=1, max_items=1)]
    check.equal("component resources: stream", len(streamed), 1)
    link = await courses.get_component_resource("lesson-2")
    check.equal("component resources: get", (link.title, link.resource.sourced_id, link.sort_order, link.lesson_type),
                ("Lesson 2", "resource-2", 2, "powerpath-100"))
    check.equal("courses: a structure stands", (await courses.get("course-structured")).title, "Structured")
    check.that("courses: a structure has components", await courses("course-structured").components())
    for content in [await client.resources.export("resource-1"), await client.resources("resource-1").export()]:
        names = zipfile.ZipFile(io.BytesIO(content)).namelist()
        check.that("resources: the export is a zip with a manifest", "imsmanifest.xml" in names, names)
    await check.raises("resources: export of a missing id", NotFoundError, client.resources.export("none"))


def bare(record):
    return {key: value for key, value in record.items() if key != "sourcedId"}


async def write_below(check, client):
    """Creates below a term, class, school and line item."""
    made = await client.terms("term-1").create_grading_period({**period(6), "title": "Extra"})
    check.equal("terms: create_grading_period", made.sourced_id_pairs.allocated_sourced_id, "gradingPeriod-6")
    extra = await client.grading_periods.get("gradingPeriod-6")
    check.equal("terms: the new period lies in the term", extra.parent.sourced_id, "term-1")

    def pair(answer):
        pairs = answer["sourcedIdPairs"]
        return pairs[0] if isinstance(pairs, list) else pairs

    for name, handle, i in [("class", client.classes("class-1"), 1), ("school", client.schools("school-1"), 4)]:
        sent = {**line_item(i), "sourcedId": f"line-by-{name}", "title": f"Essay by {name}"}
        check.equal(f"{name}: create_line_item", pair(await handle.create_line_item(sent))["suppliedSourcedId"], f"line-by-{name}")
        kept = (await client.line_items.list_all(where={"title": f"Essay by {name}"}))[0]
        check.equal(f"{name}: create_line_item is read back", kept.class_.sourced_id, sent["class"]["sourcedId"])
        await move(client.line_items, kept.sourced_id, sent)
    sent = {**result(1), "sourcedId": "result-by-session", "lineItem": ref("line-2"), "comment": "by session"}
    answer = await client.classes("class-1").academic_session("term-1").create_result(sent)
    check.equal("class and session: create_result", pair(answer)["suppliedSourcedId"], "result-by-session")
    kept = (await client.results.list_all(where={"comment": "by session"}))[0]
    await move(client.results, kept.sourced_id, sent)
    sent = [{**result(1), "sourcedId": "result-by-line", "lineItem": ref("line-2"), "comment": "by line"},
            {**bare(result(2)), "lineItem": ref("line-2"), "comment": "by line, no id"}]
    answer = await client.line_items("line-2").create_results(sent)
    check.equal("line items: create_results answers a pair each", len(answer.sourced_id_pairs), 2)
    check.that("line items: create_results allocates", all(p.allocated_sourced_id for p in answer.sourced_id_pairs))
    unnamed = answer.sourced_id_pairs[1].allocated_sourced_id
    check.equal("line items: create_results is read back", (await client.results.get(unnamed)).comment, "by line, no id")
    await client.results(unnamed).delete()
    await move(client.results, answer.sourced_id_pairs[0].allocated_sourced_id, sent[0])
    await check.raises("line items: create_results with an unknown student", ValidationError,
                       client.line_items("line-2").create_results([{**bare(result(2)), "lineItem": ref("line-2"), "student": ref("nobody")}]))


async def move(service, allocated, sent):
    """Gives a record that was created under an allocated id the id that was supplied."""
    if allocated != sent["sourcedId"]:
        await service.delete(allocated)
        await service.upsert(sent["sourcedId"], sent)
