//! A strict reader of the OneRoster CSV binding 1.2.1, written from its text and independent of the tables of
//! the import: what it says of a package is what a strict consumer refuses.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{Cursor, Read};

/// Files and their columns behind sourcedId, status and dateLastModified: `name:type`, `!` where a value is
/// required. `>file` is a reference.
const FILES: &[(&str, &str)] = &[
    (
        "academicSessions",
        "title:text! type:session! startDate:date! endDate:date! parentSourcedId:guid>academicSessions schoolYear:year!",
    ),
    ("categories", "title:text! weight:number"),
    (
        "classes",
        "title:text! grades:list courseSourcedId:guid>courses! classCode:text classType:class! location:text schoolSourcedId:guid>orgs! termSourcedIds:guids>academicSessions! subjects:list subjectCodes:list periods:list",
    ),
    ("classResources", "title:text classSourcedId:guid>classes! resourceSourcedId:guid>resources!"),
    (
        "courses",
        "schoolYearSourcedId:guid>academicSessions title:text! courseCode:text grades:list orgSourcedId:guid>orgs! subjects:list subjectCodes:list",
    ),
    (
        "courseResources",
        "title:text courseSourcedId:guid>courses! resourceSourcedId:guid>resources!",
    ),
    (
        "demographics",
        "birthDate:date sex:sex americanIndianOrAlaskaNative:flag asian:flag blackOrAfricanAmerican:flag nativeHawaiianOrOtherPacificIslander:flag white:flag demographicRaceTwoOrMoreRaces:flag hispanicOrLatinoEthnicity:flag countryOfBirthCode:text stateOfBirthAbbreviation:text cityOfBirth:text publicSchoolResidenceStatus:text",
    ),
    (
        "enrollments",
        "classSourcedId:guid>classes! schoolSourcedId:guid>orgs! userSourcedId:guid>users! role:enrollment! primary:flag beginDate:date endDate:date",
    ),
    (
        "lineItemLearningObjectiveIds",
        "lineItemSourcedId:guid>lineItems! source:source! learningObjectiveId:text!",
    ),
    (
        "lineItems",
        "title:text! description:text assignDate:date! dueDate:date! classSourcedId:guid>classes! categorySourcedId:guid>categories! academicSessionSourcedId:guid>academicSessions! resultValueMin:number resultValueMax:number schoolSourcedId:guid>orgs!",
    ),
    (
        "lineItemScoreScales",
        "title:text lineItemSourcedId:guid>lineItems! scoreScaleSourcedId:guid>scoreScales!",
    ),
    ("orgs", "name:text! type:org! identifier:text parentSourcedId:guid>orgs"),
    (
        "resources",
        "vendorResourceId:text! title:text roles:list importance:importance vendorId:text applicationId:text",
    ),
    (
        "resultLearningObjectiveIds",
        "resultSourcedId:guid>results! source:source! learningObjectiveId:text! score:number textScore:text",
    ),
    (
        "results",
        "lineItemSourcedId:guid>lineItems! studentSourcedId:guid>users! scoreStatus:status! score:number scoreDate:date! comment:text textScore:text classSourcedId:guid>classes inProgress:flag incomplete:flag late:flag missing:flag",
    ),
    (
        "resultScoreScales",
        "title:text resultSourcedId:guid>results! scoreScaleSourcedId:guid>scoreScales!",
    ),
    (
        "roles",
        "userSourcedId:guid>users! roleType:roletype! role:role! beginDate:date endDate:date orgSourcedId:guid>orgs! userProfileSourcedId:guid>userProfiles",
    ),
    (
        "scoreScales",
        "title:text! type:text! orgSourcedId:guid>orgs! courseSourcedId:guid>courses! classSourcedId:guid>classes! scoreScaleValue:pairs!",
    ),
    (
        "userProfiles",
        "userSourcedId:guid>users! profileType:text! vendorId:text! applicationId:text description:text credentialType:text! username:text! password:text",
    ),
    (
        "userResources",
        "userSourcedId:guid>users! orgSourcedId:guid>orgs classSourcedId:guid>classes resourceSourcedId:guid>resources!",
    ),
    (
        "users",
        "enabledUser:flag! username:text! userIds:pairs givenName:text! familyName:text! middleName:text identifier:text email:text sms:text phone:text agentSourcedIds:guids>users grades:list password:text userMasterIdentifier:text preferredGivenName:text preferredMiddleName:text preferredFamilyName:text primaryOrgSourcedId:guid>orgs pronouns:text",
    ),
];

/// Vocabularies, with `ext:` where they may be extended.
const WORDS: &[(&str, &str)] = &[
    ("session", "gradingPeriod semester schoolYear term ext:"),
    ("class", "homeroom scheduled ext:"),
    ("sex", "male female unspecified other ext:"),
    ("enrollment", "administrator proctor student teacher ext:"),
    ("source", "case unknown ext:"),
    ("org", "department school district local state national ext:"),
    ("importance", "primary secondary"),
    ("roletype", "primary secondary"),
    (
        "role",
        "aide counselor districtAdministrator guardian parent principal proctor relative siteAdministrator student systemAdministrator teacher ext:",
    ),
];
/// Words with spaces.
const STATUS: &[&str] =
    &["exempt", "fully graded", "not submitted", "partially graded", "submitted"];

type Row = HashMap<String, String>;

/// Every breach of the binding in a package; none in one that a strict reader takes.
pub(crate) fn breaches(zip: &[u8]) -> Vec<String> {
    let mut reader = Reader { texts: texts(zip), ..Reader::default() };
    let modes = reader.manifest();
    let mut tables: BTreeMap<&str, Vec<Row>> = BTreeMap::new();
    for (file, columns) in FILES {
        match modes.get(*file).map_or("", String::as_str) {
            "" => {}
            mode => {
                let rows = reader.table(file, columns, mode);
                tables.insert(file, rows);
            }
        }
    }
    let expected = |name: &String| name == "manifest" || FILES.iter().any(|(file, _)| file == name);
    for name in reader.texts.keys().filter(|name| !expected(name)).cloned().collect::<Vec<_>>() {
        reader.breach(format!("{name}.csv: no file of the binding"));
    }
    reader.references(&tables);
    reader.found
}

#[derive(Default)]
struct Reader {
    texts: BTreeMap<String, String>,
    found: Vec<String>,
}

impl Reader {
    fn breach(&mut self, what: String) {
        if self.found.len() < 40 {
            self.found.push(what);
        }
    }

    /// The mode of each file that the manifest announces.
    fn manifest(&mut self) -> BTreeMap<String, String> {
        let text = self.texts.get("manifest").cloned().unwrap_or_default();
        let mut lines = text.lines();
        if lines.next() != Some("propertyName,value") {
            self.breach("manifest.csv: its header is not propertyName,value".to_owned());
        }
        let mut properties = BTreeMap::new();
        for line in lines {
            let (name, value) = line.split_once(',').unwrap_or((line, ""));
            if properties.insert(name.to_owned(), value.to_owned()).is_some() {
                self.breach(format!("manifest.csv: {name} stands twice"));
            }
        }
        for (name, value) in [("manifest.version", "1.0"), ("oneroster.version", "1.2")] {
            if properties.remove(name).as_deref() != Some(value) {
                self.breach(format!("manifest.csv: {name} is not {value}"));
            }
        }
        let mut modes = BTreeMap::new();
        for (file, _) in FILES {
            let mode = properties.remove(&format!("file.{file}")).unwrap_or_default();
            let is_there = self.texts.contains_key(*file);
            match (mode.as_str(), is_there) {
                ("absent", false) => {}
                ("bulk" | "delta", true) => drop(modes.insert((*file).to_owned(), mode)),
                _ => {
                    self.breach(format!(
                        "manifest.csv: file.{file} is '{mode}', there: {is_there}"
                    ));
                }
            }
        }
        for name in properties.keys().filter(|name| !name.starts_with("source.system")) {
            self.breach(format!("manifest.csv: no property {name}"));
        }
        modes
    }

    fn table(&mut self, file: &str, columns: &str, mode: &str) -> Vec<Row> {
        let text = self.texts[file].clone();
        let columns: Vec<(&str, &str, bool)> = columns
            .split(' ')
            .map(|column| {
                let (name, sort) = column.split_once(':').unwrap();
                (name, sort.trim_end_matches('!'), sort.ends_with('!'))
            })
            .collect();
        let common = ["sourcedId", "status", "dateLastModified"];
        let wanted: Vec<&str> = common.into_iter().chain(columns.iter().map(|it| it.0)).collect();
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
        let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
        if header.get(..wanted.len()).is_none_or(|head| head != &wanted[..]) {
            self.breach(format!("{file}.csv: the header is {header:?}"));
            return Vec::new();
        }
        let mut names = HashSet::new();
        for name in &header {
            let is_ours = wanted.contains(&name.as_str());
            let is_metadata = name.strip_prefix("metadata.").is_some_and(|rest| !rest.is_empty());
            if !is_ours && !is_metadata || !names.insert(name.clone()) {
                self.breach(format!("{file}.csv: the column '{name}'"));
            }
        }
        let mut rows: Vec<Row> = Vec::new();
        for record in reader.records().map(Result::unwrap) {
            if record.len() != header.len() {
                self.breach(format!("{file}.csv: a row of {} fields", record.len()));
            }
            let cells = record.iter().map(str::to_owned);
            rows.push(header.iter().cloned().zip(cells).collect());
        }
        let mut ids = HashSet::new();
        for row in &rows {
            let id = &row["sourcedId"];
            if !is_guid(id) || !ids.insert(id.clone()) {
                self.breach(format!("{file}.csv '{id}': sourcedId"));
            }
            let (status, modified) = (row["status"].as_str(), row["dateLastModified"].as_str());
            let fits = match mode {
                "bulk" => status.is_empty() && modified.is_empty(),
                _ => matches!(status, "active" | "tobedeleted") && is_instant(modified),
            };
            if !fits {
                self.breach(format!(
                    "{file}.csv '{id}': status '{status}', '{modified}' in {mode}"
                ));
            }
            for (name, sort, is_required) in &columns {
                let cell = row[*name].as_str();
                let is_gone = status == "tobedeleted";
                if cell.is_empty() && *is_required && !is_gone || !is_of(sort, cell) {
                    self.breach(format!("{file}.csv '{id}': {name} is '{cell}', not {sort}"));
                }
            }
            for (name, cell) in row.iter().filter(|(_, cell)| cell.contains(['\r', '\n'])) {
                self.breach(format!("{file}.csv '{id}': {name} has a line break: {cell:?}"));
            }
        }
        if rows.is_empty() {
            self.breach(format!("{file}.csv has no rows"));
        }
        rows
    }

    fn references(&mut self, tables: &BTreeMap<&str, Vec<Row>>) {
        let ids: BTreeMap<&str, HashSet<&str>> = tables
            .iter()
            .map(|(file, rows)| (*file, rows.iter().map(|row| row["sourcedId"].as_str()).collect()))
            .collect();
        let is_there = |file: &str, id: &str| ids.get(file).is_some_and(|ids| ids.contains(id));
        for (file, columns) in FILES {
            for row in tables.get(file).into_iter().flatten() {
                let targets = columns.split(' ').filter_map(|column| {
                    let (name, sort) = column.split_once(':').unwrap();
                    Some((name, sort.trim_end_matches('!').split_once('>')?.1))
                });
                for (name, target) in targets {
                    for id in row[name].split(',').filter(|id| !id.is_empty()) {
                        if !is_there(target, id) {
                            self.breach(format!(
                                "{file}.csv '{}': {name} '{id}'",
                                row["sourcedId"]
                            ));
                        }
                    }
                }
                if *file == "demographics" && !is_there("users", &row["sourcedId"]) {
                    self.breach(format!("demographics.csv '{}': no such user", row["sourcedId"]));
                }
            }
        }
    }
}

fn texts(zip: &[u8]) -> BTreeMap<String, String> {
    let mut archive = zip::ZipArchive::new(Cursor::new(zip)).unwrap();
    (0..archive.len())
        .map(|index| {
            let mut entry = archive.by_index(index).unwrap();
            let name = entry.name().unwrap().trim_end_matches(".csv").to_owned();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            (name, text)
        })
        .collect()
}

fn is_of(sort: &str, cell: &str) -> bool {
    if cell.is_empty() {
        return true;
    }
    match sort.split('>').next().unwrap() {
        "text" | "list" => true,
        "guid" => is_guid(cell),
        "guids" => cell.split(',').all(is_guid),
        "date" => is_date(cell),
        "year" => cell.len() == 4 && cell.bytes().all(|it| it.is_ascii_digit()),
        "flag" => cell == "true" || cell == "false",
        "number" => cell.parse::<f64>().is_ok_and(f64::is_finite),
        "pairs" => cell.starts_with('{') && cell.ends_with('}') && cell.contains(':'),
        "status" => STATUS.contains(&cell) || cell.starts_with("ext:"),
        word => {
            let (_, words) = WORDS.iter().find(|(name, _)| *name == word).unwrap();
            let mut words = words.split(' ');
            words.any(|it| it == cell || it == "ext:" && cell.len() > 4 && cell.starts_with(it))
        }
    }
}

fn is_guid(text: &str) -> bool {
    (1..=255).contains(&text.len())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || ".-_/@".contains(c))
}

/// `YYYY-MM-DD`
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let number = |text: &str, length| (text.len() == length).then(|| text.parse::<u32>().ok())?;
    number(year, 4).is_some()
        && number(month, 2).is_some_and(|it| (1..=12).contains(&it))
        && number(day, 2).is_some_and(|it| (1..=31).contains(&it))
}

/// `YYYY-MM-DDTHH:MM:SS.sssZ`
fn is_instant(text: &str) -> bool {
    let Some((date, time)) = text.split_once('T') else { return false };
    is_date(date) && time.len() == 13 && time.ends_with('Z') && time.as_bytes()[8] == b'.'
}
