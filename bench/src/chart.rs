//! The chart of a subject as an SVG file: how many times better than its goal each figure is.

use anyhow::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A figure beside its goal.
pub(crate) struct Bar {
    /// The name of the figure, and the figure with its goal.
    pub(crate) label: String,
    /// How many times better than the goal the figure is.
    pub(crate) margin: f64,
}

/// Pixels of a chart's width, of a bar with its label, and of the room above the bars.
const WIDTH: u32 = 860;
const ROW: u32 = 38;
const TOP: u32 = 70;
const REACHED: RGBColor = RGBColor(9, 105, 218);
const MISSED: RGBColor = RGBColor(188, 76, 0);

/// Draws the bars on a logarithmic axis: to the right of 1 the goal is reached.
pub(crate) fn draw(title: &str, bars: &[Bar]) -> Result<String> {
    let mut svg = String::new();
    {
        let rows = u32::try_from(bars.len())?;
        let area =
            SVGBackend::with_string(&mut svg, (WIDTH, TOP + ROW * rows + 10)).into_drawing_area();
        area.fill(&WHITE)?;
        let margins = || bars.iter().map(|bar| bar.margin);
        let (low, high) =
            (margins().fold(0.5, f64::min) / 1.2, margins().fold(2.0, f64::max) * 1.2);
        let mut chart = ChartBuilder::on(&area)
            .caption(format!("{title}: times better than the goal"), ("sans-serif", 20))
            .margin(10)
            .top_x_label_area_size(20)
            .build_cartesian_2d((low..high).log_scale(), f64::from(rows)..0.0)?;
        chart.configure_mesh().disable_y_mesh().disable_y_axis().x_labels(8).draw()?;
        let text =
            ("sans-serif", 16).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Top));
        for (bar, y) in bars.iter().zip(0..) {
            let (y, is_reached) = (f64::from(y), bar.margin >= 1.0);
            let color = if is_reached { REACHED } else { MISSED };
            let ends = [(1.0_f64.min(bar.margin), y + 0.55), (1.0_f64.max(bar.margin), y + 0.8)];
            chart.draw_series([Rectangle::new(ends, color.filled())])?;
            chart.draw_series([Text::new(bar.label.clone(), (low, y + 0.1), text.clone())])?;
        }
        chart.draw_series([PathElement::new([(1.0, 0.0), (1.0, f64::from(rows))], BLACK)])?;
        area.present()?;
    }
    Ok(svg)
}
