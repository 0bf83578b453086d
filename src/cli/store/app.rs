//! `lockgate store app`: registers apps and their organisations.

use std::process::ExitCode;

use clap::ArgAction;
use serde_json::{Value, json};

use super::output::{database, existing_database, print, report};
use crate::cli::output_format::OutputFormat;
use crate::cli::paint::{DONE, FAINT, LABEL, labelled, visible};
use crate::cli::store_args::StoreLocation;
use crate::cli::verbosity::Verbosity;
use lockgate_engine::Added;
use lockgate_error::Error;

/// The arguments of `lockgate store app`.
#[derive(Debug, clap::Args)]
pub(super) struct AppArgs {
    #[command(subcommand)]
    command: AppCommand,
}

#[derive(Debug, clap::Subcommand)]
enum AppCommand {
    /// Registers an app, so that its files can be stored; its organisation cannot be changed later
    Add {
        /// Id of the app, as callers give it in `app_id`
        id: String,
        /// Organisation that the app and its files belong to [default: global]
        #[arg(long, value_name = "ID")]
        organization: Option<String>,
        #[command(flatten)]
        store: StoreLocation,
        /// Prints the result as JSON
        #[arg(id = "json", long, action = ArgAction::SetTrue)]
        format: OutputFormat,
    },
    /// Lists the registered apps
    List {
        #[command(flatten)]
        store: StoreLocation,
        /// Prints the list as JSON
        #[arg(id = "json", long, action = ArgAction::SetTrue)]
        format: OutputFormat,
    },
}

impl AppArgs {
    pub(super) fn format(&self) -> OutputFormat {
        let (AppCommand::Add { format, .. } | AppCommand::List { format, .. }) = self.command;
        format
    }
}

pub(super) fn run(args: AppArgs, verbosity: Verbosity) -> Result<ExitCode, Error> {
    match args.command {
        AppCommand::Add { id, organization, store, format } => {
            let added = database(&store)?.add_app(&id, organization.as_deref())?;
            let result_text = match added {
                Added::New => "was registered",
                Added::Existing => "was already registered",
            };
            let value = json!({"id": id, "organization": organization, "new": added == Added::New});
            let text = labelled(
                DONE,
                "app",
                format!("{} {result_text}, {}", visible(&id), owner_text(organization.as_deref())),
            );
            report(format, verbosity, &value, &text)?;
        }
        AppCommand::List { store, format } => {
            let apps = existing_database(&store)?.apps()?;
            let value = |(id, organization): &(String, Option<String>)| json!({"id": id, "organization": organization});
            let line = |(id, organization): &(String, Option<String>)| {
                labelled(LABEL, &visible(id), owner_text(organization.as_deref()))
            };
            let mut text: String = apps.iter().map(line).collect();
            if apps.is_empty() {
                text = labelled(
                    FAINT,
                    "nothing",
                    "no app is registered; lockgate store app add ID registers one",
                );
            }
            print(format, &json!({"apps": apps.iter().map(value).collect::<Vec<Value>>()}), &text)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn owner_text(organization: Option<&str>) -> String {
    organization.map_or_else(|| "global".to_owned(), |id| format!("of organisation {}", visible(id)))
}
