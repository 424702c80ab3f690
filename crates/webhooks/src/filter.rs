//! Filters: conditions that a change must meet to be delivered to a webhook.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::{Tx, named_column};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use crate::condition::Condition;
use crate::repository::filters as repository;
use crate::webhook::{self, VisibleWebhooks};
use crate::{limits, registry};

pub use crate::repository::filters::{Filter, FilterOperator, FilterType};

macro_rules! names {
    ($type:ident { $($variant:ident $name:literal),* $(,)? }) => {
        impl $type {
            /// Its name in requests and in the store.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            fn named(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }

        named_column!($type, $type::named);
    };
}

names!(FilterType { String "string", Number "number", Boolean "boolean" });
names!(FilterOperator {
    Eq "eq", Neq "neq", Gt "gt", Gte "gte", Lt "lt", Lte "lte", Contains "contains",
    NotContains "notContains", In "in", NotIn "notIn", StartsWith "startsWith",
    EndsWith "endsWith", Regexp "regexp",
});

/// A filter to create, or the new values of one.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FilterInput {
    /// The webhook.
    #[schemars(length(min = 1, max = limits::WEBHOOK_TEXT_MAX_CHARS))]
    pub webhook_id: String,
    /// The path of the value in the `data` of a message, such as `actor.email`. `$type`, `$object` and `$sensor` are
    /// the members of the message itself. If the path leads into lists, one matching member is enough.
    #[schemars(length(min = 1, max = limits::WEBHOOK_TEXT_MAX_CHARS))]
    pub filter_key: String,
    /// The value to compare with.
    #[schemars(length(min = 1, max = limits::WEBHOOK_TEXT_MAX_CHARS))]
    pub filter_value: String,
    /// The type as which values are compared.
    pub filter_type: FilterType,
    /// How the values are compared.
    pub filter_operator: FilterOperator,
    /// Whether the filter counts.
    pub active: bool,
}

/// Creates a filter. Errors: `Invalid`; `Conflict` if the webhook has reached its limit of filters.
pub fn create(
    tx: &mut Tx<'_>,
    now: Timestamp,
    visible: &VisibleWebhooks,
    input: FilterInput,
) -> Result<Filter> {
    let filter = checked(tx, (visible, Uuid::now_v7().to_string()), (now, now), input)?;
    let most = limits::WEBHOOK_FILTERS_MAX_COUNT;
    if repository::count(tx, &filter.webhook_id)? >= most {
        let message = message!("the limit for filters of a webhook is {most}; delete one first");
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    repository::insert(tx, &filter)?;
    registry::changed(tx)?;
    Ok(filter)
}

fn checked(
    tx: &mut Tx<'_>,
    (visible, id): (&VisibleWebhooks, String),
    (created, updated): (Timestamp, Timestamp),
    input: FilterInput,
) -> Result<Filter> {
    if webhook::find(tx, visible, &input.webhook_id).is_err() {
        let message =
            message!("there is no webhook with the id '{input.webhook_id}'; create it first");
        return Err(Problem::invalid("webhookId", message));
    }
    let filter = Filter {
        id,
        webhook_id: input.webhook_id,
        filter_key: input.filter_key,
        filter_value: input.filter_value,
        filter_type: input.filter_type,
        filter_operator: input.filter_operator,
        active: input.active,
        created,
        updated,
        deleted: None,
    };
    Condition::of(&filter).map_err(|message| Problem::invalid("filterValue", message))?;
    Ok(filter)
}

/// The filters of the webhooks that the caller sees, in the order of creation.
pub fn list(tx: &mut Tx<'_>, visible: &VisibleWebhooks) -> Result<Vec<Filter>> {
    repository::list(tx, visible.owner_id())
}

/// The filters of a webhook, in the order of creation. Errors: `NotFound` for an unknown webhook.
pub fn of_webhook(
    tx: &mut Tx<'_>,
    visible: &VisibleWebhooks,
    webhook: &str,
) -> Result<Vec<Filter>> {
    webhook::find(tx, visible, webhook)?;
    repository::of_webhook(tx, webhook)
}

/// A filter. Errors: `NotFound`, also for one of a webhook that the caller does not see.
pub fn find(tx: &mut Tx<'_>, visible: &VisibleWebhooks, id: &str) -> Result<Filter> {
    let filter = repository::find(tx, id)?.ok_or_else(|| unknown(id))?;
    match webhook::find(tx, visible, &filter.webhook_id) {
        Ok(_) => Ok(filter),
        Err(problem) if problem.kind == ProblemKind::NotFound => Err(unknown(id)),
        Err(problem) => Err(problem),
    }
}

fn unknown(id: &str) -> Problem {
    Problem::new(ProblemKind::NotFound, message!("there is no webhook filter with the id '{id}'"))
}

/// Replaces the values of a filter. Errors: `NotFound`; `Invalid`.
pub fn replace(
    tx: &mut Tx<'_>,
    now: Timestamp,
    (visible, id): (&VisibleWebhooks, &str),
    input: FilterInput,
) -> Result<Filter> {
    let known = find(tx, visible, id)?;
    let filter = checked(tx, (visible, known.id), (known.created, now), input)?;
    repository::delete(tx, id)?;
    repository::insert(tx, &filter)?;
    registry::changed(tx)?;
    Ok(filter)
}

/// Deletes a filter. Errors: `NotFound`.
pub fn delete(tx: &mut Tx<'_>, visible: &VisibleWebhooks, id: &str) -> Result<()> {
    find(tx, visible, id)?;
    repository::delete(tx, id)?;
    registry::changed(tx)
}
