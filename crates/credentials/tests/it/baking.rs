//! Credentials in images.

use lyceum_core::random::RandomStream;
use lyceum_credentials::{badge_image, baking, did, jwt};
use serde_json::Value;

use crate::samples::{badge, key, signed};
use crate::standards;

/// The same badge as JSON and as a compact JWS.
fn credentials() -> [String; 2] {
    let mut badge = badge();
    badge["description"] = "ends a section: ]]> and <b>&amp;".into();
    let method = did::key_method(&key().verifying_key());
    let token = jwt::sign(&badge, jwt::Key::EdDsa(&key()), &method).unwrap();
    [signed(badge).to_string(), token]
}

fn is_same_credential(baked: &str, credential: &str) -> bool {
    let json = |text: &str| serde_json::from_str::<Value>(text).ok();
    baked == credential || json(baked).is_some() && json(baked) == json(credential)
}

#[test]
fn a_baked_credential_is_extracted_unchanged_and_replaces_an_earlier_one() {
    let png = badge_image::png("Fractions & more", "Riverside");
    let svg = badge_image::svg("Fractions & more", "Riverside");
    let [json, token] = credentials();
    for (first, then) in [(&json, &token), (&token, &json)] {
        let once = baking::bake_png(&png, first).unwrap();
        assert!(is_same_credential(&baking::unbake(&once).unwrap(), first));
        let twice = baking::bake_png(&once, then).unwrap();
        assert!(is_same_credential(&baking::unbake(&twice).unwrap(), then));
        assert_eq!(twice, baking::bake_png(&png, then).unwrap());

        let once = baking::bake_svg(&svg, first).unwrap();
        assert!(is_same_credential(&baking::unbake(once.as_bytes()).unwrap(), first), "{once}");
        let twice = baking::bake_svg(&once, then).unwrap();
        assert!(is_same_credential(&baking::unbake(twice.as_bytes()).unwrap(), then), "{twice}");
        assert_eq!(twice, baking::bake_svg(&svg, then).unwrap());
    }
}

#[test]
fn a_credential_is_baked_into_images_of_all_shapes() {
    for svg in [
        "<svg xmlns='http://www.w3.org/2000/svg'/>",
        "<?xml version=\"1.0\"?>\n<!-- > -->\n<svg xmlns=\"http://www.w3.org/2000/svg\" \
         aria-label='a > b'\n/>",
        "<s:svg xmlns:s=\"http://www.w3.org/2000/svg\"><s:g/></s:svg>",
        "<svg xmlns=\"http://www.w3.org/2000/svg\" \
         xmlns:openbadges=\"https://purl.imsglobal.org/ob/v3p0\"><g/></svg>",
    ] {
        let baked = baking::bake_svg(svg, "a.b.c").unwrap();
        assert_eq!(baking::unbake(baked.as_bytes()).unwrap(), "a.b.c", "{baked}");
    }
}

#[test]
fn images_are_equal_only_for_the_same_badge() {
    let png = |name| badge_image::png(name, "Riverside");
    assert_eq!(png("Fractions"), png("Fractions"));
    assert_ne!(png("Fractions"), png("Decimals"));
    assert_ne!(badge_image::svg("Fractions", "A"), badge_image::svg("Fractions", "B"));
    assert!(png("Fractions").len() < 20_000);
}

#[test]
fn files_that_are_not_images_or_have_no_credential_are_refused_with_the_reason() {
    let png = badge_image::png("Fractions", "Riverside");
    let baked = baking::bake_png(&png, "a.b.c").unwrap();
    let mut two = baked.clone();
    let chunk = baked.len() - 12 - (12 + 20 + 4 + 5)..baked.len() - 12;
    two.splice(chunk.start..chunk.start, baked[chunk.clone()].to_vec());
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\">{}</svg>";
    let element = "<o:credential xmlns:o=\"https://purl.imsglobal.org/ob/v3p0\" verify=\"a.b.c\"/>";
    for (image, message) in [
        (Vec::new(), "neither PNG nor SVG"),
        (b"GIF89a".to_vec(), "neither PNG nor SVG"),
        (png, "exactly one credential"),
        (two, "exactly one credential"),
        (baked[..baked.len() - 1].to_vec(), "damaged"),
        (svg.replace("{}", "").into_bytes(), "holds 0 credentials"),
        (svg.replace("{}", &element.repeat(2)).into_bytes(), "holds 2 credentials"),
        (b"<html/>".to_vec(), "not 'svg'"),
        (b"<svg".to_vec(), "cannot be read"),
        (b"<!DOCTYPE svg [<!ENTITY a \"b\">]><svg>&a;</svg>".to_vec(), "entities"),
    ] {
        let problem = baking::unbake(&image).unwrap_err();
        assert!(problem.message.contains(message), "{problem}");
    }
}

#[test]
fn official_images_hold_their_credentials() {
    let Some(folder) = standards::folder("baked images") else { return };
    for (file, begins) in [
        ("simple-json.svg", "{"),
        ("simple-jwt.png", "eyJhbGciOiJSUzI1NiIs"),
        ("simple-jwt_v1.png", "eyJhbGciOiJSUzI1NiIs"),
        ("simple-jwt_v1.svg", "eyJhbGciOiJSUzI1NiIs"),
    ] {
        let image = std::fs::read(folder.join("openbadges/examples").join(file)).unwrap();
        let held = baking::unbake(&image).unwrap();
        assert!(held.trim_start().starts_with(begins), "{file}: {held}");
        let rebaked = match std::str::from_utf8(&image) {
            Ok(svg) => baking::bake_svg(svg, "a.b.c").unwrap().into_bytes(),
            Err(_) => baking::bake_png(&image, "a.b.c").unwrap(),
        };
        assert_eq!(baking::unbake(&rebaked).unwrap(), "a.b.c", "{file}");
    }
}

#[test]
fn damaged_images_are_refused_without_a_panic() {
    let [json, token] = credentials();
    let images = [
        baking::bake_png(&badge_image::png("a", "b"), &token).unwrap(),
        baking::bake_svg(&badge_image::svg("a", "b"), &json).unwrap().into_bytes(),
    ];
    let mut random = RandomStream::seeded(3);
    for image in images {
        for _ in 0..1000 {
            let mut image = image.clone();
            for _ in 0..=random.below(4) {
                let at = usize::try_from(random.below(image.len() as u64)).unwrap();
                match random.below(3) {
                    0 => image.truncate(at.max(1)),
                    1 => drop(image.remove(at.min(image.len() - 1))),
                    _ => image[at] = u8::try_from(random.below(256)).unwrap(),
                }
            }
            if let Ok(text) = std::str::from_utf8(&image) {
                let _ = baking::bake_svg(text, "a.b.c");
            }
            let _ = baking::bake_png(&image, "a.b.c");
            let _ = baking::unbake(&image);
        }
    }
}
