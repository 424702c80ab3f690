//! The highest grade mastered, from assessment results.

use lyceum_bridge::analytics::highest_grade_mastered;
use lyceum_store::Db;
use serde_json::{Value, json};

use crate::kit::{both, course, create, school, student};

fn result(db: &Db, id: &str, status: &str, metadata: &Value) {
    create(
        db,
        "assessmentResults",
        json!({
            "sourcedId": id, "assessmentLineItem": {"sourcedId": "item"}, "student": {"sourcedId": "ann"},
            "score": 95, "scoreDate": "2026-03-01", "scoreStatus": status, "metadata": metadata,
        }),
    );
}

fn mastered(db: &Db, subject: &str) -> Value {
    let found = db.read_blocking(|tx| {
        highest_grade_mastered(tx, "ann", subject, &lyceum_core::Reach::Everything)
    });
    serde_json::to_value(found.unwrap()).unwrap()
}

#[test]
fn each_source_reports_its_highest_grade_by_value() {
    both(|db| {
        school(db);
        student(db, "ann", "ann@example.org");
        course(db, "c", &["Math"]);
        create(
            db,
            "assessmentLineItems",
            json!({
                "sourcedId": "item", "title": "Test", "course": {"sourcedId": "c"},
            }),
        );
        let nothing = mastered(db, "Math");
        assert_eq!(nothing["grades"], json!({}));
        assert!(nothing["message"].as_str().unwrap().contains("no assessment result"));
        let done = "fully graded";
        result(db, "1", done, &json!({"source": "edulastic", "grade": "9", "subject": "Math"}));
        result(db, "2", done, &json!({"source": "Edulastic", "grade": "10"}));
        result(db, "3", done, &json!({"source": "rit", "grade": "05", "subject": "math"}));
        result(db, "4", done, &json!({"source": "rit", "grade": 4, "subject": "Math"}));
        result(db, "5", done, &json!({"source": "placement", "grade": "11", "subject": "Reading"}));
        result(
            db,
            "6",
            "submitted",
            &json!({"source": "test-out", "grade": "12", "subject": "Math"}),
        );
        result(db, "7", done, &json!({"source": "horoscope", "grade": "12", "subject": "Math"}));
        let wanted = json!({
            "studentId": "ann", "subject": "Math",
            "grades": {"ritGrade": 5, "edulasticGrade": "10", "highestGradeOverall": "10"},
        });
        assert_eq!(mastered(db, "Math"), wanted);
        let reading = mastered(db, "reading");
        assert_eq!(reading["grades"]["placementGrade"], "11");
        assert_eq!(reading["grades"]["highestGradeOverall"], "11");
    });
}
