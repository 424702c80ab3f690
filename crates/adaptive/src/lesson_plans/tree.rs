//! A plan's tree, and the operations that change it. It is pure: the same course and operations give the same tree.
//!
//! The tree is a list of items in reading order with their depths, so everything below an item is a range that
//! follows it. The resources of a component come before its subcomponents.

use std::collections::HashSet;

use lyceum_core::{Message, Problem, Result, message};
use lyceum_roster::course_tree::CourseTree;
use lyceum_roster::fields;
use lyceum_roster::record::members;
use serde::{Deserialize, Serialize};

use super::operation::{InsertPosition, LessonPlanItemSort, LessonPlanTarget, Operation};

/// A component or a resource in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanItem {
    /// 0 at the top of the course.
    pub depth: usize,
    /// Its type.
    pub sort: LessonPlanItemSort,
    /// The sourcedId of the component or component resource; for an added resource, the sourcedId of the resource.
    pub id: String,
    /// Whether it was added to this plan.
    pub is_custom: bool,
    /// Whether it is hidden from the student.
    pub skipped: bool,
}

/// A plan's items.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanTree(pub Vec<PlanItem>);

impl PlanTree {
    /// The tree of the course itself.
    pub fn of(course: &CourseTree) -> Result<Self> {
        let mut items = Vec::new();
        let mut push = |depth, sort, (body, extra): &(String, Option<String>)| {
            let record = members(body, extra.as_deref())?;
            let id = fields::text(&record, "sourcedId").to_owned();
            items.push(PlanItem { depth, sort, id, is_custom: false, skipped: false });
            Ok::<_, Problem>(())
        };
        for component in &course.components {
            push(component.depth, LessonPlanItemSort::Component, &component.record)?;
            for link in &component.links {
                push(component.depth + 1, LessonPlanItemSort::Resource, &link.record)?;
            }
        }
        Ok(Self(items))
    }

    /// The tree without lessons from which the student is exempt, and without components that contain nothing else.
    pub(super) fn skipping(&self, lessons: &HashSet<String>) -> Self {
        let mut tree = self.clone();
        for item in &mut tree.0 {
            let is_lesson = item.sort == LessonPlanItemSort::Resource && !item.is_custom;
            item.skipped |= is_lesson && lessons.contains(&item.id);
        }
        for at in
            (0..tree.0.len()).rev().filter(|at| self.0[*at].sort == LessonPlanItemSort::Component)
        {
            let inner = &tree.0[tree.below(at)][1..];
            let is_exempt = |item: &PlanItem| !item.is_custom && lessons.contains(&item.id);
            let mut resources =
                inner.iter().filter(|item| item.sort == LessonPlanItemSort::Resource);
            let is_done = resources.clone().any(is_exempt) && resources.all(|item| item.skipped);
            tree.0[at].skipped |= is_done;
        }
        tree
    }

    /// Applies an operation. If it fails, the error says why and the tree stays unchanged.
    pub fn apply(&mut self, operation: &Operation) -> Result<(), Message> {
        match operation {
            Operation::SetSkipped { target, value } => {
                let at = self.place(target)?;
                self.0[at].skipped = *value;
                Ok(())
            }
            Operation::AddCustomResource { resource, parent, skipped } => {
                let target =
                    LessonPlanTarget { sort: LessonPlanItemSort::Resource, id: resource.clone() };
                if self.place(&target).is_ok() {
                    return Err(message!("the resource '{resource}' is already in the plan"));
                }
                let parent = self.component(parent)?;
                let item = PlanItem {
                    depth: self.0[parent].depth + 1,
                    sort: LessonPlanItemSort::Resource,
                    id: resource.clone(),
                    is_custom: true,
                    skipped: *skipped,
                };
                let at = self.end_of(LessonPlanItemSort::Resource, Some(parent));
                self.0.insert(at, item);
                Ok(())
            }
            Operation::MoveBeside { target, reference, place } => {
                self.move_beside(target, reference, *place)
            }
            Operation::MoveWithin { target, place } => {
                let at = self.place(target)?;
                let parent = self.parent(at);
                self.move_into(at, parent, *place);
                Ok(())
            }
            Operation::ChangeParent { target, parent, place } => {
                let at = self.place(target)?;
                let parent = self.component(parent)?;
                if self.below(at).contains(&parent) {
                    return Err(message!("'{target.id}' cannot be moved below itself"));
                }
                self.move_into(at, Some(parent), *place);
                Ok(())
            }
        }
    }

    fn move_beside(
        &mut self,
        target: &LessonPlanTarget,
        reference: &str,
        place: InsertPosition,
    ) -> Result<(), Message> {
        let at = self.place(target)?;
        let beside =
            self.place(&LessonPlanTarget { sort: target.sort, id: reference.to_owned() })?;
        if at == beside {
            return Err(message!("'{reference}' cannot be moved next to itself"));
        }
        if self.below(at).contains(&beside) {
            return Err(message!("'{reference}' is below '{target.id}'"));
        }
        let to = match place {
            InsertPosition::Start => beside,
            InsertPosition::End => self.below(beside).end,
        };
        let depth = self.0[beside].depth;
        self.relocate(at, to, depth);
        Ok(())
    }

    fn move_into(&mut self, at: usize, parent: Option<usize>, place: InsertPosition) {
        let sort = self.0[at].sort;
        let to = match place {
            InsertPosition::Start => self.start_of(sort, parent),
            InsertPosition::End => self.end_of(sort, parent),
        };
        let depth = parent.map_or(0, |parent| self.0[parent].depth + 1);
        self.relocate(at, to, depth);
    }

    /// Moves an item with everything below it before the item `to`.
    fn relocate(&mut self, at: usize, to: usize, depth: usize) {
        let range = self.below(at);
        let count = range.len();
        let former = self.0[at].depth;
        let mut moved: Vec<PlanItem> = self.0.drain(range).collect();
        for item in &mut moved {
            item.depth = item.depth - former + depth;
        }
        let to = if to > at { to - count } else { to };
        self.0.splice(to..to, moved);
    }

    fn place(&self, target: &LessonPlanTarget) -> Result<usize, Message> {
        let at = self.0.iter().position(|item| item.sort == target.sort && item.id == target.id);
        at.ok_or_else(|| {
            message!("the plan has no {sort} '{target.id}'", sort = target.sort.name())
        })
    }

    fn component(&self, id: &str) -> Result<usize, Message> {
        self.place(&LessonPlanTarget { sort: LessonPlanItemSort::Component, id: id.to_owned() })
    }

    /// The item and everything below it.
    fn below(&self, at: usize) -> std::ops::Range<usize> {
        let depth = self.0[at].depth;
        let count = self.0[at + 1..].iter().take_while(|item| item.depth > depth).count();
        at..at + 1 + count
    }

    fn parent(&self, at: usize) -> Option<usize> {
        let depth = self.0[at].depth;
        self.0[..at].iter().rposition(|item| item.depth < depth)
    }

    /// Everything below the parent, or the whole tree.
    fn within(&self, parent: Option<usize>) -> std::ops::Range<usize> {
        parent.map_or(0..self.0.len(), |parent| parent + 1..self.below(parent).end)
    }

    fn start_of(&self, sort: LessonPlanItemSort, parent: Option<usize>) -> usize {
        match sort {
            LessonPlanItemSort::Resource => self.within(parent).start,
            LessonPlanItemSort::Component => self.end_of(LessonPlanItemSort::Resource, parent),
        }
    }

    fn end_of(&self, sort: LessonPlanItemSort, parent: Option<usize>) -> usize {
        let within = self.within(parent);
        match sort {
            LessonPlanItemSort::Component => within.end,
            LessonPlanItemSort::Resource => {
                let items = &self.0[within.clone()];
                within.start
                    + items
                        .iter()
                        .take_while(|item| item.sort == LessonPlanItemSort::Resource)
                        .count()
            }
        }
    }
}
