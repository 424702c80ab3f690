"""Sends generated requests, right and wrong ones, to every operation of OpenAPI documents, with
schemathesis: no answer may be a server error, every answer must have the shape that the document
gives it.

Half of the requests name records that exist, in the path, in references and in filters, so that more
than refusals is seen. Listed exceptions are in `EXCEPTIONS`.
"""
import argparse
import json
import sys
import urllib.parse
import urllib.request

import hypothesis
import requests
import schemathesis
from hypothesis import strategies
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi.checks import response_schema_conformance


@schemathesis.serializer("application/zip")
def bytes_of_zip(_context, value):
    """Sends the generated value as it is. It is not a zip, so the server must refuse it."""
    return value if isinstance(value, bytes) else str(value).encode()


# Answers that differ from a document on purpose: (method, status) and why.
EXCEPTIONS = {
    ("PUT", 200): "OneRoster lists 201 for every PUT; a PUT that updates a record answers 200",
}
# A set that nothing is in, although its document wants one member at least.
EMPTY = b'{"CFDocuments":[]}'
PREFIX = "/ims/oneroster"
COLLECTIONS = {
    "rostering": ["academicSessions", "classes", "courses", "enrollments", "gradingPeriods", "orgs", "schools",
                  "students", "teachers", "terms", "users", "demographics"],
    "gradebook": ["assessmentLineItems", "assessmentResults", "categories", "lineItems", "results", "scoreScales"],
    "resources": ["resources"],
}
QUERY = {
    "filter": ["status='active'", "status='tobedeleted'", "dateLastModified>'2020-01-01T00:00:00Z'", "title~'a'",
               "sourcedId!='x' OR sourcedId='x'", "(status='active')", "status='active' AND", "nothing='1'", "'", ""],
    "fields": [["sourcedId", "status", "dateLastModified"], ["nothing"], [""]],
    "sort": ["sourcedId", "dateLastModified", "title", "nothing", ""],
    "orderBy": ["asc", "desc"],
    "limit": [1, 2, 3000, 100000],
    "offset": [0, 1, 1000000000],
}


def options():
    parser = argparse.ArgumentParser()
    for name in ["base", "auth", "id", "secret"]:
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--examples", type=int, default=8, help="requests an operation and mode")
    parser.add_argument("--part", default="1/1", help="which operations: the second of three parts is 2/3")
    parser.add_argument("documents", nargs="+", help="files or addresses of OpenAPI documents")
    return parser.parse_args()


def token(given):
    form = {"grant_type": "client_credentials", "client_id": given.id, "client_secret": given.secret}
    answer = requests.post(given.auth, data=form, timeout=30)
    answer.raise_for_status()
    return answer.json()["access_token"]


def existing(base, headers):
    """Some ids of every collection that is served."""
    found = {}
    for service, names in COLLECTIONS.items():
        for name in names:
            answer = requests.get(f"{base}{PREFIX}/{service}/v1p2/{name}", params={"limit": 20}, headers=headers, timeout=30)
            answer.raise_for_status()
            lists = [v for v in answer.json().values() if isinstance(v, list)]
            found[name] = [record["sourcedId"] for record in lists[0]]
            if not found[name]:
                sys.exit(f"the server has no {name}; seed it first")
    return found


CONTENT = {
    "assessment-items": {"title": "Fuzzed", "type": "choice", "interaction": {
        "type": "choice", "responseIdentifier": "RESPONSE", "maxChoices": 1, "questionStructure": {
            "prompt": "Which?", "choices": [{"identifier": "A", "content": "a"}, {"identifier": "B", "content": "b"}]}}},
    "stimuli": {"title": "Fuzzed", "content": "<p>text</p>"},
    "assessment-tests": {"title": "Fuzzed", "qti-test-part": [{
        "identifier": "part", "navigationMode": "linear", "submissionMode": "individual", "qti-assessment-section": [{
            "identifier": "section", "title": "Section", "visible": True, "sequence": 1,
            "qti-assessment-item-ref": [{"identifier": "item", "href": "assessment-items/fuzz-1"}]}]}]},
    "assessment-banks": {"title": "Fuzzed", "tests": ["fuzz-1", "fuzz-2"]},
}


def content(base, headers):
    """Stores some assessment content and answers its identifiers."""
    found = {"test-parts": ["part"], "sections": ["section"], "items": ["item"]}
    for collection, body in CONTENT.items():
        found[collection] = [f"fuzz-{n}" for n in range(8)]
        for identifier in found[collection]:
            answer = requests.post(f"{base}/{collection}", json={"identifier": identifier, **body}, headers=headers, timeout=30)
            if answer.status_code not in (201, 409):
                answer.raise_for_status()
    return found


def standards(base, headers):
    """Stores a framework of academic standards and answers its identifiers."""
    ids = [f"7e000000-0000-4000-8000-00000000000{n}" for n in range(6)]
    common = {"uri": "https://example.org/x", "lastChangeDateTime": "2026-01-15T08:00:00Z"}

    def node(identifier):
        return {"title": "node", "identifier": identifier, "uri": "https://example.org/x"}

    def titled(identifier, **more):
        return {"identifier": identifier, **common, "title": "Number", **more}

    package = {
        "CFDocument": titled(ids[0], creator="Board"),
        "CFItems": [{"identifier": i, **common, "fullStatement": "Count to ten", "educationLevel": ["03"]} for i in ids[1:]],
        "CFAssociations": [{"identifier": i, **common, "associationType": "isChildOf", "originNodeURI": node(i),
                            "destinationNodeURI": node(ids[0])} for i in ids[1:]],
        "CFDefinitions": {
            "CFConcepts": [titled(ids[1], hierarchyCode="1")], "CFSubjects": [titled(ids[1], hierarchyCode="1")],
            "CFLicenses": [titled(ids[1], licenseText="free")], "CFAssociationGroupings": [titled(ids[1])],
            "CFItemTypes": [titled(ids[1], hierarchyCode="1", description="d")]},
        "CFRubrics": [{"identifier": ids[1], **common}],
    }
    answer = requests.post(f"{base}/ims/case/v1p1/CFPackages", json=package, headers=headers, timeout=30)
    if answer.status_code not in (201, 409):
        answer.raise_for_status()
    found = dict.fromkeys(["CFItems", "CFItemAssociations", "CFAssociations"], ids[1:])
    found.update(dict.fromkeys([*package["CFDefinitions"], "CFRubrics"], ids[1:2]))
    return {**found, "CFDocuments": ids[:1], "CFPackages": ids[:1]}


def document(where):
    if where.startswith("http"):
        with urllib.request.urlopen(where, timeout=30) as answer:
            return json.load(answer)
    with open(where, encoding="utf-8") as handle:
        return json.load(handle)


def base_path(doc):
    server = doc.get("servers", [{}])[0]
    if "variables" in server:
        return server["variables"]["basePath"]["default"]
    return urllib.parse.urlparse(server.get("url", "")).path.rstrip("/")


# The collection that a reference of a type points into.
REFERENCES = {"academicSession": "academicSessions", "class": "classes", "course": "courses", "org": "orgs",
              "user": "users", "resource": "resources", "category": "categories", "lineItem": "lineItems",
              "scoreScale": "scoreScales", "assessmentLineItem": "assessmentLineItems"}


class Steering:
    """Points a generated request at records that exist."""

    def __init__(self, ids):
        self.ids = ids

    def steer(self, case, pick):
        parts = case.path.split("/")
        for before, part in zip(parts, parts[1:]):
            if part.startswith("{") and before in self.ids:
                found = self.ids[before]
                case.path_parameters[part[1:-1]] = found[pick % len(found)]
        for name in list(case.query or {}):
            if name in QUERY:
                case.query[name] = QUERY[name][pick % len(QUERY[name])]
        if isinstance(case.body, dict):
            self.references(case.body, pick)
            if case.method == "PUT":
                for record in case.body.values():
                    if isinstance(record, dict):
                        record["sourcedId"] = case.path_parameters.get("sourcedId")

    def references(self, value, pick):
        if isinstance(value, list):
            for member in value:
                self.references(member, pick)
        elif isinstance(value, dict):
            collection = self.ids.get(REFERENCES.get(value.get("type")) if isinstance(value.get("type"), str) else None)
            if collection and "sourcedId" in value and len(value) <= 3:
                value["sourcedId"] = collection[pick % len(collection)]
            for member in value.values():
                self.references(member, pick)


class Run:
    """All requests to one document."""

    def __init__(self, base, headers, steering, examples):
        self.base, self.headers, self.steering, self.examples = base, headers, steering, examples
        self.session = requests.Session()
        self.sent, self.statuses, self.excepted, self.failures = 0, {}, 0, []

    def operation(self, operation, mode):
        settings = hypothesis.settings(
            max_examples=self.examples, deadline=None, derandomize=True, database=None,
            suppress_health_check=list(hypothesis.HealthCheck), phases=[hypothesis.Phase.generate])
        name = f"{operation.method.upper()} {operation.path}"

        @settings
        @hypothesis.given(case=operation.as_strategy(generation_mode=mode), pick=strategies.integers(0, 200))
        def one(case, pick):
            if pick % 2 and mode == GenerationMode.POSITIVE:
                self.steering.steer(case, pick)
            self.send(case, name)

        try:
            one()
        except hypothesis.errors.Unsatisfiable:
            pass  # Nothing can be wrong with an operation that takes no data.

    def send(self, case, name):
        if case.path.endswith("/stream"):
            # Else the answer would never end.
            case.query = {**(case.query or {}), "follow": "false"}
        answer = case.call(base_url=self.base, session=self.session, headers=self.headers, timeout=60)
        self.sent += 1
        self.statuses[answer.status_code] = self.statuses.get(answer.status_code, 0) + 1
        checks = [not_a_server_error]
        if (case.method, answer.status_code) in EXCEPTIONS or (answer.status_code == 200 and answer.content == EMPTY):
            self.excepted += 1
        else:
            checks.append(response_schema_conformance)
        try:
            case.validate_response(answer, checks=checks)
        except (Failure, FailureGroup) as failure:
            causes = failure.exceptions if isinstance(failure, FailureGroup) else [failure]
            self.failures.append((name, answer.status_code, "; ".join(str(c) for c in causes)[:1500]))


def main():
    given = options()
    headers = {"Authorization": f"Bearer {token(given)}"}
    steering = Steering({**existing(given.base, headers), **content(given.base, headers),
                         **standards(given.base, headers)})
    part, parts = map(int, given.part.split("/"))
    bad = 0
    for where in given.documents:
        doc = document(where)
        run = Run(given.base + base_path(doc), headers, steering, given.examples)
        operations = [found.ok() for found in schemathesis.openapi.from_dict(doc).get_all_operations()][part - 1::parts]
        for operation in operations:
            for mode in [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]:
                run.operation(operation, mode)
        seen = set()
        for name, status, why in run.failures:
            if (name, status) not in seen:
                seen.add((name, status))
                print(f"FAILED  {name} answered {status}: {why}\n")
        bad += len(seen)
        counts = ", ".join(f"{n}x {status}" for status, n in sorted(run.statuses.items()))
        print(f"{where.rsplit('/', 1)[-1]}: {len(operations)} operations, {run.sent} requests ({counts}), "
              f"{run.excepted} excepted, {len(seen)} failures")
        if not operations or not run.sent:
            bad += 1
            print("FAILED  nothing was sent")
    for (method, status), why in EXCEPTIONS.items():
        print(f"exception: {method} {status}: {why}")
    print("exception: a page of CFDocuments on which none is holds none; CASE's 404 is for unknown identifiers")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
