//! Charts without values, with one, and with many.

use lyceum_console::chart::{Bar, bars, ring};
use lyceum_console::plot::{Point, scatter};

use crate::count;

fn many(values: &[f64]) -> Vec<Bar> {
    let bar = |(at, value): (usize, &f64)| Bar {
        value: *value,
        label: format!("label-{at}"),
        description: format!("{value} XP"),
        href: None,
    };
    values.iter().enumerate().map(bar).collect()
}

/// Every number of the drawing is finite.
fn is_drawn(svg: &str) -> bool {
    !svg.contains("NaN") && !svg.contains("inf")
}

#[test]
fn a_ring_is_full_at_its_goal_and_empty_without_one() {
    for (done, goal, share, is_full) in [
        (0.0, 0.0, "0.0", false),
        (5.0, 0.0, "0.0", false),
        (5.0, 20.0, "25.0", false),
        (20.0, 20.0, "100.0", true),
        (30.0, 20.0, "100.0", true),
        (-5.0, 20.0, "0.0", false),
    ] {
        let svg = ring(done, goal, "5", "5 of 20 \"XP\"").to_string();
        assert!(svg.contains(&format!("stroke-dasharray=\"{share} 100\"")), "{svg}");
        assert_eq!(svg.contains("ring full"), is_full, "{svg}");
        assert!(svg.contains("aria-label=\"5 of 20 &quot;XP&quot;\""), "{svg}");
    }
}

#[test]
fn bars_without_values_are_flat() {
    for values in [&[][..], &[0.0, 0.0], &[-4.0]] {
        let svg = bars(&many(values), "XP by day", "XP", None).to_string();
        assert!(is_drawn(&svg), "{svg}");
        assert_eq!(count(&svg, "height=\"0.00\""), values.len(), "{svg}");
    }
}

#[test]
fn the_greatest_of_bars_and_mark_fills_the_height() {
    let svg = bars(&many(&[5.0, 10.0]), "XP by day", "XP", Some(20.0)).to_string();
    assert!(svg.contains("height=\"25.00\"") && svg.contains("height=\"50.00\""), "{svg}");
    assert!(svg.contains("y1=\"0.0\"") && svg.contains(">20 XP<"), "{svg}");
}

#[test]
fn many_bars_have_five_labels() {
    for (count_of_bars, labels) in [(1, 1), (10, 10), (11, 5), (366, 5)] {
        let svg = bars(&many(&vec![1.0; count_of_bars]), "XP", "XP", None).to_string();
        assert_eq!(count(&svg, "<span>"), labels, "{count_of_bars} bars");
        assert_eq!(count(&svg, "class=\"bar\""), count_of_bars);
        assert!(svg.contains("label-0<"));
        assert!(svg.contains(&format!("label-{}<", count_of_bars - 1)));
    }
}

#[test]
fn a_plot_without_students_has_its_axes() {
    let empty = scatter(&[], "XP by minute").to_string();
    assert!(is_drawn(&empty) && empty.contains("class=\"diagonal\""));
    let point = Point { x: 0.0, y: 9_000.0, description: "<Ann>".into(), href: "/a&b".into() };
    let one = scatter(&[point], "XP by minute").to_string();
    assert!(is_drawn(&one) && count(&one, "<circle") == 1);
    assert!(one.contains("href=\"/a&amp;b\" aria-label=\"&lt;Ann&gt;\""), "{one}");
}
