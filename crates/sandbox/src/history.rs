//! The demo user's earlier activities, so that a new sandbox already shows XP.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_games::games::Game;
use lyceum_games::lms::activity::{self, EndedActivity};
use lyceum_games::lms::events::EventContext;
use lyceum_games::lms::{self, TaughtCourse};
use lyceum_store::Tx;
use serde_json::json;

const DAY_S: i64 = 24 * 60 * 60;
/// Days ago, activity, minutes, correct answers out of ten. Their XP are below the start of the second level.
const PAST: [(i64, &str, u32, u32); 10] = [
    (13, "Counting", 4, 8),
    (12, "Adding", 3, 10),
    (11, "Adding more", 3, 9),
    (9, "Taking away", 4, 7),
    (8, "Taking away", 4, 9),
    (6, "Sharing", 4, 10),
    (5, "Groups", 3, 8),
    (4, "More groups", 4, 10),
    (2, "Halves", 5, 9),
    (1, "Quarters", 4, 10),
];

/// Records the activities of the last two weeks, except today's, in the game's first course.
pub(crate) fn put(
    tx: &mut Tx<'_>,
    now: Timestamp,
    base_url: &str,
    game: &Game,
    user: &str,
) -> Result<()> {
    let integration = lms::find(tx, game)?;
    let Some(TaughtCourse { subject, grade, .. }) = integration.courses.first() else {
        return Ok(());
    };
    let scene = EventContext { base_url, now, game, integration: &integration, user };
    for (days, name, minutes, correct) in PAST {
        let ended = json!({
            "activityData": {
                "activityId": format!("demo-{}", name.to_lowercase().replace(' ', "-")),
                "activityName": name, "subject": subject, "grade": grade,
            },
            "scoreData": { "correctQuestions": correct, "totalQuestions": 10 },
            "timingData": {
                "durationSeconds": minutes * 60,
                "endedAt": now.plus_seconds(-days * DAY_S),
            },
        });
        let ended: EndedActivity = lyceum_core::body::read(ended.to_string().as_bytes())?;
        activity::end(tx, &scene, &ended)?;
    }
    Ok(())
}
