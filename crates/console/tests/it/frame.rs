//! The frame around every page: its navigation, and that text stays text.

use lyceum_console::language::ProblemText;
use lyceum_console::{Frame, FramedProblemPage, SCREENS, Screen, html, screens};

use crate::{count, frame};

fn page(seen: &[&'static Screen]) -> String {
    let frame = Frame { screens: seen.to_vec(), ..frame("guide") };
    let message = ProblemText::of("it failed");
    html(&FramedProblemPage { frame: &frame, message, is_missing: false }).unwrap()
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
