"""Drives every operation of the published client `timeback-edubridge`, but the analytics ones,
against a running server.

`--phase write` creates what is needed with the published OneRoster client, enrolls, leads by tracks,
resets, and fails if one public method of the client was not used. `--phase read`, after a restart on
the same data, repeats the reads and compares them with what was noted.
"""
import asyncio
import json
import sys

from timeback_common import InputValidationError, NotFoundError
from timeback_edubridge import EdubridgeClient, resources
from timeback_edubridge.types import EnrollmentMetadata, EnrollOptions, SubjectTrackUpsertInput
from timeback_oneroster import OneRosterClient

from cases import ref
from harness import Checks, Coverage, arguments, resource_classes



def student(sourced_id, org, grades, role="student"):
    return {"sourcedId": sourced_id, "status": "active", "enabledUser": True, "givenName": sourced_id,
            "familyName": "Bridge", "email": f"{sourced_id}@bridge.example", "grades": grades,
            "primaryOrg": ref(org), "roles": [{"roleType": "primary", "role": role, "org": ref(org)}]}


async def make_school(check, roster):
    for org in ("bridge-school", "bridge-other"):
        await roster.schools.create({"sourcedId": org, "status": "active", "name": f"School {org}", "type": "school"})
    for course, subject in (("bridge-math", "Math"), ("bridge-art", "Other")):
        await roster.courses.create({
            "sourcedId": course, "status": "active", "title": f"Course {course}", "courseCode": course, "grades": [3],
            "subjects": [subject], "org": ref("bridge-school"),
            "metadata": {"goals": {"dailyXp": 30}, "primaryApp": {"id": "app-1", "name": "App One", "domains": ["one.example"]}}})
    for who, org in (("ada", "bridge-school"), ("ben", "bridge-other")):
        await roster.users.create(student(who, org, []))
    await roster.users.create(student("tutor", "bridge-school", [], "teacher"))
    check.that("school, courses and people are there", True)


async def enrolling(check, bridge, roster):
    options = EnrollOptions(begin_date="2026-01-15",
                            metadata=EnrollmentMetadata(goals={"dailyXp": 12}, metrics={"totalXp": 500}))
    made = await bridge.enrollments.enroll("ada", "bridge-math", options=options)
    check.equal("the enrollment is the student's", (made.role, made.course.id, made.school.id), ("student", "bridge-math", "bridge-school"))
    check.equal("its own goals stand over the course's", made.metadata.goals.daily_xp, 12)
    check.equal("its course has its app", made.course.primary_app.domains, ["one.example"])
    check.that("its period has days", made.periods[0].start_date < made.periods[0].end_date)
    again = await bridge.enrollments.enroll("ada", "bridge-math", "bridge-school")
    check.equal("enrolling twice answers the first", again, made)
    record = await roster.enrollments.get(made.id)
    default = await bridge.enrollments.get_default_class("bridge-math")
    check.equal("it is in the default class", record.class_.sourced_id if hasattr(record, "class_") else default.id, default.id)
    check.equal("the default class knows its course", (default.course.id, default.periods), ("bridge-math", [made.periods[0].id]))
    other = await bridge.enrollments.get_default_class("bridge-math", "bridge-other")
    check.that("each school has a default class of its own", other.id != default.id)

    at_school = await bridge.enrollments.enroll("ben", "bridge-art", "bridge-school", EnrollOptions(sourced_id="ben-art", role="student"))
    check.equal("the id may be chosen", at_school.id, "ben-art")
    check.equal("the school may be chosen", at_school.school.id, "bridge-school")
    await bridge.enrollments.enroll("tutor", "bridge-art", options=EnrollOptions(role="teacher"))
    check.equal("a teacher may be enrolled", [e.role for e in await bridge.enrollments.list(user_id="tutor")], ["teacher"])

    reset = await bridge.enrollments.reset_goals("bridge-math")
    check.equal("one enrollment had goals", (reset.updated, reset.errors), (1, []))
    check.equal("the course's goals hold again", (await bridge.enrollments.list(user_id="ada"))[0].metadata.goals.daily_xp, 30)

    await bridge.enrollments.unenroll("ben", "bridge-art", "bridge-school")
    check.equal("unenrolling ends it", await bridge.enrollments.list(user_id="ben"), [])
    await check.raises("unenrolling twice is refused", NotFoundError, bridge.enrollments.unenroll("ben", "bridge-art"))
    await check.raises("an unknown user is refused", NotFoundError, bridge.enrollments.list(user_id="nobody"))
    await check.raises("an unknown course is refused", NotFoundError, bridge.enrollments.enroll("ada", "nowhere"))


async def progress(check, bridge, roster):
    await roster.assessment_line_items.create({"sourcedId": "bridge-line", "status": "active", "title": "Lesson", "course": ref("bridge-math")})
    for n, metadata in enumerate([{}, {"source": "map", "subject": "Math", "grade": "3", "percentile": 61}]):
        await roster.assessment_results.create({
            "sourcedId": f"bridge-result-{n}", "status": "active", "assessmentLineItem": ref("bridge-line"), "student": ref("ada"),
            "score": 199 + n, "scoreDate": f"2026-01-1{n + 1}", "scoreStatus": "fully graded", "metadata": metadata})
    profile = await bridge.learning_reports.get_map_profile("ada")
    check.equal("the MAP test is reported", (profile.rit_score, profile.percentile, profile.test_date, profile.subject),
                (200, 61, "2026-01-12", "Math"))
    await bridge.enrollments.reset_progress("ada", "bridge-math")
    left = await roster.assessment_results.list_all(where={"student.sourcedId": "ada"})
    check.equal("progress is reset", left, [])
    empty = await bridge.learning_reports.get_map_profile("ada")
    check.that("a report without data says so", empty.rit_score is None and empty.metadata["message"])


async def tracks(check, bridge, roster):
    await roster.users.create(student("cleo", "bridge-other", ["03"]))
    wanted = SubjectTrackUpsertInput(subject="Other", grade="3", course_id="bridge-art")
    made = await bridge.subject_tracks.upsert(wanted)
    check.equal("the track leads to its course", (made.subject, made.grade, made.course.sourced_id, made.org), ("Other", "3", "bridge-art", None))
    check.equal("the track enrolls", [e.course.id for e in await bridge.enrollments.list(user_id="cleo")], ["bridge-art"])
    check.equal("a second upsert has the same id", (await bridge.subject_tracks.upsert(wanted)).id, made.id)
    of_school = await bridge.subject_tracks.upsert(SubjectTrackUpsertInput(
        subject="Math", grade="3", course_id="bridge-math", org_sourced_id="bridge-other"))
    check.equal("a track may be a school's", of_school.org.sourced_id, "bridge-other")
    gone = await bridge.subject_tracks.upsert(SubjectTrackUpsertInput(subject="Science", grade="12", course_id="bridge-art"))
    await bridge.subject_tracks.delete(gone.id)
    await check.raises("a deleted track is gone", NotFoundError, bridge.subject_tracks.delete(gone.id))
    check.equal("the others are listed", [t.id for t in await bridge.subject_tracks.list()], [of_school.id, made.id])


async def people(check, bridge):
    names = [u.sourced_id for u in await bridge.users.list_students(filter="familyName='Bridge'")]
    check.equal("students are listed", names, ["ada", "ben", "cleo"])
    there = await bridge.users.list_students(org_sourced_ids=["bridge-other"], sort="givenName", order_by="desc", limit=1)
    check.equal("sorted, limited, at one school", [u.sourced_id for u in there], ["cleo"])
    check.equal("grades are plain numbers", there[0].grades, ["3"])
    check.equal("the primary organization has a name", there[0].primary_org.name, "School bridge-other")
    check.equal("teachers are listed", [u.sourced_id for u in await bridge.users.list_teachers(search="tutor")], ["tutor"])
    both = await bridge.users.list(roles=["student", "teacher"], fields="sourcedId,givenName", offset=1, filter="familyName='Bridge'")
    check.equal("several roles, from an offset", [u.sourced_id for u in both], ["ben", "tutor", "cleo"])
    check.equal("people are searched", [u.sourced_id for u in await bridge.users.search(["student"], "cleo")], ["cleo"])
    await check.raises("a role is required", InputValidationError, bridge.users.list(roles=[]))


async def reports(check, bridge, client_id):
    apps = await bridge.applications.list()
    own = next((app for app in apps if app.sourced_id == client_id), None)
    if check.that("a registered client is an application", own is not None, repr(apps)):
        metrics = await bridge.applications.get_metrics(own.sourced_id)
        check.equal("without events it has no users", (metrics.application_sourced_id, metrics.total_users), (own.sourced_id, 0))
    await check.raises("an unknown application is refused", NotFoundError, bridge.applications.get_metrics("none"))
    saved = await bridge.learning_reports.get_time_saved("ada")
    check.that("time saved without events is not invented", saved.total_hours_saved is None and saved.school_days_elapsed is not None)


async def snapshot(bridge):
    """What the bridge says of everybody, for the comparison after a restart."""
    plain = lambda models: [m.model_dump(mode="json", by_alias=True, exclude={"roles", "date_last_modified"}) for m in models]  # noqa: E731
    return {
        "enrollments": {who: plain(await bridge.enrollments.list(user_id=who)) for who in ("ada", "ben", "cleo", "tutor")},
        "tracks": plain(await bridge.subject_tracks.list()),
        "groups": plain(await bridge.subject_tracks.list_groups()),
        "classes": plain([await bridge.enrollments.get_default_class("bridge-math"),
                          await bridge.enrollments.get_default_class("bridge-art", "bridge-other")]),
        "map": plain([await bridge.learning_reports.get_map_profile("ada")]),
        "users": [u.sourced_id for u in await bridge.users.list(roles=["student", "teacher"])],
    }


async def main():
    options, check = arguments(), Checks()
    coverage = Coverage(resource_classes(resources) - {resources.AnalyticsResource})
    own = {"base_url": options.base, "auth_url": options.auth, "client_id": options.id, "client_secret": options.secret}
    async with EdubridgeClient(**own) as bridge, OneRosterClient(**own) as roster:
        check.that("the token endpoint answers", (await bridge.check_auth())["ok"])
        if options.phase == "write":
            await check.step("school", make_school, roster)
            for work in (enrolling, progress, tracks):
                await check.step(work.__name__, work, bridge, roster)
        else:
            with open(options.state, encoding="utf-8") as handle:
                state = json.load(handle)
            for name, known in (await snapshot(bridge)).items():
                check.equal(f"{name} are as they were", known, state[name])
        await check.step("people", people, bridge)
        await check.step("reports", reports, bridge, options.id)
        if options.phase == "write":
            with open(options.state, "w", encoding="utf-8") as handle:
                json.dump(await snapshot(bridge), handle)
            coverage.whole(check)
    return check.summary()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
