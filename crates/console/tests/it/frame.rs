//! The frame around every page: its navigation, and that text stays text.

use lyceum_console::courses::{COLUMNS, CoursesPage};
use lyceum_console::{Frame, List, SCREENS, Screen, html, screens};

use crate::{count, frame, query};

fn page(seen: &[&'static Screen]) -> String {
    let list = List::new("Courses", COLUMNS, query(""), Vec::new());
    let frame = Frame { screens: seen.to_vec(), ..frame("guide") };
    html(&CoursesPage { frame, list }).unwrap()
}

#[test]
fn the_navigation_has_the_screens_of_the_frame_and_no_others() {
    for seen in [SCREENS, &SCREENS[..6], &[&screens::HOME, &screens::DOCS]] {
        let shown = page(seen);
        for screen in SCREENS {
            let link = format!("<li><a href=\"{}\"", screen.path);
            assert_eq!(shown.contains(&link), seen.contains(screen), "{}", screen.path);
        }
        let here = usize::from(seen.contains(&&screens::COURSES));
        assert_eq!(count(&shown, "aria-current=\"page\""), here);
    }
}

#[test]
fn a_title_never_becomes_markup() {
    let shown = page(SCREENS);
    assert_eq!(count(&shown, "A <b>title</b>"), 0);
    assert!(shown.contains("A &#60;b&#62;title&#60;/b&#62;"), "{shown}");
}
