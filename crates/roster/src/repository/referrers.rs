//! The statements that find the records that refer to a record.

use crate::kind::{FieldType, RecordKind};
use crate::rules;

/// The ends of statements, from `FROM` on, that find as `t` the records of `kind` which refer to a
/// record of `target`, one a field; `$1` is its sourcedId. Each is an indexed look-up.
pub(super) fn referring(kind: &'static RecordKind, target: &RecordKind) -> Vec<String> {
    let by_column = kind.columns().filter_map(|(field, column)| match field.ty {
        FieldType::Reference(to) if to == target.one => {
            Some(format!("FROM {} t WHERE t.{column} = $1", kind.table))
        }
        _ => None,
    });
    let by_link = link_fields(kind, target).into_iter().map(|link| {
        format!(
            "FROM roster_link l JOIN {} t ON t.seq = l.owner \
             WHERE l.field = '{link}' AND l.value = $1",
            kind.table
        )
    });
    let by_id = rules::shares_id_with(kind)
        .filter(|owner| *owner == target)
        .map(|_| format!("FROM {} t WHERE t.sourced_id = $1", kind.table));
    by_column.chain(by_link).chain(by_id).collect()
}

fn link_fields(kind: &'static RecordKind, target: &RecordKind) -> Vec<String> {
    let points = |ty: FieldType| match ty {
        FieldType::References(to) | FieldType::Reference(to) => to == target.one,
        _ => false,
    };
    let mut links = Vec::new();
    for field in kind.fields {
        match field.ty {
            FieldType::References(_) if points(field.ty) => {
                links.push(format!("{}.{}", kind.one, field.name));
            }
            FieldType::Objects(members) => links.extend(
                members
                    .iter()
                    .filter(|member| points(member.ty))
                    .map(|member| format!("{}.{}.{}", kind.one, field.name, member.name)),
            ),
            _ => {}
        }
    }
    links
}
