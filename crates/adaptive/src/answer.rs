//! Serves the next question of a lesson, and takes answers to questions.

use std::sync::Arc;

use lyceum_assessment::{SentResponses, respond, respond_validated};
use lyceum_core::body::OneLineText;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_qti::model::Item;
use lyceum_roster::record::Object;
use lyceum_roster::repository as roster;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::attempt::{self, Attempt, AttemptLogAnswer, AttemptLogEntry, bank_of};
use crate::bank::QuestionSet;
use crate::engine::{self, Answer, QuestionChoice, QuestionReason, WHOLE, stream};
use crate::finalize::FinalizedAttempt;
use crate::lesson::Lesson;
use crate::lesson_context::LessonContext;
use crate::limits;
use crate::logs::ReadLog;
use crate::question::{QuestionDraft, QuestionRequest, drafts};
use crate::repository::attempts::OpenQuestion;
use crate::repository::{attempts as repository, log};
use crate::time_limit::{self, AttemptTime};
use crate::{LessonType, Policy, credit, gradebook};

/// The next step of a student in a lesson.
#[derive(Clone, Debug)]
pub enum NextStep {
    /// A question.
    Question(NextQuestion),
    /// Nothing, because the attempt is complete.
    Finished {
        /// The result of the attempt.
        outcome: FinalizedAttempt,
        /// The question that was answered last, which older clients go on showing. `None` if the attempt was
        /// completed without one.
        last: Option<QuestionDraft>,
    },
}

/// A served question.
#[derive(Clone, Debug)]
pub struct NextQuestion {
    /// The score of the attempt.
    pub score: f64,
    /// The question.
    pub question: QuestionDraft,
    /// The log from which it was chosen, for [`crate::LessonCaches::store_log`] after the commit.
    pub log: Option<ReadLog>,
}

/// An accepted answer, from which [`crate::reply::AnswerReply`] is made.
#[derive(Clone, Debug)]
pub struct AcceptedAnswer {
    /// The attempt after the answer.
    pub(crate) attempt: Attempt,
    /// The number of its entry in the log.
    pub(crate) number: i64,
    pub(crate) question: String,
    /// The place of the question in the bank.
    pub(crate) place: usize,
    pub(crate) answered: AttemptLogAnswer,
    /// The assessment results of question and attempt, if answers are scored at once.
    pub(crate) results: Option<[Option<Object>; 2]>,
    /// The log from which the next question was chosen, for [`crate::LessonCaches::store_log`] after the commit.
    pub log: Option<ReadLog>,
}

/// The question that was served to the student and not answered yet. `None` if one must be chosen first, which
/// [`next`] does. Only reads, so repeated requests get the same question.
///
/// Errors: as [`next`].
pub fn served_step(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    lesson: &str,
) -> Result<Option<NextStep>> {
    let lesson = attempt::lesson_for(tx, context, student, lesson)?;
    let Some((attempt, open)) = repository::last_with_question(tx, student, &lesson.id)? else {
        return Ok(None);
    };
    require_steps(attempt.lesson_type)?;
    if attempt.completed.is_some() {
        return finished(tx, context, &attempt).map(Some);
    }
    let Some(open) = open else { return Ok(None) };
    let bank = bank_of(tx, context, &attempt)?;
    let question = open_question(tx, context, &attempt, &bank, open.question)?;
    Ok(Some(NextStep::Question(question)))
}

/// The student's open question. If there is none, the engine chooses one, which counts as served. Begins the first
/// attempt if there is none.
///
/// Errors: as [`attempt::lesson_for`]; `Invalid` for a lesson that is shown whole, or has no questions.
pub fn next(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    lesson: &str,
) -> Result<NextStep> {
    let lesson = attempt::lesson_for(tx, context, student, lesson)?;
    let (attempt, open) = attempt_with_question(tx, context, student, &lesson)?;
    require_steps(attempt.lesson_type)?;
    if attempt.completed.is_some() {
        return finished(tx, context, &attempt);
    }
    let bank = bank_of(tx, context, &attempt)?;
    if let Some(open) = open {
        return open_question(tx, context, &attempt, &bank, open.question).map(NextStep::Question);
    }
    let log = context.memory.logs.get(tx, &attempt, &bank)?;
    let Some(choice) = choose(&attempt.policy(tx)?, &attempt, &bank, &log) else {
        let message = message!("the test of the lesson '{attempt.lesson}' has no questions");
        return Err(Problem::invalid("lesson", message));
    };
    let place = choice.question;
    serve(tx, context, &attempt, &bank, choice)?;
    let question = open_question(tx, context, &attempt, &bank, place)?;
    Ok(NextStep::Question(NextQuestion { log: Some(log), ..question }))
}

/// The answer of a complete attempt to a request for the next question.
fn finished(tx: &mut Tx<'_>, context: &LessonContext<'_>, attempt: &Attempt) -> Result<NextStep> {
    let outcome = FinalizedAttempt::of(attempt);
    let Some(entry) = log::entry(tx, attempt, attempt.answered - 1)? else {
        return Ok(NextStep::Finished { outcome, last: None });
    };
    let bank = bank_of(tx, context, attempt)?;
    let wanted = QuestionRequest {
        place: entry.question as usize,
        seed: variant_seed(attempt, entry.number),
        answered: entry.answered.as_ref(),
        shows_result: true,
    };
    let last = drafts(tx, context, attempt, &bank, &[wanted])?.pop();
    Ok(NextStep::Finished { outcome, last })
}

/// The open question, which is at that place of the bank.
fn open_question(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    attempt: &Attempt,
    bank: &QuestionSet,
    place: u32,
) -> Result<NextQuestion> {
    let seed = variant_seed(attempt, attempt.answered);
    let wanted =
        [QuestionRequest { place: place as usize, seed, answered: None, shows_result: false }];
    let question = drafts(tx, context, attempt, bank, &wanted)?.remove(0);
    Ok(NextQuestion { score: attempt.score, question, log: None })
}

fn attempt_with_question(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    student: &str,
    lesson: &Lesson,
) -> Result<(Attempt, Option<OpenQuestion>)> {
    match repository::last_with_question(tx, student, &lesson.id)? {
        Some(found) => Ok(found),
        None => Ok((attempt::current_of(tx, context, student, lesson)?, None)),
    }
}

fn require_steps(lesson_type: LessonType) -> Result<()> {
    match lesson_type {
        LessonType::Powerpath100 => Ok(()),
        other => {
            let message = message!(
                "a lesson of type {other} is shown whole; read its questions with getAssessmentProgress"
            );
            Err(Problem::invalid("lesson", message))
        }
    }
}

/// The engine's choice after the answers in a log.
fn choose(
    policy: &Policy,
    attempt: &Attempt,
    bank: &QuestionSet,
    log: &ReadLog,
) -> Option<QuestionChoice> {
    let mut lots = stream(attempt.seed, log.log.answers.len());
    engine::next(policy, &bank.questions, &log.log, &mut lots)
}

/// Records that the question was served after the attempt's answers.
fn serve(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    attempt: &Attempt,
    bank: &QuestionSet,
    choice: QuestionChoice,
) -> Result<()> {
    let entry = AttemptLogEntry {
        number: attempt.answered,
        question: choice.question,
        item: bank.questions.questions[choice.question as usize].id.clone(),
        served: context.now,
        reason: choice.reason,
        answered: None,
    };
    log::append(tx, attempt, &entry)
}

/// Serves the next question together with the reply to an answer, so that a later request for it writes nothing. A
/// question that was already asked in this attempt is served only on request: otherwise a repeated answer could be
/// mistaken for an answer to it.
fn serve_ahead(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    policy: &Policy,
    (attempt, bank): (&Attempt, &QuestionSet),
    log: &ReadLog,
) -> Result<()> {
    let was_asked = |question| log.log.answers.iter().any(|answer| answer.question == question);
    match choose(policy, attempt, bank, log) {
        Some(choice) if !was_asked(choice.question) => serve(tx, context, attempt, bank, choice),
        _ => Ok(()),
    }
}

/// The seed of everything random in a question, such as the order of its choices. It depends on the question's number
/// in the log, or on its place if a test is shown whole. Every client can hold it as a JSON number.
pub(crate) fn variant_seed(attempt: &Attempt, number: i64) -> u64 {
    engine::mixed(attempt.seed, number.cast_unsigned()) >> 12
}

/// The number that gives an entry of the log its [`variant_seed`]: its own, or the question's place in a test that is
/// shown whole, because there a question has an entry for each answer.
pub(crate) fn variant_number(attempt: &Attempt, entry: &AttemptLogEntry) -> i64 {
    match attempt.lesson_type {
        LessonType::Powerpath100 => entry.number,
        _ => i64::from(entry.question),
    }
}

/// An answer of a student to a question of a lesson.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(rename = "LessonAnswer")]
pub struct AnswerRequest {
    /// The student's sourcedId.
    #[schemars(with = "OneLineText")]
    student: String,
    /// The question's id.
    #[schemars(with = "OneLineText")]
    question: String,
    /// The lesson's sourcedId.
    #[schemars(with = "OneLineText")]
    lesson: String,
    #[serde(flatten)]
    responses: SentResponses,
}

/// Takes a student's answer to a question. If the same answer is sent again, nothing changes and the reply is the
/// same. For [`lyceum_store::Db::write_with_locks`].
///
/// Errors: as [`attempt::lesson_for`]; `Invalid` for a question of another lesson, and for answers that do not match
/// the item; `Conflict` if the attempt is complete, or another question was served.
pub fn answer(
    tx: &mut Tx<'_>,
    context: &LessonContext<'_>,
    request: &AnswerRequest,
) -> Result<AcceptedAnswer> {
    let AnswerRequest { student, question, lesson, responses } = request;
    roster::lock_user(tx, student)?;
    let lesson = attempt::lesson_for(tx, context, student, lesson)?;
    context.check_changes(student)?;
    let attempt = attempt_with_question(tx, context, student, &lesson)?;
    let target = AnswerTarget::load(tx, context, (&lesson, attempt), question)?;
    let responses = responses.clone().by_variable(&target.item);
    target.answer(tx, context, responses)
}

/// The question to which an answer belongs, in the student's last attempt at a lesson.
pub(crate) struct AnswerTarget<'a> {
    lesson: &'a Lesson,
    attempt: Attempt,
    open: Option<OpenQuestion>,
    bank: Arc<QuestionSet>,
    place: usize,
    item: Arc<Item>,
}

impl<'a> AnswerTarget<'a> {
    /// Errors: `Invalid` for a question of another lesson, and for a lesson that is taken with an outside tool.
    pub(crate) fn load(
        tx: &mut Tx<'_>,
        context: &LessonContext<'_>,
        (lesson, (attempt, open)): (&'a Lesson, (Attempt, Option<OpenQuestion>)),
        question: &str,
    ) -> Result<Self> {
        if let Some(tool) = lesson.tool_provider() {
            let message = message!("the lesson is taken at '{tool}'; send its answers there");
            return Err(Problem::invalid("lesson", message));
        }
        let bank = bank_of(tx, context, &attempt)?;
        let Some(place) = bank.place(question) else {
            let message = message!(
                "the question '{question}' is not in the lesson '{lesson.id}'; send the id of a question that was \
                 served"
            );
            return Err(Problem::invalid("question", message));
        };
        let item = context.items.version(tx, question, bank.items[place].version)?;
        Ok(Self { lesson, attempt, open, bank, place, item })
    }

    /// Takes the answer, whose student is locked. Errors: as [`answer`].
    pub(crate) fn answer(
        self,
        tx: &mut Tx<'_>,
        context: &LessonContext<'_>,
        responses: Object,
    ) -> Result<AcceptedAnswer> {
        match self.attempt.lesson_type {
            LessonType::Powerpath100 => self.answer_step(tx, context, responses),
            _ => self.answer_whole(tx, context, responses),
        }
    }

    fn id(&self) -> &str {
        &self.bank.questions.questions[self.place].id
    }

    /// Takes an answer in a lesson whose questions depend on the score.
    fn answer_step(
        mut self,
        tx: &mut Tx<'_>,
        context: &LessonContext<'_>,
        responses: Object,
    ) -> Result<AcceptedAnswer> {
        if self.open.as_ref().is_none_or(|open| open.item != self.id()) {
            return self.repeated_step(tx, &responses);
        }
        let number = self.attempt.answered;
        let mut answered = self.scored(context, number, responses)?;
        let Self { lesson, attempt, bank, place, .. } = &mut self;
        let policy = attempt.policy(tx)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
        let before = attempt.score as u8;
        answered.points = engine::score_after(&policy, before, answered.share);
        let place = u32::try_from(*place).map_err(Problem::internal)?;
        let AttemptLogAnswer { correct, score, share, .. } = answered;
        let answer = Answer { question: place, correct, score, share };
        let log = context.memory.logs.get(tx, attempt, bank)?.and(answer);
        attempt.answered += 1;
        attempt.count(attempt.counts().and(share));
        attempt.score = f64::from(answered.points);
        log::answer(tx, attempt, number, &answered)?;
        if answered.points == 100 {
            let (score, counts) = (attempt.score, attempt.counts());
            credit::complete(tx, context, lesson, attempt, score, counts)?;
        } else {
            serve_ahead(tx, context, &policy, (attempt, bank), &log)?;
        }
        repository::update(tx, attempt, context.now)?;
        let named = (self.id(), self.bank.items[self.place].title.as_str());
        let results =
            gradebook::write_step(tx, context, self.lesson, &self.attempt, named, &answered)?;
        Ok(AcceptedAnswer {
            results: Some(results.map(Some)),
            log: Some(log),
            ..self.accepted(number, answered)
        })
    }

    /// The reply again, if the last answer was the same. Errors: `Conflict`.
    fn repeated_step(self, tx: &mut Tx<'_>, responses: &Object) -> Result<AcceptedAnswer> {
        let number = self.attempt.answered - 1;
        if let Some(entry) = log::entry(tx, &self.attempt, number)?
            && entry.item == self.id()
            && let Some(answered) = entry.answered.filter(|last| last.responses == *responses)
        {
            let results = Some(gradebook::read_step(tx, &self.attempt, self.id())?);
            return Ok(AcceptedAnswer { results, ..self.accepted(number, answered) });
        }
        self.attempt.running()?;
        Err(not_the_open_question(self.id(), self.open.as_ref()))
    }

    /// Takes an answer in a lesson that is shown whole. The last answer to each question counts.
    fn answer_whole(
        mut self,
        tx: &mut Tx<'_>,
        context: &LessonContext<'_>,
        responses: Object,
    ) -> Result<AcceptedAnswer> {
        self.attempt.running()?;
        time_limit::start_clock(tx, &mut self.attempt, context.now)?;
        if let Some(entry) = log::last_of(tx, &self.attempt, self.id())?
            && let Some(answered) = entry.answered.filter(|last| last.responses == responses)
        {
            return Ok(self.accepted(entry.number, answered));
        }
        if let Some(time) = AttemptTime::of(tx, &self.attempt)? {
            time.admit(context.now)?;
        }
        if self.attempt.answered >= limits::LESSON_ANSWERS_MAX_COUNT {
            let most = limits::LESSON_ANSWERS_MAX_COUNT;
            let message = message!(
                "the limit for answers in an attempt is {most}; finish the attempt, or reset it with \
                    resetAttempt"
            );
            return Err(Problem::new(ProblemKind::Conflict, message));
        }
        let question = u32::try_from(self.place).map_err(Problem::internal)?;
        let answered = self.scored(context, i64::from(question), responses)?;
        let entry = AttemptLogEntry {
            number: self.attempt.answered,
            question,
            item: self.id().to_owned(),
            served: context.now,
            reason: QuestionReason::InOrder { place: question },
            answered: None,
        };
        self.attempt.answered += 1;
        repository::update(tx, &self.attempt, context.now)?;
        log::append(tx, &self.attempt, &entry)?;
        log::answer(tx, &self.attempt, entry.number, &answered)?;
        Ok(self.accepted(entry.number, answered))
    }

    /// The answer with its result; `number` decides the variant of the question.
    fn scored(
        &self,
        context: &LessonContext<'_>,
        number: i64,
        responses: Object,
    ) -> Result<AttemptLogAnswer> {
        let validates = self.bank.items[self.place].validates_responses;
        let score = if validates { respond_validated } else { respond };
        let scored = score(&self.item, &responses, variant_seed(&self.attempt, number))?;
        let pending = scored.needs_manual_scoring;
        let share = (!pending).then(|| engine::millionths(scored.share()));
        Ok(AttemptLogAnswer {
            at: context.now,
            responses,
            correct: share == Some(WHOLE),
            score: scored.score,
            share,
            pending,
            points: 0,
            result: serde_json::to_value(&scored).map_err(Problem::internal)?,
        })
    }

    fn accepted(self, number: i64, answered: AttemptLogAnswer) -> AcceptedAnswer {
        let (question, place) = (self.id().to_owned(), self.place);
        let attempt = self.attempt;
        AcceptedAnswer { attempt, number, question, place, answered, results: None, log: None }
    }
}

fn not_the_open_question(question: &str, open: Option<&OpenQuestion>) -> Problem {
    let message = match open {
        Some(open) => {
            message!(
                "the question '{question}' is not the one that was served; answer '{open.item}'"
            )
        }
        None => {
            message!("the question '{question}' was not served; get one with getNextQuestion")
        }
    };
    Problem::new(ProblemKind::Conflict, message)
}
