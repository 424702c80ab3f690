"""Drives every operation of the published client `timeback-webhooks` against a running server.

`--phase write` registers webhooks and filters with every type and operator, reads each effect back by another
operation, and fails if one public method was not used. `--phase read`, after a restart on the same data, reads again
and compares.
"""
import asyncio
import sys

from timeback_common import InputValidationError, NotFoundError
from timeback_webhooks import WebhooksClient
from timeback_webhooks.resources.webhook_filters import WebhookFiltersResource
from timeback_webhooks.resources.webhooks import WebhooksResource

from harness import Checks, Coverage, arguments

SENSOR = "https://app.example.org/sensors/main"
UNKNOWN = "0198f000-0000-7000-8000-000000000000"
TARGET = "https://hooks.example.org/lyceum"
VALUES = {"string": "ActivityEvent", "number": "12.5", "boolean": "true"}
OPERATORS = ["eq", "neq", "gt", "gte", "lt", "lte", "contains", "notContains", "in", "notIn", "startsWith", "endsWith",
             "regexp"]


def webhook(name, **more):
    return {"name": name, "targetUrl": TARGET, "secret": "a-shared-secret", "active": True, **more}


def condition(of, **more):
    return {"webhookId": of, "filterKey": "type", "filterValue": "ActivityEvent", "filterType": "string",
            "filterOperator": "eq", "active": True, **more}


async def webhooks(check, client):
    made = await client.webhooks.create(webhook("Everything", description="All changes"))
    check.equal("the answer to a creation has the secret", made.secret, "a-shared-secret")
    check.equal("it is active", (made.name, made.target_url, made.active), ("Everything", TARGET, True))
    check.that("it has times", made.created_at and made.updated_at and made.deleted_at is None, made)
    read = await client.webhooks.get(made.id)
    check.equal("it is read as it was created, without the secret", read, made.model_copy(update={"secret": "********"}))
    of_sensor = await client.webhooks.create(webhook("Events", sensor=SENSOR, active=False))
    listed = await client.webhooks.list()
    check.equal("both are listed", [w.id for w in listed], [made.id, of_sensor.id])
    check.equal("a list has no secret", {w.secret for w in listed}, {"********"})
    check.equal("a sensor chooses", [w.id for w in await client.webhooks.list(SENSOR)], [of_sensor.id])
    check.equal("another sensor has none", await client.webhooks.list("urn:other"), [])

    check.equal("it is activated", (await client.webhooks.activate(of_sensor.id)).active, True)
    check.equal("and stays so", (await client.webhooks.get(of_sensor.id)).active, True)
    check.equal("it is deactivated", (await client.webhooks.deactivate(of_sensor.id)).active, False)
    changed = await client.webhooks.update(of_sensor.id, webhook("Renamed", sensor=SENSOR, secret=read.secret))
    check.equal("it is renamed", ((await client.webhooks.get(of_sensor.id)).name, changed.active), ("Renamed", True))

    gone = await client.webhooks.create(webhook("Gone"))
    own = await client.webhook_filters.create(condition(gone.id))
    check.that("a deletion says so", gone.id in (await client.webhooks.delete(gone.id)).message)
    await check.raises("a deleted one is not found", NotFoundError, client.webhooks.get(gone.id))
    await check.raises("nor is its filter", NotFoundError, client.webhook_filters.get(own.id))
    for name, call in [("get", client.webhooks.get), ("delete", client.webhooks.delete),
                       ("activate", client.webhooks.activate), ("deactivate", client.webhooks.deactivate)]:
        await check.raises(f"{name} of an unknown one", NotFoundError, call(UNKNOWN))
    await check.raises("update of an unknown one", NotFoundError, client.webhooks.update(UNKNOWN, webhook("No")))
    await check.raises("the client itself wants a name", InputValidationError, client.webhooks.create(webhook("")))
    await check.refuses("http needs a host that is allowed", 422,
                        client.webhooks.create(webhook("Plain", targetUrl="http://hooks.example.org/")))


async def filters(check, client):
    owner = (await client.webhooks.list())[0]
    made = []
    for kind, value in VALUES.items():
        for operator in OPERATORS:
            made.append(await client.webhook_filters.create(
                condition(owner.id, filterType=kind, filterOperator=operator, filterValue=value, active=False)))
    check.equal("every operator of every type", len({(f.filter_type, f.filter_operator) for f in made}), 39)
    check.equal("they are listed", await client.webhook_filters.list(), made)
    check.equal("also by webhook", await client.webhook_filters.list_by_webhook(owner.id), made)
    check.equal("one is read", await client.webhook_filters.get(made[5].id), made[5])
    other = (await client.webhooks.list())[1]
    check.equal("another webhook has none", await client.webhook_filters.list_by_webhook(other.id), [])
    changed = await client.webhook_filters.update(
        made[0].id, condition(owner.id, filterKey="actor.email", filterOperator="endsWith", filterValue="@example.org"))
    read = await client.webhook_filters.get(made[0].id)
    check.equal("it is changed", (read, read.filter_key, read.active), (changed, "actor.email", True))
    check.that("a deletion says so", made[1].id in (await client.webhook_filters.delete(made[1].id)).message)
    check.equal("it is gone", len(await client.webhook_filters.list()), 38)
    await check.raises("a deleted one is not found", NotFoundError, client.webhook_filters.get(made[1].id))
    await check.raises("nor deleted twice", NotFoundError, client.webhook_filters.delete(made[1].id))
    await check.raises("filters of an unknown webhook", NotFoundError, client.webhook_filters.list_by_webhook(UNKNOWN))
    for name, wrong in {
        "a number": {"filterType": "number", "filterValue": "many"},
        "true or false": {"filterType": "boolean", "filterValue": "yes"},
        "a regular expression": {"filterOperator": "regexp", "filterValue": "("},
        "a known webhook": {"webhookId": UNKNOWN},
    }.items():
        await check.refuses(f"a filter needs {name}", 422, client.webhook_filters.create(condition(owner.id) | wrong))


async def snapshot(client):
    """What must be the same after a restart."""
    return {
        "webhooks": [w.model_dump(mode="json") for w in await client.webhooks.list()],
        "filters": [f.model_dump(mode="json") for f in await client.webhook_filters.list()],
    }


async def main():
    options, check = arguments(), Checks()
    coverage = Coverage([WebhooksResource, WebhookFiltersResource])
    client = WebhooksClient(
        base_url=options.base, auth_url=options.auth, client_id=options.id, client_secret=options.secret)
    await check.phase(options, [webhooks, filters], snapshot, client)
    if options.phase == "write":
        coverage.whole(check)
    await client.close()
    return check.summary()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
