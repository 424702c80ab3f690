"""Drives every OneRoster operation of the older published client `timeback` 0.3.0.

Its main address and its token address are fixed in its code; they are replaced here, nothing else is.
`--phase read` repeats the reads after a restart. What that release cannot do against any server that
keeps to the standard is listed in `CANNOT`, with the reason; the test fails when it can after all.
"""
import asyncio
import copy
import inspect
import sys
import typing

import pydantic
import timeback.client
from timeback.config import Settings
from timeback.errors import NotFoundError, RequestError

import cases
from cases import ref
from harness import Checks, arguments

NO_PATCH = "its HTTP client has no PATCH"
ONE_PAIR = "it wants one pair of ids where the standard, and the newer client, have a list"
NO_CLASS = "it sends the field class as class_"
NO_COURSE = "it cannot send the course and the school, which a PUT that replaces needs"
CANNOT = {
    "patch_enrollment": NO_PATCH,
    "patch_assessment_line_item": NO_PATCH,
    "patch_assessment_result": NO_PATCH,
    "create_line_items_for_school": ONE_PAIR,
    "post_line_items_for_class": ONE_PAIR,
    "create_result_for_line_item": ONE_PAIR,
    "post_results_for_academic_session_for_class": ONE_PAIR,
    "create_line_item": NO_CLASS,
    "update_class": NO_COURSE,
}


def client_at(options):
    """The client with its fixed addresses replaced."""
    class Local(Settings):
        def __init__(self, **given):
            super().__init__(**given)
            self.api_base_url = self.idp_base_url = options.base + "/"

    timeback.client.Settings = Local
    return timeback.client.Timeback(client_id=options.id, client_secret=options.secret, environment="production")


class Caller:
    """Calls methods by name, building the request object that each wants."""

    def __init__(self, client):
        roster = client.oneroster
        self.services = [roster.rostering, roster.gradebook, roster.resources]
        self.used = set()

    def methods(self):
        return {name for service in self.services for name, _ in inspect.getmembers(type(service), inspect.isfunction)
                if not name.startswith("_")}

    def __call__(self, name, *args, **fields):
        self.used.add(name)
        method = next(getattr(service, name) for service in self.services if hasattr(service, name))
        if args:
            return method(*args)
        request = typing.get_type_hints(method)["request"]
        return method(request.model_validate(fields))


def one(answer):
    """The record inside an answer with one member."""
    return getattr(answer, list(type(answer).model_fields)[0])


def ids(answer):
    return sorted(record.sourcedId for record in one(answer))


class Row(typing.NamedTuple):
    """One kind of record: the name in methods, its key in requests, a record, the field that an update changes."""
    name: str
    key: str
    record: dict
    field: str
    path_id: bool = True       # the update names the id beside the body
    deletes: str = "text"      # text: delete takes the id; object: a request


def texts(record):
    """The grades as this client wants them."""
    record = copy.deepcopy(record)
    if "grades" in record:
        record["grades"] = [f"0{grade}" for grade in record["grades"]]
    return record


def scale():
    values = [{"itemValueLHS": "A", "itemValueRHS": "90", "value": "A"}]
    return {**cases.scale(1), "scoreScaleValue": values}


def assessment_line():
    extra = {"assignDate": "2025-10-01T00:00:00Z", "dueDate": "2025-11-01T00:00:00Z", "school": ref("school-1"),
             "category": ref("category-1")}
    return {**cases.assessment_line(1), **extra}


def component():
    return {"sourcedId": "component-1", "status": "active", "title": "Unit 1", "course": ref("course-1"), "sortOrder": 1}


def lesson():
    return {"sourcedId": "lesson-1", "status": "active", "title": "Lesson 1", "courseComponent": ref("component-1"),
            "resource": ref("resource-1"), "sortOrder": 1, "lessonType": "quiz"}


def rows():
    course = {**texts(cases.course(1)), "orgSourcedId": "school-1"}
    return [
        Row("org", "org", cases.org(1), "name"),
        Row("school", "org", cases.school(1), "name", path_id=False),
        Row("academic_session", "academicSession", cases.year(1), "title"),
        Row("grading_period", "academicSession", cases.period(1), "title"),
        Row("course", "course", course, "title"),
        Row("class", "class", texts(cases.klass(1)), "title", path_id=False),
        Row("user", "user", texts(cases.user(1)), "familyName", path_id=False),
        Row("demographic", "demographics", cases.demographics(1), "cityOfBirth"),
        Row("enrollment", "enrollment", {**cases.enrollment(1), "primary": True}, "endDate"),
        Row("resource", "resource", {**cases.resource(1)}, "title"),
        Row("course_component", "courseComponent", component(), "title"),
        Row("component_resource", "componentResource", lesson(), "title"),
        Row("category", "category", cases.category(1), "title"),
        Row("score_scale", "scoreScale", scale(), "title", deletes="object"),
        Row("line_item", "lineItem", cases.line_item(1), "title", deletes="object"),
        Row("result", "result", {**cases.result(1), "score": 140.5}, "comment", deletes="object"),
        Row("assessment_line_item", "assessmentLineItem", assessment_line(), "title"),
        Row("assessment_result", "assessmentResult", cases.assessment_result(1), "comment"),
    ]


def supports(call, first):
    """What other records need: a term and, through this client, a period in it, a teacher and a guardian."""
    if first == "grading_period":
        call("create_academic_session", academicSession=cases.term(1))
        call("create_academic_session", academicSession=cases.term(2))
    if first == "demographic":
        call("create_user", user=texts(cases.teacher(1)))
        call("create_user", user=texts(cases.user(1, "parent", "Guardian")))


async def write(check, call, row):
    supports(call, row.name)
    record, key, sourced_id = row.record, row.key, row.record["sourcedId"]
    gradebook = f"put_{row.name}" in call.methods()
    if row.name in ("line_item", "assessment_line_item", "assessment_result", "result"):
        made = call(f"put_{row.name}", sourced_id=sourced_id, **{key: record})
        check.equal(f"put_{row.name} answers the record", one(made).sourcedId, sourced_id)
    else:
        pair = call(f"create_{row.name}", **{key: record}).sourcedIdPairs
        check.equal(f"create_{row.name}", (pair.suppliedSourcedId, pair.allocatedSourcedId), (sourced_id, sourced_id))
    update = f"put_{row.name}" if gradebook else f"update_{row.name}"
    if update in CANNOT:
        return
    changed = {**record, row.field: "2026-06-29" if row.field == "endDate" else "Changed"}
    answer = call(update, **({"sourced_id": sourced_id} if row.path_id else {}), **{key: changed})
    check.equal(f"{update} answers the record", getattr(one(answer), row.field), changed[row.field])
    got = one(call(f"get_{row.name}", sourced_id=sourced_id))
    check.equal(f"get_{row.name} sees the change", getattr(got, row.field), changed[row.field])
    call(update, **({"sourced_id": sourced_id} if row.path_id else {}), **{key: record})


async def remove(check, call, row):
    """Creates a second record and deletes it."""
    twin = {**row.record, "sourcedId": "teacher-1" if row.name == "demographic" else f"twin-{row.name}"}
    if row.name == "line_item":
        call(f"put_{row.name}", sourced_id=twin["sourcedId"], **{row.key: twin})
    else:
        call(f"create_{row.name}", **{row.key: twin})
    name = f"delete_{row.name}"
    gone = call(name, sourced_id=twin["sourcedId"]) if row.deletes == "object" else call(name, twin["sourcedId"])
    check.equal(f"{name} answers nothing", gone, None)
    check.equal(f"{name}: its status", one(call(f"get_{row.name}", sourced_id=twin["sourcedId"])).status.value, "tobedeleted")


async def write_special(check, call, state):
    call("add_agent", userId="student-1", agentSourcedId="parent-1")
    call("add_agent", userId="student-1", agentSourcedId="teacher-1")
    check.equal("get_agents", ids(call("get_agents", "student-1")), ["parent-1", "teacher-1"])
    call("delete_agent", userId="student-1", agentSourcedId="teacher-1")
    key = call("register_student_credentials", userId="student-1", applicationName="reader",
               credentials={"username": "u", "password": "p w"})
    state["credential"] = key.credential_id
    for name, role, person in [("add_student_to_class", "student", "student-1"), ("add_teacher_to_class", "teacher", "teacher-1")]:
        pair = call(name, class_sourced_id="class-1", **{role: ref(person)}).sourcedIdPairs
        made = one(call("get_enrollment", sourced_id=pair.allocatedSourcedId))
        check.equal(name, (made.user.sourcedId, made.role.value), (person, role))
    extra = {**cases.period(2), "title": "Second"}
    call("create_grading_period_for_term", term_sourced_id="term-1", academicSession=extra)


async def write_what_it_cannot(check, call):
    """The calls of `CANNOT` fail as the list says; where the server took the request, it shows."""
    line = {**cases.line_item(1), "sourcedId": "by-school"}
    result = {**cases.result(1), "sourcedId": "by-line"}
    attempts = {
        "patch_enrollment": {"sourced_id": "enrollment-1", "enrollment": {"endDate": "2026-01-01"}},
        "patch_assessment_line_item": {"sourced_id": "aline-1", "assessmentLineItem": {"title": "x"}},
        "patch_assessment_result": {"sourced_id": "aresult-1", "assessmentResult": {"comment": "x"}},
        "create_line_items_for_school": {"school_sourced_id": "school-1", "lineItems": [{**line, "title": "By school"}]},
        "post_line_items_for_class": {"class_sourced_id": "class-1", "lineItems": [{**line, "title": "By class"}]},
        "create_result_for_line_item": {"line_item_sourced_id": "line-1", "results": [{**result, "comment": "By line"}]},
        "post_results_for_academic_session_for_class": {
            "class_sourced_id": "class-1", "academic_session_sourced_id": "term-1", "results": [{**result, "comment": "By session"}]},
        "create_line_item": {"lineItem": {**line, "title": "Alone"}},
        "update_class": {"class": {"sourcedId": "class-1", "title": "Other", "terms": [ref("term-1")]}},
    }
    kinds = {NO_PATCH: AttributeError, ONE_PAIR: pydantic.ValidationError, NO_CLASS: RequestError, NO_COURSE: RequestError}
    for name, why in CANNOT.items():
        async def attempt(name=name):
            return call(name, **attempts[name])
        await check.raises(f"{name} fails: {why}", kinds[why], attempt())
    titles = [line.title for line in one(call("get_all_line_items"))]
    check.that("line items below a school and a class were made", {"By school", "By class"} <= set(titles), titles)
    comments = [result.comment for result in one(call("get_all_results"))]
    check.that("results below a line item and a session were made", {"By line", "By session"} <= set(comments), comments)


def paging(answer):
    """The paging keys of a list."""
    whole = answer.model_dump(by_alias=True)
    return {key: whole[key] for key in ["totalCount", "pageCount", "pageNumber", "offset", "limit"]}


PLURALS = {"category": "categories", "class": "classes", "demographic": "demographics"}


async def read_all(check, call, row):
    """The list of a kind: whole, one page, filtered, sorted; and the refusal of a missing id."""
    name = f"get_all_{PLURALS.get(row.name, row.name + 's')}"
    sourced_id = row.record["sourcedId"]
    answer = call(name)
    total = len(one(answer))
    check.that(name, sourced_id in ids(answer), ids(answer))
    check.equal(f"{name} counts", paging(answer)["totalCount"], total)
    page = call(name, query_params={"limit": 1, "offset": 0, "sort": "sourcedId", "orderBy": "desc"})
    wanted = {"totalCount": total, "pageCount": total, "pageNumber": 1, "offset": 0, "limit": 1}
    check.equal(f"{name} pages", (len(one(page)), paging(page)), (1, wanted))
    check.equal(f"{name} sorts", one(page)[0].sourcedId, ids(answer)[-1])
    found = call(name, query_params={"filter": f"sourcedId='{sourced_id}' AND status='active'"})
    check.equal(f"{name} filters", ids(found), [sourced_id])
    got = one(call(f"get_{row.name}", sourced_id=sourced_id))
    check.equal(f"get_{row.name}", got.sourcedId, sourced_id)
    try:
        call(f"get_{row.name}", sourced_id="no-such-record")
        check.that(f"get_{row.name} of a missing id", False, "answered")
    except NotFoundError as error:
        check.that(f"get_{row.name} of a missing id has the error's body", error.error_details, error)


async def read_scoped(check, call, state):
    """Every list below another record."""
    school, klass = {"school_sourced_id": "school-1"}, {"class_sourced_id": "class-1"}
    both = {**school, **klass}
    for name, fields, wanted in [
        ("get_all_students", {}, "student-1"), ("get_all_teachers", {}, "teacher-1"), ("get_all_terms", {}, "term-1"),
        ("get_classes_for_course", {"course_sourced_id": "course-1"}, "class-1"),
        ("get_classes_for_school", school, "class-1"),
        ("get_classes_for_student", {"student_sourced_id": "student-1"}, "class-1"),
        ("get_classes_for_teacher", {"teacher_sourced_id": "teacher-1"}, "class-1"),
        ("get_classes_for_term", {"term_sourced_id": "term-1"}, "class-1"),
        ("get_classes_for_user", {"user_sourced_id": "student-1"}, "class-1"),
        ("get_courses_for_school", school, "course-1"),
        ("get_enrollments_for_class_in_school", both, "enrollment-1"),
        ("get_enrollments_for_school", school, "enrollment-1"),
        ("get_grading_periods_for_term", {"term_sourced_id": "term-1"}, "gradingPeriod-2"),
        ("get_students_for_class", klass, "student-1"), ("get_students_for_class_in_school", both, "student-1"),
        ("get_students_for_school", school, "student-1"), ("get_teachers_for_class", klass, "teacher-1"),
        ("get_teachers_for_class_in_school", both, "teacher-1"), ("get_teachers_for_school", school, "teacher-1"),
        ("get_terms_for_school", school, "term-1"),
        ("get_categories_for_class", klass, "category-1"), ("get_line_items_for_class", klass, "line-1"),
        ("get_line_items_for_school", school, "line-1"), ("get_results_for_class", klass, "result-1"),
        ("get_results_for_line_item_for_class", {**klass, "line_item_sourced_id": "line-1"}, "result-1"),
        ("get_results_for_student_for_class", {**klass, "student_sourced_id": "student-1"}, "result-1"),
        ("get_score_scales_for_class", klass, "scale-1"), ("get_score_scales_for_school", {"sourced_id": "school-1"}, "scale-1"),
    ]:
        async def work(check, name=name, fields=fields, wanted=wanted):
            got = ids(call(name, **fields))
            check.that(name, wanted in got, got)
        await check.step(name, work)
    for name, fields in [("class", klass), ("course", {"course_sourced_id": "course-1"}), ("user", {"user_sourced_id": "student-1"})]:
        answer = call(f"get_resources_for_{name}", **fields)
        check.equal(f"get_resources_for_{name}", paging(answer)["totalCount"], len(one(answer)))
    for name, wanted in [("student", "student-1"), ("teacher", "teacher-1"), ("term", "term-1")]:
        check.equal(f"get_{name}", one(call(f"get_{name}", sourced_id=wanted)).sourcedId, wanted)
    check.equal("get_agents", ids(call("get_agents", "student-1")), ["parent-1"])
    check.equal("get_agent_for", ids(call("get_agent_for", "parent-1")), ["student-1"])
    check.equal("get_user_with_demographics", one(call("get_user_with_demographics", sourced_id="student-1")).sourcedId, "student-1")
    password = call("decrypt_credential", userId="student-1", credentialId=state["credential"]).password
    check.equal("decrypt_credential", password, "p w")


async def main():
    options, check = arguments(), Checks()
    call = Caller(client_at(options))
    state = {}
    if options.phase == "write":
        for row in rows():
            await check.step(f"write {row.name}", write, call, row)
        for row in reversed(rows()):
            await check.step(f"remove {row.name}", remove, call, row)
        await check.step("special", write_special, call, state)
        await check.step("what it cannot", write_what_it_cannot, call)
        with open(options.state, "w", encoding="utf-8") as handle:
            handle.write(state.get("credential", ""))
    with open(options.state, encoding="utf-8") as handle:
        state["credential"] = handle.read()
    for row in rows():
        await check.step(f"read {row.name}", read_all, call, row)
    await check.step("scoped", read_scoped, call, state)
    if options.phase == "write":
        unused = call.methods() - call.used
        check.that("every method was used", not unused, ", ".join(sorted(unused)))
    return check.summary()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
