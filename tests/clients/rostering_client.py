"""Drives every operation of every service of the published client `timeback-oneroster` against a
running server.

`--phase write` creates, changes and removes records, reads everything back, fails if one public
method of the client was not used, and notes all records in the state file. `--phase read`, after a
restart on the same data, repeats the reads and compares all records with the noted ones.
"""
import asyncio
import json
import sys

from timeback_oneroster import OneRosterClient, resources
from timeback_oneroster.resources import gradebook, rostering

import crud
import reading
import special
from cases import CASES, VIEWS
from harness import Checks, Coverage, arguments, resource_classes



async def write(check, client, state):
    def case(service):
        return next(c for c in CASES if c.service == service)

    for one in CASES:
        if one.service == "demographics":
            await check.step("people", special.write_people, client)
        if one.service == "assessment_line_items":
            await check.step("content", special.write_content, client)
        await check.step(f"{one.service}: create", crud.create_five, client, one)
        await check.step(f"{one.service}: content", crud.records_hold_what_was_sent, client, one)
    for one in CASES:
        await check.step(f"{one.service}: change", crud.change_and_remove, client, one)
        await check.step(f"{one.service}: without id", crud.create_without_id, client, one)
    await check.step("credentials", special.write_credentials, client, state)
    await check.step("enrolling", special.write_enrolling, client)
    await check.step("structure", special.write_structure, client)
    await check.step("below", special.write_below, client)


async def signs_in(check, client):
    check.that("the token endpoint answers", (await client.check_auth())["ok"])


async def read(check, client, state):
    await check.step("sign in", signs_in, client)
    for one in CASES + VIEWS:
        for work in (reading.single_reads, reading.filters, reading.pages):
            await check.step(f"{one.service}: {work.__name__}", work, client, one)
    await check.step("people", special.read_people, client, state)
    await check.step("content", special.read_content, client)
    await check.step("scoped lists", reading.scoped_lists, client)


def without_hrefs(value):
    """The same data without the server's address, whose port changes with a restart."""
    if isinstance(value, dict):
        return {name: without_hrefs(member) for name, member in value.items() if name != "href"}
    return [without_hrefs(member) for member in value] if isinstance(value, list) else value


async def snapshot(client):
    """All records, also the removed ones, as the client reads them."""
    whole = {}
    for one in CASES:
        service = getattr(client, one.service)
        records = await service.list_all() + await service.list_all(where=crud.REMOVED)
        whole[one.service] = sorted((r.model_dump(mode="json", by_alias=True) for r in records), key=lambda r: r["sourcedId"])
    return whole


async def main():
    options, check, state = arguments(), Checks(), {}
    coverage = Coverage(resource_classes(resources, rostering, gradebook))
    async with OneRosterClient(base_url=options.base, auth_url=options.auth, client_id=options.id,
                               client_secret=options.secret) as client:
        if options.phase == "write":
            await write(check, client, state)
            await read(check, client, state)
            coverage.whole(check)
            state["records"] = await snapshot(client)
            with open(options.state, "w", encoding="utf-8") as handle:
                json.dump(state, handle)
        else:
            with open(options.state, encoding="utf-8") as handle:
                state = json.load(handle)
            await read(check, client, state)
            for service, records in (await snapshot(client)).items():
                check.that(f"{service}: all {len(records)} records are as they were", without_hrefs(records) == without_hrefs(state["records"][service]))
    return check.summary()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
