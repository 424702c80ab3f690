"""One case a service of the published client: how its records look and how they change.

Each case keeps five records for the whole run; their `field` holds five ordered values that no
other record matches together with the case's `scope`. Record 9 comes and goes.
"""
from dataclasses import dataclass, field as member
from typing import Any, Callable


def ref(sourced_id):
    return {"sourcedId": sourced_id}


@dataclass
class Case:
    service: str                      # attribute of the client
    field: str                        # wire name of the ordered field
    attribute: str                    # its name in the client's model
    make: Callable[[int], dict]       # record i as the client sends it
    scope: dict                       # conditions on `field` that only this case's records meet
    change: dict = member(default_factory=dict)   # what an update changes
    patch: dict = member(default_factory=dict)    # what a patch changes
    kept: str = ""                    # attribute that a patch must leave alone
    allocates: bool = True            # the client may leave the sourcedId out
    broken: dict = member(default_factory=dict)   # a reference that leads nowhere
    text: bool = True                 # `~` has a meaning on the field
    search: str = ""                  # a search text that finds just these five
    where: Any = None                 # one more condition and the numbers of the records it finds

    def id(self, i):
        return self.make(i)["sourcedId"]

    def ids(self, numbers=range(1, 6)):
        return [self.id(i) for i in numbers]

    def value(self, i):
        return self.make(i)[self.field]


def org(i):
    return {"sourcedId": f"district-{i}", "status": "active", "name": f"Vale District {i}",
            "type": "district", "identifier": f"D-{i}", "metadata": {"region": f"R{i}", "depth": {"n": i}}}


def school(i):
    return {"sourcedId": f"school-{i}", "status": "active", "name": f"Brook School {i}",
            "type": "school", "identifier": f"S-{i}", "parent": ref("district-1")}


def session(i, kind, title, **more):
    return {"sourcedId": f"{kind}-{i}", "status": "active", "title": f"{title} {i}", "type": kind,
            "startDate": f"202{i}-08-01", "endDate": f"202{i}-12-20", "schoolYear": f"202{i}",
            "org": ref("school-1"), **more}


def year(i):
    return session(i, "schoolYear", "School Year", metadata={"rotation": i})


def term(i):
    return session(i, "term", "Autumn Term", parent=ref("schoolYear-1"))


def period(i):
    return session(i, "gradingPeriod", "Grading Period", parent=ref("term-1"))


def course(i):
    return {"sourcedId": f"course-{i}", "status": "active", "title": f"Rivers Course {i}",
            "org": ref("school-1"), "courseCode": f"RC-{i}", "grades": [i, i + 1],
            "subjects": ["Science"] if i % 2 else ["Math", "Other"], "subjectCodes": [f"S{i}"],
            "level": "Honors", "gradingScheme": "points", "academicSession": ref("term-1"),
            "metadata": {"goals": {"dailyXp": 10 * i}}}


def klass(i):
    return {"sourcedId": f"class-{i}", "status": "active", "title": f"Rivers Class {i}",
            "terms": [ref("term-1"), ref("term-2")], "course": ref("course-1" if i < 4 else "course-2"),
            "org": ref("school-1"), "classCode": f"K-{i}", "classType": "scheduled",
            "location": f"Room {i}", "grades": [i], "subjects": ["Science"],
            "subjectCodes": [f"S{i}"], "periods": ["1", "2"], "metadata": {"color": "blue"}}


def user(i, role="student", family="Pupil"):
    return {"sourcedId": f"{role}-{i}", "status": "active", "enabledUser": i != 5,
            "givenName": f"Given{i}", "familyName": f"{family} {i}", "middleName": "M",
            "username": f"{role}{i}", "email": f"{role}{i}@brook.example",
            "roles": [{"roleType": "primary", "role": role, "org": ref("school-1")}],
            "userIds": [{"type": "state", "identifier": f"ID-{role}-{i}"}], "primaryOrg": ref("school-1"),
            "grades": [i] if role == "student" else [], "phone": f"555-010{i}", "sms": f"555-020{i}",
            "pronouns": "they/them", "preferredFirstName": f"Nick{i}", "metadata": {"house": f"H{i}"}}


def teacher(i):
    """Only the first teaches at the school whose lists are checked."""
    home = ref("school-1" if i == 1 else "school-2")
    roles = [{"roleType": "primary", "role": "teacher", "org": home}]
    return {**user(i, "teacher", "Tutor"), "roles": roles, "primaryOrg": home}


def enrollment(i):
    return {"sourcedId": f"enrollment-{i}", "status": "active", "user": ref(f"student-{(i - 1) % 5 + 1}"),
            "class": ref("class-1" if i < 9 else "class-2"), "school": ref("school-1"), "role": "student",
            "primary": "true" if i < 3 else "false", "beginDate": f"2025-09-0{i}",
            "endDate": "2026-06-30", "metadata": {"goals": {"dailyXp": i}}}


def demographics(i):
    flags = ["americanIndianOrAlaskaNative", "asian", "blackOrAfricanAmerican", "white",
             "nativeHawaiianOrOtherPacificIslander", "demographicRaceTwoOrMoreRaces",
             "hispanicOrLatinoEthnicity"]
    return {"sourcedId": f"student-{i}" if i < 9 else "teacher-1", "status": "active",
            "birthDate": f"2014-03-0{i}", "sex": "female" if i % 2 else "male",
            **{flag: "true" if n == i else "false" for n, flag in enumerate(flags)},
            "countryOfBirthCode": "NO", "stateOfBirthAbbreviation": "VT", "cityOfBirth": f"Port {i}",
            "publicSchoolResidenceStatus": "01652", "metadata": {"survey": i}}


METADATA = {
    1: {"type": "qti", "subType": "qti-test", "questionType": "choice", "difficulty": "medium",
        "subject": "Science", "grades": [3, 4], "xp": 12.5, "url": "https://content.example/test/1"},
    2: {"type": "video", "format": "mp4", "duration": "00:03:10", "captionsAvailable": True, "xp": 5},
    3: {"type": "interactive", "launchUrl": "https://content.example/launch", "toolProvider": "tool",
        "courseIdOnFail": "course-2", "failFast": {"consecutiveFailures": 3, "stagnationLimit": 9}},
    4: {"type": "text", "format": "html", "author": "A. Author", "pageCount": 4, "language": "en"},
}


def resource(i):
    return {"sourcedId": f"resource-{i}", "status": "active", "title": f"Rivers Resource {i}",
            "vendorResourceId": f"vr-{i}", "vendorId": "vendor", "applicationId": "app",
            "roles": ["primary"], "importance": "primary" if i < 3 else "secondary",
            "metadata": METADATA.get(i, {"own": {"key": [1, None, "x"]}})}


def category(i):
    return {"sourcedId": f"category-{i}", "status": "active", "title": f"Work Category {i}",
            "weight": i / 10, "metadata": {"n": i}}


def scale(i):
    return {"sourcedId": f"scale-{i}", "status": "active", "title": f"Letter Scale {i}", "type": "letters",
            "class": ref("class-1"), "course": ref("course-1"),
            "scoreScaleValue": [{"itemValueLHS": "A", "itemValueRHS": "90-100"},
                                {"itemValueLHS": "B", "itemValueRHS": "0-89"}]}


def line_item(i):
    return {"sourcedId": f"line-{i}", "status": "active", "title": f"Rivers Essay {i}",
            "description": "Write it", "class": ref("class-1" if i < 4 else "class-2"),
            "school": ref("school-1"), "category": ref("category-1"), "gradingPeriod": ref("gradingPeriod-1"),
            "academicSession": ref("term-1"), "scoreScale": ref("scale-1"),
            "assignDate": f"2025-10-0{i}T08:00:00Z", "dueDate": f"2025-11-0{i}T08:00:00Z",
            "resultValueMin": 0, "resultValueMax": 100,
            "learningObjectiveSet": [{"source": "case", "learningObjectiveIds": ["lo-1", "lo-2"]}]}


OBJECTIVE_RESULTS = [{"source": "case", "learningObjectiveResults": [
    {"learningObjectiveId": "lo-1", "score": 3.5}, {"learningObjectiveId": "lo-2", "textScore": "good"}]}]


def result(i):
    return {"sourcedId": f"result-{i}", "status": "active", "lineItem": ref("line-1"),
            "student": ref(f"student-{(i - 1) % 5 + 1}"), "class": ref("class-1"), "scoreScale": ref("scale-1"),
            "scoreDate": f"2025-11-0{i}", "scoreStatus": "fully graded", "score": 60.5 + 10 * i,
            "textScore": "A", "comment": f"Fine comment {i}", "learningObjectiveSet": OBJECTIVE_RESULTS,
            "inProgress": "false", "incomplete": "false", "late": "true", "missing": "false"}


def assessment_line(i):
    more = {"parentAssessmentLineItem": ref("aline-1")} if i > 1 else {}
    return {"sourcedId": f"aline-{i}", "status": "active", "title": f"Rivers Exam {i}", "description": "Exam",
            "class": ref("class-1"), "course": ref("course-1"), "scoreScale": ref("scale-1"),
            "component": ref("component-1"), "componentResource": ref("lesson-1"),
            "resultValueMin": 0, "resultValueMax": 100, "metadata": {"lessonType": "quiz"},
            "learningObjectiveSet": [{"source": "case", "learningObjectiveIds": ["lo-1"]}], **more}


def assessment_result(i):
    return {"sourcedId": f"aresult-{i}", "status": "active", "assessmentLineItem": ref("aline-1"),
            "student": ref(f"student-{(i - 1) % 5 + 1}"), "score": 10.0 * i, "scorePercentile": 9.5 * i,
            "textScore": "B", "scoreDate": f"2025-12-0{i}T10:00:00.000Z", "scoreStatus": "partially graded",
            "scoreScale": ref("scale-1"), "comment": f"Fine remark {i}",
            "learningObjectiveSet": OBJECTIVE_RESULTS, "inProgress": "true", "late": "false",
            "metadata": {"attempt": i, "xp": 2.5, "isMasteryCompletion": i == 5}}


NOWHERE = ref("no-such-record")


def sessions(service, make, title):
    return Case(service, "title", "title", make, {"contains": title}, change={"title": f"{title} X"},
                patch={"title": f"{title} Y"}, kept="school_year", allocates=False,
                broken={"parent": NOWHERE}, where=({"schoolYear": "2022"}, [2]))


CASES = [
    Case("orgs", "name", "name", org, {"contains": "Vale"}, change={"name": "Vale X", "identifier": "DX"},
         patch={"name": "Vale Y"}, kept="identifier", broken={"parent": NOWHERE},
         where=({"identifier": "D-2", "type": "district"}, [2])),
    Case("schools", "name", "name", school, {"contains": "Brook"}, change={"name": "Brook X"},
         patch={"name": "Brook Y"}, kept="identifier", broken={"parent": NOWHERE},
         where=({"parent.sourcedId": "district-1"}, [1, 2, 3, 4, 5])),
    sessions("academic_sessions", year, "School Year"),
    sessions("terms", term, "Autumn Term"),
    sessions("grading_periods", period, "Grading Period"),
    Case("courses", "title", "title", course, {"contains": "Rivers Course"}, change={"title": "Rivers Course X", "grades": [13]},
         patch={"title": "Rivers Course Y"}, kept="course_code", broken={"org": NOWHERE},
         search="rivers course", where=({"subjects": {"contains": "Math"}}, [2, 4])),
    Case("classes", "title", "title", klass, {"contains": "Rivers"}, change={"title": "Rivers X", "location": "Hall"},
         patch={"title": "Rivers Y"}, kept="class_code", broken={"course": NOWHERE},
         where=({"course.sourcedId": "course-2"}, [4, 5])),
    Case("users", "familyName", "family_name", user, {"contains": "Pupil"}, change={"familyName": "Pupil X", "grades": ["07"]},
         patch={"familyName": "Pupil Y"}, kept="email", allocates=False,
         broken={"primaryOrg": NOWHERE}, search="pupil", where=({"enabledUser": False}, [5])),
    Case("enrollments", "beginDate", "begin_date", enrollment, {"gte": "2025-09-01", "lte": "2025-09-09"},
         change={"beginDate": "2025-09-08", "primary": "true"}, patch={"beginDate": "2025-09-07"},
         kept="end_date", broken={"class": NOWHERE}, text=False,
         where=({"user.sourcedId": "student-4"}, [4])),
    Case("demographics", "cityOfBirth", "city_of_birth", demographics, {"contains": "Port"},
         change={"cityOfBirth": "Port X", "sex": "male"}, patch={"cityOfBirth": "Port Y"}, kept="birth_date",
         allocates=False, where=({"sex": "male", "asian": "false"}, [2, 4])),
    Case("resources", "title", "title", resource, {"contains": "Rivers"}, change={"title": "Rivers X", "importance": "primary"},
         patch={"title": "Rivers Y"}, kept="vendor_resource_id",
         where=({"importance": "secondary", "vendorId": "vendor"}, [3, 4, 5])),
    Case("categories", "title", "title", category, {"contains": "Work"}, change={"title": "Work X"},
         patch={"title": "Work Y"}, kept="metadata", where=({"weight": {"gt": 0.25}}, [3, 4, 5])),
    Case("score_scales", "title", "title", scale, {"contains": "Letter"}, change={"title": "Letter X"},
         patch={"title": "Letter Y"}, kept="status", broken={"class": NOWHERE},
         where=({"class.sourcedId": "class-1"}, [1, 2, 3, 4, 5])),
    Case("line_items", "title", "title", line_item, {"contains": "Rivers"}, change={"title": "Rivers X", "resultValueMax": 50.5},
         patch={"title": "Rivers Y"}, kept="description", broken={"category": NOWHERE},
         where=({"class.sourcedId": "class-2"}, [4, 5])),
    Case("results", "comment", "comment", result, {"contains": "Fine"}, change={"comment": "Fine X", "score": 12.25},
         patch={"comment": "Fine Y"}, kept="score", broken={"student": NOWHERE},
         where=({"score": {"gte": 90, "lte": 100.5}}, [3, 4])),
    Case("assessment_line_items", "title", "title", assessment_line, {"contains": "Rivers"}, change={"title": "Rivers X"},
         patch={"title": "Rivers Y"}, kept="description", broken={"course": NOWHERE},
         where=({"parentAssessmentLineItem.sourcedId": "aline-1"}, [2, 3, 4, 5])),
    Case("assessment_results", "comment", "comment", assessment_result, {"contains": "Fine"},
         change={"comment": "Fine X", "score": 99}, patch={"comment": "Fine Y", "metadata": {"attempt": 9}},
         kept="score", broken={"assessmentLineItem": NOWHERE},
         where=({"student.sourcedId": "student-3", "assessmentLineItem.sourcedId": "aline-1"}, [3])),
]

# The client reads students and teachers as views of users.
VIEWS = [
    Case("students", "familyName", "family_name", user, {"contains": "Pupil"}, search="pupil",
         where=({"email": "student2@brook.example"}, [2])),
    Case("teachers", "familyName", "family_name", teacher, {"contains": "Tutor"},
         where=({"email": {"contains": "teacher3@"}}, [3])),
]
