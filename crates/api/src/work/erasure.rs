//! Exports and erases persons, for the command line and the server. A server also continues erasures that another
//! process began and did not finish.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use lyceum_blob::Blobs;
use lyceum_cluster::replication::Replication;
use lyceum_console::ExportIndex;
use lyceum_core::config::Config;
use lyceum_core::time::{Clock, Timestamp};
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_erasure::erase::{self, ProjectTable};
use lyceum_erasure::export::{Export, ExportReport};
use lyceum_erasure::{Erasure, ErasureKey, ErasureStep, Subject};
use lyceum_hosting::backup::NamedFiles;
use lyceum_hosting::buckets::{Bucket, BucketListing};
use lyceum_hosting::nodes::Node;
use lyceum_hosting::{homes, text_search};
use lyceum_http::trace;
use lyceum_store::jobs::ClaimedJob;
use lyceum_store::{Db, Tx, run_blocking};

use crate::work::backup::named_files;
use crate::{App, hosted, limits};

/// The places with data about people that an export reads and an erasure changes.
#[derive(Clone)]
pub struct PersonalData {
    /// The database.
    pub db: Db,
    /// This node, whose projects are searched.
    pub node: Arc<Node>,
    /// The files of imports and projects.
    pub blobs: Blobs,
    /// Hashes ids of erased persons, and seals their strings.
    pub key: ErasureKey,
    /// The public address of the server, which its issuers are named by.
    pub base_url: String,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The replication of the database, which reads its log; `None` in other processes than the server.
    pub replication: Option<Arc<Replication>>,
}

/// The key by which this server recognizes erased persons.
pub fn key(app: &App) -> ErasureKey {
    ErasureKey::new(app.gate.keyring().master().clone())
}

/// When the history is gone that existed before an erasure: backups, replicas, logs of the database and copies of its
/// pages.
pub fn history_ends(config: &Config, erased: Timestamp) -> Timestamp {
    // Old objects of a replica are deleted after its next daily snapshot.
    let replica_days = i64::from(config.replica.keep_days) + 2;
    erased.plus_seconds(config.privacy.history_days.max(replica_days) * 86_400)
}

impl PersonalData {
    /// The places of a running server.
    pub fn of(app: &App) -> Self {
        Self {
            db: app.db.clone(),
            node: Arc::clone(&app.cluster.node),
            blobs: app.blobs.clone(),
            key: key(app),
            base_url: app.base_url.clone(),
            clock: Arc::clone(&app.clock),
            replication: app.cluster.replication.clone(),
        }
    }

    /// Writes everything about a person into a zip. Blocks. Errors: `NotFound`.
    pub fn export(&self, id: &str, file: File) -> Result<ExportReport> {
        let mut export = Export::new(io::BufWriter::new(file));
        let subject = self.db.read_blocking(|tx| {
            let subject = Subject::find(tx, id)?;
            export.database(tx, &subject)?;
            Ok(subject)
        })?;
        let terms = subject.redaction("").search_terms();
        let named = self.named_files()?;
        export.projects(&self.search(&named, &terms)?)?;
        self.export_objects(&mut export, &named, &terms)?;
        let index = ExportIndex {
            id: id.to_owned(),
            exported: self.clock.now().to_string(),
            files: export.report().files.clone().into_iter().collect(),
        };
        export.finish(&index.render().map_err(Problem::internal)?)
    }

    /// Writes the objects whose keys name the person.
    fn export_objects<W: io::Write + io::Seek>(
        &self,
        export: &mut Export<W>,
        named: &NamedFiles,
        terms: &[String],
    ) -> Result<()> {
        for (project, files) in &named.projects {
            let folder = self.node.folder_of(project).join(homes::BUCKET);
            if !files.iter().any(|file| file.starts_with(homes::BUCKET)) || !folder.exists() {
                continue;
            }
            let bucket = Bucket::open(&folder, Arc::clone(&self.clock))?;
            let mut listing = BucketListing::default();
            loop {
                let page = bucket.list(&listing)?;
                for object in &page.objects {
                    let key = object.key.to_ascii_lowercase();
                    if !terms.iter().any(|term| key.contains(term.as_str())) {
                        continue;
                    }
                    let Some((_, pieces)) = bucket.get(&object.key)? else { continue };
                    let mut entry = export.object(project, &object.key)?;
                    for piece in pieces {
                        let mut file = piece.map_err(Problem::internal)?.file;
                        io::copy(&mut file, &mut entry).map_err(Problem::internal)?;
                    }
                }
                listing.cursor = page.cursor;
                if listing.cursor.is_none() {
                    break;
                }
            }
        }
        Ok(())
    }

    fn named_files(&self) -> Result<NamedFiles> {
        self.db.read_blocking(|tx| named_files(tx, &self.node))
    }

    fn search(&self, named: &NamedFiles, terms: &[String]) -> Result<Vec<ProjectTable>> {
        let found = text_search::tables_with(&self.node, named, terms, || ())?.into_iter();
        let found = found.map(|found| ProjectTable {
            project: found.project,
            file: found.file,
            table: found.table,
            rows: found.rows,
        });
        Ok(found.collect())
    }

    /// Erases a person, or continues an erasure that was begun before, and calls `on_step` with the state after each
    /// step. Errors: those of [`erase::begin`].
    pub async fn erase(
        &self,
        who: &str,
        id: &str,
        mut on_step: impl FnMut(&Erasure),
    ) -> Result<Erasure> {
        let begun = self.begin(who, id).await?;
        loop {
            // Another erasure may be due first.
            let did_work = self.next(&mut on_step).await?;
            let erasure = self.state(begun.id).await?;
            if erasure.is_done() {
                return Ok(erasure);
            }
            on_step(&erasure);
            if !did_work {
                tokio::time::sleep(Duration::from_millis(limits::ERASURE_POLL_MS)).await;
            }
        }
    }

    /// Begins to erase a person. Errors: those of [`erase::begin`].
    pub async fn begin(&self, who: &str, id: &str) -> Result<Erasure> {
        let (key, now) = (self.key.clone(), self.clock.now());
        let (who, id) = (who.to_owned(), id.to_owned());
        self.db.write(move |tx| erase::begin(tx, now, &key, &who, &id)).await
    }

    /// The state of an erasure. Errors: `NotFound`.
    pub async fn state(&self, id: i64) -> Result<Erasure> {
        self.db.read(move |tx| erase::find(tx, id)).await
    }

    /// Works on the next erasure that is due, to its end. Returns `false` if there is none.
    async fn next(&self, mut on_step: impl FnMut(&Erasure)) -> Result<bool> {
        if !self.db.read(|tx| lyceum_store::jobs::is_due(tx, erase::KIND)).await? {
            return Ok(false);
        }
        let Some((job, id)) = self.db.write(erase::claim).await? else {
            return Ok(false);
        };
        match trace::job("erasure", self.work(&job, id, &mut on_step)).await {
            // Another server continues it.
            Err(problem) if problem.kind == ProblemKind::Conflict => Ok(true),
            Err(problem) => {
                let message = problem.message.clone();
                let fail = move |tx: &mut Tx<'_>| lyceum_store::jobs::fail(tx, &job, &message);
                self.db.write(fail).await?;
                Err(problem)
            }
            Ok(()) => Ok(true),
        }
    }

    async fn work(
        &self,
        job: &ClaimedJob,
        id: i64,
        mut on_step: impl FnMut(&Erasure),
    ) -> Result<()> {
        loop {
            let (key, now, claimed) = (self.key.clone(), self.clock.now(), job.clone());
            let base_url = self.base_url.clone();
            let step = move |tx: &mut Tx<'_>| erase::step(tx, now, &key, &base_url, (&claimed, id));
            match self.db.write(step).await? {
                ErasureStep::Continue => {}
                ErasureStep::RemoveFiles(files) => {
                    let left = hosted::remove_files(&self.db, &self.blobs, files).await?;
                    let key = self.key.clone();
                    self.db.write(move |tx| erase::files_removed(tx, &key, id, &left)).await?;
                }
                ErasureStep::SearchProjects(terms) => {
                    let data = self.clone();
                    let search = move || data.search(&data.named_files()?, &terms);
                    let found = self.leased(job, run_blocking(search)).await?;
                    let key = self.key.clone();
                    let store =
                        move |tx: &mut Tx<'_>| erase::projects_searched(tx, &key, id, &found);
                    self.db.write(store).await?;
                }
                ErasureStep::CompactPages(tables) => {
                    let (db, replication) = (self.db.clone(), self.replication.clone());
                    let compact = move || match &replication {
                        Some(replication) => replication.while_released(|| db.compact(&tables)),
                        None => db.compact(&tables),
                    };
                    self.leased(job, run_blocking(compact)).await?;
                    let key = self.key.clone();
                    self.db.write(move |tx| erase::pages_compacted(tx, &key, id)).await?;
                }
                ErasureStep::Done => return Ok(()),
            }
            on_step(&self.state(id).await?);
        }
    }

    /// Keeps the job while slow work is done.
    async fn leased<T>(
        &self,
        job: &ClaimedJob,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let mut work = std::pin::pin!(work);
        loop {
            let pause = tokio::time::sleep(Duration::from_millis(limits::ERASURE_RENEW_MS));
            tokio::select! {
                done = &mut work => return done,
                () = pause => {
                    let job = job.clone();
                    // A vacuum may hold up this write; the next one renews the lease.
                    if let Err(problem) = self.db.write(move |tx| erase::renew(tx, &job)).await {
                        tracing::debug!(%problem, "the lease of an erasure was not renewed");
                    }
                }
            }
        }
    }
}

/// Continues erasures until the server stops.
pub async fn work(app: App) {
    let data = PersonalData::of(&app);
    let mut changes = app.db.changes();
    loop {
        match data.next(|_| ()).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(problem) => tracing::warn!(%problem, "an erasure failed; trying again later"),
        }
        let pause = Duration::from_millis(limits::ERASURE_POLL_MS);
        changes.wait_for_job(&app.db, erase::KIND, pause).await;
    }
}
