//! Sign-in in class: codes, secrets, limits on guessing, and the sessions that result.

use lyceum_access::class_secret::{self, ClassAnswer, ClassSecret, ClassSecretKind, PICTURES};
use lyceum_access::class_sign_in::{self, OpenClass};
use lyceum_access::holder::{self, TokenRejection};
use lyceum_access::limits;
use lyceum_access::session::SessionKind;
use lyceum_access::{
    CallerPlace, MasterKey, NewPerson, Person, Role, StudentSession, TokenHolder, person,
};
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind};
use lyceum_store::Db;

use crate::students::{STAGING, student};
use crate::{morning, on_both_stores, write};

const SCHOOL: &str = "192.0.2.1";

fn teacher(db: &Db) -> Person {
    let new = NewPerson {
        email: "tess@example.org".to_owned(),
        name: "Tess".to_owned(),
        role: Role::Guide,
        password: None,
    };
    write(db, |tx| person::create(tx, morning(), &new))
}

fn open(db: &Db, by: &Person, class: &str, minutes: i64) -> OpenClass {
    write(db, |tx| class_sign_in::open(tx, morning(), class, by, minutes))
}

fn card(db: &Db, master: &MasterKey, student: &Person, kind: ClassSecretKind) -> ClassSecret {
    write(db, |tx| class_secret::renew(tx, morning(), master, &student.id, kind))
}

fn right(secret: &ClassSecret) -> ClassAnswer {
    match secret.kind {
        ClassSecretKind::Pictures => ClassAnswer::from_pictures(&secret.parts[0], &secret.parts[1]),
        ClassSecretKind::Words => ClassAnswer::from_words(&secret.parts.join("  ").to_uppercase()),
    }
}

/// Two pictures that are not those of the secret.
fn wrong(secret: &ClassSecret) -> ClassAnswer {
    let other = PICTURES.into_iter().find(|name| *name != secret.parts[0]).unwrap();
    ClassAnswer::from_pictures(other, &secret.parts[1])
}

struct Classroom<'a> {
    db: &'a Db,
    master: &'a MasterKey,
    open: &'a OpenClass,
}

impl Classroom<'_> {
    fn try_from(
        &self,
        student: &Person,
        answer: &ClassAnswer,
        address: &str,
    ) -> Result<Option<String>, Problem> {
        let place: CallerPlace = address.parse().unwrap();
        let (at, who) = ((morning(), STAGING), (answer, &place));
        self.db.write_blocking(|tx| {
            class_sign_in::sign_in(tx, at, self.master, self.open, student, who, None)
        })
    }

    fn try_once(&self, student: &Person, answer: &ClassAnswer) -> Result<Option<String>, Problem> {
        self.try_from(student, answer, SCHOOL)
    }
}

fn session_at(db: &Db, now: Timestamp, text: &str) -> Result<TokenHolder, TokenRejection> {
    let found =
        db.read_blocking(|tx| holder::of_session(tx, now, STAGING, text, SessionKind::Page));
    found.unwrap().map(|(holder, _)| holder)
}

#[test]
fn a_code_in_any_spelling_opens_its_class_until_it_closes() {
    on_both_stores(|db| {
        let tess = teacher(db);
        for minutes in [0, limits::CLASS_SIGN_IN_MAX_MIN + 1, -5] {
            let refused =
                db.write_blocking(|tx| class_sign_in::open(tx, morning(), "c", &tess, minutes));
            assert_eq!(refused.unwrap_err().kind, ProblemKind::Invalid, "{minutes}");
        }
        let math = open(db, &tess, "math", 15);
        assert_ne!(open(db, &tess, "art", 15).code, math.code);
        let (first, last) = math.code.split_at(3);
        assert_eq!(math.shown_code(), format!("{first}-{last}"));
        let class_at = |typed: &str, minute: i64| {
            let now = morning().plus_seconds(minute * 60);
            let found = write(db, |tx| class_sign_in::of_code(tx, now, typed));
            found.map(|open| open.class)
        };
        for typed in [&math.code, &math.shown_code(), &format!(" {first} {last} ").to_lowercase()] {
            assert_eq!(class_at(typed, 14).as_deref(), Some("math"), "{typed}");
        }
        assert_eq!(class_at(&math.code, 15), None, "the time is over");
        assert_eq!(class_at("", 0), None);

        // The time can be set again, and the code on the board stays right.
        let longer = open(db, &tess, "math", 40);
        assert_eq!(longer.code, math.code);
        assert_eq!(class_at(&math.code, 39).as_deref(), Some("math"));
        write(db, |tx| class_sign_in::close(tx, "math"));
        assert_eq!(class_at(&math.code, 0), None);
        assert_ne!(open(db, &tess, "math", 15).code, math.code, "a former code is not used again");
    });
}

#[test]
fn wrong_codes_are_limited_by_address() {
    on_both_stores(|db| {
        let code = open(db, &teacher(db), "math", 15).code;
        let enter = |typed: &str, address: &str, now: Timestamp| {
            let place: CallerPlace = address.parse().unwrap();
            db.write_blocking(|tx| class_sign_in::enter_code(tx, now, typed, &place))
        };
        for _ in 0..2 * limits::GUESSES_CLASS_CODE_COUNT {
            assert!(enter(&code, SCHOOL, morning()).unwrap().is_some(), "right codes are free");
        }
        for _ in 0..limits::GUESSES_CLASS_CODE_COUNT {
            assert_eq!(enter("AAAAAA", SCHOOL, morning()).unwrap(), None);
        }
        let refused = enter(&code, SCHOOL, morning()).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::TooManyRequests);
        assert!(enter(&code, "192.0.2.2", morning()).unwrap().is_some());
        let later = morning().plus_seconds(limits::GUESS_WINDOW_S);
        assert!(enter("AAAAAA", SCHOOL, later).unwrap().is_none(), "the window is over");
    });
}

#[test]
fn a_student_signs_in_with_the_pictures_or_words_of_the_newest_card() {
    on_both_stores(|db| {
        let (master, tess) = (MasterKey::random(), teacher(db));
        let (ann, bob) = (student(db, "ann"), student(db, "bob"));
        let class = open(db, &tess, "math", 15);
        let room = Classroom { db, master: &master, open: &class };
        let any = ClassAnswer::from_pictures("cat", "cat");
        assert_eq!(room.try_once(&ann, &any).unwrap(), None, "a student without a card");

        let pictures = card(db, &master, &ann, ClassSecretKind::Pictures);
        assert!(pictures.parts.iter().all(|part| PICTURES.contains(&part.as_str())));
        assert_eq!(room.try_once(&ann, &wrong(&pictures)).unwrap(), None);
        assert!(room.try_once(&ann, &right(&pictures)).unwrap().is_some());
        let words = card(db, &master, &bob, ClassSecretKind::Words);
        assert!(room.try_once(&bob, &right(&words)).unwrap().is_some());

        let known = db.read_blocking(|tx| {
            class_secret::open_secrets(tx, &master, &[&ann.id, &bob.id, "lp_x"])
        });
        let known = known.unwrap();
        assert_eq!((known.len(), &known[&ann.id], &known[&bob.id]), (2, &pictures, &words));
        let other = MasterKey::random();
        db.read_blocking(|tx| class_secret::open_secret(tx, &other, &ann.id)).unwrap_err();

        let newer = card(db, &master, &ann, ClassSecretKind::Words);
        assert_eq!(room.try_once(&ann, &right(&pictures)).unwrap(), None, "the former card");
        assert!(room.try_once(&ann, &right(&newer)).unwrap().is_some());
    });
}

#[test]
fn wrong_answers_are_limited_by_student_class_and_address() {
    // Ten classes behind one address may each use up their tries.
    const { assert!(limits::GUESSES_CLASS_ADDRESS_COUNT >= 10 * limits::GUESSES_CLASS_COUNT) };
    on_both_stores(|db| {
        let (master, tess) = (MasterKey::random(), teacher(db));
        let (ann, bob) = (student(db, "ann"), student(db, "bob"));
        let class = open(db, &tess, "math", 15);
        let room = Classroom { db, master: &master, open: &class };
        let [of_ann, of_bob] =
            [&ann, &bob].map(|student| card(db, &master, student, ClassSecretKind::Pictures));
        for _ in 0..limits::GUESSES_CLASS_STUDENT_COUNT {
            assert_eq!(room.try_once(&ann, &wrong(&of_ann)).unwrap(), None);
        }
        // Another address does not help, and other students are not affected.
        let refused = room.try_from(&ann, &right(&of_ann), "198.51.100.7").unwrap_err();
        assert_eq!(refused.kind, ProblemKind::TooManyRequests);
        assert!(room.try_once(&bob, &right(&of_bob)).unwrap().is_some());
        // The teacher helps with a new card.
        let of_ann = card(db, &master, &ann, ClassSecretKind::Pictures);
        assert!(room.try_once(&ann, &right(&of_ann)).unwrap().is_some());

        // Many students of the class, each below the own limit.
        let used = limits::GUESSES_CLASS_STUDENT_COUNT;
        for number in 0..limits::GUESSES_CLASS_COUNT - used {
            let name = format!("s{number}");
            let one = student(db, &name);
            let any = ClassAnswer::from_words("no such words");
            assert_eq!(room.try_once(&one, &any).unwrap(), None, "{name}");
        }
        let refused = room.try_once(&bob, &right(&of_bob)).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::TooManyRequests, "of the class");
        let art = open(db, &tess, "art", 15);
        let art = Classroom { db, master: &master, open: &art };
        assert!(art.try_once(&bob, &right(&of_bob)).unwrap().is_some());
        // The teacher helps the class by opening it again.
        open(db, &tess, "math", 15);
        assert!(room.try_once(&bob, &right(&of_bob)).unwrap().is_some());
        // Many classes of one address, each below the own limit.
        for number in limits::GUESSES_CLASS_COUNT..limits::GUESSES_CLASS_ADDRESS_COUNT {
            let open = OpenClass { class: format!("c{}", number / 50), ..class.clone() };
            let room = Classroom { db, master: &master, open: &open };
            let one = Person { id: format!("lp_{number}"), ..ann.clone() };
            assert_eq!(
                room.try_once(&one, &ClassAnswer::from_words("no")).unwrap(),
                None,
                "{number}"
            );
        }
        let refused = art.try_once(&bob, &right(&of_bob)).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::TooManyRequests, "of the address");
        assert!(art.try_from(&bob, &right(&of_bob), "192.0.2.9").unwrap().is_some());
    });
}

#[test]
fn a_class_session_opens_lessons_and_ends_with_the_class_or_when_it_is_not_used() {
    on_both_stores(|db| {
        let (master, tess, ann) = (MasterKey::random(), teacher(db), student(db, "ann"));
        let secret = card(db, &master, &ann, ClassSecretKind::Words);
        let class = open(db, &tess, "math", 15);
        let room = Classroom { db, master: &master, open: &class };
        let text = room.try_once(&ann, &right(&secret)).unwrap().unwrap();
        let TokenHolder::Student(found) = session_at(db, morning(), &text).unwrap() else {
            panic!("a student signed in");
        };
        assert_eq!((found.user.as_str(), found.session), ("ann", StudentSession::Class));
        // The code stopped long ago, and the lesson goes on.
        let idle = limits::CLASS_SESSION_IDLE_S;
        let before = morning().plus_seconds(idle - 1);
        assert!(session_at(db, before, &text).is_ok());
        let after = morning().plus_seconds(idle);
        assert_eq!(session_at(db, after, &text), Err(TokenRejection::Ended));
        for minutes in 1..=limits::CLASS_SESSION_LIFETIME_S / 60 {
            write(db, |tx| holder::touch(tx, morning().plus_seconds(minutes * 60), &text));
        }
        let end = morning().plus_seconds(limits::CLASS_SESSION_LIFETIME_S);
        assert_eq!(session_at(db, end, &text), Err(TokenRejection::Ended));

        let art = open(db, &tess, "art", 15);
        let art = Classroom { db, master: &master, open: &art };
        let other = art.try_once(&ann, &right(&secret)).unwrap().unwrap();
        write(db, |tx| class_sign_in::close(tx, "math"));
        assert_eq!(session_at(db, morning(), &text), Err(TokenRejection::Unknown));
        assert!(session_at(db, morning(), &other).is_ok(), "of another class");
        write(db, |tx| person::disable(tx, morning(), &ann.id));
        assert!(session_at(db, morning(), &other).is_err());
    });
}
