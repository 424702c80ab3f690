"""Drives every operation of the published client `timeback-qti`, but those on tests, against a
running server.

`--phase write` stores, changes, scores, checks and deletes content, reads each effect back, and fails
if one public method was not used. `--phase read`, after a restart on the same data, reads again and
compares.
"""
import asyncio
import sys

from timeback_common import InputValidationError, NotFoundError
from timeback_qti import QtiClient
from timeback_qti.parse import parse_qti_xml
from timeback_qti.resources.assessment_items import AssessmentItemsResource
from timeback_qti.resources.general import GeneralResource
from timeback_qti.resources.lesson import LessonResource
from timeback_qti.resources.stimuli import StimuliResource
from timeback_qti.resources.validate import ValidateResource
from timeback_qti.types.inputs import (
    CreateAssessmentItemInput, CreateAssessmentItemXmlInput, CreateStimulusInput, ProcessResponseInput,
    SubmitLessonFeedbackInput, UpdateAssessmentItemInput, UpdateStimulusInput, ValidateBatchInput, ValidateInput)

from harness import Checks, Coverage, arguments

SERVICES = [AssessmentItemsResource, StimuliResource, ValidateResource, LessonResource, GeneralResource]

XML = """<?xml version="1.0" encoding="UTF-8"?>
<qti-assessment-item xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="{id}" title="{title}"
    adaptive="false" time-dependent="false">
  <qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="identifier">
    <qti-correct-response><qti-value>B</qti-value></qti-correct-response>
  </qti-response-declaration>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"/>
  <qti-item-body>
    <qti-choice-interaction response-identifier="RESPONSE" shuffle="false" max-choices="1">
      <qti-prompt>What is 2 + 2?</qti-prompt>
      <qti-simple-choice identifier="A">3</qti-simple-choice>
      <qti-simple-choice identifier="B">4</qti-simple-choice>
    </qti-choice-interaction>
  </qti-item-body>
  <qti-response-processing template="https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/match_correct.xml"/>
</qti-assessment-item>
"""


def json_item(identifier, **more):
    return {
        "identifier": identifier, "title": "The capital of France", "type": "choice",
        "preInteraction": "<p>Think of Europe.</p>",
        "interaction": {
            "type": "choice", "responseIdentifier": "RESPONSE", "shuffle": False, "maxChoices": 1,
            "questionStructure": {"prompt": "Which city is it?", "choices": [
                {"identifier": "A", "content": "Paris", "feedbackInline": "Well done", "feedbackOutcomeIdentifier": "FEEDBACK-INLINE"},
                {"identifier": "B", "content": "Lyon", "feedbackInline": "Not quite", "feedbackOutcomeIdentifier": "FEEDBACK-INLINE"}]}},
        "responseDeclarations": [{"identifier": "RESPONSE", "cardinality": "single", "baseType": "identifier",
                                  "correctResponse": {"value": ["A"]}}],
        "outcomeDeclarations": [{"identifier": "FEEDBACK", "cardinality": "single", "baseType": "identifier"},
                                {"identifier": "FEEDBACK-INLINE", "cardinality": "single", "baseType": "identifier"}],
        "responseProcessing": {
            "templateType": "match_correct", "responseDeclarationIdentifier": "RESPONSE", "outcomeIdentifier": "FEEDBACK",
            "correctResponseIdentifier": "CORRECT", "incorrectResponseIdentifier": "INCORRECT",
            "inlineFeedback": {"outcomeIdentifier": "FEEDBACK-INLINE", "variableIdentifier": "RESPONSE"}},
        "modalFeedback": [{"outcomeIdentifier": "FEEDBACK", "identifier": word, "showHide": "show", "content": f"<p>{word}</p>",
                           "title": word.title()} for word in ("CORRECT", "INCORRECT")],
        "metadata": {"subject": "Geography", "grade": 4, "difficulty": "easy",
                     "learningObjectiveSet": [{"source": "CASE", "learningObjectiveIds": ["lo-1", "lo-2"]}]},
        **more}


async def items(check, qti):
    client = qti.assessment_items
    made = await client.create_from_xml(CreateAssessmentItemXmlInput(
        xml=XML.format(id="sum", title="A sum"), metadata={"subject": "Math", "grade": 2, "difficulty": "hard"}))
    check.equal("an item of XML has the identifier of its XML", (made.identifier, made.title, made.type), ("sum", "A sum", "choice"))
    check.equal("and its metadata", (made.metadata.subject, made.metadata.grade, made.metadata.difficulty), ("Math", 2, "hard"))
    check.equal("and its key", made.response_declarations[0].correct_response.value, ["B"])
    read = await client.get("sum")
    check.equal("it is read as it was answered", read, made)
    check.equal("its XML is as it was sent", read.raw_xml, XML.format(id="sum", title="A sum").strip())
    check.equal("the client's own parser reads it", parse_qti_xml(read.raw_xml).correct_answer, "B")

    body = json_item("france")
    made = await client.create(CreateAssessmentItemInput.model_validate(body))
    read = await client.get("france")
    check.equal("an item of JSON is read as it was answered", read, made)
    check.equal("its metadata are as they were sent", read.metadata.model_dump(by_alias=True), body["metadata"])
    check.equal("its feedback is as it was sent", [f.identifier for f in read.modal_feedback], ["CORRECT", "INCORRECT"])
    check.equal("its processing is as it was sent", read.response_processing.model_dump(by_alias=True), body["responseProcessing"])
    parsed = parse_qti_xml(read.raw_xml)
    check.equal("its XML holds the choices", [(c.identifier, c.text) for c in parsed.choices], [("A", "Paris"), ("B", "Lyon")])
    check.equal("and the inline feedback", [f.content for f in parsed.feedback], ["Well done", "Not quite"])
    await client.create({"format": "xml", "xml": XML.format(id="again", title="Once more")})
    entry = await client.create_from_metadata({
        "identifier": "entry", "title": "An entry", "type": "text-entry",
        "interaction": {"type": "text-entry", "responseIdentifier": "RESPONSE", "questionStructure": {"prompt": "Two and two?"},
                        "attributes": {"expected-length": 3}},
        "responseDeclarations": [{"identifier": "RESPONSE", "cardinality": "single", "baseType": "string",
                                  "correctResponse": {"value": ["four"]}}]})
    check.equal("metadata alone make an item", (await client.get("entry")).type, entry.type)
    check.equal("the same may be sent again", await client.create(body), made)
    await check.refuses("a taken identifier is refused", 409, client.create({**body, "title": "Another"}))
    bad = await check.refuses("bad XML is refused", 400, client.create_from_xml({"format": "xml", "xml": "<a>\n<b></a>"}))
    check.that("with its line", bad is not None and "line 2" in str(bad), str(bad))
    await check.raises("an unknown item is not found", NotFoundError, client.get("nobody"))


async def answers(check, qti):
    client = qti.assessment_items
    for item, response, score, feedback in [
            ("sum", "B", 1.0, None), ("sum", ["A"], 0.0, None), ("entry", "four", 1.0, None), ("entry", "five", 0.0, None),
            ("france", "A", 1.0, ("FEEDBACK", "CORRECT")), ("france", ["B"], 0.0, ("FEEDBACK", "INCORRECT"))]:
        result = await client.process_response(item, ProcessResponseInput(response=response))
        told = result.feedback and (result.feedback.identifier, result.feedback.value)
        check.equal(f"{item} answered {response}", (result.score, told), (score, feedback))
    await check.refuses("an answer that is no choice is refused", 422, client.process_response("sum", {"response": "Z"}))
    await check.raises("an unknown item has no answer", NotFoundError, client.process_response("nobody", {"response": "A"}))


async def lists(check, qti):
    client = qti.assessment_items
    page = await client.list()
    check.equal("all items are listed in their order", [i.identifier for i in page.items], ["sum", "france", "again", "entry"])
    check.equal("with all paging keys", (page.total, page.page, page.pages, page.limit, page.sort, page.order),
                (4, 1, 1, 100, "createdAt", "asc"))
    page = await client.list({"page": 2, "limit": 3, "sort": "identifier", "order": "desc"})
    check.equal("a page of an order", ([i.identifier for i in page.items], page.pages), (["again"], 2))
    check.equal("a search", [i.identifier for i in (await client.list({"query": "EUROPE"})).items], ["france"])
    for where, wanted in [
            ({"type": "text-entry"}, ["entry"]), ({"metadata.difficulty": {"in_": ["easy", "hard"]}}, ["sum", "france"]),
            ({"metadata.grade": {"gte": 3}}, ["france"]), ({"title": {"contains": "capital"}}, ["france"]),
            ({"OR": [{"identifier": "sum"}, {"identifier": "again"}]}, ["sum", "again"]),
            ({"identifier": {"not_in": ["sum", "again"]}, "type": "choice"}, ["france"])]:
        found = await client.list({"where": where})
        check.equal(f"where {where}", [i.identifier for i in found.items], wanted)
    streamed = [item["identifier"] async for item in client.stream(limit=1, sort="title", order="asc")]
    check.equal("a stream goes through all pages", streamed, ["sum", "entry", "again", "france"])
    some = await client.stream(limit=2, where={"type": "choice"}, max_items=2).to_list()
    check.equal("a stream may be filtered and cut", [i["identifier"] for i in some], ["sum", "france"])
    await check.raises("page 0 is refused", InputValidationError, client.list({"page": 0}))
    await check.refuses("a filter without sense is refused", 400, client.list({"where": {"nothing": "x"}}))


async def changes(check, qti):
    client = qti.assessment_items
    changed = await client.update("france", UpdateAssessmentItemInput.model_validate(json_item("france", title="Paris or not")))
    read = await client.get("france")
    check.equal("an update is read back", (read, read.title), (changed, "Paris or not"))
    check.that("its time moves on", read.updated_at > read.created_at, f"{read.created_at} {read.updated_at}")
    titled = await client.update("sum", {"title": "Another sum", "type": "choice", "metadata": {"grade": 3}})
    read = await client.get("sum")
    check.equal("a title alone leaves the question", (titled.title, read.response_declarations[0].correct_response.value), ("Another sum", ["B"]))
    check.equal("metadata are replaced", (read.metadata.grade, read.metadata.subject), (3, None))
    check.equal("it is scored as before", (await client.process_response("sum", {"response": "B"})).score, 1.0)
    back = {"title": read.title, "type": "choice", "rawXml": read.raw_xml.replace("<qti-value>B", "<qti-value>A"), "content": read.content}
    await client.update("sum", back)
    check.equal("another key in the XML counts at once", (await client.process_response("sum", {"response": "A"})).score, 1.0)
    for title in ("New", "Newer"):
        await client.upsert("upserted", json_item("upserted", title=title))
        check.equal(f"an upsert says {title}", (await client.get("upserted")).title, title)
    await check.raises("an update of nothing is not found", NotFoundError, client.update("nobody", json_item("nobody")))
    await client.delete("again")
    await check.raises("a deleted item is gone", NotFoundError, client.get("again"))
    await qti.general.delete_by_id("upserted")
    await check.raises("so is one deleted by its identifier alone", NotFoundError, client.get("upserted"))
    await check.raises("and cannot be deleted twice", NotFoundError, qti.general.delete_by_id("upserted"))


async def stimuli(check, qti):
    client = qti.stimuli
    body = CreateStimulusInput.model_validate({
        "identifier": "tides", "title": "Tides", "content": "<p>The sea rises and falls.</p>", "label": "sea", "language": "en",
        "stylesheet": {"href": "sea.css", "type": "text/css"}, "toolName": "editor", "toolVersion": "1.0",
        "catalogInfo": [{"id": "c-1", "support": "spoken", "content": "<p>aloud</p>"}], "metadata": {"pages": [1, 2]}})
    made = await client.create(body)
    read = await client.get("tides")
    check.equal("a stimulus is read as it was answered", read, made)
    for name in ("title", "label", "language", "stylesheet", "tool_name", "tool_version", "metadata"):
        sent, got = getattr(body, name), getattr(read, name)
        plain = lambda value: value.model_dump() if hasattr(value, "model_dump") else value  # noqa: E731
        check.equal(f"its {name} is as it was sent", plain(got), plain(sent))
    check.equal("so is its catalogue", [(c.id, c.support) for c in read.catalog_info], [("c-1", "spoken")])
    await client.update("tides", UpdateStimulusInput(title="Low tide", content="<p>The sea has gone.</p>"))
    check.that("an update is read back", "has gone" in (await client.get("tides")).raw_xml)
    for title in ("Moon", "Full moon"):
        await client.upsert("moon", UpdateStimulusInput(title=title, content="<p>It shines.</p>"))
        check.equal(f"an upsert says {title}", (await client.get("moon")).title, title)
    page = await client.list({"limit": 1, "page": 2})
    check.equal("stimuli are listed", ([s.identifier for s in page.items], page.total), (["moon"], 2))
    check.equal("and searched", [s.identifier for s in (await client.list({"query": "shines"})).items], ["moon"])
    check.equal("and streamed", [s["identifier"] async for s in client.stream(limit=1, sort="title", order="desc")], ["tides", "moon"])

    await qti.assessment_items.create(json_item("of-tides", stimulus={"identifier": "tides"}))
    error = await check.refuses("a stimulus in use is not deleted", 409, client.delete("tides"))
    check.that("and the refusal names the item", error is not None and "of-tides" in str(error), str(error))
    await client.delete("moon")
    await check.raises("one that is not in use goes", NotFoundError, client.get("moon"))


async def validating(check, qti):
    xml = XML.format(id="check-me", title="Checked")
    good = await qti.validate.validate(ValidateInput(schema="item", xml=xml, entityId="mine"))
    check.equal("a good item is valid", (good.success, good.entity_id, good.validation_errors), (True, "mine", []))
    bad = await qti.validate.validate({"schema": "item", "xml": xml.replace("</qti-prompt>", "")})
    check.that("a bad one is told with its line", not bad.success and "line 13, " in bad.validation_errors[0], repr(bad))
    stored = await qti.validate.validate({"schema": "stimulus", "entityId": "tides"})
    check.that("a stored one is checked by its identifier", stored.success and "has gone" in stored.xml_content, repr(stored))
    both = await qti.validate.batch(ValidateBatchInput(schema="item", xml=[xml, "<nothing/>"], entityIds=["one", "two"]))
    check.equal("a batch answers each in its place", [(r.entity_id, r.success) for r in both.results], [("one", True), ("two", False)])
    await check.raises("nothing was stored", NotFoundError, qti.assessment_items.get("check-me"))


async def feedback(check, qti):
    said = await qti.lesson.submit_lesson(SubmitLessonFeedbackInput(userId="ada", lessonId="lesson/1", feedback="Too long"))
    check.equal("feedback on a lesson", (said.type, said.user_id, said.feedback), ("LESSON", "ada", "Too long"))
    check.equal("is read back", await qti.lesson.get_lesson("lesson/1"), said)
    asked = await qti.lesson.submit_question({"userId": "ada", "lessonId": "lesson 2", "questionId": "sum", "feedback": "Unclear", "humanApproved": True})
    read = await qti.lesson.get_lesson("lesson 2")
    check.equal("feedback on a question is read back", (read, read.question_id, read.human_approved), (asked, "sum", True))
    await qti.lesson.submit_lesson({"userId": "ben", "lessonId": "gone", "feedback": "Away with it"})
    told = await qti.general.delete_by_id("gone")
    check.that("deleting says what went", "gone" in (told.message or ""), repr(told))
    await check.raises("deleted feedback is gone", NotFoundError, qti.lesson.get_lesson("gone"))


async def snapshot(qti):
    """What there is, for the comparison after a restart."""
    plain = lambda models: [m.model_dump(mode="json", by_alias=True) for m in models]  # noqa: E731
    return {
        "items": plain((await qti.assessment_items.list()).items),
        "one item": plain([await qti.assessment_items.get("france")]),
        "stimuli": plain((await qti.stimuli.list()).items),
        "feedback": plain([await qti.lesson.get_lesson("lesson/1"), await qti.lesson.get_lesson("lesson 2")]),
        "scores": [(await qti.assessment_items.process_response("sum", {"response": r})).score for r in "AB"],
    }


async def main():
    options, check = arguments(), Checks()
    coverage = Coverage(SERVICES)
    base = options.base if options.phase == "write" else f"{options.base}/qti"
    async with QtiClient(base_url=base, auth_url=options.auth, client_id=options.id, client_secret=options.secret) as qti:
        check.that("the token endpoint answers", (await qti.check_auth())["ok"])
        await check.phase(options, (items, answers, lists, changes, stimuli, validating, feedback), snapshot, qti)
    if options.phase == "write":
        coverage.whole(check)
    return check.summary()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
