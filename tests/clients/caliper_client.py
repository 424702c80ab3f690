"""Drives every operation of the published client `timeback-caliper` against a running server.

`--phase write` sends and reads everything back, fails if one public method of the client was not
used, and notes what is stored in the state file. `--phase read`, after a restart on the same data,
reads again and compares.
"""
import asyncio
import json
import sys

from timeback_caliper import CaliperClient
from timeback_caliper.event_factories import create_activity_event, create_time_spent_event
from timeback_caliper.resources.events import EventsResource
from timeback_caliper.resources.jobs import JobsResource
from timeback_caliper.types import (
    ActivityCompletedInput, CaliperEnvelope, QuestionAnsweredInput, QuestionGradedInput, QuestionObjectInput,
    QuestionSeenInput, ResponseGeneratedInput, ScoreGeneratedInput, TimebackActivity, TimebackActivityContext,
    TimebackActivityMetric, TimebackApp, TimebackCourse, TimebackUser, TimeSpentInput, TimeSpentMetric)
from timeback_common import NotFoundError

from harness import Checks, Coverage, arguments

SENSOR = "https://app.example.org/sensors/main"
EMAIL = "ada@example.org"


def actor(base):
    return TimebackUser(id=f"{base}/ims/oneroster/rostering/v1p2/users/u-1", email=EMAIL, name="Ada", role="student")


def context():
    return TimebackActivityContext(
        id="https://app.example.org/activities/math/g3/halves", subject="Math", app=TimebackApp(name="Fractions"),
        course=TimebackCourse(id="c-1", name="Math 3"), activity=TimebackActivity(name="Halves"))


def activity(base, **more):
    metrics = [TimebackActivityMetric(type="totalQuestions", value=10), TimebackActivityMetric(type="xpEarned", value=1.5)]
    return ActivityCompletedInput(actor=actor(base), object=context(), metrics=metrics, attempt=1, **more)


def time_spent(base, **more):
    metrics = [TimeSpentMetric(type="active", value=1800, start_date="2026-01-15T10:00:00Z", sub_type="reading"),
               TimeSpentMetric(type="anti-pattern", value=30)]
    return TimeSpentInput(actor=actor(base), object=context(), metrics=metrics, **more)


async def completed(check, client, name, sent, count=1):
    """The job of what was sent is done and names an event for each that was sent."""
    job = await client.jobs.wait_for_completion(sent.job_id, timeout=5, poll_interval=0.1)
    check.equal(f"{name}: the job is completed", job.state, "completed")
    check.equal(f"{name}: with success", job.return_value.status, "success")
    check.equal(f"{name}: an event for each sent", len(job.return_value.results), count)
    return [result.external_id for result in job.return_value.results]


async def sends_by_kind(check, client, base, state):
    student, item = "urn:uuid:student-1", QuestionObjectInput(id="urn:uuid:q-1", name="What is 2+2?")
    app = "https://app.example.org"
    sent = {
        "activity": await client.events.send_activity(SENSOR, activity(base)),
        "time": await client.events.send_time_spent(SENSOR, time_spent(base)),
        "seen": await client.events.send_question_seen(SENSOR, QuestionSeenInput(actor=student, object=item, ed_app=app)),
        "answered": await client.events.send_question_answered(SENSOR, QuestionAnsweredInput(
            actor=student, object=item, ed_app=app, generated=ResponseGeneratedInput(id="urn:uuid:r-1", attempt="urn:uuid:a-1"))),
        "graded": await client.events.send_question_graded(SENSOR, QuestionGradedInput(
            actor=student, object="urn:uuid:a-1", ed_app=app,
            generated=ScoreGeneratedInput(score_given=1, max_score=1, attempt="urn:uuid:a-1"))),
    }
    for name, answer in sent.items():
        state[name] = (await completed(check, client, name, answer))[0]
    check.equal("a job is read by its id", (await client.jobs.get_status(sent["time"].job_id)).id, sent["time"].job_id)
    await check.raises("an unknown job is not found", NotFoundError, client.jobs.get_status("999999"))


async def sends_batches(check, client, base, state):
    events = [create_activity_event(activity(base)), create_time_spent_event(time_spent(base))]
    state["batch"] = await completed(check, client, "batch", await client.events.send(SENSOR, events), 2)
    again = await completed(check, client, "batch again", await client.events.send(SENSOR, events), 2)
    check.equal("the same batch is the same events", again, state["batch"])
    envelope = CaliperEnvelope(sensor=SENSOR, sendTime="2026-01-15T12:00:00Z", dataVersion="http://purl.imsglobal.org/ctx/caliper/v1p2", data=[
        create_activity_event(activity(base, event_time="2026-01-15T11:00:00Z", session="urn:uuid:run-1")).model_dump(
            mode="json", by_alias=True, exclude_none=True)])
    check.equal("a good envelope is valid", (await client.events.validate(envelope)).status, "success")
    await check.raises("what was only validated is not stored", NotFoundError, client.events.get(envelope.data[0]["id"]))
    state["envelope"] = (await completed(check, client, "envelope", await client.events.send_envelope(envelope)))[0]
    bad = envelope.model_copy(deep=True)
    del bad.data[0]["actor"]
    for name, call in (("validate", client.events.validate), ("send", client.events.send_envelope)):
        try:
            await call(bad)
            check.that(f"{name} refuses a bad envelope", False)
        except Exception as error:  # noqa: BLE001 (the client has one class for all of them)
            check.that(f"{name} refuses a bad envelope", "data[0].actor" in str(error), repr(error))


async def reads(check, client, base, state):
    one = await client.events.get(state["activity"])
    check.equal("the event has the id that was sent", one.external_id, state["activity"])
    check.equal("its metrics", [item["value"] for item in one.generated["items"]], [10, 1.5])
    check.equal("its actor", one.actor["email"], EMAIL)
    check.equal("its profile", one.profile, "TimebackProfile")
    check.equal("its course", one.object["course"]["id"], "c-1")
    spent = await client.events.get(state["time"])
    check.equal("time spent", [item["type"] for item in spent.generated["items"]], ["active", "anti-pattern"])
    graded = await client.events.get(state["graded"])
    check.equal("a grade", (graded.action, graded.object, graded.generated["scoreType"]), ("Graded", "urn:uuid:a-1", "QUESTION_RESULT"))
    check.equal("an actor that is an IRI alone", graded.actor, "urn:uuid:student-1")
    await check.raises("an unknown event is not found", NotFoundError, client.events.get("urn:uuid:00000000-0000-4000-8000-000000000000"))
    page = await client.events.list(limit=3, offset=3)
    check.equal("a page", (len(page.events), page.pagination.total, page.pagination.total_pages, page.pagination.current_page), (3, 8, 3, 2))
    for name, where, count in (
            ("sensor", {"sensor": SENSOR}, 8), ("another sensor", {"sensor": SENSOR + "/2"}, 0),
            ("e-mail", {"actor_email": EMAIL.upper()}, 5), ("actor", {"actor_id": actor(base).id}, 5 if state["base"] == base else 0),
            ("time", {"start_date": "2026-01-15T11:00:00Z", "end_date": "2026-01-15T11:00:00Z"}, 1)):
        check.equal(f"listed by {name}", (await client.events.list(**where)).pagination.total, count)
    streamed = await client.events.stream(limit=3).to_list()
    check.equal("every event is streamed once", len({event.id for event in streamed}), 8)
    check.equal("a stream is bounded", len(await client.events.stream(limit=2, max_items=3).to_list()), 3)
    return [event.model_dump(mode="json", by_alias=True) for event in streamed]


async def main():
    options, check, state = arguments(), Checks(), {}
    coverage = Coverage([EventsResource, JobsResource])
    async with CaliperClient(base_url=options.base, auth_url=options.auth, client_id=options.id, client_secret=options.secret) as client:
        if options.phase == "write":
            state["base"] = options.base
            await check.step("kinds", sends_by_kind, client, options.base, state)
            await check.step("batches", sends_batches, client, options.base, state)
            state["stored"] = await check.step("reads", reads, client, options.base, state)
            coverage.whole(check)
            with open(options.state, "w", encoding="utf-8") as handle:
                json.dump(state, handle)
        else:
            with open(options.state, encoding="utf-8") as handle:
                state = json.load(handle)
            stored = await check.step("reads", reads, client, options.base, state)
            check.that("all events are as they were", stored == state["stored"])
    return check.summary()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
