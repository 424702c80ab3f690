//! Stores the words of names after an upgrade, in small transactions beside the requests.

use std::time::Duration;

use lyceum_core::Result;
use lyceum_roster::name_words::{self, Progress};
use lyceum_store::Tx;
use lyceum_store::jobs::ClaimedJob;

use crate::limits;
use crate::state::App;
use crate::trace;

/// Works until the job that the upgrade added is done, by this server or by another one.
pub(crate) async fn work(app: App) {
    loop {
        match try_job(&app).await {
            Ok(true) => return,
            Ok(false) => {}
            Err(problem) => {
                tracing::warn!(%problem, "cannot store the words of names; trying again later");
            }
        }
        tokio::time::sleep(Duration::from_millis(limits::NAME_WORDS_POLL_MS)).await;
    }
}

/// Works on the job if it is due. Returns whether it is done. It is not due while another server works on it, or until
/// the lease of a server that stopped ends.
async fn try_job(app: &App) -> Result<bool> {
    if app.db.read(name_words::is_done).await? {
        return Ok(true);
    }
    if !app.db.read(|tx| lyceum_store::jobs::is_due(tx, name_words::KIND)).await? {
        return Ok(false);
    }
    let Some(job) = app.db.write(name_words::claim).await? else {
        return Ok(false);
    };
    trace::job("name words", finish(app, job)).await
}

/// Works on the claimed job to its end. Returns whether it is done.
async fn finish(app: &App, job: ClaimedJob) -> Result<bool> {
    let mut progress = Progress::START;
    loop {
        let claimed = job.clone();
        let step = move |tx: &mut Tx<'_>| name_words::continue_job(tx, &claimed, progress);
        match app.db.write(step).await {
            Ok(Some(next)) => progress = next,
            // It is done, or another server has claimed it.
            Ok(None) => return app.db.read(name_words::is_done).await,
            Err(problem) => {
                let message = problem.message.clone();
                let fail = move |tx: &mut Tx<'_>| name_words::fail(tx, &job, &message);
                app.db.write(fail).await?;
                return Err(problem);
            }
        }
    }
}
