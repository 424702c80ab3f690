"""Drives every analytics operation of the published client `timeback-edubridge` against a running
server, with events that the published client `timeback-caliper` would send.
"""
import asyncio
import json
import urllib.request

from timeback_edubridge import EdubridgeClient
from timeback_common import NotFoundError

from harness import Checks, arguments

ROSTERING = "/ims/oneroster/rostering/v1p2"
CONTEXT = "http://purl.imsglobal.org/ctx/caliper/v1p2"


def post(server, token, path, body):
    request = urllib.request.Request(
        server + path, json.dumps(body).encode(),
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def token_of(options):
    form = f"grant_type=client_credentials&client_id={options.id}&client_secret={options.secret}"
    request = urllib.request.Request(options.auth, form.encode())
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["access_token"]


def event(number, time, kind, items):
    is_time = kind == "TimeSpentEvent"
    collection = "TimeSpentMetricsCollection" if is_time else "ActivityMetricsCollection"
    return {
        "@context": CONTEXT, "id": f"urn:uuid:00000000-0000-4000-8000-{number:012}",
        "type": kind, "action": "SpentTime" if is_time else "Completed",
        "profile": "TimebackProfile", "eventTime": time,
        "actor": {"id": "https://lyceum.example.org/ims/oneroster/rostering/v1p2/users/ann",
                  "type": "TimebackUser", "email": "ann@example.org"},
        "object": {"id": "https://app.example.org/a/1", "type": "TimebackActivityContext",
                   "subject": "Math", "app": {"name": "Abacus"},
                   "activity": {"id": "https://app.example.org/a/1", "name": "Sums"}},
        "generated": {"id": "https://app.example.org/m/1", "type": f"Timeback{collection}",
                      "items": [{"type": name, "value": value} for name, value in items]},
    }


def prepare(server, token):
    org = {"sourcedId": "s", "name": "School", "type": "school"}
    post(server, token, f"{ROSTERING}/orgs", {"org": org})
    post(server, token, f"{ROSTERING}/users", {"user": {
        "sourcedId": "ann", "enabledUser": True, "givenName": "Ann", "familyName": "Example",
        "email": "ann@example.org",
        "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}]}})
    post(server, token, f"{ROSTERING}/courses", {"course": {
        "sourcedId": "c", "title": "Maths", "courseCode": "M", "subjects": ["Math"],
        "org": {"sourcedId": "s"}}})
    post(server, token, f"{ROSTERING}/enrollments", {"enrollment": {
        "sourcedId": "e", "role": "student", "user": {"sourcedId": "ann"},
        "course": {"sourcedId": "c"}}})
    # 11 p.m. in New York, and a quarter past midnight.
    post(server, token, "/caliper/event", {
        "sensor": "https://app.example.org/s", "sendTime": "2026-03-12T12:00:00.000Z",
        "dataVersion": CONTEXT, "data": [
            event(1, "2026-03-11T03:00:00.000Z", "ActivityEvent",
                  [("xpEarned", 12.5), ("totalQuestions", 10), ("correctQuestions", 9),
                   ("masteredUnits", 1)]),
            event(2, "2026-03-11T04:15:00.000Z", "TimeSpentEvent",
                  [("active", 600), ("inactive", 30.5), ("waste", 5)])]})


async def main():
    options = arguments()
    check = Checks()
    prepare(options.base, token_of(options))
    async with EdubridgeClient(base_url=options.base, auth_url=options.auth,
                               client_id=options.id, client_secret=options.secret) as client:
        await check.step("activity", activity, client)
        await check.step("enrollment", enrollment, client)
        await check.step("weekly facts", weekly, client)
        await check.step("highest grade", highest, client)
    return check.summary()


async def activity(check, client):
    days = {"start_date": "2026-03-10", "end_date": "2026-03-11", "timezone": "America/New_York"}
    for who in ({"email": "ann@example.org"}, {"student_id": "ann"}):
        answer = await client.analytics.get_activity(**who, **days)
        check.equal(f"days of {who}", list(answer.facts), ["2026-03-10", "2026-03-11"])
        first = answer.facts["2026-03-10"]["Math"]
        check.equal("xp", first.activity_metrics.xp_earned, 12.5)
        check.equal("questions", first.activity_metrics.total_questions, 10)
        check.equal("apps", first.apps, ["Abacus"])
        second = answer.facts_by_app["Abacus"]["2026-03-11"]["Math"].time_spent_metrics
        check.equal("inactive", second.inactive_seconds, 30.5)
        check.equal("start", answer.start_date, "2026-03-10T04:00:00.000Z")
    days["end_date"] = "2026-03-10"
    answer = await client.analytics.get_activity(student_id="ann", **days)
    check.equal("a day ends at midnight there", list(answer.facts), ["2026-03-10"])
    await check.raises("nobody", NotFoundError,
                       client.analytics.get_activity(student_id="nobody", **days))


async def enrollment(check, client):
    answer = await client.analytics.get_enrollment_facts(enrollment_id="e")
    check.equal("id", answer.enrollment_id, "e")
    check.equal("open bounds", (answer.start_date, answer.end_date), (None, None))
    check.equal("in UTC one day", list(answer.facts), ["2026-03-11"])
    metrics = answer.facts["2026-03-11"]["Math"]
    check.equal("xp", metrics.activity_metrics.xp_earned, 12.5)
    check.equal("active", metrics.time_spent_metrics.active_seconds, 600)
    answer = await client.analytics.get_enrollment_facts(
        enrollment_id="e", start_date="2026-03-11", timezone="America/New_York")
    check.equal("from a day on", list(answer.facts), ["2026-03-11"])
    await check.raises("no enrollment", NotFoundError,
                       client.analytics.get_enrollment_facts(enrollment_id="none"))


async def weekly(check, client):
    facts = await client.analytics.get_weekly_facts(
        email="ann@example.org", week_date="2026-03-12", timezone="America/New_York")
    check.equal("days", [fact.date for fact in facts], ["2026-03-10", "2026-03-11"])
    check.equal("active", [fact.active_seconds for fact in facts], ["0", "600"])
    check.equal("inactive", facts[1].inactive_seconds, "30.5")
    check.equal("activity", facts[0].activity_name, "Sums")
    check.equal("enrollment", facts[0].enrollment_id, "e")
    facts = await client.analytics.get_weekly_facts(student_id="ann", week_date="2026-03-20")
    check.equal("another week", facts, [])


async def highest(check, client):
    answer = await client.analytics.get_highest_grade_mastered(student_id="ann", subject="Math")
    check.equal("nothing is known", answer.grades.highest_grade_overall, None)
    check.equal("of whom", (answer.student_id, answer.subject), ("ann", "Math"))


raise SystemExit(asyncio.run(main()))
