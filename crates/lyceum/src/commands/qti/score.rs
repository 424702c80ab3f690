//! `lyceum qti score`

use clap::Args;
use lyceum_qti::Outcomes;
use serde_json::json;

use super::answers::Answers;
use crate::failure::{Failure, Result};
use crate::printer::{Printer, counted, table};

#[derive(Args)]
pub(crate) struct Score {
    #[command(flatten)]
    answers: Answers,
}

impl Score {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let mut scorer = self.answers.scorer()?;
        let mut each = self.answers.each(&scorer.item)?.peekable();
        let Some(first) = each.next().transpose()? else {
            return Err(Failure::failed("the file contains no response")
                .hint("write one object per line, such as {\"RESPONSE\":\"A\"}"));
        };
        if each.peek().is_none() {
            let (responses, faults) = scorer.read(&first)?;
            for fault in &faults {
                printer.warn(fault);
            }
            let outcomes = scorer.score(&responses);
            printer.answer(
                || one(&outcomes),
                || json!({ "outcomes": outcomes.to_json(), "faults": faults }),
            );
            return Ok(());
        }
        let bar = printer.progress("scoring", 0);
        let (mut done, mut refused) = (0_u64, 0_u64);
        for (number, values) in (1_u64..).zip(std::iter::once(Ok(first)).chain(each)) {
            bar.set_position(number);
            match scorer.read(&values?) {
                Ok((responses, faults)) => {
                    let outcomes = scorer.score(&responses);
                    let json = || json!({ "response": number, "outcomes": outcomes.to_json(), "faults": faults });
                    bar.suspend(|| printer.item(|| line(number, &outcomes), json));
                    done += 1;
                }
                Err(failure) => {
                    let why = failure.details.join(", ");
                    let json = || json!({ "response": number, "error": failure.details });
                    bar.suspend(|| printer.item(|| format!("{number}  rejected: {why}"), json));
                    refused += 1;
                }
            }
        }
        bar.finish_and_clear();
        let scored_text = counted(done, "response");
        match refused {
            0 => printer.done(&format!("scored {scored_text}")),
            _ => {
                let message = format!("scored {scored_text}, rejected {refused}");
                return Err(Failure::failed(message)
                    .hint("the rejected responses do not fit the item's declarations"));
            }
        }
        Ok(())
    }
}

fn one(outcomes: &Outcomes) -> String {
    let rows = outcomes.iter().map(|(name, value)| vec![name.to_owned(), value.to_string()]);
    table(&["outcome", "value"], &rows.collect::<Vec<_>>())
}

/// A line of output: the response's number and its outcomes.
fn line(number: u64, outcomes: &Outcomes) -> String {
    let outcomes = outcomes.iter().map(|(name, value)| format!("  {name}={value}"));
    std::iter::once(number.to_string()).chain(outcomes).collect()
}
