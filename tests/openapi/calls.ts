// Calls of a client that is typed by the API document. The compiler checks bodies, parameters and answers.
import createClient from "openapi-fetch";
import type { paths } from "./api.js";

declare const process: { argv: string[] };
const [baseUrl, token] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });

/** The answer's body, or an error that names the call. */
function expect<T>(call: string, answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) {
    throw new Error(`${call}: ${JSON.stringify(answer.error)}`);
  }
  console.log(`ok ${call}`);
  return answer.data;
}

function equal<T>(what: string, got: T, wanted: T) {
  if (got !== wanted) {
    throw new Error(`${what}: got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`);
  }
}

const rostering = "/ims/oneroster/rostering/v1p2" as const;
const [school, user, course] = ["ts-school", "ts-ann", "ts-maths"];

const org = { sourcedId: school, name: "School", type: "school" as const };
expect("create an org", await client.POST(`${rostering}/orgs`, { body: { org } }));

const role = { roleType: "primary" as const, role: "student" as const, org: { sourcedId: school } };
const student = { sourcedId: user, enabledUser: "true" as const, givenName: "Ann", familyName: "Hill", roles: [role] };
expect("create a user", await client.POST(`${rostering}/users`, { body: { user: student } }));

const maths = { sourcedId: course, title: "Maths", courseCode: "M", org: { sourcedId: school } };
const lesson = { sourcedId: "ts-lesson", title: "Video", sortOrder: 1, resource: { sourcedId: "ts-video", title: "Video", vendorResourceId: "v" } };
const unit = { sourcedId: "ts-unit", title: "Unit", sortOrder: 1, componentResources: [lesson] };
const structure = { course: maths, courseStructure: { subComponents: [unit] } };
expect("create a course", await client.POST(`${rostering}/courses/structure`, { body: structure }));

const enrollment = { sourcedId: "ts-enrollment", role: "student" as const, user: { sourcedId: user }, course: { sourcedId: course } };
expect("create an enrollment", await client.POST(`${rostering}/enrollments`, { body: { enrollment } }));

const one = await client.GET(`${rostering}/users/{sourcedId}`, { params: { path: { sourcedId: user } } });
equal("the name", expect("read a user", one).user.givenName, "Ann");

const query = { filter: `user.sourcedId='${user}'`, limit: 5 };
const list = await client.GET(`${rostering}/enrollments`, { params: { query } });
const found = expect("list enrollments by a filter", list).enrollments[0];
equal("the user", found.user.sourcedId, user);
equal("the course", found.course?.sourcedId, course);

const syllabus = await client.GET("/adaptive/syllabus/{courseId}", { params: { path: { courseId: course } } });
const tree = expect("read a syllabus", syllabus).syllabus;
equal("the resource", tree.subComponents[0].componentResources[0].resource.title, "Video");

const progress = await client.GET("/adaptive/lessonPlans/getCourseProgress/{courseId}/student/{studentId}", {
  params: { path: { courseId: course, studentId: user } },
});
equal("the line items", expect("read progress", progress).lineItems.length, 0);

const bridge = await client.GET("/bridge/enrollments/user/{userId}", { params: { path: { userId: user } } });
equal("the enrollment", expect("read the enrollments of a user", bridge).data[0].id, "ts-enrollment");
