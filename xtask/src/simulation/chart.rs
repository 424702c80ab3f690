//! Curves as an SVG file that is read in light and in dark surroundings. Both axes are logarithmic.

use std::fmt::Write as _;

/// The size of the picture, and the place of the curves in it.
const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 430.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 560.0;
const TOP: f64 = 60.0;
const BOTTOM: f64 = 370.0;
const STYLE: &str = "<style>\
text{font:13px system-ui,sans-serif;fill:#1f2328}.small{font-size:11px;fill:#59636e}.title{font-size:16px;font-weight:600}\
.paper{fill:#fff}.grid{stroke:#d1d9e0}.line{fill:none;stroke-width:2}\
.c0{stroke:#0969da}.c1{stroke:#bc4c00}.c2{stroke:#1a7f37}\
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.small{fill:#9198a1}.paper{fill:#0d1117}.grid{stroke:#3d444d}\
.c0{stroke:#58a6ff}.c1{stroke:#f0883e}.c2{stroke:#3fb950}}</style>";

/// A line of the chart: requests per second and milliseconds.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The name in the legend.
    pub name: String,
    /// The points from left to right.
    pub points: Vec<(f64, f64)>,
}

/// Draws the curves. From the fourth on, lines are dashed.
pub fn draw(title: &str, curves: &[Curve]) -> String {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let across = Axis::over(points().map(|point| point.0), LEFT, RIGHT);
    let up = Axis::over(points().map(|point| point.1), BOTTOM, TOP);
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}"><title>{title}</title>{STYLE}<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/><text class="title" x="20" y="30">{title}</text><text class="small" x="{LEFT}" y="50">99th percentile, ms</text><text class="small" x="{RIGHT}" y="{}" text-anchor="end">requests per second</text>"#,
        BOTTOM + 40.0
    );
    for tick in up.ticks() {
        let y = up.place(tick);
        let _ = write!(
            svg,
            r#"<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1}" y2="{y:.1}"/><text class="small" x="52" y="{:.1}" text-anchor="end">{tick}</text>"#,
            y + 4.0
        );
    }
    for tick in across.ticks() {
        let x = across.place(tick);
        let _ = write!(
            svg,
            r#"<line class="grid" x1="{x:.1}" x2="{x:.1}" y1="{TOP}" y2="{BOTTOM}"/><text class="small" x="{x:.1}" y="{}" text-anchor="middle">{tick}</text>"#,
            BOTTOM + 20.0
        );
    }
    for (at, curve) in curves.iter().enumerate() {
        let place = |&(x, y): &(f64, f64)| format!("{:.1},{:.1}", across.place(x), up.place(y));
        let places: Vec<String> = curve.points.iter().map(place).collect();
        let dashes = if at < 3 { "" } else { r#" stroke-dasharray="6 4""# };
        let (colour, row) = (at % 3, TOP + 8.0 + 22.0 * super::queues::as_real(at));
        let _ = write!(
            svg,
            r#"<polyline class="line c{colour}"{dashes} points="{}"/><line class="line c{colour}"{dashes} x1="575" x2="600" y1="{:.1}" y2="{:.1}"/><text class="small" x="606" y="{row:.1}">{}</text>"#,
            places.join(" "),
            row - 4.0,
            row - 4.0,
            curve.name
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// A logarithmic axis.
struct Axis {
    least: f64,
    most: f64,
    /// Where the least value lies.
    from: f64,
    to: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (least, most) = values
            .fold((f64::MAX, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)));
        Self { least: least / 1.2, most: most * 1.2, from, to }
    }

    fn place(&self, value: f64) -> f64 {
        self.from
            + (value / self.least).ln() / (self.most / self.least).ln() * (self.to - self.from)
    }

    /// Powers of ten, and two, three and five times these.
    fn ticks(&self) -> impl Iterator<Item = f64> {
        let powers = (-3..8).map(|power| 10_f64.powi(power));
        let all = powers.flat_map(|power| [1.0, 2.0, 3.0, 5.0].map(|step| step * power));
        all.filter(|tick| (self.least..self.most).contains(tick))
    }
}
