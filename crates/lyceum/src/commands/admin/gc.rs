//! `lyceum admin gc`

use clap::Args;
use lyceum_api::hosted::files_of_no_project;
use lyceum_blob::StoredBlobs;
use lyceum_core::time::{Clock, SystemClock, Timestamp};
use lyceum_hosting::installations;
use lyceum_hosting::unowned::{self, UnownedObjects};
use serde_json::json;

use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, counted, table};
use crate::settings::{DataArgs, Missing};

/// Servers delete what they wrote themselves. This finds the rest: objects of installations without a sign of life for 30
/// days, and objects of deleted projects. It lists nothing that this database names. While another installation uses the
/// bucket, it lists nothing that this one may need.
#[derive(Args)]
pub(crate) struct Gc {
    /// Delete what would be listed
    #[arg(long)]
    confirm: bool,
    #[command(flatten)]
    data: DataArgs,
}

impl Gc {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let (config, db) = self.data.open(Missing::Refuse)?;
        if config.s3.bucket.is_empty() {
            let message = "the settings name no S3 bucket, and files on disk have one owner";
            return Err(Failure::new(Code::Conflict, message));
        }
        let now = SystemClock.now();
        let stored = StoredBlobs::open(&config.s3)?;
        let bar = printer.progress("listing objects", 0);
        let blobs = stored.list(|found| bar.set_position(found));
        bar.finish_and_clear();
        // Read after the list, so that all that was stored before it is named.
        let named = db.read_blocking(|tx| unowned::named(tx, files_of_no_project))?;
        let others = unowned::others(&config, &db.read_blocking(installations::bucket_ids)?)?;
        let unowned = unowned::find(blobs?, &named, &others, now);
        let found = unowned::by_installation(&unowned);
        if self.confirm {
            let bar = printer.progress("deleting objects", unowned.len() as u64);
            let deleted = unowned::delete(&stored, &unowned, |done| bar.set_position(done));
            bar.finish_and_clear();
            deleted?;
        }
        let row = |(id, found): (&String, &UnownedObjects)| {
            let last = found.last.as_ref().map(Timestamp::to_string).unwrap_or_default();
            vec![id.clone(), found.objects.to_string(), found.bytes.to_string(), last]
        };
        printer.answer(
            || {
                let header = ["installation", "objects", "bytes", "last written"];
                table(&header, &found.iter().map(row).collect::<Vec<_>>())
            },
            || json!({ "unowned": found, "deleted": self.confirm }),
        );
        if let Some((other, at)) = unowned::possible_owner(&others, now) {
            printer.note(&format!(
                "the installation '{other}' used the bucket at {at}; what it may need is not listed before 30 days without use"
            ));
        }
        let objects = counted(unowned.len(), "object");
        match self.confirm {
            true => printer.done(&format!("deleted {objects}")),
            false => printer.done(&format!("nobody owns {objects}; `--confirm` deletes them")),
        }
        Ok(())
    }
}
