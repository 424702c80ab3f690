// A course with lessons for students, stored over the API, and students who sign in.

const ROSTERING = "/ims/oneroster/rostering/v1p2";
const RESOURCES = "/ims/oneroster/resources/v1p2";
const PASSWORD = "correct horse";

/** A course `math` with one unit. */
export class Course {
  #server;
  #lessons = 0;

  constructor(server) {
    this.#server = server;
  }

  /** Creates a school with these students, who learn in the course. */
  static async create(server, ...students) {
    await server.school(...students);
    const metadata = { goals: { dailyXp: 30 } };
    const course = { sourcedId: "math", title: "Numbers", courseCode: "N", subjects: ["Math"], grades: ["03"], org: { sourcedId: "school" }, metadata };
    await server.call("POST", `${ROSTERING}/courses`, { course });
    await server.call("POST", `${ROSTERING}/courses/components`, { courseComponent: { sourcedId: "unit", title: "Even and odd", course: { sourcedId: "math" }, sortOrder: 1 } });
    for (const student of students) await server.call("POST", `/bridge/enrollments/enroll/${student}/math`, {});
    return new Course(server);
  }

  /** A lesson with any resource. */
  async lesson(id, lessonType, resource) {
    this.#lessons += 1;
    await this.#server.call("POST", `${RESOURCES}/resources`, { resource: { sourcedId: `r-${id}`, title: id, vendorResourceId: `t-${id}`, ...resource } });
    const link = { sourcedId: id, title: `Lesson ${id}`, courseComponent: { sourcedId: "unit" }, resource: { sourcedId: `r-${id}` }, sortOrder: this.#lessons, lessonType };
    await this.#server.call("POST", `${ROSTERING}/courses/component-resources`, { componentResource: link });
  }

  /** A lesson with a test of stored items; `test` has further members of the test. */
  async questions(id, lessonType, items, test = {}) {
    const refs = items.map((name) => ({ identifier: name, href: `${name}.xml` }));
    const section = { identifier: "section", title: id, visible: true, "qti-assessment-item-ref": refs };
    const parts = [{ identifier: "part", navigationMode: "linear", submissionMode: "individual", "qti-assessment-section": [section] }];
    await this.#server.call("POST", "/assessment-tests", { identifier: `t-${id}`, title: id, "qti-test-part": parts, ...test });
    const url = `${this.#server.base}/assessment-tests/t-${id}`;
    await this.lesson(id, lessonType, { metadata: { type: "qti", subType: "qti-test", xp: 10, subject: "Math", grades: ["3"], url } });
  }
}

/** Makes an account of a student and signs in with it. */
export async function signInStudent(page, server, name) {
  const person = ["admin", "user", "create", `${name}@example.org`, "--role", "student", "--roster-user", name];
  await page.goto(server.lyceum(...person).trim().replace(/^http:\/\/[^/]+/, server.base));
  await page.fill("#password", PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/learn");
}
