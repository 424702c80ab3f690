// Sends an event of every type, and an entity, with the published sensor for Caliper 1.1 as it is.
//
//     node send.cjs ENDPOINT TOKEN
//
// Prints the ids of the events as JSON. The sensor tells nobody what was answered; the test asks the server.
const caliper = require('ims-caliper');
const { Actions, Sensor } = caliper;

const [endpoint, token] = process.argv.slice(2);
const base = 'https://example.edu';
const section = `${base}/terms/202601/courses/7/sections/1`;
const entity = (kind, id, members) => caliper.EntityFactory().create(kind, { id, ...members });
const time = '2026-01-15T10:15:00.000Z';

const person = entity(caliper.Person, `${base}/users/554433`, { name: 'Ada' });
const tool = entity(caliper.SoftwareApplication, base, { version: 'v2' });
const group = entity(caliper.CourseSection, section, { courseNumber: 'CPS 435-01', academicSession: 'Spring 2026' });
const membership = entity(caliper.Membership, `${section}/rosters/1`, {
  member: person.id,
  organization: group.id,
  roles: [caliper.Role.learner.term],
  status: caliper.Status.active.term,
});
const session = entity(caliper.Session, `${base}/sessions/1`, { user: person, startedAtTime: time });
const page = entity(caliper.Page, `${section}/pages/2`, { creators: [person], keywords: ['fractions'] });
const forum = entity(caliper.Forum, `${section}/forums/1`, { isPartOf: group });
const thread = entity(caliper.Thread, `${section}/forums/1/threads/1`, { isPartOf: forum });
const message = entity(caliper.Message, `${thread.id}/messages/1`, { body: 'Hello', isPartOf: thread });
const assessment = entity(caliper.Assessment, `${section}/assess/1`, { maxAttempts: 2, maxScore: 15, version: '1.0' });
const item = entity(caliper.AssessmentItem, `${assessment.id}/items/3`, { isPartOf: assessment, isTimeDependent: false });
const attempt = entity(caliper.Attempt, `${assessment.id}/attempts/1`, {
  assignee: person,
  assignable: assessment,
  count: 1,
  startedAtTime: time,
  duration: 'PT5M',
});
const video = entity(caliper.VideoObject, `${base}/videos/1`, { mediaType: 'video/ogg', duration: 'PT1H12M27S' });
const highlight = entity(caliper.HighlightAnnotation, `${base}/annotations/1`, {
  annotator: person,
  annotated: page,
  selection: Object.assign({}, caliper.TextPositionSelector, { start: 2300, end: 2370 }),
  selectionText: 'a fraction',
});

const context = { edApp: tool, group, membership, session, eventTime: time };
const event = (kind, action, object, more) =>
  caliper.EventFactory().create(kind, { actor: person, action: action.term, object, ...context, ...more });

const events = [
  event(caliper.AnnotationEvent, Actions.highlighted, page, { generated: highlight }),
  event(caliper.AssessmentEvent, Actions.started, assessment, { generated: attempt }),
  event(caliper.AssessmentItemEvent, Actions.completed, item, {
    generated: entity(caliper.FillinBlankResponse, `${item.id}/responses/1`, { attempt, values: ['one half'] }),
  }),
  event(caliper.AssignableEvent, Actions.activated, assessment),
  event(caliper.Event, Actions.created, page),
  event(caliper.ForumEvent, Actions.subscribed, forum),
  event(caliper.GradeEvent, Actions.graded, attempt, {
    actor: tool,
    generated: entity(caliper.Score, `${attempt.id}/scores/1`, { attempt, maxScore: 15, scoreGiven: 10, scoredBy: tool }),
  }),
  event(caliper.MediaEvent, Actions.paused, video, {
    target: entity(caliper.MediaLocation, video.id, { currentTime: 'PT30M54S' }),
  }),
  event(caliper.MessageEvent, Actions.posted, message),
  event(caliper.NavigationEvent, Actions.navigatedTo, page, {
    referrer: entity(caliper.WebPage, `${section}/pages/1`),
  }),
  event(caliper.SessionEvent, Actions.loggedIn, tool),
  event(caliper.SessionEvent, Actions.timedOut, session, { actor: tool }),
  event(caliper.ThreadEvent, Actions.markedAsRead, thread),
  event(caliper.ToolUseEvent, Actions.used, tool),
  event(caliper.ViewEvent, Actions.viewed, page, { target: entity(caliper.Frame, `${page.id}?at=2`, { index: 2 }) }),
];

Sensor.initialize(`${base}/sensors/1`);
const { Client, HttpOptions } = caliper;
Client.initialize('lyceum', Object.assign({}, HttpOptions, {
  uri: endpoint,
  json: true,
  headers: { ...HttpOptions.headers, Authorization: `Bearer ${token}` },
}));
Sensor.registerClient(Client);
Sensor.sendToClient(Client, Sensor.createEnvelope({ data: [...events, person] }));
console.log(JSON.stringify(events.map(({ id, type }) => ({ id, type }))));
