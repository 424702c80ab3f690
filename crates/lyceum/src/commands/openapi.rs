//! `lyceum openapi`

use clap::Args;

use crate::failure::Result;
use crate::printer::Printer;
use crate::settings::{DataArgs, flag};

#[derive(Args)]
pub(crate) struct OpenApi {
    /// Address of the server in the document
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

impl OpenApi {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let flags = flag("--public-url", "server.public_url", self.public_url);
        let config = self.data.load(flags.as_slice())?.config;
        let document = lyceum_server::routes::document(&config.public_url());
        printer.text(&format!("{document:#}\n"));
        Ok(())
    }
}
