"""The read half: single reads, filters, pages, order, fields and search on every service, and the
lists below a user, class, school, course, term and line item. It needs nothing but the records that
the write half left behind, so it runs again after a restart."""
import inspect
from datetime import UTC, date, datetime

from timeback_common import NotFoundError

LONG_AGO, FAR_AHEAD = datetime(2020, 1, 1, tzinfo=UTC), datetime(2999, 1, 1, tzinfo=UTC)


def ids(records):
    return [r["sourcedId"] if isinstance(r, dict) else r.sourced_id for r in records]


async def single_reads(check, client, case):
    service = getattr(client, case.service)
    for i in range(1, 6):
        got = await service.get(case.id(i))
        check.equal(f"{case.service}: get {case.id(i)}", (got.sourced_id, getattr(got, case.attribute)), (case.id(i), case.value(i)))
        check.equal(f"{case.service}: {case.id(i)} exists", await service.exists(case.id(i)), True)
    check.equal(f"{case.service}: another id does not exist", await service.exists("no-such-record"), False)
    if callable(service):
        handle = service(case.id(1))
        check.equal(f"{case.service}: the handle reads the same", (await handle.get()).sourced_id, case.id(1))
        check.equal(f"{case.service}: the handle exists", await handle.exists(), True)
        check.equal(f"{case.service}: another handle does not", await service("no-such-record").exists(), False)


async def filters(check, client, case):
    """Every operator that the client can send, alone and joined."""
    service, field, value = getattr(client, case.service), case.field, case.value

    async def finds(name, where, numbers):
        got = sorted(ids(await service.list_all(where=where)))
        check.equal(f"{case.service}: where {name}", got, sorted(case.ids(numbers)))

    def scoped(**operators):
        return {field: {**case.scope, **operators}}

    everything, other = range(1, 6), "nothing" if case.text else "1999-01-01"
    await finds("scope", {field: case.scope}, everything)
    await finds("equals", {field: value(2)}, [2])
    await finds("ne", scoped(ne=value(2)), [1, 3, 4, 5])
    await finds("gt", scoped(gt=value(3)), [4, 5])
    await finds("gte", {field: {**case.scope, "gte": value(3)}}, [3, 4, 5])
    await finds("lt", scoped(lt=value(3)), [1, 2])
    await finds("lte", {field: {**case.scope, "lte": value(3)}}, [1, 2, 3])
    await finds("in_ of one", {field: {"in_": [value(4)]}}, [4])
    await finds("in_ of three", {field: {"in_": [value(1), value(5), other]}}, [1, 5])
    await finds("not_in", scoped(not_in=[value(1), value(5)]), [2, 3, 4])
    await finds("in_ and another field", {field: {"in_": [value(1), value(2)]}, "status": "active"}, [1, 2])
    await finds("another field and in_", {"sourcedId": case.id(2), field: {"in_": [value(1), value(2)]}}, [2])
    await finds("OR", {"OR": [{field: value(1)}, {field: value(3)}, {"sourcedId": case.id(4)}]}, [1, 3, 4])
    await finds("OR of ANDs", {"OR": [{field: value(1), "status": "active"}, {field: value(3), "status": "tobedeleted"}]}, [1])
    await finds("two fields", {field: value(2), "sourcedId": case.id(2)}, [2])
    await finds("two fields that contradict", {field: value(2), "sourcedId": case.id(3)}, [])
    await finds("an instant", {field: case.scope, "dateLastModified": {"gt": LONG_AGO, "lt": FAR_AHEAD}, "status": "active"}, everything)
    await finds("a day", {field: case.scope, "dateLastModified": {"lt": date(2020, 1, 1)}}, [])
    if case.text:
        await finds("a quote", {field: "O'Brien's"}, [])
        await finds("contains", {field: {"contains": value(3)[2:]}}, [3])
    if case.where:
        await finds("its own", {**case.where[0], field: case.scope}, case.where[1])
    first = await service.first(where={field: value(4)})
    check.equal(f"{case.service}: first", first and first.sourced_id, case.id(4))
    check.equal(f"{case.service}: first of nothing", await service.first(where={field: other}), None)


async def pages(check, client, case):
    """Small pages: metadata, no record twice, none left out; order; fields; search."""
    service, scope = getattr(client, case.service), {case.field: case.scope}
    seen, offset = [], 0
    for expected in [2, 2, 1]:
        page = await service.list(limit=2, offset=offset, where=scope)
        check.equal(f"{case.service}: page at {offset}", (len(page.data), page.total, page.has_more),
                    (expected, 5, expected == 2))
        seen += ids(page.data)
        offset = page.next_offset or offset + expected
    check.equal(f"{case.service}: pages hold each record once", sorted(seen), sorted(case.ids()))
    past = await service.list(limit=2, offset=50, where=scope)
    check.equal(f"{case.service}: past the end", (past.data, past.has_more), ([], False))
    check.equal(f"{case.service}: list_all over pages", sorted(ids(await service.list_all(limit=2, where=scope))), sorted(case.ids()))
    check.equal(f"{case.service}: list_all max_items", len(await service.list_all(limit=2, max_items=3, where=scope)), 3)
    streamed = [record.sourced_id async for record in service.stream(limit=2, where=scope, max_items=4)]
    check.equal(f"{case.service}: stream", len(set(streamed)), 4)
    for order, wanted in [("asc", case.ids()), ("desc", case.ids()[::-1])]:
        got = ids(await service.list_all(limit=2, sort=case.field, order_by=order, where=scope))
        check.equal(f"{case.service}: sort {order}", got, wanted)
    page = await service.list(limit=3, sort=case.field, where=scope)
    check.equal(f"{case.service}: a sorted page", ids(page.data), case.ids()[:3])
    await only_fields(check, case.service, service.list_all, scope)
    if "search" in inspect.signature(service.list).parameters:
        for text, found in [(case.search, case.ids()), (case.search.upper(), case.ids()), ("no such text", [])]:
            got = sorted(ids(await service.list_all(search=text, limit=2, where={"status": "active"})))
            check.equal(f"{case.service}: search {text!r}", got, sorted(found))


def needed(model):
    """The wire names that the model cannot do without."""
    return [f.alias or n for n, f in model.model_fields.items() if f.is_required() or n == "sourced_id"]


async def only_fields(check, name, lister, where):
    whole = await lister(where=where)
    model = type(whole[0])
    names = needed(model) if model is not dict else ["sourcedId", "status"]
    got = await lister(where=where, fields=names)
    keys = [set(r) if isinstance(r, dict) else {type(r).model_fields[k].alias or k for k in r.model_fields_set} for r in got]
    all_keys = [set(r) if isinstance(r, dict) else {type(r).model_fields[k].alias or k for k in r.model_fields_set} for r in whole]
    # What the schema requires is shown beside what was asked for; the rest is left out.
    shown = [set(names) & every <= few <= every for few, every in zip(keys, all_keys)]
    check.that(f"{name}: fields", len(got) == len(whole) and all(shown), f"{names} gave {keys}")
    check.that(f"{name}: fields leave out metadata", "metadata" in names or all("metadata" not in few for few in keys), keys)


async def below(check, client, handle_name, handle, lists):
    """The scoped lists of one handle: each whole, paged, streamed, filtered, ordered, with fields."""
    for name, wanted in lists.items():
        lister, stream = getattr(handle, name), getattr(handle, f"stream_{name}")
        label, options = f"{handle_name}.{name}", inspect.signature(lister).parameters
        got = ids(await lister())
        check.equal(label, sorted(got), sorted(wanted))
        check.equal(f"{label}: pages of one", sorted(ids(await lister(limit=1))), sorted(wanted))
        streamed = [r async for r in stream(limit=1, max_items=1)]
        check.equal(f"{label}: stream", len(streamed), min(1, len(wanted)))
        check.equal(f"{label}: where", ids(await lister(where={"sourcedId": wanted[0]})), wanted[:1])
        check.equal(f"{label}: where nothing", await lister(where={"sourcedId": "nothing"}), [])
        if "sort" in options:
            got = ids(await lister(sort="sourcedId", order_by="desc", limit=2))
            check.equal(f"{label}: sort", got, sorted(wanted, reverse=True))
        if "fields" in options:
            await only_fields(check, label, lister, {"sourcedId": wanted[0]})


async def scoped_lists(check, client):
    """Every list below another record."""
    students = [f"student-{i}" for i in range(1, 6)]
    classes = [f"class-{i}" for i in range(1, 6)]
    lines, results = [f"line-{i}" for i in range(1, 6)], [f"result-{i}" for i in range(1, 6)]
    enrolled = [f"enrollment-{i}" for i in range(1, 6)] + ["enrollment-teacher"]
    # A class has the categories that it uses, and those that no class uses yet.
    scales, categories = [f"scale-{i}" for i in range(1, 6)], [f"category-{i}" for i in range(1, 6)]
    tables = {
        "users(student-1)": (client.users("student-1"), {"classes": ["class-1"], "resources": ["resource-5"]}),
        "students(student-1)": (client.students("student-1"), {"classes": ["class-1"]}),
        "teachers(teacher-1)": (client.teachers("teacher-1"), {"classes": ["class-1"]}),
        "courses(course-1)": (client.courses("course-1"), {
            "classes": classes[:3], "components": ["component-1", "component-2", "component-3"],
            "resources": ["resource-1", "resource-2"]}),
        "terms(term-1)": (client.terms("term-1"), {
            "classes": classes, "grading_periods": [f"gradingPeriod-{i}" for i in range(1, 7)]}),
        "classes(class-1)": (client.classes("class-1"), {
            "students": students, "teachers": ["teacher-1"], "enrollments": enrolled,
            "line_items": lines[:3] + ["line-by-class"], "results": results + ["result-by-session", "result-by-line"],
            "resources": ["resource-3"], "score_scales": scales, "categories": categories}),
        "classes.student": (client.classes("class-1").student("student-1"),
                            {"results": ["result-1", "result-by-line", "result-by-session"]}),
        "classes.line_item": (client.classes("class-1").line_item("line-1"), {"results": results}),
        "line_items(line-2)": (client.line_items("line-2"), {"results": ["result-by-line", "result-by-session"]}),
        "schools(school-1)": (client.schools("school-1"), {
            "classes": classes, "students": students, "teachers": ["teacher-1"],
            "courses": [f"course-{i}" for i in range(1, 6)] + ["course-structured"], "enrollments": enrolled,
            "terms": [f"term-{i}" for i in range(1, 6)], "line_items": lines + ["line-by-class", "line-by-school"],
            "score_scales": scales}),
        "schools.class": (client.schools("school-1").class_("class-1"),
                          {"enrollments": enrolled, "students": students, "teachers": ["teacher-1"]}),
    }
    for name, (handle, lists) in tables.items():
        await check.step(name, below, client, name, handle, lists)
    await check.raises("a class is not found below another school", NotFoundError,
                       client.schools("school-2").class_("class-1").students())
