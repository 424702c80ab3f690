//! Actions of guides for students and classes.

use lyceum_access::Scope::AdaptiveWrite;
use lyceum_access::audit::AuditChange;
use lyceum_adaptive::attempt::LessonContext;
use lyceum_adaptive::teaching::{self, TeachingReport, TeachingRequest};
use lyceum_core::{Problem, Result};
use lyceum_http::answer::Answer;
use lyceum_http::route::post;
use lyceum_store::Tx;
use serde_json::json;

use crate::{Context, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        post("/teaching", AdaptiveWrite, teach)
            .within_reach()
            .named("teach")
            .description("Does something for one student or for all students of a class: assigns a lesson, leaves it out of their plans, resets their last attempts, sets their daily goal, or gives them extra time in tests. A teacher may do it for the students of the own classes. If it cannot be done for one student, it is done for none.")
            .reads::<TeachingRequest>()
            .answers::<TeachingReport>(200, "The students for whom it was done."),
    ]
}

async fn teach(context: Context) -> Result<Answer> {
    let request = context.body_as()?;
    Ok(Answer::of(&apply(&context, request).await?))
}

/// Runs a teaching action, and records it in the audit log.
pub async fn apply(context: &Context, request: TeachingRequest) -> Result<TeachingReport> {
    let grant = context.grant.as_ref().expect("the route is not public");
    let who = grant.name().to_owned();
    let work = move |tx: &mut Tx<'_>, lesson_context: &LessonContext<'_>| {
        let report = teaching::apply(tx, lesson_context, &request, &who)?;
        let subject = request.student.as_ref().or(request.class.as_ref());
        let details = json!({
            "action": serde_json::to_value(&request.action).map_err(Problem::internal)?,
            "students": report.students,
        });
        let subject = subject.map(String::as_str).unwrap_or_default();
        AuditChange { who: &who, what: request.action.name(), subject }.note(
            tx,
            lesson_context.now,
            &details,
        )?;
        Ok(report)
    };
    super::write(context, work).await
}
