//! Charts as SVG that the server makes. Colours are classes of the style; each has its numbers as text.

use std::fmt::{self, Write as _};

use askama::filters::HtmlSafe;

/// A drawing. In a template: `{{ chart }}`.
#[derive(Clone, Debug)]
pub struct Svg(String);

impl HtmlSafe for Svg {}

impl fmt::Display for Svg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Text inside of markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A ring that is filled by the share `done / goal`, with a number in it. `says` is the same in words.
pub fn ring(done: f64, goal: f64, shown: &str, says: &str) -> Svg {
    let share = if goal > 0.0 { (done / goal).clamp(0.0, 1.0) } else { 0.0 };
    let state = if goal > 0.0 && done >= goal { " full" } else { "" };
    Svg(format!(
        r#"<svg class="ring{state}" viewBox="0 0 100 100" role="img" aria-label="{}"><circle class="track" cx="50" cy="50" r="42" pathLength="100"/><circle class="part" cx="50" cy="50" r="42" pathLength="100" stroke-dasharray="{:.1} 100" transform="rotate(-90 50 50)"/><text x="50" y="51" text-anchor="middle" dominant-baseline="middle">{}</text></svg>"#,
        escaped(says),
        share * 100.0,
        escaped(shown),
    ))
}

/// A bar of a chart.
#[derive(Clone, Debug)]
pub struct Bar {
    /// How high.
    pub value: f64,
    /// What stands below some of the bars.
    pub label: String,
    /// The bar in words.
    pub says: String,
    /// The page with what is behind it.
    pub href: Option<String>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 160.0;
/// Room below for labels.
const FOOT: f64 = 20.0;
/// Room above for the greatest value.
const HEAD: f64 = 16.0;
/// Labels below, at most about so many.
const LABELS: usize = 7;

/// Bars side by side. `says` tells what is drawn; a line is drawn at `mark`, where there is one.
#[expect(clippy::cast_precision_loss, reason = "bars are few")]
pub fn bars(bars: &[Bar], says: &str, unit: &str, mark: Option<f64>) -> Svg {
    let greatest = bars.iter().map(|bar| bar.value).chain(mark).fold(0.0, f64::max);
    let scale = if greatest > 0.0 { (HEIGHT - HEAD) / greatest } else { 0.0 };
    let step = WIDTH / bars.len().max(1) as f64;
    let every = bars.len().div_ceil(LABELS).max(1);
    let mut svg = format!(
        r#"<svg class="bars" viewBox="0 0 {WIDTH} {:.0}" role="group" aria-label="{}"><line class="axis" x1="0" x2="{WIDTH}" y1="{HEIGHT}" y2="{HEIGHT}"/><text class="top" x="0" y="10">{} {}</text>"#,
        HEIGHT + FOOT,
        escaped(says),
        crate::words::number(greatest),
        escaped(unit),
    );
    if let Some(mark) = mark {
        let y = HEIGHT - mark * scale;
        let _ = write!(svg, r#"<line class="mark" x1="0" x2="{WIDTH}" y1="{y:.1}" y2="{y:.1}"/>"#);
    }
    for (at, bar) in bars.iter().enumerate() {
        let (x, height) = (at as f64 * step, bar.value.max(0.0) * scale);
        if let Some(href) = &bar.href {
            let _ = write!(svg, r#"<a href="{}" aria-label="{}">"#, escaped(href), escaped(&bar.says));
        }
        let _ = write!(
            svg,
            r#"<g class="bar"><title>{}</title><rect class="hit" x="{x:.1}" y="0" width="{step:.1}" height="{HEIGHT}"/><rect x="{:.1}" y="{:.1}" width="{:.1}" height="{height:.1}" rx="2"/></g>"#,
            escaped(&bar.says),
            x + step * 0.15,
            HEIGHT - height,
            step * 0.7,
        );
        if bar.href.is_some() {
            svg.push_str("</a>");
        }
        if at % every == 0 {
            let _ = write!(
                svg,
                r#"<text x="{:.1}" y="{:.0}" text-anchor="middle">{}</text>"#,
                x + step / 2.0,
                HEIGHT + FOOT - 5.0,
                escaped(&bar.label),
            );
        }
    }
    svg.push_str("</svg>");
    Svg(svg)
}
