//! The routes about the work of people, with a request of each one about a district.

/// The areas about the work of people.
pub(super) const AREAS: [&str; 6] = ["caliper", "events", "jobs", "live", "bridge", "adaptive"];

/// Routes that refuse limited callers, because they change content that all organizations share.
pub(super) const REFUSED: [&str; 5] = [
    "createExternalPlacementTest",
    "createExternalTestOut",
    "createInternalTest",
    "deleteRenderConfig",
    "putRenderConfig",
];

/// Routes that limits do not affect, because they read nothing that belongs to an organization.
pub(super) const UNAFFECTED: [&str; 2] = ["getEndpointConfiguration", "getRenderConfig"];

/// A route with a request about the district `{d}`, whose number is `{n}`.
pub(super) struct Row {
    pub(super) route: &'static str,
    pub(super) request: &'static str,
    pub(super) body: &'static str,
    /// The status for a caller of the other district; 0 for lists, which leave the district out.
    pub(super) refusal: u16,
}

pub(super) const fn row(
    route: &'static str,
    request: &'static str,
    body: &'static str,
    refusal: u16,
) -> Row {
    Row { route, request, body, refusal }
}

/// A row or more for each route. Those that end something come last.
pub(super) const ROWS: &[Row] = &[
    row("sendEnvelope", "POST /ims/caliper/v1p2/events", "EVENT 3", 400),
    row("sendEvents", "POST /caliper/event", "EVENT 4", 400),
    row("validateEvents", "POST /caliper/event/validate", "EVENT 5", 400),
    row("listEvents", "GET /caliper/events", "", 0),
    row("listEvents", "GET /caliper/events?startDate=2026-03-01&endDate=2026-03-31&limit=1", "", 0),
    row("getEvent", "GET /caliper/events/urn:uuid:00000000-0000-4000-8000-00000000001{n}", "", 404),
    row("getJobStatus", "GET /jobs/{job}/status", "", 404),
    row("streamEvents", "GET /events/stream?follow=false", "", 0),
    row("enroll", "POST /bridge/enrollments/enroll/{d}-sis/math", "{}", 404),
    row("enrollAtSchool", "POST /bridge/enrollments/enroll/{d}-sis/math/s-{d}", "{}", 404),
    row("getDefaultClass", "GET /bridge/enrollments/defaultClass/math-{d}", "", 404),
    row("getDefaultClassAtSchool", "GET /bridge/enrollments/defaultClass/math/s-{d}", "", 404),
    row("getEnrollmentsOfUser", "GET /bridge/enrollments/user/{d}-kid", "", 404),
    row("getSubjectTracks", "GET /bridge/subject-track", "", 0),
    row("getSubjectTrackGroups", "GET /bridge/subject-track/groups", "", 0),
    row(
        "putSubjectTrack",
        "PUT /bridge/subject-track",
        r#"{"subject": "Art", "grade": 9, "courseId": "math", "orgSourcedId": "s-{d}"}"#,
        422,
    ),
    row("getUsersByRole", "GET /bridge/users?roles=student", "", 0),
    row("getMapProfile", "GET /bridge/learning-reports/map-profile/{d}-kid", "", 404),
    row("getTimeSaved", "GET /bridge/time-saved/user/{d}-kid", "", 404),
    row("getApplications", "GET /bridge/applications", "", 0),
    row("getApplicationMetrics", "GET /bridge/applicationMetrics/app-of-{d}", "", 404),
    row("getEnrollmentAnalytics", "GET /bridge/analytics/enrollment/e-{d}", "", 404),
    row(
        "getActivity",
        "GET /bridge/analytics/activity?studentId={d}-kid&startDate=2026-03-01&endDate=2026-03-31",
        "",
        404,
    ),
    row(
        "getActivity",
        "GET /bridge/analytics/activity?email={d}@example.org&startDate=2026-03-01&endDate=2026-03-31",
        "",
        404,
    ),
    row(
        "getWeeklyFacts",
        "GET /bridge/analytics/facts/weekly?studentId={d}-kid&weekDate=2026-03-11",
        "",
        404,
    ),
    row(
        "getHighestGradeMastered",
        "GET /bridge/analytics/highestGradeMastered/{d}-kid/Math",
        "",
        404,
    ),
    row(
        "putSchoolHours",
        "PUT /bridge/school-hours/s-{d}",
        r#"{"weekdays": [1, 2], "begins": "08:00", "ends": "12:00", "timeZone": "Europe/Berlin"}"#,
        404,
    ),
    row("getSchoolHours", "GET /bridge/school-hours/s-{d}", "", 404),
    row("deleteSchoolHours", "DELETE /bridge/school-hours/s-{d}", "", 404),
    row(
        "teach",
        "POST /adaptive/teaching",
        r#"{"student": "{d}-kid", "action": {"type": "goal", "course": "math", "dailyXp": 6}}"#,
        404,
    ),
    row("getSyllabus", "GET /adaptive/syllabus/math-{d}", "", 404),
    row("getNextQuestion", "GET /adaptive/getNextQuestion?student={d}-kid&lesson=steps", "", 404),
    row(
        "getAssessmentProgress",
        "GET /adaptive/getAssessmentProgress?student={d}-kid&lesson=quiz",
        "",
        404,
    ),
    row(
        "updateStudentQuestionResponse",
        "PUT /adaptive/updateStudentQuestionResponse",
        r#"{"student": "{d}-kid", "lesson": "quiz", "question": "q", "response": "A"}"#,
        404,
    ),
    row(
        "finalStudentAssessmentResponse",
        "POST /adaptive/finalStudentAssessmentResponse",
        r#"{"student": "{d}-kid", "lesson": "quiz"}"#,
        404,
    ),
    row(
        "createNewAttempt",
        "POST /adaptive/createNewAttempt",
        r#"{"student": "{d}-kid", "lesson": "quiz"}"#,
        404,
    ),
    row("getAttempts", "GET /adaptive/getAttempts?student={d}-kid&lesson=quiz", "", 404),
    row("getAttemptLog", "GET /adaptive/getAttemptLog?student={d}-kid&lesson=quiz", "", 404),
    row(
        "makeExternalTestAssignment",
        "POST /adaptive/makeExternalTestAssignment",
        r#"{"student": "{d}-kid", "lesson": "{out}"}"#,
        404,
    ),
    row(
        "importExternalTestAssignmentResults",
        "GET /adaptive/importExternalTestAssignmentResults?student={d}-kid&lesson={out}",
        "",
        404,
    ),
    row("getTestOut", "GET /adaptive/testOut?student={d}-kid&course=math", "", 404),
    row(
        "getTestOutEligibility",
        "GET /adaptive/test-out/getTestOutEligibility/{d}-kid/Math",
        "",
        404,
    ),
    row(
        "makeExternalStudentTestOutAssignment",
        "POST /adaptive/test-out/makeExternalStudentTestOutAssignment",
        r#"{"oneRosterSourcedId": "{d}-kid", "subject": "Math"}"#,
        404,
    ),
    row(
        "getNextPlacementTest",
        "GET /adaptive/placement/getNextPlacementTest?student={d}-kid&subject=Math",
        "",
        404,
    ),
    row(
        "getCurrentLevel",
        "GET /adaptive/placement/getCurrentLevel?student={d}-kid&subject=Math",
        "",
        404,
    ),
    row(
        "getAllPlacementTests",
        "GET /adaptive/placement/getAllPlacementTests?student={d}-kid&subject=Math",
        "",
        404,
    ),
    row(
        "getSubjectProgress",
        "GET /adaptive/placement/getSubjectProgress?student={d}-kid&subject=Math",
        "",
        404,
    ),
    row("getPlacement", "GET /adaptive/placement/{d}-kid", "", 404),
    row(
        "createLessonPlan",
        "POST /adaptive/lessonPlans",
        r#"{"courseId": "math", "userId": "{d}-sis"}"#,
        404,
    ),
    row("getLessonPlan", "GET /adaptive/lessonPlans/math/{d}-kid", "", 404),
    row("getLessonPlanTree", "GET /adaptive/lessonPlans/tree/{plan}", "", 404),
    row("getLessonPlanStructure", "GET /adaptive/lessonPlans/tree/{plan}/structure", "", 404),
    row("getLessonPlanOperations", "GET /adaptive/lessonPlans/{plan}/operations", "", 404),
    row(
        "createLessonPlanOperation",
        "POST /adaptive/lessonPlans/{plan}/operations",
        r#"{"operation": {"type": "set-skipped", "payload": {"target": {"type": "component", "id": "unit"}, "value": true}}}"#,
        404,
    ),
    row("syncLessonPlan", "POST /adaptive/lessonPlans/{plan}/operations/sync", "", 404),
    row("recreateLessonPlan", "POST /adaptive/lessonPlans/{plan}/recreate", "", 404),
    row("syncCourseLessonPlans", "POST /adaptive/lessonPlans/course/math-{d}/sync", "", 404),
    row(
        "getCourseProgress",
        "GET /adaptive/lessonPlans/getCourseProgress/math/student/{d}-kid",
        "",
        404,
    ),
    row(
        "updateStudentItemResponse",
        "POST /adaptive/lessonPlans/updateStudentItemResponse",
        r#"{"studentId": "{d}-kid", "componentResourceId": "steps", "result": {"status": "active",
            "score": 70, "scoreDate": "2026-02-01", "scoreStatus": "fully graded"}}"#,
        404,
    ),
    row("getTestAssignments", "GET /adaptive/test-assignments?student={d}-kid", "", 404),
    row("getAllTestAssignments", "GET /adaptive/test-assignments/admin", "", 0),
    row(
        "createTestAssignment",
        "POST /adaptive/test-assignments",
        r#"{"student": "{d}-kid", "subject": "Math", "grade": 3}"#,
        404,
    ),
    row("getTestAssignment", "GET /adaptive/test-assignments/{assignment}", "", 404),
    row(
        "putTestAssignment",
        "PUT /adaptive/test-assignments/{assignment}",
        r#"{"testName": "Renamed"}"#,
        404,
    ),
    row("getScreeningResults", "GET /adaptive/screening/results/{d}-kid", "", 404),
    row("getScreeningSession", "GET /adaptive/screening/session/{d}-kid", "", 404),
    row(
        "assignScreeningTest",
        "POST /adaptive/screening/tests/assign",
        r#"{"userId": "{d}-kid", "subject": "Reading"}"#,
        404,
    ),
    row(
        "resetScreeningSession",
        "POST /adaptive/screening/session/reset",
        r#"{"userId": "{d}-kid"}"#,
        404,
    ),
    row(
        "resetUserPlacement",
        "POST /adaptive/placement/resetUserPlacement",
        r#"{"student": "{d}-kid", "subject": "Math"}"#,
        404,
    ),
    row(
        "resetAttempt",
        "POST /adaptive/resetAttempt",
        r#"{"student": "{d}-kid", "lesson": "quiz"}"#,
        404,
    ),
    row("deleteTestAssignment", "DELETE /adaptive/test-assignments/{assignment}", "", 404),
    row("deleteLessonPlans", "DELETE /adaptive/lessonPlans/math-{d}/deleteAll", "", 404),
    row("resetGoals", "POST /bridge/enrollments/resetGoals/math-{d}", "{}", 404),
    row("resetProgress", "DELETE /bridge/enrollments/resetProgress/{d}-kid/math", "", 404),
    row("resetProgressOfStudents", "POST /bridge/enrollments/resetProgress/math-{d}", "{}", 404),
    row("deleteSubjectTrack", "DELETE /bridge/subject-track/{track}", "", 404),
    row("unenrollAtSchool", "DELETE /bridge/enrollments/unenroll/{d}-sis/math/s-{d}", "", 404),
    row("unenroll", "DELETE /bridge/enrollments/unenroll/{d}-kid/math", "", 404),
];

/// Routes whose request names many students, and which answer one by one.
pub(super) const BULK: [(&str, &str, &str); 2] = [
    (
        "createTestAssignments",
        "POST /adaptive/test-assignments/bulk",
        r#"{"items": [{"student": "a-kid", "subject": "Math", "grade": 3},
                      {"student": "b-kid", "subject": "Math", "grade": 3}]}"#,
    ),
    (
        "importTestAssignments",
        "POST /adaptive/test-assignments/import",
        r#"{"csv": "student,subject,grade\na-kid,Math,3\nb-kid,Math,3\n"}"#,
    ),
];

/// Lists whose items belong to a record: the items, the id of the record, and its kind.
pub(super) const LISTS: [(&str, &str, &str, &str); 4] = [
    ("/caliper/events", "/events", "/actor/id", "user"),
    ("/bridge/users?roles=student", "/users", "/sourcedId", "user"),
    ("/bridge/subject-track", "/subjectTrack", "/org/sourcedId", "org"),
    ("/adaptive/test-assignments/admin", "/testAssignments", "/studentSourcedId", "user"),
];
