//! Takes projects of nodes whose lease has ended, when a request for one arrives; `lyceum_hosting::takeover` has the rules.
//! Requests for one project share an attempt, a failed one is not repeated
//! at once, and few projects are taken at the same time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_hosting::leases;
use lyceum_hosting::replicas::Replicas;
use lyceum_hosting::takeover::{self, HeldFiles};
use lyceum_store::run_blocking;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

use crate::leases::{follow, held_files, renew, renew_apart, replicas, set_replicated};
use crate::{Cluster, limits};

const STEP_MAX: Duration = Duration::from_millis(limits::TAKEOVER_STEP_MAX_MS);

/// The attempts of this server to take projects.
pub(crate) struct TakeOvers {
    attempts: Mutex<HashMap<String, Attempt>>,
    places: Semaphore,
}

/// The last attempt to take a project.
enum Attempt {
    /// Receives whether it succeeded.
    Running(watch::Receiver<Option<bool>>),
    Failed(Instant),
}

impl Default for TakeOvers {
    fn default() -> Self {
        let places = Semaphore::new(limits::TAKEOVERS_MAX_COUNT);
        Self { attempts: Mutex::default(), places }
    }
}

impl TakeOvers {
    fn attempts(&self) -> MutexGuard<'_, HashMap<String, Attempt>> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a project whose node's lease has ended, and restores its files; or completes the replica of a project that was
/// taken. Returns whether this server may serve the project, unless it belongs to another one meanwhile.
pub(crate) async fn take_over(cluster: &Arc<Cluster>, slug: &str) -> bool {
    let Some(replicas) = replicas(cluster) else { return false };
    let (own, taken) = (Arc::clone(cluster), slug.to_owned());
    let attempt = async move { take_project(&own, &replicas, &taken).await };
    cluster.takeovers.join(slug, attempt).await
}

impl TakeOvers {
    /// Makes the attempt, or waits for the one that runs. Fails at once if one failed a moment ago. The attempt goes on even
    /// if its callers disconnect. Returns whether it succeeded.
    async fn join(
        self: &Arc<Self>,
        slug: &str,
        attempt: impl Future<Output = Result<()>> + Send + 'static,
    ) -> bool {
        let mut running = {
            let mut attempts = self.attempts();
            let pause = Duration::from_millis(limits::TAKEOVER_RETRY_MS);
            match attempts.get(slug) {
                Some(Attempt::Failed(at)) if at.elapsed() < pause => return false,
                Some(Attempt::Running(running)) if running.has_changed().is_ok() => running.clone(),
                _ => {
                    let (ended, running) = watch::channel(None);
                    attempts.insert(slug.to_owned(), Attempt::Running(running.clone()));
                    tokio::spawn(Arc::clone(self).run(slug.to_owned(), attempt, ended));
                    running
                }
            }
        };
        running.wait_for(Option::is_some).await.is_ok_and(|succeeded| *succeeded == Some(true))
    }

    async fn run(
        self: Arc<Self>,
        slug: String,
        attempt: impl Future<Output = Result<()>>,
        ended: watch::Sender<Option<bool>>,
    ) {
        let place = self.places.acquire().await;
        let taken = attempt.await;
        drop(place);
        if let Err(problem) = &taken {
            let cause = problem.cause.as_ref().map_or(String::new(), ToString::to_string);
            tracing::error!(slug, %problem, cause, "the files of a project could not be taken");
            self.attempts().insert(slug, Attempt::Failed(Instant::now()));
        } else {
            self.attempts().remove(&slug);
        }
        ended.send_replace(Some(taken.is_ok()));
    }
}

async fn take_project(cluster: &Arc<Cluster>, replicas: &Arc<Replicas>, slug: &str) -> Result<()> {
    // What this node has lost before must be gone first.
    in_time(slug, STEP_MAX, renew(cluster)).await?;
    if !cluster.lease.awaits_replica(slug) && left_project(cluster, slug).await?.is_none() {
        return Ok(());
    }
    // Backends that this node had of the project end.
    let _held = in_time(slug, STEP_MAX, cluster.retire(slug)).await?;
    if !cluster.lease.awaits_replica(slug) {
        let Some(left) = left_project(cluster, slug).await? else { return Ok(()) };
        if !restore(cluster, replicas, left).await? {
            return Ok(());
        }
        tracing::warn!(
            slug,
            "this server has taken a project, because the lease of its server had ended"
        );
    }
    // If the project was lost meanwhile, the renewal ends its backends, which waits for the end of this attempt.
    in_time(slug, STEP_MAX, renew_apart(cluster)).await?;
    store_first_state(cluster, replicas, slug).await
}

/// Stores a first state of all files of a project that this node has taken, and records that. Does nothing if another node
/// has taken the project meanwhile.
async fn store_first_state(
    cluster: &Arc<Cluster>,
    replicas: &Arc<Replicas>,
    slug: &str,
) -> Result<()> {
    let Some(held) = held_files(cluster, vec![slug.to_owned()]).await?.pop() else { return Ok(()) };
    let project = held.project();
    let has_its_epoch = || cluster.lease.epoch(slug) == Some(project.epoch());
    let was_current = has_its_epoch();
    follow(cluster, vec![slug.to_owned()]).await;
    // Tokens only rise, so the files are replicated under this one.
    if !(was_current && has_its_epoch()) {
        return Err(leases::moved(slug));
    }
    let (node, to) = (Arc::clone(&cluster.node), Arc::clone(replicas));
    run_blocking(move || takeover::flush(&node, &to, &held)).await?;
    in_time(slug, STEP_MAX, set_replicated(cluster, project)).await
}

/// The result of a step that must not take long, whatever else happens to the project.
async fn in_time<T>(
    slug: &str,
    patience: Duration,
    step: impl Future<Output = Result<T>>,
) -> Result<T> {
    timeout(patience, step).await.unwrap_or_else(|_| {
        let message =
            message!("a step of taking the project '{slug}' takes too long; it is taken later");
        Err(Problem::new(ProblemKind::Unavailable, message))
    })
}

async fn left_project(cluster: &Arc<Cluster>, slug: &str) -> Result<Option<HeldFiles>> {
    let (node, lease, slug) =
        (Arc::clone(&cluster.node), Arc::clone(&cluster.lease), slug.to_owned());
    cluster.db.read(move |tx| takeover::left_project(tx, &node, &lease, &slug)).await
}

/// Restores the files and becomes the holder. `false` if another node was faster. After an error of the database, this node
/// may be the holder: it acknowledges nothing until a later attempt has stored a first state.
async fn restore(
    cluster: &Arc<Cluster>,
    replicas: &Arc<Replicas>,
    left: HeldFiles,
) -> Result<bool> {
    let (node, from) = (Arc::clone(&cluster.node), Arc::clone(replicas));
    let restored = run_blocking(move || takeover::restore(&node, &from, &left)).await?;
    let (node, lease, to_take) =
        (Arc::clone(&cluster.node), Arc::clone(&cluster.lease), restored.clone());
    if cluster.db.write(move |tx| takeover::become_holder(tx, &node, &lease, &to_take)).await? {
        return Ok(true);
    }
    let node = Arc::clone(&cluster.node);
    run_blocking(move || restored.discard(&node)).await.map(|()| false)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use lyceum_core::Problem;
    use tokio::task::JoinSet;

    use super::*;

    #[tokio::test]
    async fn requests_for_a_project_share_an_attempt_and_few_projects_are_taken_at_once() {
        let takeovers = Arc::<TakeOvers>::default();
        let counts = Arc::new([const { AtomicUsize::new(0) }; 3]);
        let mut requests = JoinSet::new();
        for request in 0..60 {
            let (takeovers, counts) = (Arc::clone(&takeovers), Arc::clone(&counts));
            requests.spawn(async move {
                let attempt = async move {
                    let [attempts, running, most] = &*counts;
                    attempts.fetch_add(1, SeqCst);
                    most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
                    tokio::time::sleep(Duration::from_millis(30)).await;
                    running.fetch_sub(1, SeqCst);
                    Ok(())
                };
                takeovers.join(&format!("project-{}", request % 10), attempt).await
            });
        }
        assert!(requests.join_all().await.into_iter().all(|succeeded| succeeded));
        let counts = counts.each_ref().map(|count| count.load(SeqCst));
        assert_eq!(counts, [10, 0, limits::TAKEOVERS_MAX_COUNT]);
    }

    #[tokio::test]
    async fn a_failed_attempt_is_repeated_after_a_pause() {
        let takeovers = Arc::<TakeOvers>::default();
        assert!(!takeovers.join("maths", async { Err(Problem::internal("down")) }).await);
        assert!(!takeovers.join("maths", async { Ok(()) }).await, "it was not tried");
        assert!(takeovers.join("reading", async { Ok(()) }).await, "another project");
        let pause = Duration::from_millis(limits::TAKEOVER_RETRY_MS);
        let earlier = Attempt::Failed(Instant::now().checked_sub(pause).unwrap());
        takeovers.attempts().insert("maths".to_owned(), earlier);
        assert!(takeovers.join("maths", async { Ok(()) }).await);
    }

    #[tokio::test]
    async fn an_attempt_does_not_wait_for_ever_for_other_work_on_the_project() {
        let takeovers = Arc::<TakeOvers>::default();
        let step = std::future::pending::<Result<()>>();
        let attempt = in_time("maths", Duration::from_millis(20), step);
        assert!(!takeovers.join("maths", attempt).await);
    }

    #[tokio::test]
    async fn an_attempt_that_panics_fails_and_does_not_prevent_the_next_one() {
        let takeovers = Arc::<TakeOvers>::default();
        assert!(!takeovers.join("maths", async { panic!("an error in the program") }).await);
        assert!(takeovers.join("maths", async { Ok(()) }).await);
    }
}
