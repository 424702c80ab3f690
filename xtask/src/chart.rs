//! Charts as SVG files that are readable in light and in dark surroundings, by people and by screen readers.

use std::fmt::Write;

/// The width of every chart.
const WIDTH: f64 = 860.0;
const STYLE: &str = "<style>\
text{font:13px system-ui,sans-serif;fill:#1f2328;stroke:#fff;stroke-width:4;paint-order:stroke}.small{font-size:11px;fill:#59636e}.title{font-size:16px;font-weight:600}\
.paper{fill:#fff}.grid{stroke:#d1d9e0}.goal{stroke:#1f2328;stroke-width:2}.reached{fill:#0969da}.missed{fill:#bc4c00}\
.line{fill:none;stroke-width:2}.c0{stroke:#0969da}.c1{stroke:#bc4c00}.c2{stroke:#1a7f37}.c3{stroke:#8250df}.dot{fill:#fff;stroke-width:2}\
@media(prefers-color-scheme:dark){text{fill:#f0f6fc;stroke:#0d1117}.small{fill:#9198a1}.paper{fill:#0d1117}.grid{stroke:#3d444d}\
.goal{stroke:#f0f6fc}.reached{fill:#58a6ff}.missed{fill:#f0883e}.dot{fill:#0d1117}\
.c0{stroke:#58a6ff}.c1{stroke:#f0883e}.c2{stroke:#3fb950}.c3{stroke:#bc8cff}}</style>";

/// A figure beside its goal.
#[derive(Clone, Debug)]
pub struct Bar {
    /// The name of the figure.
    pub label: String,
    /// The figure and the goal, for people.
    pub note: String,
    /// How many times better than the goal the figure is.
    pub margin: f64,
}

/// A chart of lines over two logarithmic axes.
#[derive(Clone, Debug)]
pub struct LineChart<'a> {
    /// The text above the chart.
    pub title: &'a str,
    /// The content of the chart, for screen readers.
    pub description: &'a str,
    /// The quantity and unit of the horizontal axis.
    pub across: &'a str,
    /// The quantity and unit of the vertical axis.
    pub up: &'a str,
    /// The lines, in the order of the legend.
    pub lines: Vec<Line>,
}

/// A line of a chart.
#[derive(Clone, Debug)]
pub struct Line {
    /// The name in the legend.
    pub name: String,
    /// The places of the dots, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// Draws how many times better than its goal each figure is: to the right of the line the goal is reached.
pub fn draw_bars(title: &str, description: &str, bars: &[Bar]) -> String {
    const ROW: f64 = 38.0;
    const TOP: f64 = 66.0;
    let scale =
        Scale::over(bars.iter().map(|bar| bar.margin).chain([0.5, 2.0]), 20.0, WIDTH - 20.0);
    let bottom = bars.iter().fold(TOP, |y, _| y + ROW);
    let mut svg = open(title, description, bottom + 10.0);
    for tick in scale.ticks() {
        let x = scale.at(tick);
        let _ = write!(
            svg,
            r#"<line class="grid" x1="{x:.1}" x2="{x:.1}" y1="{TOP}" y2="{bottom}"/><text class="small" x="{x:.1}" y="58" text-anchor="middle">{}×</text>"#,
            number(tick)
        );
    }
    let goal = scale.at(1.0);
    let _ = write!(
        svg,
        r#"<text class="small" x="{}" y="30" text-anchor="end">times better than the goal</text><line class="goal" x1="{goal:.1}" x2="{goal:.1}" y1="{TOP}" y2="{bottom}"/>"#,
        WIDTH - 20.0
    );
    let mut y = TOP;
    for bar in bars {
        let (end, class) =
            (scale.at(bar.margin), if bar.margin < 1.0 { "missed" } else { "reached" });
        let _ = write!(
            svg,
            r#"<text x="20" y="{:.1}">{}</text><text class="small" x="{:.1}" y="{:.1}" text-anchor="end">{}</text><rect class="{class}" x="{:.1}" y="{:.1}" width="{:.1}" height="10"/>"#,
            y + 16.0,
            escaped(&bar.label),
            WIDTH - 20.0,
            y + 16.0,
            escaped(&bar.note),
            goal.min(end),
            y + 21.0,
            (end - goal).abs().max(1.0),
        );
        y += ROW;
    }
    svg.push_str("</svg>\n");
    svg
}

/// Draws the lines with their axes and a legend.
pub fn draw_lines(chart: &LineChart<'_>) -> String {
    const HEIGHT: f64 = 400.0;
    const LEFT: f64 = 70.0;
    const RIGHT: f64 = 560.0;
    const TOP: f64 = 60.0;
    const BOTTOM: f64 = 340.0;
    let points = || chart.lines.iter().flat_map(|line| &line.points);
    let across = Scale::over(points().map(|point| point.0), LEFT, RIGHT);
    let up = Scale::over(points().map(|point| point.1), BOTTOM, TOP);
    let mut svg = open(chart.title, chart.description, HEIGHT);
    for tick in up.ticks() {
        let y = up.at(tick);
        let _ = write!(
            svg,
            r#"<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1}" y2="{y:.1}"/><text class="small" x="{}" y="{:.1}" text-anchor="end">{}</text>"#,
            LEFT - 8.0,
            y + 4.0,
            number(tick)
        );
    }
    for tick in across.ticks() {
        let _ = write!(
            svg,
            r#"<line class="grid" x1="{x:.1}" x2="{x:.1}" y1="{TOP}" y2="{BOTTOM}"/><text class="small" x="{x:.1}" y="{}" text-anchor="middle">{}</text>"#,
            BOTTOM + 20.0,
            number(tick),
            x = across.at(tick)
        );
    }
    let _ = write!(
        svg,
        r#"<text class="small" x="{LEFT}" y="{}">{}</text><text class="small" x="{RIGHT}" y="{}" text-anchor="end">{}</text>"#,
        TOP - 12.0,
        escaped(chart.up),
        BOTTOM + 42.0,
        escaped(chart.across),
    );
    for (at, line) in (0..).zip(&chart.lines) {
        svg.push_str(&line_and_dots(line, at, &across, &up));
        let y = TOP + 8.0 + 22.0 * f64::from(at);
        let _ = write!(
            svg,
            r#"<line class="line {}" x1="575" x2="600" y1="{:.1}" y2="{:.1}"/><text x="606" y="{y:.1}">{}</text>"#,
            stroke(at),
            y - 4.0,
            y - 4.0,
            escaped(&line.name)
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// A line, with a dot for each of its points.
fn line_and_dots(line: &Line, at: u32, across: &Scale, up: &Scale) -> String {
    let place = |&(x, y): &(f64, f64)| (across.at(x), up.at(y));
    let path: Vec<String> =
        line.points.iter().map(place).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let mut svg = format!(r#"<polyline class="line {}" points="{}"/>"#, stroke(at), path.join(" "));
    for (x, y) in line.points.iter().map(place) {
        let _ = write!(svg, r#"<circle class="dot c{}" cx="{x:.1}" cy="{y:.1}" r="4"/>"#, at % 4);
    }
    svg
}

/// The classes of a line. From the fifth on, lines are dashed.
fn stroke(at: u32) -> String {
    let dashes = if at < 4 { "" } else { r#"" stroke-dasharray="6 4"# };
    format!("c{}{dashes}", at % 4)
}

/// A logarithmic axis.
struct Scale {
    low: f64,
    high: f64,
    /// Where the lowest and the highest value lie.
    ends: [f64; 2],
}

impl Scale {
    /// An axis over all values. Values that are not positive are left out.
    fn over(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (low, high) = values
            .filter(|value| *value > 0.0)
            .fold((f64::MAX, f64::MIN_POSITIVE), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        Self { low: low / 1.3, high: high * 1.3, ends: [from, to] }
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value.max(self.low) / self.low).ln() / (self.high / self.low).ln();
        self.ends[0] + share.min(1.0) * (self.ends[1] - self.ends[0])
    }

    /// Round values: powers of ten, and on a short axis twice and five times these.
    fn ticks(&self) -> Vec<f64> {
        let steps: &[f64] = if self.high / self.low > 500.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let powers = (-6..10).map(|power| 10_f64.powi(power));
        let all = powers.flat_map(|power| steps.iter().map(move |step| step * power));
        all.filter(|tick| (self.low..=self.high).contains(tick)).collect()
    }
}

/// The beginning of a file, up to the title.
fn open(title: &str, description: &str, height: f64) -> String {
    let (title, description) = (escaped(title), escaped(description));
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="title description"><title id="title">{title}</title><desc id="description">{description}</desc>{STYLE}<rect class="paper" width="{WIDTH}" height="{height}"/><text class="title" x="20" y="30">{title}</text>"#
    )
}

/// A round value of an axis: `0.5`, `20`, `10k`, `1M`.
fn number(value: f64) -> String {
    match value {
        1e6.. => format!("{}M", value / 1e6),
        1e4.. => format!("{}k", value / 1e3),
        _ => format!("{}", (value * 1e6).round() / 1e6),
    }
}

/// Escapes text for use in markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
