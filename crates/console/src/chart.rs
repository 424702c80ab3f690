//! Renders charts as SVG on the server. Colours are CSS classes. Each chart also has its numbers as text.

use std::fmt::{self, Write as _};

use askama::filters::HtmlSafe;

/// An SVG drawing. Templates write `{{ chart }}`.
#[derive(Clone, Debug)]
pub struct Svg(pub(crate) String);

impl HtmlSafe for Svg {}

impl fmt::Display for Svg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Escapes text for use in markup.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Draws a ring that is filled to `done / goal`, with a number inside. `description` is for screen readers.
pub fn ring(done: f64, goal: f64, shown: &str, description: &str) -> Svg {
    let share = if goal > 0.0 { (done / goal).clamp(0.0, 1.0) } else { 0.0 };
    let state = if goal > 0.0 && done >= goal { " full" } else { "" };
    Svg(format!(
        r#"<svg class="ring{state}" viewBox="0 0 100 100" role="img" aria-label="{}"><circle class="track" cx="50" cy="50" r="42" pathLength="100"/><circle class="part" cx="50" cy="50" r="42" pathLength="100" stroke-dasharray="{:.1} 100" transform="rotate(-90 50 50)"/><text x="50" y="51" text-anchor="middle" dominant-baseline="middle">{}</text></svg>"#,
        escaped(description),
        share * 100.0,
        escaped(shown),
    ))
}

/// A bar of a chart.
#[derive(Clone, Debug)]
pub struct Bar {
    /// The height of the bar.
    pub value: f64,
    /// The label below the bar. If there are many bars, only some labels are shown.
    pub label: String,
    /// Describes the bar for screen readers.
    pub description: String,
    /// The page that lists the records behind the value.
    pub href: Option<String>,
}

/// A chart with at most this many bars labels each bar.
const LABELLED: usize = 10;
/// The number of labels of a chart with more bars.
const LABELS: usize = 5;

/// Draws bars side by side, and a line at `mark` if it is given. `description` is for screen readers. The drawing stretches with
/// the page, and letters must not, so labels are HTML outside the SVG.
#[expect(clippy::cast_precision_loss, reason = "bars are few")]
pub fn bars(bars: &[Bar], description: &str, unit: &str, mark: Option<f64>) -> Svg {
    let greatest = bars.iter().map(|bar| bar.value).chain(mark).fold(0.0, f64::max);
    let scale = if greatest > 0.0 { 100.0 / greatest } else { 0.0 };
    let count = bars.len().max(1);
    let mut svg = format!(
        r#"<div class="chart"><p class="top">{} {}</p><svg class="bars" viewBox="0 0 {count} 100" preserveAspectRatio="none" role="group" aria-label="{}">"#,
        crate::words::number(greatest),
        escaped(unit),
        escaped(description),
    );
    if let Some(mark) = mark {
        let y = 100.0 - mark * scale;
        let _ = write!(svg, r#"<line class="mark" x1="0" x2="{count}" y1="{y:.1}" y2="{y:.1}"/>"#);
    }
    for (at, bar) in bars.iter().enumerate() {
        let (x, height) = (at as f64, bar.value.max(0.0) * scale);
        if let Some(href) = &bar.href {
            let _ = write!(
                svg,
                r#"<a href="{}" aria-label="{}">"#,
                escaped(href),
                escaped(&bar.description)
            );
        }
        let _ = write!(
            svg,
            r#"<g class="bar"><title>{}</title><rect class="hit" x="{x}" y="0" width="1" height="100"/><rect x="{:.2}" y="{:.2}" width="0.7" height="{height:.2}"/></g>"#,
            escaped(&bar.description),
            x + 0.15,
            100.0 - height,
        );
        if bar.href.is_some() {
            svg.push_str("</a>");
        }
    }
    let labelled: Vec<usize> = match bars.len() {
        0..=LABELLED => (0..bars.len()).collect(),
        many => (0..LABELS).map(|label| label * (many - 1) / (LABELS - 1)).collect(),
    };
    let each = if bars.len() <= LABELLED { " each" } else { "" };
    let _ = write!(svg, r#"</svg><p class="labels{each}">"#);
    for at in labelled {
        let _ = write!(svg, "<span>{}</span>", escaped(&bars[at].label));
    }
    svg.push_str("</p></div>");
    Svg(svg)
}
