"""Drives the tests of the published client `timeback-qti` against a running server: every operation
of assessment tests, their parts, sections and items.

`--phase write` stores items and tests, changes them, and fails if one public method was not used.
`--phase read`, after a restart on the same data, repeats the reads and compares them with what was
noted.
"""
import asyncio
import sys

from timeback_common import APIError, NotFoundError, ValidationError
from timeback_qti import QtiClient
from timeback_qti.resources import assessment_tests as resources

from harness import Checks, Coverage, arguments

OWN = [resources.AssessmentTestsResource, resources.AssessmentTestPartsHelper,
       resources.TestPartSectionsHelper, resources.SectionItemsHelper]


def item(name):
    return {"identifier": name, "title": f"Item {name}", "type": "choice",
            "interaction": {"type": "choice", "responseIdentifier": "RESPONSE", "maxChoices": 1,
                            "questionStructure": {"prompt": f"{name}?", "choices": [
                                {"identifier": "A", "content": "yes"}, {"identifier": "B", "content": "no"}]}},
            "responseDeclarations": [{"identifier": "RESPONSE", "cardinality": "single", "baseType": "identifier",
                                      "correctResponse": {"value": ["A"]}}]}


def refs(*names):
    return [{"identifier": name, "href": f"assessment-items/{name}", "sequence": at + 1} for at, name in enumerate(names)]


def section(name, sequence, *items, **more):
    return {"identifier": name, "title": f"Section {name}", "visible": True, "sequence": sequence,
            "qti-assessment-item-ref": refs(*items), **more}


def part(name, *sections, navigation="nonlinear"):
    return {"identifier": name, "navigationMode": navigation, "submissionMode": "individual",
            "qti-assessment-section": list(sections)}


def test(name, *parts, **more):
    return {"identifier": name, "title": f"Test {name}", "qti-test-part": list(parts), **more}


def names(models):
    return [model.identifier for model in models or []]


def shape(model):
    """Identifiers of a test, inwards."""
    return {p.identifier: {s.identifier: names(s.qti_assessment_item_ref) for s in p.qti_assessment_section}
            for p in model.qti_test_part}


async def make_items(check, qti):
    for n in range(1, 7):
        await qti.assessment_items.create(item(f"ti-{n}"))
    check.that("items are there", True)


async def whole(check, qti):
    tests = qti.assessment_tests
    sent = test("whole", part("p1", section("s1", 1, "ti-1", "ti-2"), navigation="linear"),
                timeLimit=600, maxAttempts=2, toolsEnabled={"calculator": True}, metadata={"subject": "Math", "grade": 3},
                **{"qti-outcome-declaration": [{"identifier": "SCORE", "cardinality": "single", "baseType": "float",
                                                "normalMaximum": 2, "defaultValue": {"value": 0}}]})
    made = await tests.create(sent)
    check.equal("what is created is as it was sent", (made.identifier, made.title, made.time_limit, made.max_attempts,
                made.tools_enabled, made.metadata), ("whole", "Test whole", 600, 2, {"calculator": True}, {"subject": "Math", "grade": 3}))
    check.equal("its parts are those sent", shape(made), {"p1": {"s1": ["ti-1", "ti-2"]}})
    check.equal("its outcomes are those sent", [(o.identifier, o.normal_maximum) for o in made.qti_outcome_declaration], [("SCORE", 2.0)])
    check.that("its XML is a test", "<qti-assessment-test" in made.raw_xml and made.qti_version)
    check.equal("it is read as it was created", await tests.get("whole"), made)
    check.equal("the same may be sent again", await tests.create(sent), made)
    await check.raises("an identifier that is taken is refused", APIError, tests.create({**sent, "title": "Another"}))
    await check.raises("an item that is not there is refused", ValidationError,
                       tests.create(test("lost", part("p1", section("s1", 1, "no-such-item")))))
    await check.raises("and nothing is stored of it", NotFoundError, tests.get("lost"))

    changed = await tests.update("whole", {**sent, "title": "Changed", "qti-test-part": [
        part("p1", section("s1", 1, "ti-2", "ti-3"), navigation="linear"), part("p2", section("s2", 1, "ti-1"))]})
    check.equal("an update changes title and parts", (changed.title, shape(changed)),
                ("Changed", {"p1": {"s1": ["ti-2", "ti-3"]}, "p2": {"s2": ["ti-1"]}}))
    check.equal("it is read as it was updated", await tests.get("whole"), changed)
    check.equal("what it was given stays", (changed.time_limit, changed.tools_enabled, changed.metadata),
                (600, {"calculator": True}, {"subject": "Math", "grade": 3}))
    await check.raises("an unknown test is not updated", NotFoundError, tests.update("none", test("none", part("p", section("s", 1)))))

    told = await tests.update_metadata("whole", {"metadata": {"subject": "Science"}})
    check.equal("metadata are replaced", told.metadata, {"subject": "Science"})
    check.equal("and nothing else", ((await tests.get("whole")).metadata, shape(told)), ({"subject": "Science"}, shape(changed)))

    first = await tests.upsert("upserted", test("upserted", part("p", section("s", 1, "ti-1"))))
    again = await tests.upsert("upserted", {**test("upserted", part("p", section("s", 1, "ti-1"))), "title": "Twice"})
    check.equal("an upsert creates, then updates", (first.title, again.title, (await tests.get("upserted")).title),
                ("Test upserted", "Twice", "Twice"))

    asked = await tests.get_questions("whole")
    check.equal("its questions are counted", (asked.assessment_test, asked.title, asked.total_questions), ("whole", "Changed", 3))
    check.equal("each with its place and item", [(q.reference.test_part, q.reference.section, q.reference.identifier, q.question.title)
                for q in asked.questions], [("p1", "s1", "ti-2", "Item ti-2"), ("p1", "s1", "ti-3", "Item ti-3"), ("p2", "s2", "ti-1", "Item ti-1")])

    gone = await tests.create(test("gone", part("p", section("s", 1, "ti-6"))))
    await check.raises("an item of a test is not deleted", APIError, qti.assessment_items.delete("ti-6"))
    check.that("deleting tells", (await tests.delete(gone.identifier)) is not None)
    await check.raises("a deleted test is gone", NotFoundError, tests.get("gone"))
    await check.raises("it is gone for deleting, too", NotFoundError, tests.delete("gone"))
    await qti.assessment_items.delete("ti-6")


async def lists(check, qti):
    tests = qti.assessment_tests
    for n in range(5):
        await tests.create(test(f"list-{n}", part("p", section("s", 1)), metadata={"series": "list"}))
    page = await tests.list({"query": "list-", "limit": 2, "page": 2, "sort": "identifier", "order": "asc"})
    check.equal("a page of a search", (names(page.items), page.total, page.page, page.pages, page.limit, page.sort, page.order),
                (["list-2", "list-3"], 5, 2, 3, 2, "identifier", "asc"))
    found = await tests.list({"where": {"title": "Test list-4"}})
    check.equal("a filter finds", names(found.items), ["list-4"])
    streamed = [one["identifier"] async for one in tests.stream(limit=2, sort="identifier", order="desc", where={"title": {"contains": "list-"}})]
    check.equal("a stream gives every page", streamed, [f"list-{n}" for n in (4, 3, 2, 1, 0)])


async def parts(check, qti):
    await qti.assessment_tests.create(test("parted", part("p1", section("s1", 1, "ti-1"))))
    own = qti.assessment_tests.test_parts("parted")
    made = await own.create(part("p2", section("s2", 1, "ti-2"), navigation="linear"))
    check.equal("a part is created", (made.identifier, made.navigation_mode, names(made.qti_assessment_section)), ("p2", "linear", ["s2"]))
    check.equal("it is read as it was created", await own.get("p2"), made)
    check.equal("the test has it", list(shape(await qti.assessment_tests.get("parted"))), ["p1", "p2"])
    listed = await own.list({"page": 1, "limit": 1})
    check.equal("parts are listed by pages", (names(listed.items), listed.total, listed.pages), (["p1"], 2, 2))
    check.equal("and all at once", names((await own.list()).items), ["p1", "p2"])
    changed = await own.update("p2", part("p2", section("s2", 1, "ti-3"), section("s3", 2, "ti-2")))
    check.equal("a part is updated", (changed.navigation_mode, {s.identifier: names(s.qti_assessment_item_ref) for s in changed.qti_assessment_section}),
                ("nonlinear", {"s2": ["ti-3"], "s3": ["ti-2"]}))
    check.equal("the test has the update", shape(await qti.assessment_tests.get("parted"))["p2"], {"s2": ["ti-3"], "s3": ["ti-2"]})
    await check.raises("a taken identifier is refused", APIError, own.create(part("p1", section("s9", 1))))
    await own.create(part("p3", section("s4", 1)))
    await own.delete("p3")
    await check.raises("a deleted part is gone", NotFoundError, own.get("p3"))
    await check.raises("an unknown part is not updated", NotFoundError, own.update("none", part("none", section("s", 1))))


async def sections(check, qti):
    own = qti.assessment_tests.test_parts("parted").sections("p1")
    made = await own.create(section("s5", 2, "ti-4", required=True, fixed=True))
    check.equal("a section is created", (made.identifier, made.sequence, made.required, made.fixed, names(made.qti_assessment_item_ref)),
                ("s5", 2, True, True, ["ti-4"]))
    check.equal("it is read as it was created", await own.get("s5"), made)
    check.equal("sections are listed", names((await own.list({"sort": "identifier", "order": "desc"})).items), ["s5", "s1"])
    check.equal("in their order", names((await own.list()).items), ["s1", "s5"])
    changed = await own.update("s5", {**section("s5", 1, "ti-4"), "title": "First", "visible": False})
    check.equal("a section is updated and moved", (changed.title, changed.visible, changed.sequence), ("First", False, 1))
    check.equal("the part has the update", names((await own.list()).items), ["s5", "s1"])
    await check.raises("a taken identifier is refused", APIError, own.create(section("s1", 1)))
    await own.create(section("s6", 9))
    await own.delete("s6")
    await check.raises("a deleted section is gone", NotFoundError, own.get("s6"))


async def items(check, qti):
    own = qti.assessment_tests.test_parts("parted").sections("p1")
    of = own.items("s1")
    added = await of.add(refs("ti-5")[0] | {"sequence": 1})
    check.equal("an item is put in its place", names(added.qti_assessment_item_ref), ["ti-5", "ti-1"])
    await of.add({"identifier": "third", "href": "assessment-items/ti-3"})
    check.equal("or at the end, under a name of its own", names((await own.get("s1")).qti_assessment_item_ref), ["ti-5", "ti-1", "third"])
    await check.raises("an item that is not there is refused", ValidationError, of.add({"identifier": "no", "href": "assessment-items/no-such"}))
    again = await of.add(refs("ti-5")[0])
    check.equal("an item is added once", names(again.qti_assessment_item_ref), ["ti-5", "ti-1", "third"])
    await check.raises("another item under its name is refused", APIError, of.add({"identifier": "ti-5", "href": "assessment-items/ti-1"}))
    turned = await of.reorder({"items": [{"identifier": "third", "href": "assessment-items/ti-3", "sequence": 1},
                                         {"identifier": "ti-5", "href": "assessment-items/ti-5", "sequence": 2},
                                         {"identifier": "ti-1", "href": "assessment-items/ti-1", "sequence": 3}]})
    check.equal("items are reordered", [(r.identifier, r.sequence) for r in turned.qti_assessment_item_ref], [("third", 1), ("ti-5", 2), ("ti-1", 3)])
    check.equal("the section has that order", names((await own.get("s1")).qti_assessment_item_ref), ["third", "ti-5", "ti-1"])
    await check.raises("an order names every item", ValidationError, of.reorder({"items": refs("ti-5")}))
    await of.remove("ti-5")
    check.equal("an item is removed", names((await own.get("s1")).qti_assessment_item_ref), ["third", "ti-1"])
    await check.raises("once", NotFoundError, of.remove("ti-5"))
    asked = await qti.assessment_tests.get_questions("parted")
    check.equal("the questions follow", [q.question.identifier for q in asked.questions], ["ti-4", "ti-3", "ti-1", "ti-3", "ti-2"])


async def snapshot(qti):
    """What the server says of every test, for the comparison after a restart."""
    plain = lambda model: model.model_dump(mode="json", by_alias=True)  # noqa: E731
    parts_of = qti.assessment_tests.test_parts("parted")
    everything = await qti.assessment_tests.list({"limit": 100, "sort": "identifier"})
    return {
        "tests": [plain(one) for one in everything.items],
        "questions": {name: plain(await qti.assessment_tests.get_questions(name)) for name in ("whole", "parted")},
        "parts": plain(await parts_of.list()),
        "sections": plain(await parts_of.sections("p1").list()),
    }


async def main():
    options, check = arguments(), Checks()
    coverage = Coverage(OWN)
    async with QtiClient(base_url=options.base, auth_url=options.auth, client_id=options.id, client_secret=options.secret) as qti:
        await check.phase(options, (make_items, whole, lists, parts, sections, items), snapshot, qti)
    if options.phase == "write":
        coverage.whole(check)
    return check.summary()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
