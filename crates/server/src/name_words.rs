//! Stores the words of names after an upgrade, in small transactions beside the requests.

use std::time::Duration;

use lyceum_core::Result;
use lyceum_roster::name_words::{self, Progress};
use lyceum_store::Tx;

use crate::limits;
use crate::state::App;

/// Runs the job that the upgrade added, until it is done.
pub(crate) async fn work(app: App) {
    while let Err(problem) = run(&app).await {
        tracing::warn!(%problem, "cannot store the words of names; trying again later");
        tokio::time::sleep(Duration::from_millis(limits::NAME_WORDS_PAUSE_MS)).await;
    }
}

async fn run(app: &App) -> Result<()> {
    let now = app.clock.now();
    if !app.db.read(move |tx| lyceum_store::jobs::is_due(tx, now, name_words::KIND)).await? {
        return Ok(());
    }
    let Some(job) = app.db.write(move |tx| name_words::claim(tx, now)).await? else {
        return Ok(());
    };
    let mut progress = Progress::START;
    loop {
        let (now, claimed) = (app.clock.now(), job.clone());
        let step = move |tx: &mut Tx<'_>| name_words::go_on(tx, now, &claimed, progress);
        match app.db.write(step).await {
            Ok(Some(next)) => progress = next,
            Ok(None) => return Ok(()),
            Err(problem) => {
                let (now, message) = (app.clock.now(), problem.message.clone());
                let fail = move |tx: &mut Tx<'_>| lyceum_store::jobs::fail(tx, now, &job, &message);
                app.db.write(fail).await?;
                return Err(problem);
            }
        }
    }
}
