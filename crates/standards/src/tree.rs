//! The tree that `isChildOf` makes: no circles, no more levels than can be shown.

use std::collections::HashMap;

use lyceum_core::message;

use crate::class::ASSOCIATION;
use crate::fault::{Faults, Path};
use crate::limits;

/// Refuses circles and trees that are too deep. An edge is the place of its association, the child,
/// the parent; a child may have several parents.
pub(crate) fn check(edges: &[(usize, &str, &str)], faults: &mut Faults) {
    let mut waiting: HashMap<&str, usize> = HashMap::new(); // parents that a node still waits for
    let mut children: HashMap<&str, Vec<&str>> = HashMap::new();
    for (_, child, parent) in edges {
        *waiting.entry(child).or_default() += 1;
        waiting.entry(parent).or_default();
        children.entry(parent).or_default().push(child);
    }
    let roots = waiting.iter().filter(|(_, parents)| **parents == 0);
    let mut level: Vec<&str> = roots.map(|(node, _)| *node).collect();
    let mut depth = 0;
    // Nodes leave when their last parent has left, which nodes of a circle never do.
    while !level.is_empty() {
        depth += 1;
        let mut next = Vec::new();
        for node in level {
            waiting.remove(node);
            for child in children.get(node).into_iter().flatten() {
                if let Some(parents) = waiting.get_mut(child) {
                    *parents -= 1;
                    if *parents == 0 {
                        next.push(*child);
                    }
                }
            }
        }
        level = next;
    }
    if depth > limits::CASE_TREE_MAX_LEVELS {
        let most = limits::CASE_TREE_MAX_LEVELS;
        faults.add(
            ASSOCIATION.list,
            message!("must not make the tree deeper than {most} levels (got {depth})"),
        );
    }
    for (index, child, parent) in edges {
        if waiting.contains_key(child) && waiting.contains_key(parent) {
            let path = Path::Record(ASSOCIATION.list, Some(*index));
            let message =
                message!("must not make '{child}' a child of its own descendant '{parent}'");
            faults.add(Path::Member(&path, "destinationNodeURI"), message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(edges: &[(&str, &str)]) -> usize {
        let edges: Vec<_> = edges.iter().enumerate().map(|(at, (c, p))| (at, *c, *p)).collect();
        let mut faults = Faults::default();
        check(&edges, &mut faults);
        faults.refuse().map_or_else(|problem| problem.details.len(), |()| 0)
    }

    #[test]
    fn cycles_are_found_and_several_parents_are_allowed() {
        assert_eq!(faults(&[("a", "d"), ("b", "a"), ("c", "a"), ("c", "b")]), 0);
        assert_eq!(faults(&[("a", "a")]), 1);
        assert_eq!(faults(&[("a", "d"), ("b", "c"), ("c", "b"), ("e", "a")]), 2);
    }

    #[test]
    fn the_depth_has_a_limit() {
        let names: Vec<String> =
            (0..=limits::CASE_TREE_MAX_LEVELS).map(|n| n.to_string()).collect();
        let edges: Vec<(&str, &str)> =
            names.windows(2).map(|pair| (pair[1].as_str(), pair[0].as_str())).collect();
        assert_eq!(faults(&edges), 1);
        assert_eq!(faults(&edges[1..]), 0);
    }
}
