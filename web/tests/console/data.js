// What the screens show: 90 days of work of some students of the demo network, a lesson that was answered.
const ROSTERING = "/ims/oneroster/rostering/v1p2";
const RESOURCES = "/ims/oneroster/resources/v1p2";
const CONTEXT = "http://purl.imsglobal.org/ctx/caliper/v1p2";
const DAY_MS = 24 * 60 * 60 * 1000;
const ENVELOPE_EVENTS = 500;
/** Students who work on most days; the others of the network do nothing. At full size that is everybody. */
const WORKING = process.env.LYCEUM_TEST_SIZE === "full" ? 2000 : 15;
const DAYS = 90;
const SUBJECTS = ["Math", "Reading", "Science"];
export const COURSE = "console-fractions";
export const LESSON = "console-lesson";
const TEACHER = "console-teacher";

const of = (server, collection, id) => `${server.base}${ROSTERING}/${collection}/${id}`;

/** An event of the platform's profile: an activity with its sums, or time that was spent. */
function event(server, number, student, subject, at, items) {
  const isTime = items.some(({ type }) => ["active", "inactive", "waste"].includes(type));
  return {
    "@context": CONTEXT,
    id: `urn:uuid:00000000-0000-4000-8000-${String(number).padStart(12, "0")}`,
    type: isTime ? "TimeSpentEvent" : "ActivityEvent",
    action: isTime ? "SpentTime" : "Completed",
    profile: "TimebackProfile",
    eventTime: new Date(at).toISOString(),
    actor: { id: of(server, "users", student.sourcedId), type: "TimebackUser", email: student.email },
    object: {
      id: "https://app.example.org/activities/1",
      type: "TimebackActivityContext",
      subject,
      app: { id: "https://app.example.org", name: "Abacus" },
      activity: { id: "https://app.example.org/activities/1", name: `${subject} practice` },
    },
    generated: {
      id: "https://app.example.org/metrics/1",
      type: isTime ? "TimebackTimeSpentMetricsCollection" : "TimebackActivityMetricsCollection",
      items,
    },
  };
}

async function send(server, events) {
  for (let at = 0; at < events.length; at += ENVELOPE_EVENTS) {
    const data = events.slice(at, at + ENVELOPE_EVENTS);
    const envelope = { sensor: "https://app.example.org/sensors/1", sendTime: new Date().toISOString(), dataVersion: CONTEXT, data };
    await server.call("POST", "/caliper/event", envelope);
  }
}

/** Seven hours of school around noon on every day, so that it does not matter when the tests run. */
async function setSchoolHours(server, timeZone) {
  const { orgs } = await server.call("GET", `${ROSTERING}/orgs?limit=1000`);
  const hours = { weekdays: [1, 2, 3, 4, 5, 6, 7], begins: "08:00", ends: "15:00", timeZone };
  for (const { sourcedId } of orgs.filter(({ parent }) => !parent)) await server.call("PUT", `/bridge/school-hours/${sourcedId}`, hours);
}

/** The guide of the tests teaches the class of the course. */
async function teach(server, org) {
  const roles = [{ roleType: "primary", role: "teacher", org }];
  const user = { sourcedId: TEACHER, enabledUser: true, username: TEACHER, givenName: "Robin", familyName: "Guide", email: "guide@example.org", roles };
  await server.call("POST", `${ROSTERING}/users`, { user });
  const { classes } = await server.call("GET", `${ROSTERING}/classes?filter=course.sourcedId='${COURSE}'`);
  const enrollment = { user: { sourcedId: TEACHER }, class: { sourcedId: classes[0].sourcedId }, school: org, role: "teacher" };
  await server.call("POST", `${ROSTERING}/enrollments`, { enrollment: { sourcedId: "console-teaching", ...enrollment } });
}

/** Puts the data onto the server; answers the students who work. */
export async function fill(server, timeZone) {
  const { users } = await server.call("GET", `${ROSTERING}/students?limit=${WORKING}&sort=sourcedId`);
  const { orgs } = await server.call("GET", `${ROSTERING}/schools?limit=1`);
  const org = { sourcedId: orgs[0].sourcedId };
  const course = { sourcedId: COURSE, title: "Fractions", courseCode: "FR", subjects: ["Math"], grades: ["03"], org, metadata: { goals: { dailyXp: 30 } } };
  await server.call("POST", `${ROSTERING}/courses`, { course });
  for (const { sourcedId } of users.slice(0, 10)) {
    await server.call("POST", `/bridge/enrollments/enroll/${sourcedId}/${COURSE}/${org.sourcedId}`, {});
  }
  await setSchoolHours(server, timeZone);
  await teach(server, org);
  await send(server, [...work(server, users)]);
  await answerLesson(server, users[0].sourcedId);
  return users;
}

/** An event of somebody whom the roster does not know. */
export function stranger(server) {
  const nobody = { sourcedId: "stranger", email: "stranger@example.org" };
  return send(server, [event(server, 999_999, nobody, "Math", Date.now(), [{ type: "xpEarned", value: 1 }])]);
}

function* work(server, students) {
  let number = 1;
  const now = Date.now();
  for (const [place, student] of students.entries()) {
    for (let day = 0; day < DAYS; day += 1) {
      // Like pupils: not the same on every day, and nothing on one day of four.
      const whim = (place * 7 + day * 13) % 11;
      if (day > 0 && (place + day) % 4 === 0) continue;
      const subject = SUBJECTS[(place + day) % SUBJECTS.length];
      const at = now - day * DAY_MS - (day === 0 ? place * 60_000 : 0);
      const total = 10 + whim;
      const right = Math.round(total * (place % 5 === 0 ? 0.5 : place % 5 === 1 ? 1 : 0.82));
      const activity = [
        { type: "xpEarned", value: 8 + whim * 1.5 },
        { type: "totalQuestions", value: total },
        { type: "correctQuestions", value: right },
        { type: "masteredUnits", value: whim > 8 ? 1 : 0 },
      ];
      const time = [
        { type: "active", value: 600 + whim * 60 },
        { type: "inactive", value: 60 },
        { type: "waste", value: place % 6 === 2 ? 400 : 30 },
      ];
      yield event(server, number, student, subject, at, activity);
      yield event(server, number + 1, student, subject, at, time);
      number += 2;
    }
  }
}

/** A lesson of three questions: one is answered right, one wrong, one is open. */
async function answerLesson(server, student) {
  const names = ["console-1", "console-2", "console-3"];
  for (const name of names) {
    const xml = `<qti-assessment-item xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="${name}" title="Halves ${name.at(-1)}" time-dependent="false">
  <qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="identifier">
    <qti-correct-response><qti-value>A</qti-value></qti-correct-response>
  </qti-response-declaration>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float">
    <qti-default-value><qti-value>0</qti-value></qti-default-value>
  </qti-outcome-declaration>
  <qti-item-body><p>Look at the cake.</p><qti-choice-interaction response-identifier="RESPONSE" max-choices="1">
    <qti-prompt>What is half of ${name.at(-1)}?</qti-prompt>
    <qti-simple-choice identifier="A">a</qti-simple-choice><qti-simple-choice identifier="B">b</qti-simple-choice>
  </qti-choice-interaction></qti-item-body>
  <qti-response-processing template="https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/match_correct.xml"/>
</qti-assessment-item>`;
    await server.call("POST", "/assessment-items", { format: "xml", xml, metadata: { difficulty: "easy", humanApproved: true } });
  }
  const refs = names.map((name) => ({ identifier: name, href: `assessment-items/${name}` }));
  const section = { identifier: "console-s", title: "Halves", visible: true, sequence: 1, "qti-assessment-item-ref": refs };
  const part = { identifier: "console-p", navigationMode: "linear", submissionMode: "individual", "qti-assessment-section": [section] };
  await server.call("POST", "/assessment-tests", { identifier: "console-test", title: "Halves", "qti-test-part": [part] });
  const unit = { sourcedId: "console-unit", title: "Halves", course: { sourcedId: COURSE }, sortOrder: 1 };
  await server.call("POST", `${ROSTERING}/courses/components`, { courseComponent: unit });
  const metadata = { type: "qti", subType: "qti-test", xp: 10, subject: "Math", grades: ["3"], url: "https://content.example.org/assessment-tests/console-test" };
  await server.call("POST", `${RESOURCES}/resources`, { resource: { sourcedId: "console-resource", title: "Halves", vendorResourceId: "console-test", metadata } });
  const [courseComponent, resource] = ["console-unit", "console-resource"].map((sourcedId) => ({ sourcedId }));
  const lesson = { sourcedId: LESSON, title: "Halves and quarters", courseComponent, resource, sortOrder: 1, lessonType: "powerpath-100" };
  await server.call("POST", `${ROSTERING}/courses/component-resources`, { componentResource: lesson });
  for (const answer of ["A", "B"]) {
    const { question } = await server.call("GET", `/powerpath/getNextQuestion?student=${student}&lesson=${LESSON}`);
    await server.call("PUT", "/powerpath/updateStudentQuestionResponse", { student, lesson: LESSON, question: question.id, responses: { RESPONSE: answer } });
  }
  await server.call("GET", `/powerpath/getNextQuestion?student=${student}&lesson=${LESSON}`);
}
