"""Drives every operation of the published client `timeback-case` against a running server.

`--phase write` stores, replaces and reads frameworks, reads each effect back by another operation, and
fails if one public method was not used. `--phase read`, after a restart on the same data, reads again
and compares.
"""
import asyncio
import json
import re
import sys

from timeback_case import CaseClient
from timeback_case.resources.associations import AssociationsResource
from timeback_case.resources.documents import DocumentsResource
from timeback_case.resources.items import ItemsResource
from timeback_case.resources.packages import PackagesResource
from timeback_case.types.inputs import CFPackageInput
from timeback_common import InputValidationError

from harness import Checks, Coverage, arguments


WHEN = "2026-01-15T08:00:00Z"
FRAMEWORK = "7e000000-0000-4000-8000-000000000001"
OTHER = "7e000000-0000-4000-8000-000000000002"


def item_id(framework, number):
    return f"{framework[:24]}{framework[-1]}{number:011}"


def package(framework, title, statements):
    """A framework whose items stand below the first."""
    def node(identifier):
        return {"title": "node", "identifier": identifier, "uri": f"https://example.org/{identifier}"}

    ids = [item_id(framework, number) for number in range(len(statements))]
    return {
        "CFDocument": {
            "identifier": framework, "uri": f"https://example.org/{framework}", "lastChangeDateTime": WHEN,
            "title": title, "creator": "State board", "caseVersion": "1.1", "subject": ["Math"], "language": "en",
            "adoptionStatus": "Adopted", "licenseUri": "https://example.org/licence", "extensions": {"wave": 1}},
        "CFItems": [{
            "identifier": ids[n], "uri": f"https://example.org/{ids[n]}", "lastChangeDateTime": WHEN,
            "fullStatement": statement, "humanCodingScheme": f"M.{n}", "educationLevel": ["03"],
            "conceptKeywords": ["number"], **({"CFItemType": "Domain"} if n == 0 else {"cfItemType": "Standard"})}
            for n, statement in enumerate(statements)],
        "CFAssociations": [{
            "identifier": ids[n].replace("-8000-", "-9000-"), "uri": "https://example.org/a", "lastChangeDateTime": WHEN,
            "associationType": "isChildOf", "sequenceNumber": n, "originNodeURI": node(ids[n]),
            "destinationNodeURI": node(ids[0] if n else framework)} for n in range(len(statements))],
        "CFDefinitions": {"CFItemTypes": [{
            "identifier": framework.replace("-8000-", "-a000-"), "uri": "https://example.org/t", "title": "Standard",
            "description": "A standard", "hierarchyCode": "1", "lastChangeDateTime": WHEN}]},
    }


async def packages(check, case):
    sent = package(FRAMEWORK, "Mathematics", ["Number", "Count to ten", "Add within ten"])
    made = await case.packages.create(CFPackageInput.model_validate(sent))
    stats = made.result.stats
    check.equal("a new framework is counted", (stats.documents, stats.items, stats.associations), (1, 3, 3))
    check.equal("and named", (made.success, made.result.document_id), (True, FRAMEWORK))
    read = (await case.packages.get(FRAMEWORK))["CFPackage"]
    check.equal("its package has its items", [i.full_statement for i in read.cf_items], ["Number", "Count to ten", "Add within ten"])
    check.equal("both spellings of a type are one", [i.cf_item_type for i in read.cf_items], ["Domain", "Standard", "Standard"])
    check.equal("its package has its associations", len(read.cf_associations), 3)
    check.equal("its extensions are kept", read.cf_document.extensions, {"wave": 1})
    again = await case.packages.create(sent)
    check.equal("the same framework again is a safe retry", (again.success, again.result.document_id), (True, FRAMEWORK))
    other = package(FRAMEWORK, "Mathematics 3", ["Number"])
    await check.refuses("another framework has an identifier of its own", 409, case.packages.create(other))
    tree = (await case.packages.get_groups(FRAMEWORK))["CFPackageWithGroups"]
    domain = tree.structured_content["Domain"][0]
    below = [child["humanCodingScheme"] for child in domain.child_groups["Standard"]]
    check.equal("its groups are the tree", (domain.human_coding_scheme, below), ("M.0", ["M.1", "M.2"]))

    fewer = package(FRAMEWORK, "Mathematics 2", ["Number", "Count to twenty"])
    changed = await case.packages.update(FRAMEWORK, fewer)
    check.equal("a replaced framework is counted", changed.result.stats.items, 2)
    read = (await case.documents.get(FRAMEWORK))["CFDocument"]
    check.equal("its document has the new title", read.title, "Mathematics 2")
    await check.refuses("what it lost is gone", 404, case.items.get(item_id(FRAMEWORK, 2)))
    await check.refuses("nothing unknown is replaced", 404, case.packages.update(OTHER, package(OTHER, "x", ["y"])))
    made = await case.packages.upsert(OTHER, package(OTHER, "Science", ["Energy"]))
    check.equal("what is not there is made", made.result.stats.items, 1)
    made = await case.packages.upsert(OTHER, package(OTHER, "Science", ["Energy", "Matter"]))
    check.equal("and then replaced", made.result.stats.items, 2)
    wrong = package(OTHER, "Science", ["Energy"])
    wrong["CFAssociations"][0]["destinationNodeURI"]["identifier"] = item_id(OTHER, 9)
    await check.refuses("an association to nothing is refused", 422, case.packages.update(OTHER, wrong))
    await check.raises("the client itself refuses a package without items", InputValidationError,
                       case.packages.create({"CFDocument": wrong["CFDocument"]}))


async def documents(check, case):
    listed = (await case.documents.list())["CFDocuments"]
    check.equal("both frameworks are listed", [d.title for d in listed], ["Mathematics 2", "Science"])
    one = (await case.documents.list({"filter": "title='science'", "limit": 5}))["CFDocuments"]
    check.equal("a filter finds one", [d.sourced_id for d in one], [OTHER])
    read = (await case.documents.get(OTHER))["CFDocument"]
    check.equal("it is read as it is listed", read, one[0])
    check.equal("it leads to its package", read.cf_package_uri.sourced_id, OTHER)
    await check.refuses("an id that is no UUID is refused", 400, case.documents.get("science"))


async def items(check, case):
    listed = (await case.items.list())["CFItems"]
    check.equal("the items of all frameworks are listed", len(listed), 4)
    page = (await case.items.list({"limit": 1, "offset": 1}))["CFItems"]
    check.equal("a page is one of them", page, listed[1:2])
    found = (await case.items.list({"search": "count twen", "grade": "3"}))["CFItems"]
    check.equal("a search finds one", [i.human_coding_scheme for i in found], ["M.1"])
    read = (await case.items.get(found[0].sourced_id))["CFItem"]
    check.equal("it is read as it is listed", read, found[0])
    check.equal("it leads to its framework", read.cf_document_uri.sourced_id, FRAMEWORK)


async def associations(check, case):
    child = item_id(FRAMEWORK, 1)
    read = (await case.associations.get(child.replace("-8000-", "-9000-")))["CFAssociation"]
    ends = (read.origin_node_uri.sourced_id, read.destination_node_uri.sourced_id)
    check.equal("an association has its ends", ends, (child, item_id(FRAMEWORK, 0)))
    await check.refuses("an unknown one is not found", 404, case.associations.get(child))


async def snapshot(case):
    """What must be the same after a restart, which gives the server another address."""
    def dump(model):
        text = json.dumps(model.model_dump(mode="json", by_alias=True))
        return json.loads(re.sub(r"http://127\.0\.0\.1:\d+", "", text))

    frameworks = (await case.documents.list())["CFDocuments"]
    whole = [(await case.packages.get(d.sourced_id))["CFPackage"] for d in frameworks]
    trees = [(await case.packages.get_groups(d.sourced_id))["CFPackageWithGroups"] for d in frameworks]
    return {
        "frameworks": [dump(d) for d in frameworks],
        "items": [dump(i) for i in (await case.items.list())["CFItems"]],
        "packages": [dump(p) for p in whole],
        "trees": [dump(t) for t in trees],
        "associations": [dump((await case.associations.get(a.sourced_id))["CFAssociation"])
                         for p in whole for a in p.cf_associations],
    }


async def main():
    options, check = arguments(), Checks()
    coverage = Coverage([AssociationsResource, DocumentsResource, ItemsResource, PackagesResource])
    case = CaseClient(base_url=options.base, auth_url=options.auth, client_id=options.id, client_secret=options.secret)
    await check.phase(options, [packages, documents, items, associations], snapshot, case)
    if options.phase == "write":
        coverage.whole(check)
    await case.close()
    return check.summary()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
