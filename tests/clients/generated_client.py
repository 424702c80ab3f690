"""Generates a client from the server's API document with `openapi-python-client`, and calls the server with it.

The document and the discovery documents of the standards are validated first. Every module of the client is imported:
the generator writes what it did not understand as code that cannot be.
"""
import importlib
import json
import pkgutil
import subprocess
import sys
import tempfile

import httpx
from openapi_spec_validator import validate

from harness import Checks, arguments

ROSTERING = "/ims/oneroster/rostering/v1p2"
DOCUMENTS = ["/openapi.json", "/ims/ob/v3p0/discovery", "/ims/clr/v2p0/discovery", "/ims/case/v1p1/discovery",
             f"{ROSTERING}/discovery", "/ims/oneroster/gradebook/v1p2/discovery", "/ims/oneroster/resources/v1p2/discovery"]


def generate(folder, document):
    """The package `generated` in the folder."""
    source = f"{folder}/openapi.json"
    with open(source, "w", encoding="utf-8") as handle:
        json.dump(document, handle)
    config = f"{folder}/config.yml"
    with open(config, "w", encoding="utf-8") as handle:
        handle.write("post_hooks: []\n")
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--path", source, "--config", config,
               "--output-path", f"{folder}/generated", "--meta", "none"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    sys.path.insert(0, folder)
    return done.stdout


class Caller:
    """Calls operations of the generated client by their names."""

    def __init__(self, check, client):
        self.check, self.client = check, client

    def __call__(self, area, operation, status=200, **arguments):
        call = importlib.import_module(f"generated.api.{area}.{operation}")
        answer = call.sync_detailed(client=self.client, **arguments)
        self.check.equal(operation, (int(answer.status_code), answer.parsed is not None), (status, True))
        return answer.parsed


def calls(check, call, models):
    """Creates a course with a student, and reads everything back."""
    def body(model, record):
        return getattr(models, model).from_dict(record)

    def create(area, operation, model, record):
        return call(area, operation, 201, body=body(model, record))

    def ref(sourced_id):
        return {"sourcedId": sourced_id}

    create("rostering", "create_org", "SingleOrgInput", {"org": {"sourcedId": "py-school", "name": "School", "type": "school"}})
    create("rostering", "create_user", "SingleUserInput", {"user": {
        "sourcedId": "py-ann", "enabledUser": "true", "givenName": "Ann", "familyName": "Hill", "metadata": {"house": "red"},
        "roles": [{"roleType": "primary", "role": "student", "org": ref("py-school")}]}})
    create("rostering", "create_course", "SingleCourseInput", {"course": {
        "sourcedId": "py-maths", "title": "Maths", "courseCode": "M", "org": ref("py-school")}})
    create("rostering", "create_course_component", "SingleCourseComponentInput", {"courseComponent": {
        "sourcedId": "py-unit", "title": "Unit", "sortOrder": 1, "course": ref("py-maths"), "parent": None}})
    create("resources", "create_resource", "SingleResourceInput", {"resource": {
        "sourcedId": "py-video", "title": "Video", "vendorResourceId": "v", "metadata": {"type": "video", "xp": 5}}})
    create("rostering", "create_component_resource", "SingleComponentResourceInput", {"componentResource": {
        "sourcedId": "py-lesson", "title": "Video", "sortOrder": 1, "courseComponent": ref("py-unit"), "resource": ref("py-video")}})
    create("rostering", "create_enrollment", "SingleEnrollmentInput", {"enrollment": {
        "sourcedId": "py-enrollment", "role": "student", "user": ref("py-ann"), "course": ref("py-maths")}})

    user = call("rostering", "get_user", sourced_id="py-ann").user
    check.equal("the user is as it was sent", (user.given_name, user.metadata["house"]), ("Ann", "red"))
    patch = getattr(models, "PatchUserBody").from_dict({"givenName": "Anna"})
    check.equal("a patch changes a field", call("rostering", "patch_user", sourced_id="py-ann", body=patch).user.given_name, "Anna")
    listed = call("rostering", "get_all_enrollments", filter_="user.sourcedId='py-ann'", limit=5).enrollments
    check.equal("the filter finds the enrollment", [(one.sourced_id, one.course.sourced_id) for one in listed], [("py-enrollment", "py-maths")])
    syllabus = call("adaptive", "get_syllabus", course_id="py-maths").syllabus
    link = syllabus.sub_components[0].component_resources[0]
    check.equal("the syllabus has the resource", (syllabus.title, link.title, link.resource.metadata["xp"]), ("Maths", "Video", 5))
    progress = call("adaptive", "get_course_progress", course_id="py-maths", student_id="py-ann")
    check.equal("there is no progress yet", progress.line_items, [])
    enrollments = call("bridge", "get_enrollments_of_user", user_id="py-ann").data
    check.equal("the enrollments of the user", [one.course.id for one in enrollments], ["py-maths"])
    call("rostering", "get_user", 404, sourced_id="nobody")


def main():
    options = arguments()
    check = Checks()
    form = {"grant_type": "client_credentials", "client_id": options.id, "client_secret": options.secret}
    token = httpx.post(options.auth, data=form).json()["access_token"]
    for path in DOCUMENTS:
        document = httpx.get(options.base + path, timeout=60).json()
        try:
            validate(document)
            check.that(f"{path} is valid", True)
        except Exception as error:  # noqa: BLE001 (the validator raises several)
            check.that(f"{path} is valid", False, str(error)[:1000])
    with tempfile.TemporaryDirectory() as folder:
        document = httpx.get(f"{options.base}/openapi.json", timeout=60).json()
        warnings = generate(folder, document)
        for failure in ("Unable to process schema", "Could not find reference", "duplicate models"):
            check.that(f"the generator does not print '{failure}'", failure not in warnings, warnings[:1000])
        package = importlib.import_module("generated")
        for module in pkgutil.walk_packages(package.__path__, "generated."):
            try:
                importlib.import_module(module.name)
            except Exception as error:  # noqa: BLE001
                check.that(f"{module.name} can be imported", False, repr(error))
        client = package.AuthenticatedClient(base_url=options.base, token=token)
        calls(check, Caller(check, client), importlib.import_module("generated.models"))
    sys.exit(check.summary())


if __name__ == "__main__":
    main()
