//! The answers on a student's page for teachers.

use lyceum_access::Role;
use lyceum_testserver::server::both;
use serde_json::json;

use crate::lessons::{course, lesson, stored_question};
use crate::people::{person, signed_in};

const ANSWERS: i64 = 521;

#[test]
fn each_page_of_answers_has_the_text_of_its_questions() {
    both(|server| {
        let client = server.client();
        course(&client);
        stored_question(&client, "q1");
        lesson(&client, "quiz", "quiz", &["q1"], 10.0);
        let answer = json!({
            "student": "amy", "lesson": "quiz", "question": "q1", "responses": {"RESPONSE": "A"},
        });
        client.put("/adaptive/updateStudentQuestionResponse").json(&answer).expect(200);
        // Copies of the answer, as a student gives them in a year.
        let copy = "INSERT INTO lesson_question (attempt, round, number, question, item, served_ms, reason, \
             answered_ms, responses, result, correct, score, points, share) \
             SELECT attempt, round, $1, question, item, served_ms + $1, reason, \
             answered_ms, responses, result, correct, score, points, share \
             FROM lesson_question WHERE number = 0";
        let copies = server.db().write_blocking(|tx| {
            (1..ANSWERS).try_for_each(|number| tx.execute(copy, &[number.into()]).map(drop))
        });
        copies.unwrap();

        person(server, "gil@example.org", "Gil", Role::Guide);
        let cookie = signed_in(server, "gil@example.org");
        let questions = |query: &str| {
            let path = format!("/console/students/amy?{query}");
            let page = server.anonymous().get(&path).header("cookie", &cookie).expect(200);
            page.text().matches("Q q1").count()
        };
        for (query, rows) in [("page=1", 50), ("page=11", 21), ("sort=when", 50)] {
            assert_eq!(questions(query), rows, "{query}");
        }
        // A search reads the text of the newest 500.
        assert_eq!(questions("filter=Q&page=10"), 50);
        assert_eq!(questions("filter=Q&page=11"), 0);
    });
}
