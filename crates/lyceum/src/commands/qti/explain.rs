//! `lyceum qti explain`

use clap::Args;
use lyceum_qti::model::{Item, ResponseProcessing};
use lyceum_qti::value::{Value, to_json};
use lyceum_qti::{Responses, Variant};
use serde_json::{Map, json};

use super::answers::Answers;
use crate::failure::{Code, Failure, Result};
use crate::printer::Printer;

#[derive(Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    answers: Answers,
}

impl Explain {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let mut scorer = self.answers.scorer()?;
        let mut each = self.answers.each(&scorer.item)?;
        let values = each.next().transpose()?.unwrap_or_default();
        if each.next().is_some() {
            return Err(Failure::new(
                Code::Usage,
                "explain takes one response, but the file has more",
            )
            .hint("leave only the response to explain in the file"));
        }
        let (responses, faults) = scorer.read(&values)?;
        for fault in &faults {
            printer.warn(fault);
        }
        let (outcomes, trace) = scorer.explain(&responses);
        let item = &scorer.item;
        let before = before(item, &responses, &scorer.variant);
        printer.answer(
            || {
                let title = format!("item '{}': {}\n", item.identifier, item.title);
                let processing = format!("processing, {}\n line  step\n", processing_name(item));
                let after = lines(outcomes.iter());
                format!("{title}before\n{}{processing}{trace}after\n{after}", lines(before.clone()))
            },
            || {
                let object = |values: &mut dyn Iterator<Item = (&str, &Value)>| {
                    values
                        .map(|(name, value)| (name.to_owned(), to_json(value)))
                        .collect::<Map<_, _>>()
                };
                json!({
                    "identifier": item.identifier,
                    "processing": processing_name(item),
                    "before": object(&mut before.clone()),
                    "steps": trace.steps,
                    "outcomes": outcomes.to_json(),
                    "faults": faults,
                })
            },
        );
        Ok(())
    }
}

/// Responses and template variables.
fn before<'v>(
    item: &'v Item,
    responses: &'v Responses,
    variant: &'v Variant,
) -> impl Iterator<Item = (&'v str, &'v Value)> + Clone {
    const NULL: &Value = &Value::Null;
    let responses = item.responses.iter().map(|response| {
        let name = &*response.declaration.identifier;
        (name, responses.get(name).unwrap_or(NULL))
    });
    responses.chain(item.templates.iter().map(|template| {
        let name = &*template.declaration.identifier;
        (name, variant.get(name).unwrap_or(NULL))
    }))
}

fn lines<'v>(values: impl Iterator<Item = (&'v str, &'v Value)>) -> String {
    values.fold(String::new(), |lines, (name, value)| lines + &format!("       {name} = {value}\n"))
}

/// The way in which the item is scored.
fn processing_name(item: &Item) -> String {
    match &item.processing {
        None => "the item has no processing: outcomes keep their defaults".into(),
        Some(ResponseProcessing { template: Some(address), rules }) if rules.is_empty() => {
            format!("by the template '{address}'")
        }
        Some(_) => "by the rules of the item".into(),
    }
}
