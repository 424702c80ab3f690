//! The frame around every page: what a role sees, and that text stays text.

use lyceum_console::courses::{COLUMNS, CoursesPage};
use lyceum_console::{List, SCREENS, html, screens};

use crate::{count, frame, query};

fn page(role: &'static str) -> String {
    let list = List::new("Courses", COLUMNS, query(""), Vec::new());
    html(&CoursesPage { frame: frame(role), list }).unwrap()
}

#[test]
fn a_role_sees_its_screens_and_no_others() {
    for role in ["administrator", "guide", "developer"] {
        let shown = page(role);
        for screen in SCREENS {
            let link = format!("<li><a href=\"{}\"", screen.path);
            assert_eq!(shown.contains(&link), screen.is_for(role), "{role}: {}", screen.path);
        }
        let here = usize::from(screens::COURSES.is_for(role));
        assert_eq!(count(&shown, "aria-current=\"page\""), here, "{role}");
    }
    assert!(SCREENS.iter().all(|screen| screen.is_for("administrator")));
}

#[test]
fn a_title_never_becomes_markup() {
    let shown = page("administrator");
    assert_eq!(count(&shown, "A <b>title</b>"), 0);
    assert!(shown.contains("A &#60;b&#62;title&#60;/b&#62;"), "{shown}");
}
