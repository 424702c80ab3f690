//! The image of a badge that came without one: a rosette whose colours and shape follow from its name
//! and its issuer, the same on every day and machine.

use std::f64::consts::TAU;
use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha2::{Digest, Sha256};

use crate::baking;

/// Pixels of the PNG's width and height, and the units of the SVG.
const SIZE: u16 = 400;
/// Samples along each side of a pixel: edges are smooth.
const SAMPLES: u32 = 3;

type Point = (f64, f64);
type Rgb = [u8; 3];

/// A filled outline.
struct Outline {
    points: Vec<Point>,
    fill: Rgb,
}

/// The image as SVG, with the badge's name as its title.
pub fn svg(name: &str, issuer: &str) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {SIZE} {SIZE}\" role=\"img\">\
         <title>{}</title>",
        escape(&format!("{name}, {issuer}"))
    );
    for shape in shapes(name, issuer) {
        let [r, g, b] = shape.fill;
        write!(svg, "<path fill=\"#{r:02x}{g:02x}{b:02x}\" d=\"M").expect("a string takes it");
        for (x, y) in shape.points {
            write!(svg, "{x:.1} {y:.1} ").expect("a string takes it");
        }
        svg.push_str("Z\"/>");
    }
    svg.push_str("</svg>");
    svg
}

/// The same image as PNG on a transparent ground.
pub fn png(name: &str, issuer: &str) -> Vec<u8> {
    let shapes = shapes(name, issuer);
    let mut rows = Vec::with_capacity(usize::from(SIZE) * (usize::from(SIZE) * 4 + 1));
    for y in 0..SIZE {
        rows.push(0);
        let lines = scan_lines(&shapes, y);
        for x in 0..SIZE {
            rows.extend(pixel(&shapes, &lines, x));
        }
    }
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&rows).expect("a vector takes everything");
    let packed = packed.finish().expect("a vector takes everything");
    let side = u32::from(SIZE).to_be_bytes();
    let header = [&side[..], &side[..], &[8, 6, 0, 0, 0]].concat();
    let mut png = baking::PNG_SIGNATURE.to_vec();
    baking::write_chunk(*b"IHDR", &header, &mut png);
    baking::write_chunk(*b"IDAT", &packed, &mut png);
    baking::write_chunk(*b"IEND", &[], &mut png);
    png
}

/// From the ground up: ribbons, rosette, rim, field, star.
fn shapes(name: &str, issuer: &str) -> Vec<Outline> {
    let seed = Sha256::new_with_prefix(name).chain_update([0]).chain_update(issuer).finalize();
    let hue = f64::from(u16::from_be_bytes([seed[0], seed[1]])) / 65_536.0;
    let petals = f64::from(12 + seed[2] % 9);
    let points = usize::from(5 + seed[3] % 4);
    let tone = |lightness| color(hue, 0.55, lightness);
    let (x, y) = (200.0, 165.0);
    let ring = |radius: f64, wave: f64| -> Vec<Point> {
        let outline = (0..240).map(|step| {
            let angle = TAU * f64::from(step) / 240.0;
            let radius = radius + wave * (angle * petals).cos();
            (x + radius * angle.sin(), y - radius * angle.cos())
        });
        outline.collect()
    };
    let ribbon = |side: f64| -> Vec<Point> {
        let corners = [(12.0, 110.0), (78.0, 80.0), (118.0, 205.0), (76.0, 188.0), (52.0, 222.0)];
        corners.map(|(dx, dy)| (x + side * dx, y + dy)).to_vec()
    };
    let corners = u32::try_from(points * 2).unwrap_or(10);
    let star = (0..corners).map(|corner| {
        let angle = TAU * f64::from(corner) / f64::from(corners);
        let radius = if corner % 2 == 0 { 78.0 } else { 38.0 };
        (x + radius * angle.sin(), y - radius * angle.cos())
    });
    vec![
        Outline { points: ribbon(-1.0), fill: tone(0.34) },
        Outline { points: ribbon(1.0), fill: tone(0.40) },
        Outline { points: ring(140.0, 9.0), fill: tone(0.46) },
        Outline { points: ring(118.0, 0.0), fill: [255, 255, 255] },
        Outline { points: ring(110.0, 0.0), fill: tone(0.30) },
        Outline { points: star.collect(), fill: color(hue + 0.45, 0.75, 0.72) },
    ]
}

/// For each line of samples in a row of pixels and each shape: where the line crosses it, sorted.
fn scan_lines(shapes: &[Outline], row: u16) -> Vec<Vec<Vec<f64>>> {
    let lines = (0..SAMPLES).map(|sample| {
        let y = f64::from(row) + (f64::from(sample) + 0.5) / f64::from(SAMPLES);
        let crossings = shapes.iter().map(|shape| {
            let next = shape.points.iter().cycle().skip(1);
            let mut crossings: Vec<f64> = shape
                .points
                .iter()
                .zip(next)
                .filter(|(from, to)| (from.1 <= y) != (to.1 <= y))
                .map(|(from, to)| from.0 + (y - from.1) / (to.1 - from.1) * (to.0 - from.0))
                .collect();
            crossings.sort_by(f64::total_cmp);
            crossings
        });
        crossings.collect()
    });
    lines.collect()
}

fn pixel(shapes: &[Outline], lines: &[Vec<Vec<f64>>], column: u16) -> [u8; 4] {
    let (mut sum, mut covered) = ([0_u32; 3], 0);
    for line in lines {
        for sample in 0..SAMPLES {
            let x = f64::from(column) + (f64::from(sample) + 0.5) / f64::from(SAMPLES);
            let inside = |crossings: &Vec<f64>| crossings.partition_point(|at| *at <= x) % 2 == 1;
            if let Some(top) = line.iter().rposition(inside) {
                covered += 1;
                for (sum, part) in sum.iter_mut().zip(shapes[top].fill) {
                    *sum += u32::from(part);
                }
            }
        }
    }
    let byte = |value: u32| u8::try_from(value).unwrap_or(u8::MAX);
    let [r, g, b] = sum.map(|sum| byte(sum / covered.max(1)));
    [r, g, b, byte(covered * 255 / (SAMPLES * SAMPLES))]
}

/// A colour by hue (once around is 1), saturation and lightness.
fn color(hue: f64, saturation: f64, lightness: f64) -> Rgb {
    [0.0, 8.0, 4.0].map(|offset| {
        let k = (offset + hue.fract() * 12.0) % 12.0;
        let part = saturation * lightness.min(1.0 - lightness);
        let value = lightness - part * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
        let byte = (value * 255.0).round() as u8;
        byte
    })
}

fn escape(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
