//! Plots for a class: XP against time, and accuracy within its target band.

use std::fmt::Write;

use crate::chart::{Svg, escaped};
use crate::words;

/// A student in a plot.
#[derive(Clone, Debug)]
pub struct Point {
    /// The horizontal value.
    pub x: f64,
    /// The vertical value.
    pub y: f64,
    /// Describes the point for screen readers.
    pub description: String,
    /// The page that lists the records behind the point.
    pub href: String,
}

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 270.0;
const LEFT: f64 = 52.0;
const FOOT: f64 = 36.0;
const HEAD: f64 = 12.0;

/// Plots XP against active minutes on equal scales, with a diagonal at one XP per minute.
pub fn scatter(points: &[Point], description: &str) -> Svg {
    let greatest = points.iter().flat_map(|point| [point.x, point.y]).fold(1.0, f64::max);
    let top = round_up(greatest);
    let (right, bottom) = (WIDTH - 10.0, HEIGHT - FOOT);
    let x = |value: f64| LEFT + (right - LEFT) * value / top;
    let y = |value: f64| bottom - (bottom - HEAD) * value / top;
    let mut svg = format!(
        r#"<svg class="scatter" viewBox="0 0 {WIDTH} {HEIGHT}" role="group" aria-label="{}"><path class="axis" d="M{LEFT} {HEAD}V{bottom}H{right}"/><path class="diagonal" d="M{LEFT} {bottom}L{right} {HEAD}"/>"#,
        escaped(description),
    );
    for share in [0.0, 0.5, 1.0] {
        let (value, number) = (top * share, words::number(top * share));
        // The last label ends at the right edge of the drawing, so that it is not cut off.
        let anchor = if share < 1.0 { "middle" } else { "end" };
        let _ = write!(
            svg,
            r#"<text x="{:.1}" y="{:.1}" text-anchor="{anchor}">{number}</text><text x="{:.1}" y="{:.1}" text-anchor="end">{number}</text>"#,
            x(value),
            bottom + 14.0,
            LEFT - 6.0,
            y(value) + 4.0,
        );
    }
    let _ = write!(
        svg,
        r#"<text x="{right}" y="{:.1}" text-anchor="end">{}</text><text x="{:.1}" y="{:.1}">{}</text>"#,
        HEIGHT - 6.0,
        escaped(&t!("active minutes")),
        LEFT + 6.0,
        HEAD + 4.0,
        escaped(&t!("XP")),
    );
    for point in points {
        let _ = write!(
            svg,
            r#"<a href="{}" aria-label="{description}"><circle cx="{:.1}" cy="{:.1}" r="5"><title>{description}</title></circle></a>"#,
            escaped(&point.href),
            x(point.x),
            y(point.y),
            description = escaped(&point.description),
        );
    }
    svg.push_str("</svg>");
    Svg(svg)
}

/// Rounds up to one of 1, 2, 4, 10, 20, 40, …, so that half of the scale is a round number too.
fn round_up(value: f64) -> f64 {
    let mut unit = 2.0;
    loop {
        for step in [1.0, 2.0, 5.0] {
            if unit * step >= value {
                return unit * step;
            }
        }
        unit *= 10.0;
    }
}

/// Draws the share of correct answers on a line from 0 to 100 percent, with the band in which practice is most
/// effective.
pub fn accuracy(percent: f64, band: (f64, f64)) -> Svg {
    let place = percent.clamp(1.0, 99.0);
    let (from, wide) = (band.0, band.1 - band.0);
    Svg(format!(
        r#"<svg class="accuracy" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="line" x="0" y="3" width="100" height="2"/><rect class="band" x="{from}" y="0" width="{wide}" height="8"/><rect class="here" x="{:.1}" y="0" width="1.6" height="8"/></svg>"#,
        place - 0.8,
    ))
}

#[test]
fn labels_of_a_scatter_stay_within_the_drawing() {
    // A digit is about 6 units wide.
    let points = [Point { x: 9_000.0, y: 4.0, description: String::new(), href: String::new() }];
    let Svg(drawn) = scatter(&points, "");
    for text in drawn.split("<text ").skip(1) {
        let part = |name: &str| {
            text.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap()
        };
        let label = text.split('>').nth(1).unwrap().split('<').next().unwrap();
        let letters = u32::try_from(label.chars().count()).unwrap();
        let (x, width) = (part("x").parse::<f64>().unwrap(), 6.2 * f64::from(letters));
        let anchor = if text.split('>').next().unwrap().contains("anchor") {
            part("text-anchor")
        } else {
            "start"
        };
        let left = match anchor {
            "end" => x - width,
            "middle" => x - width / 2.0,
            _ => x,
        };
        assert!(left >= 0.0 && left + width <= WIDTH, "{label}: {left} to {}", left + width);
    }
}
