"""Drives every read of the published OneRoster 1.1 client `strongmind-oneroster-client` against a running server, and
compares each answer with what the same records are in OneRoster 1.2. Then signs requests with OAuth 1.0a.

`--phase write` creates the records through OneRoster 1.2 first and notes all answers in the state file. `--phase read`,
after a restart on the same data, repeats the reads and compares all answers with the noted ones.
"""
import inspect
import json
import sys
import time

import oneroster_client
import requests
from requests_oauthlib import OAuth1

import cases
from cases import ref
from harness import Checks, arguments

V1P1 = "/ims/oneroster/v1p1"
SERVICES = {"categories": "gradebook", "lineItems": "gradebook", "results": "gradebook", "resources": "resources"}
IDS = {"school": "school-1", "class": "class-1", "course": "course-1", "term": "term-1", "student": "student-1",
       "teacher": "teacher-1", "user": "student-2", "line_item": "line-1"}
SINGLES = {"academic_session": "schoolYear-1", "category": "category-1", "class": "class-1", "course": "course-1",
           "demographic": "student-1", "enrollment": "enrollment-1", "grading_period": "gradingPeriod-1",
           "line_item": "line-1", "org": "district-1", "resource": "resource-1", "result": "result-1",
           "school": "school-1", "student": "student-1", "teacher": "teacher-1", "term": "term-1", "user": "head"}


def but(record, *names):
    """The record without some members."""
    return {name: value for name, value in record.items() if name not in names}


HEAD = {"sourcedId": "head", "status": "active", "enabledUser": "true", "givenName": "Hed", "familyName": "Head",
        "roles": [{"roleType": "secondary", "role": "teacher", "org": ref("school-2")},
                  {"roleType": "primary", "role": "principal", "org": ref("school-1")},
                  {"roleType": "secondary", "role": "ext:coach", "org": ref("school-1")}]}
NURSE = {"sourcedId": "nurse", "status": "active", "enabledUser": "true", "givenName": "Nur", "familyName": "Se",
         "username": "nurse", "roles": [{"roleType": "primary", "role": "ext:nurse", "org": ref("school-2")}]}
RECORDS = [("orgs", "org", [cases.org(1), {**cases.org(2), "type": "ext:network"}, cases.school(1), cases.school(2)]),
           ("academicSessions", "academicSession",
            [cases.year(1), *map(cases.term, (1, 2)), cases.period(1), cases.period(2)]),
           ("resources", "resource",
            [{**cases.resource(1), "roles": ["student", "ext:coach"]}, cases.resource(2)]),
           ("courses", "course",
            [{**cases.course(1), "schoolYear": ref("schoolYear-1"), "resources": [ref("resource-1")]}, cases.course(2)]),
           ("classes", "class",
            [{**cases.klass(1), "resources": [ref("resource-2")]}, {**cases.klass(2), "classType": "ext:club"}, cases.klass(4)]),
           ("users", "user", [*map(cases.user, (1, 2, 3)), *map(cases.teacher, (1, 2)), HEAD, NURSE]),
           ("enrollments", "enrollment",
            [*map(cases.enrollment, (1, 2, 3)),
             {**cases.enrollment(4), "user": ref("teacher-1"), "role": "teacher"},
             {**cases.enrollment(5), "user": ref("nurse"), "role": "ext:aide"}]),
           ("demographics", "demographics", [cases.demographics(1), {**cases.demographics(2), "sex": "other"}]),
           ("categories", "category", [cases.category(1), cases.category(2)]),
           ("lineItems", "lineItem",
            [but(cases.line_item(1), "scoreScale"), but(cases.line_item(4), "scoreScale"),
             but(cases.line_item(2), "scoreScale", "resultValueMin", "resultValueMax", "gradingPeriod")]),
           ("results", "result",
            [but(cases.result(1), "scoreScale"),
             {**but(cases.result(2), "scoreScale", "score"), "scoreStatus": "ext:late"}])]


class Door:
    """OneRoster 1.2 of the same server, in the standard's own form."""

    def __init__(self, options):
        form = {"grant_type": "client_credentials", "client_id": options.id, "client_secret": options.secret}
        self.token = requests.post(options.auth, data=form, timeout=60).json()["access_token"]
        self.base = options.base

    def address(self, path):
        collection = path.split("?")[0].split("/")[-1]
        collections = [part for part in path.split("?")[0].split("/") if part in SERVICES]
        service = SERVICES.get(collection) or SERVICES.get((collections or [""])[-1]) or "rostering"
        return f"{self.base}/ims/oneroster/{service}/v1p2{path}"

    def get(self, path, **query):
        headers = {"Authorization": f"Bearer {self.token}", "Accept": 'application/json;profile="standard"'}
        answer = requests.get(self.address(path), params=query, headers=headers, timeout=60)
        assert answer.status_code == 200, (answer.url, answer.text)
        return answer.json()

    def post(self, path, body):
        headers = {"Authorization": f"Bearer {self.token}"}
        answer = requests.post(self.address(path), json=body, headers=headers, timeout=60)
        assert answer.status_code in (200, 201), (answer.url, answer.text)


# What 1.1 has of each kind, and how its words are called there. Written down apart from the server's own table.
FIELDS = {
    "org": "name type identifier parent children",
    "academicSession": "title startDate endDate type parent children schoolYear",
    "course": "title schoolYear courseCode grades subjects org subjectCodes resources",
    "class": "title classCode classType location grades subjects course school terms subjectCodes periods resources",
    "user": "username userIds enabledUser givenName familyName middleName role identifier email sms phone agents orgs grades",
    "demographics": "birthDate sex americanIndianOrAlaskaNative asian blackOrAfricanAmerican "
                    "nativeHawaiianOrOtherPacificIslander white demographicRaceTwoOrMoreRaces hispanicOrLatinoEthnicity "
                    "countryOfBirthCode stateOfBirthAbbreviation cityOfBirth publicSchoolResidenceStatus",
    "enrollment": "user class school role primary beginDate endDate",
    "resource": "title roles importance vendorResourceId vendorId applicationId",
    "category": "title",
    "lineItem": "title description assignDate dueDate class category gradingPeriod resultValueMin resultValueMax",
    "result": "lineItem student scoreStatus score scoreDate comment",
}
ROLES = {"principal": "administrator", "siteAdministrator": "administrator", "systemAdministrator": "administrator",
         "districtAdministrator": "administrator", "counselor": "aide"}
EXTENSIONS = {("org", "type"): "local", ("class", "classType"): "scheduled", ("enrollment", "role"): "aide",
              ("result", "scoreStatus"): "submitted", ("user", "role"): "aide"}


def expected(kind, record, role=None):
    """The 1.2 record as 1.1 has it, without addresses."""
    record = dict(record)
    if kind == "user":
        primary = [held for held in record["roles"] if held["roleType"] == "primary"]
        shown = role or (primary or record["roles"])[0]["role"]
        ordered = sorted(primary + [held for held in record["roles"] if held not in primary],
                         key=lambda held: held["role"] != shown)
        orgs = {held["org"]["sourcedId"]: held["org"] for held in ordered}
        record["role"] = ROLES.get(shown, shown)
        record["orgs"] = list(orgs.values())
        record.setdefault("username", "")
    if kind == "lineItem":
        record.setdefault("resultValueMin", 0)
    if kind == "class":
        record.setdefault("classType", "scheduled")
    if kind == "demographics" and record.get("sex") not in ("male", "female"):
        record.pop("sex", None)
    if kind == "resource" and "roles" in record:
        record["roles"] = [word for word in record["roles"] if not word.startswith("ext:")]
    kept = ["sourcedId", "status", "dateLastModified", *FIELDS[kind].split(), "metadata"]
    old = {name: record[name] for name in kept if name in record}
    for (of, name), word in EXTENSIONS.items():
        if of == kind and str(old.get(name)).startswith("ext:"):
            old[name] = word
    return old


def without_hrefs(value):
    if isinstance(value, dict):
        return {name: without_hrefs(member) for name, member in value.items() if name != "href"}
    return [without_hrefs(member) for member in value] if isinstance(value, list) else value


def references(value):
    if isinstance(value, dict):
        if "href" in value:
            yield value
        for member in value.values():
            yield from references(member)
    if isinstance(value, list):
        for member in value:
            yield from references(member)


def apis(client):
    """Every class of calls that the client has."""
    classes = inspect.getmembers(oneroster_client, inspect.isclass)
    return [cls(client) for name, cls in classes if name.endswith("ManagementApi")]


def reads(client):
    """Every read of the client with its name."""
    for api in apis(client):
        for name, method in inspect.getmembers(api, inspect.ismethod):
            if name.startswith("get_") and not name.endswith("_with_http_info"):
                yield name, method


def identifiers(name, method):
    """The ids for a read's path."""
    names = [p for p in inspect.signature(method).parameters if p != "kwargs"]
    return {p: SINGLES[name.removeprefix("get_")] if p == "sourced_id" else IDS[p.removesuffix("_sourced_id")] for p in names}


def role_of(path):
    """The role of a list that has only users with one."""
    collection = [part for part in path.split("/") if part in ("students", "teachers", "users", "classes")]
    part = collection[-1] if collection else ""
    return {"students": "student", "teachers": "teacher"}.get(part)


def read_all(check, client, door):
    """Calls every read; its answers by name, without addresses."""
    answers = {}
    for name, method in reads(client):
        model = method(**identifiers(name, method))
        response = client.last_response
        path = response.url.split(V1P1)[1].split("?")[0]
        body, old_path = response.json(), path.replace("lineitems", "lineItems")
        in_1_2 = door.get(old_path)
        (key, got), (_, wanted) = next(iter(body.items())), next(iter(in_1_2.items()))
        kind = next(kind for kind in FIELDS if key in (kind, plural(kind)))
        role = role_of(path)
        listed = isinstance(wanted, list)
        wanted = [expected(kind, record, role) for record in (wanted if listed else [wanted])]
        got = got if listed else [got]
        check.equal(f"{name}: the records of 1.2", without_hrefs(got), without_hrefs(wanted))
        check.that(f"{name}: there are records", got, got)
        if listed:
            check.equal(f"{name}: the total", response.headers["X-Total-Count"], str(len(wanted)))
        for reference in references(got):
            address = f"/{reference['sourcedId']}"
            check.that(f"{name}: {reference['href']}", f"{V1P1}/" in reference["href"] and reference["href"].endswith(address))
        models(check, name, model, got)
        answers[name] = without_hrefs(got)
    return answers


# The reads that the client has.
READS = 55


def plural(kind):
    return {"class": "classes", "category": "categories", "demographics": "demographics"}.get(kind, f"{kind}s")


def models(check, name, model, records):
    """Whether the client's own objects hold the records."""
    member = getattr(model, next(iter(model.swagger_types)))
    members = member if isinstance(member, list) else [member]
    check.equal(f"{name}: objects of the client", [m.sourced_id for m in members], [r["sourcedId"] for r in records])
    for one, record in zip(members, records):
        for attribute, wire in one.attribute_map.items():
            value, sort = getattr(one, attribute), one.swagger_types[attribute]
            if sort == "str" and isinstance(record.get(wire), str):
                check.equal(f"{name}: {wire} of {one.sourced_id}", value, record[wire])
            if sort == "bool" and wire in record:
                check.equal(f"{name}: {wire} of {one.sourced_id}", value, record[wire] == "true")
            if sort == "GUIDRefType" and wire in record:
                check.equal(f"{name}: {wire} of {one.sourced_id}", value.sourced_id, record[wire]["sourcedId"])


def addresses_lead_back(check, client, door, options):
    """Follows an address of each kind of reference."""
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {door.token}"
    seen = set()
    for name, method in reads(client):
        method(**identifiers(name, method))
        for reference in references(client.last_response.json()):
            if reference["type"] not in seen:
                seen.add(reference["type"])
                answer = session.get(reference["href"], timeout=60)
                check.equal(f"the address of a {reference['type']}", answer.status_code, 200)
    check.equal("kinds of references", seen, {"org", "academicSession", "course", "class", "user", "lineItem", "category", "resource"})


FILTERS = [("users", "role='student'", "roles.role='student'"), ("users", "role='administrator'", "roles.role='principal'"),
           ("users", "role!='student'", "roles.role!='student'"),
           ("users", "orgs.sourcedId='school-2'", "roles.org.sourcedId='school-2'"),
           ("users", "role='teacher' AND orgs.sourcedId='school-1'", "roles.role='teacher' AND roles.org.sourcedId='school-1'"),
           ("users", "dateLastModified>'2020-01-01' AND familyName~'Pupil'", "dateLastModified>'2020-01-01' AND familyName~'Pupil'"),
           ("students", "grades~'02'", "grades~'02'"), ("orgs", "type='district'", "type='district'"),
           ("enrollments", "user.sourcedId='teacher-1' OR role='aide'", "user.sourcedId='teacher-1' OR role='ext:aide'"),
           ("classes", "classType='scheduled'", "classType='scheduled' OR classType='ext:club'"),
           ("results", "scoreStatus='submitted'", "scoreStatus='ext:late'"),
           ("line_items", "class.sourcedId='class-2'", "class.sourcedId='class-2'")]


def filters_and_pages(check, client, door, options):
    lists = {name.removeprefix("get_"): method for name, method in reads(client)}
    for collection, in_1_1, in_1_2 in FILTERS:
        model = lists[collection](filter=in_1_1)
        got = [one.sourced_id for one in getattr(model, next(iter(model.swagger_types)))]
        path = "/" + {"line_items": "lineItems"}.get(collection, collection)
        wanted = [one["sourcedId"] for one in next(iter(door.get(path, filter=in_1_2).values()))]
        check.equal(f"{collection} with {in_1_1}", got, wanted)
        check.that(f"{collection} with {in_1_1} finds records", got, got)
    page = lists["users"](limit=2, offset=2, sort="familyName", order_by="desc")
    all_names = sorted((u["familyName"] for u in door.get("/users")["users"]), reverse=True)
    check.equal("the second page", [user.family_name for user in page.users], all_names[2:4])
    links = client.last_response.links
    check.that("links to other pages", {"next", "prev", "first", "last"} <= set(links) and V1P1 in links["next"]["url"], links)
    lists["users"](fields=["email"])
    shown = set(client.last_response.json()["users"][0])
    check.that("only the selected and the required fields", "email" in shown and "phone" not in shown, shown)
    for name, query in [("an unknown field", {"filter": "pronouns='x'"}), ("a field of 1.2", {"filter": "roles.role='student'"}),
                        ("an unknown order", {"sort": "role"}), ("an unknown selection", {"fields": ["roles"]})]:
        try:
            lists["users"](**query)
            check.that(f"{name} is refused", False)
        except requests.HTTPError as error:
            body = error.response.json()
            code = body["imsx_CodeMinor"]["imsx_codeMinorField"][0]["imsx_codeMinorFieldValue"]
            check.equal(f"{name} is refused", (error.response.status_code, body["imsx_codeMajor"]), (400, "failure"))
            check.that(f"{name} has its code", code.startswith("invalid_"), code)


def signed_requests(check, client, door, options):
    """OAuth 1.0a, signed by oauthlib."""
    url = f"{options.base}{V1P1}/users"

    def sign(address=url, method="GET", secret=options.signing_secret, params=None, **more):
        auth = OAuth1(options.id, secret, **more)
        return requests.Request(method, address, params=params, auth=auth).prepare()

    def send(prepared):
        return requests.Session().send(prepared, timeout=60)

    query = {"filter": "familyName='Pupil 1' AND email~'@brook'", "fields": "sourcedId,email", "limit": "5"}
    for method in ("HMAC-SHA1", "HMAC-SHA256"):
        for place in ("auth_header", "query"):
            answer = send(sign(params=query, signature_method=method, signature_type=place))
            ids = [user["sourcedId"] for user in answer.json().get("users", [])]
            check.equal(f"{method} in the {place}", (answer.status_code, ids), (200, ["student-1"]))
    head = send(sign(method="HEAD"))
    check.equal("HEAD", (head.status_code, head.headers.get("X-Total-Count")), (200, "7"))
    once = sign()
    check.equal("a request", send(once).status_code, 200)
    check.equal("the same request again", send(once).status_code, 401)
    if options.other_node:
        there, nonce = f"{options.other_node}{V1P1}/users", {"nonce": "once", "timestamp": str(int(time.time()))}
        check.equal("a request to one node", send(sign(**nonce)).status_code, 200)
        again = send(sign(there, **nonce))
        check.equal("its nonce at another node", again.status_code, 401)
        check.that("the reason", "was sent before" in again.text, again.text)
        check.equal("a new nonce at the other node", send(sign(there)).status_code, 200)
    now = int(time.time())
    for name, status, prepared in [
        ("an old time stamp", 401, sign(timestamp=str(now - 310))),
        ("a time stamp of the future", 401, sign(timestamp=str(now + 310))),
        ("a time stamp within the window", 200, sign(timestamp=str(now - 280))),
        ("another secret", 401, sign(secret=options.signing_secret + "x")),
        ("the secret for tokens", 401, sign(secret=options.secret)),
        ("an unknown client", 401, requests.Request("GET", url, auth=OAuth1("nobody", options.signing_secret)).prepare()),
        ("a plain signature", 400, sign(signature_method="PLAINTEXT")),
        ("OneRoster 1.2", 401, sign(door.address("/users"))),
        ("who is signed in", 401, sign(f"{options.base}/api/auth/me")),
        ("a POST", 405, sign(method="POST")),
        ("a DELETE of a record", 405, sign(f"{url}/student-1", method="DELETE")),
    ]:
        answer = send(prepared)
        check.equal(f"signed: {name}", answer.status_code, status)
    changed = sign(params={"limit": "1"})
    changed.url = changed.url.replace("limit=1", "limit=2")
    check.equal("a changed query", send(changed).status_code, 401)
    form = {"grant_type": "client_credentials", "client_id": options.id, "client_secret": options.signing_secret}
    check.equal("a token for the signing secret", requests.post(options.auth, data=form, timeout=60).status_code, 401)
    body = send(sign(timestamp="0")).json()
    check.equal("the format of a refusal", (body["imsx_codeMajor"], body["imsx_severity"]), ("failure", "error"))


def scopes(check, client, door, options):
    """Tokens of the 1.1 scopes open what the standard says."""
    prefix = "https://purl.imsglobal.org/spec/or/v1p1/scope/"
    for scope, path, status in [
        ("roster-core.readonly", "/users", 200), ("roster-core.readonly", "/classes/class-1/students", 403),
        ("roster.readonly", "/classes/class-1/students", 200), ("roster.readonly", "/demographics", 403),
        ("roster-demographics.readonly", "/demographics", 200), ("gradebook.readonly", "/results", 200),
        ("gradebook.readonly", "/users", 403), ("resource.readonly", "/resources", 200),
    ]:
        form = {"grant_type": "client_credentials", "scope": prefix + scope}
        token = requests.post(options.auth, data=form, auth=(options.id, options.secret), timeout=60).json()
        check.equal(f"the scope {scope}", token.get("scope"), prefix + scope)
        headers = {"Authorization": f"Bearer {token.get('access_token')}"}
        answer = requests.get(f"{options.base}{V1P1}{path}", headers=headers, timeout=60)
        check.equal(f"{scope} at {path}", answer.status_code, status)
        if status == 200:
            in_1_2 = requests.get(door.address(path), headers=headers, timeout=60)
            check.equal(f"{scope} opens nothing of 1.2", in_1_2.status_code, 403)


def main():
    options, check = arguments(), Checks()
    door = Door(options)
    configuration = oneroster_client.Configuration()
    configuration.host, configuration.access_token = options.base + V1P1, door.token
    client = oneroster_client.ApiClient(configuration)
    if options.phase == "write":
        for collection, key, records in RECORDS:
            for record in records:
                door.post(f"/{collection}", {key: record})
    answers = read_all(check, client, door)
    check.equal("reads of the client", len(answers), READS)
    for work in (filters_and_pages, addresses_lead_back, signed_requests, scopes):
        work(check, client, door, options)
    if options.phase == "write":
        with open(options.state, "w", encoding="utf-8") as handle:
            json.dump(answers, handle)
    else:
        with open(options.state, encoding="utf-8") as handle:
            state = json.load(handle)
        for name, noted in state.items():
            check.equal(f"{name}: as before the restart", answers[name], noted)
    return check.summary()


if __name__ == "__main__":
    sys.exit(main())
