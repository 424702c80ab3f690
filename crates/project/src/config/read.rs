//! Checks the values of a config file.

use std::path::PathBuf;

use lyceum_core::text::nearest;
use lyceum_core::{Detail, Problem, Result};

use super::{Config, Course, Database, Integrations, Lms, Organization, ROUTES, Strategy};
use crate::literal::{Literal, Value, place};
use crate::secrets;

const ROOT: [&str; 7] =
    ["name", "description", "emoji", "platform", "buildPath", "integrations", "$schema"];
const INTEGRATIONS: [&str; 6] = ["customRoutes", "database", "kv", "bucket", "lms", "timeback"];
const COURSE: [&str; 6] = ["subject", "grade", "totalXp", "masterableUnits", "title", "courseCode"];

/// Reads the config from the root value of a text. Errors: `Invalid` with every error and its place.
pub(super) fn read(root: &Literal, text: &str) -> Result<Config> {
    let mut reader = Reader { text, faults: Vec::new() };
    let config = reader.config(root);
    if reader.faults.is_empty() { Ok(config) } else { Err(Problem::invalid_all(reader.faults)) }
}

struct Reader<'t> {
    text: &'t str,
    faults: Vec<Detail>,
}

impl Reader<'_> {
    fn config(&mut self, root: &Literal) -> Config {
        if !matches!(root.value, Value::Object(_)) {
            self.fault("", root, "must be an object");
        }
        self.only_known(root, "", &ROOT);
        let mut scalars = Vec::new();
        let mut scalar = |reader: &mut Self, name: &'static str| {
            let text = reader.text(root, "", name);
            if let Some(member) = root.member(name).filter(|_| text.is_some()) {
                scalars.push((name, member.span.clone()));
            }
            text
        };
        let name = scalar(self, "name");
        let description = scalar(self, "description");
        let emoji = scalar(self, "emoji");
        let platform = scalar(self, "platform");
        let build_path = self.text(root, "", "buildPath");
        let integrations = match self.object(root, "", "integrations") {
            Some(integrations) => self.integrations(integrations),
            None => Integrations::default(),
        };
        Config {
            file: PathBuf::new(),
            text: String::new(),
            name,
            description,
            emoji,
            platform,
            build_path,
            integrations,
            required_secrets: self.required_secrets(root),
            scalars,
            expressions: Vec::new(),
            inputs: Vec::new(),
        }
    }

    fn integrations(&mut self, at: &Literal) -> Integrations {
        let path = "integrations.";
        self.known_integrations(at);
        let routes = self.routes(at, path);
        let database = self.switched(at, path, "database").map(|database| {
            let inside = "integrations.database.";
            self.only_known(database, inside, &["directory", "strategy", "secrets"]);
            let strategy = self.strategy(database, inside);
            Database { directory: self.text(database, inside, "directory"), strategy }
        });
        let kv = self.switched(at, path, "kv").is_some();
        let bucket = self.switched(at, path, "bucket").is_some();
        let name = if at.member("lms").is_some() { "lms" } else { "timeback" };
        let lms = self.switched(at, path, name);
        let lms = lms.map(|lms| self.lms(lms, &format!("integrations.{name}.")));
        Integrations { routes, database, kv, bucket, lms }
    }

    /// Refuses unknown integrations, unless they only list the secrets that they need.
    fn known_integrations(&mut self, at: &Literal) {
        let Value::Object(members) = &at.value else { return };
        for (name, value) in members {
            if INTEGRATIONS.contains(&name.as_str()) || value.member("secrets").is_some() {
                let own = ["database", "customRoutes", "lms", "timeback"];
                if !own.contains(&name.as_str()) {
                    self.only_known(value, &format!("integrations.{name}."), &["secrets"]);
                }
                continue;
            }
            let remedy = match nearest(name, INTEGRATIONS) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!(
                    "known integrations: {}; for another service, list only its secrets, as {{ secrets: \
                    [\"API_KEY\"] }}",
                    INTEGRATIONS.join(", ")
                ),
            };
            let message = format!("is unknown; {remedy}");
            self.fault(&format!("integrations.{name}"), value, &message);
        }
    }

    /// The folder of routes. It has a default, so a config need not mention it.
    fn routes(&mut self, at: &Literal, path: &str) -> Option<String> {
        if at
            .member("customRoutes")
            .is_some_and(|routes| matches!(routes.value, Value::Bool(false)))
        {
            return None;
        }
        let routes = self.switched(at, path, "customRoutes");
        if let Some(routes) = routes {
            self.only_known(routes, "integrations.customRoutes.", &["directory", "secrets"]);
        }
        let directory =
            routes.and_then(|routes| self.text(routes, "integrations.customRoutes.", "directory"));
        Some(directory.unwrap_or_else(|| ROUTES.to_owned()))
    }

    /// The names in `secrets` of every enabled integration.
    fn required_secrets(&mut self, root: &Literal) -> Vec<String> {
        let Some(Literal { value: Value::Object(integrations), .. }) = root.member("integrations")
        else {
            return Vec::new();
        };
        let mut required = Vec::new();
        for (name, integration) in integrations {
            let path = format!("integrations.{name}.secrets");
            let Some(secrets) = integration.member("secrets") else { continue };
            let Value::List(names) = &secrets.value else {
                self.fault(&path, secrets, "must be a list of names");
                continue;
            };
            for at in names {
                match &at.value {
                    Value::Text(name) if secrets::is_name(name) => required.push(name.clone()),
                    _ => self.fault(&path, at, "must be the name of a secret, such as 'API_KEY'"),
                }
            }
        }
        required
    }

    fn strategy(&mut self, database: &Literal, path: &str) -> Option<Strategy> {
        match self.text(database, path, "strategy")?.as_str() {
            "push" => Some(Strategy::Push),
            "migrate" => Some(Strategy::Migrate),
            _ => {
                let at = database.member("strategy")?;
                self.fault(&format!("{path}strategy"), at, "must be 'push' or 'migrate'");
                None
            }
        }
    }

    fn lms(&mut self, at: &Literal, path: &str) -> Lms {
        let base_path = format!("{path}base.");
        self.only_known(at, path, &["base", "courses", "secrets"]);
        let base = self.object(at, path, "base");
        let course_path = format!("{base_path}course.");
        let usual = base.and_then(|base| self.object(base, &base_path, "course"));
        if let Some(base) = base {
            self.only_known(base, &base_path, &["organization", "course"]);
        }
        if let Some(usual) = usual {
            self.only_known(usual, &course_path, &["title", "courseCode"]);
        }
        let organization = base.and_then(|base| self.object(base, &base_path, "organization"));
        let organization = organization.map(|organization| {
            let path = format!("{base_path}organization.");
            self.only_known(organization, &path, &["id", "name", "type"]);
            Organization {
                name: self.text(organization, &path, "name"),
                kind: self.text(organization, &path, "type"),
                id: self.text(organization, &path, "id"),
            }
        });
        let mut courses = Vec::new();
        let list = at.member("courses");
        if let Some(Literal { value: Value::List(items), .. }) = list {
            for (number, item) in items.iter().enumerate() {
                let path = format!("{path}courses[{number}].");
                if let Some(mut course) = self.course(item, &path) {
                    if let Some(usual) = usual {
                        course.title =
                            course.title.or_else(|| self.text(usual, &course_path, "title"));
                        course.course_code = course
                            .course_code
                            .or_else(|| self.text(usual, &course_path, "courseCode"));
                    }
                    courses.push(course);
                }
            }
        } else if let Some(other) = list {
            self.fault(&format!("{path}courses"), other, "must be a list of courses");
        }
        Lms { organization, courses }
    }

    fn course(&mut self, at: &Literal, path: &str) -> Option<Course> {
        if !matches!(at.value, Value::Object(_)) {
            self.fault(path.trim_end_matches('.'), at, "must be an object with subject and grade");
            return None;
        }
        self.only_known(at, path, &COURSE);
        let subject = self.text(at, path, "subject");
        let grade = match at.member("grade").map(|grade| &grade.value) {
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => self.text(at, path, "grade"),
        };
        for (name, value) in [("subject", &subject), ("grade", &grade)] {
            if value.is_none() && at.member(name).is_none() {
                self.fault(&format!("{path}{name}"), at, "is required");
            }
        }
        let course = Course {
            subject: subject.unwrap_or_default(),
            grade: grade.unwrap_or_default(),
            total_xp: self.number(at, path, "totalXp"),
            masterable_units: self.number(at, path, "masterableUnits"),
            title: self.text(at, path, "title"),
            course_code: self.text(at, path, "courseCode"),
        };
        (!course.subject.is_empty() && !course.grade.is_empty()).then_some(course)
    }

    fn text(&mut self, at: &Literal, path: &str, name: &str) -> Option<String> {
        let member = at.member(name)?;
        match &member.value {
            Value::Text(text) => return Some(text.clone()),
            Value::Null => {}
            _ => self.fault(&format!("{path}{name}"), member, "must be a string"),
        }
        None
    }

    /// A number of at least 0.
    fn number(&mut self, at: &Literal, path: &str, name: &str) -> Option<f64> {
        let member = at.member(name)?;
        match member.value {
            Value::Number(number) if number >= 0.0 => return Some(number),
            Value::Null => {}
            _ => self.fault(&format!("{path}{name}"), member, "must be a number of at least 0"),
        }
        None
    }

    fn object<'l>(&mut self, at: &'l Literal, path: &str, name: &str) -> Option<&'l Literal> {
        let member = at.member(name)?;
        match member.value {
            Value::Object(_) => return Some(member),
            Value::Null => {}
            _ => self.fault(&format!("{path}{name}"), member, "must be an object"),
        }
        None
    }

    /// The member if it is `true` or an object, which means that the integration is enabled.
    fn switched<'l>(&mut self, at: &'l Literal, path: &str, name: &str) -> Option<&'l Literal> {
        let member = at.member(name)?;
        match member.value {
            Value::Object(_) | Value::Bool(true) => return Some(member),
            Value::Bool(false) | Value::Null => {}
            _ => self.fault(&format!("{path}{name}"), member, "must be true, false or an object"),
        }
        None
    }

    /// Refuses unknown members and suggests a similar name.
    fn only_known(&mut self, at: &Literal, path: &str, known: &[&str]) {
        let Value::Object(members) = &at.value else { return };
        for (name, value) in members.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
            let remedy = match nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("known members: {}", known.join(", ")),
            };
            self.fault(&format!("{path}{name}"), value, &format!("is unknown; {remedy}"));
        }
    }

    fn fault(&mut self, path: &str, at: &Literal, message: &str) {
        let (line, column) = place(self.text, at.span.start);
        let path = if path.is_empty() { "the config".to_owned() } else { path.to_owned() };
        let path = format!("line {line}, column {column}, {path}");
        self.faults.push(Detail { path, message: message.to_owned() });
    }
}
