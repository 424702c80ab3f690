"""The write half: create, update, patch, upsert and delete on every service, each effect read back
through another operation."""
import re
from datetime import datetime

from timeback_common import APIError, NotFoundError, ValidationError

DATE = re.compile(r"\d{4}-\d\d-\d\d(T.*Z)?$")
REMOVED = {"status": "tobedeleted"}


async def create_five(check, client, case):
    """The five lasting records; the answer names the id that was sent."""
    service = getattr(client, case.service)
    for i in range(1, 6):
        answer = await service.create(case.make(i))
        pair = answer.sourced_id_pairs
        check.equal(f"{case.service}: create {i} answers its id",
                    (pair.supplied_sourced_id, pair.allocated_sourced_id), (case.id(i), case.id(i)))


async def records_hold_what_was_sent(check, client, case):
    """Every field that the client's model knows comes back as it was sent."""
    service = getattr(client, case.service)
    for i in range(1, 6):
        sent = {key: value for key, value in case.make(i).items() if key != "org"}
        got = (await service.get(case.id(i))).model_dump(mode="json", by_alias=True)
        for key, value in sent.items():
            if key in got:
                check.that(f"{case.service}: {case.id(i)} keeps {key}", same(got[key], value),
                           f"got {got[key]!r}, sent {value!r}")
        check.that(f"{case.service}: {case.id(i)} has a dateLastModified", got["dateLastModified"])


def same(got, sent):
    """Whether the model's value is the sent one: references may gain keys, texts may be typed."""
    if isinstance(sent, dict) and isinstance(got, dict):
        return all(key in got and same(got[key], value) for key, value in sent.items())
    if isinstance(sent, list) and isinstance(got, list):
        return len(got) == len(sent) and all(same(g, s) for g, s in zip(got, sent))
    if isinstance(got, bool):
        return got == (sent in (True, "true"))
    if isinstance(got, int) and isinstance(sent, str):
        return got == int(sent)
    if isinstance(got, str) and DATE.match(got):
        # Dates come back as days, instants in one spelling.
        return sent.startswith(got) or datetime.fromisoformat(got[:-1]) == datetime.fromisoformat(sent.rstrip("Z"))
    return got == sent or got is None and sent == []


async def change_and_remove(check, client, case):
    """The life of one record: created, refused twice, replaced, patched, upserted, deleted."""
    service, name, spare = getattr(client, case.service), case.service, case.make(9)
    spare_id = spare["sourcedId"]
    await service.create(spare)
    first = await service.get(spare_id)
    again = await service.create(spare)
    check.equal(f"{name}: the same create again answers the same id",
                again.sourced_id_pairs.allocated_sourced_id, spare_id)
    await refusals(check, service, case, spare)

    changed = {**spare, **case.change}
    await service.update(spare_id, changed)
    after = await service.get(spare_id)
    check.equal(f"{name}: update is read back", getattr(after, case.attribute), case.change[case.field])
    for key, value in case.change.items():
        got = after.model_dump(mode="json", by_alias=True)[key]
        if key != "grades":
            check.that(f"{name}: update of {key} is read back", same(got, value), f"got {got!r}")
    check.that(f"{name}: update moves dateLastModified", after.date_last_modified > first.date_last_modified,
               f"{first.date_last_modified} -> {after.date_last_modified}")
    found = await service.list_all(where={case.field: case.change[case.field]})
    check.equal(f"{name}: a filter finds the new value", [r.sourced_id for r in found], [spare_id])

    await service.patch(spare_id, case.patch)
    patched = await service.get(spare_id)
    check.equal(f"{name}: patch is read back", getattr(patched, case.attribute), case.patch[case.field])
    check.equal(f"{name}: patch leaves {case.kept} alone", getattr(patched, case.kept), getattr(after, case.kept))

    await service.upsert(spare_id, spare)
    check.equal(f"{name}: upsert of an existing record is read back",
                getattr(await service.get(spare_id), case.attribute), spare[case.field])
    await remove(check, service, case, spare_id, through_handle=False)


async def refusals(check, service, case, spare):
    """What must be refused, and that the record stays as it was."""
    name, spare_id = case.service, spare["sourcedId"]
    await check.raises(f"{name}: another record under the same id is a conflict", APIError,
                       service.create({**spare, **case.change}))
    await check.raises(f"{name}: get of a missing id", NotFoundError, service.get("no-such-record"))
    await check.raises(f"{name}: update of a missing id", NotFoundError,
                       service.update("no-such-record", {**spare, "sourcedId": "no-such-record"}))
    await check.raises(f"{name}: patch of a missing id", NotFoundError,
                       service.patch("no-such-record", case.patch))
    await check.raises(f"{name}: delete of a missing id", NotFoundError, service.delete("no-such-record"))
    if case.broken:
        orphan = {**spare, **case.broken, "sourcedId": "orphan"}
        await check.raises(f"{name}: a reference to nothing is refused", ValidationError, service.create(orphan))
        check.equal(f"{name}: a refused create leaves nothing", await service.exists("orphan"), False)
    kept = getattr(await service.get(spare_id), case.attribute)
    check.equal(f"{name}: refusals change nothing", kept, spare[case.field])


async def remove(check, service, case, sourced_id, through_handle):
    """Deletes; the record leaves lists, a single read and a delta still show it."""
    name = case.service
    if through_handle:
        await service(sourced_id).delete()
    else:
        await service.delete(sourced_id)
    check.equal(f"{name}: a deleted record reads as tobedeleted", (await service.get(sourced_id)).status, "tobedeleted")
    listed = [r.sourced_id for r in await service.list_all()]
    check.that(f"{name}: a deleted record leaves lists", sourced_id not in listed)
    removed = [r.sourced_id for r in await service.list_all(where=REMOVED)]
    check.that(f"{name}: a filter on status finds it", sourced_id in removed, removed)
    delta = await service.list_all(where={"dateLastModified": {"gt": "2020-01-01T00:00:00Z"}})
    check.that(f"{name}: a delta shows it", sourced_id in [r.sourced_id for r in delta])


async def create_without_id(check, client, case):
    """A create or upsert that leaves the id to the server (or names one that is new)."""
    service, name = getattr(client, case.service), case.service
    if case.allocates:
        payload = {key: value for key, value in case.make(8).items() if key != "sourcedId"}
        allocated = (await service.create(payload)).sourced_id_pairs.allocated_sourced_id
        check.that(f"{name}: the server allocates an id", allocated)
        got = await service.get(allocated)
        check.equal(f"{name}: a record with an allocated id is read back", getattr(got, case.attribute), payload[case.field])
        await remove(check, service, case, allocated, through_handle=has_delete(service, allocated))
    fresh = case.make(7) if case.service != "demographics" else {**case.make(7), "sourcedId": "teacher-2"}
    await service.upsert(fresh["sourcedId"], fresh)
    got = await service.get(fresh["sourcedId"])
    check.equal(f"{name}: upsert of a new record is read back", getattr(got, case.attribute), fresh[case.field])
    await service.delete(fresh["sourcedId"])


def has_delete(service, sourced_id):
    return callable(service) and hasattr(service(sourced_id), "delete")
