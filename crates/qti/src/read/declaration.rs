//! Declarations of variables, with their values and tables.

use super::{DocumentReader, area, boolean, identifier, number, text, words};
use crate::model::{
    AreaMapEntry, AreaMapping, Declaration, InterpolationEntry, LookupTable, MapEntry, Mapping,
    OutcomeDeclaration, ResponseDeclaration, Shape, TemplateDeclaration,
};
use crate::value::{BaseType, Cardinality, Scalar, Value, parse};
use crate::xml::Element;

impl DocumentReader<'_> {
    pub(super) fn declaration(&mut self, element: Element<'_>) -> Declaration {
        let cardinality = element.attribute("cardinality").and_then(Cardinality::from_name);
        let base_type = element.attribute("base-type").and_then(BaseType::from_name);
        let cardinality = cardinality.unwrap_or(Cardinality::Single);
        let identifier = identifier(element, "identifier");
        match (cardinality, base_type) {
            (Cardinality::Record, Some(_)) => self.found.warning(
                element,
                format!("'{identifier}' is a record and has a base-type"),
                "remove base-type, because each field has its own type",
            ),
            (Cardinality::Record, None) | (_, Some(_)) => {}
            (_, None) => self.wrong(
                element,
                format!("'{identifier}' has no base-type"),
                "add base-type=\"…\"; only a record has none",
            ),
        }
        let default = element.first("qti-default-value");
        let default = default.map_or(Value::Null, |e| self.values(e, cardinality, base_type));
        Declaration { identifier, cardinality, base_type, default }
    }

    pub(super) fn response(&mut self, element: Element<'_>) -> ResponseDeclaration {
        let declaration = self.declaration(element);
        let (cardinality, base_type) = (declaration.cardinality, declaration.base_type);
        let correct = element.first("qti-correct-response");
        ResponseDeclaration {
            correct: correct.map_or(Value::Null, |e| self.values(e, cardinality, base_type)),
            mapping: element.first("qti-mapping").map(|e| self.mapping(e, base_type)),
            area_mapping: element
                .first("qti-area-mapping")
                .map(|e| self.area_mapping(e, base_type)),
            declaration,
        }
    }

    pub(super) fn outcome(&mut self, element: Element<'_>) -> OutcomeDeclaration {
        let declaration = self.declaration(element);
        OutcomeDeclaration {
            views: words(element, "view"),
            interpretation: text(element, "interpretation"),
            normal_maximum: number(element, "normal-maximum"),
            normal_minimum: number(element, "normal-minimum"),
            mastery_value: number(element, "mastery-value"),
            external_scored: text(element, "external-scored"),
            lookup: self.lookup(element, &declaration),
            declaration,
        }
    }

    pub(super) fn template(&mut self, element: Element<'_>) -> TemplateDeclaration {
        TemplateDeclaration {
            declaration: self.declaration(element),
            param_variable: boolean(element, "param-variable").unwrap_or(false),
            math_variable: boolean(element, "math-variable").unwrap_or(false),
        }
    }

    /// The `qti-value`s of a default or a correct response.
    fn values(
        &mut self,
        element: Element<'_>,
        cardinality: Cardinality,
        base_type: Option<BaseType>,
    ) -> Value {
        let mut values = Vec::new();
        let mut fields = Vec::new();
        for value in element.all("qti-value") {
            let own = value.attribute("base-type").and_then(BaseType::from_name);
            let wanted = match cardinality {
                Cardinality::Record => own,
                _ => base_type,
            };
            if element.is("qti-correct-response") {
                self.spaces(value, &value.text(), wanted);
                if let Some(wanted) = wanted
                    && !value.text().trim().is_empty()
                    && self.key(value, &value.text(), wanted).is_none()
                {
                    return Value::Null;
                }
            }
            let scalar = wanted.and_then(|wanted| self.scalar(value, &value.text(), wanted));
            match value.attribute("field-identifier") {
                Some(field) if cardinality == Cardinality::Record => {
                    fields.push((field.into(), scalar));
                }
                None if cardinality == Cardinality::Record => self.wrong(
                    value,
                    "a value of a record has no field name",
                    "add field-identifier=\"…\" and base-type=\"…\"",
                ),
                _ => values.extend(scalar),
            }
        }
        if cardinality == Cardinality::Single && values.len() > 1 {
            self.wrong(
                element,
                format!("the variable has {} values, but can contain only one", values.len()),
                "keep one, or write cardinality=\"multiple\"",
            );
        }
        match cardinality {
            Cardinality::Record if fields.is_empty() => Value::Null,
            Cardinality::Record => Value::Record(fields),
            _ => Value::container(cardinality, values),
        }
    }

    /// A value; an empty text is NULL.
    fn scalar(&mut self, element: Element<'_>, value: &str, base_type: BaseType) -> Option<Scalar> {
        if value.trim().is_empty() && base_type != BaseType::String {
            return None;
        }
        let scalar = parse(base_type, value);
        if scalar.is_none() {
            let (message, remedy) = not_of_type(value, base_type);
            self.wrong(element, message, remedy);
        }
        scalar
    }

    /// A value to which answers are compared. The schema accepts one that is not of its type; then the item has no key, and
    /// a person scores its answers.
    fn key(&mut self, element: Element<'_>, value: &str, base_type: BaseType) -> Option<Scalar> {
        let scalar = parse(base_type, value);
        if scalar.is_none() {
            let (message, remedy) = not_of_type(value, base_type);
            self.found.warning(element, message, remedy);
        }
        scalar
    }

    /// A learner's text is compared with every blank of the key, and hardly anybody types those around.
    fn spaces(&mut self, element: Element<'_>, key: &str, base_type: Option<BaseType>) {
        let trimmed = key.trim();
        if base_type == Some(BaseType::String) && trimmed.len() != key.len() && !trimmed.is_empty()
        {
            self.found.warning(
                element,
                format!(
                    "there is white space around the text '{trimmed}', and a correct answer \
                     would need it too"
                ),
                "remove the white space",
            );
        }
    }

    fn mapping(&mut self, element: Element<'_>, base_type: Option<BaseType>) -> Mapping {
        let (mut entries, mut is_readable) = (Vec::new(), true);
        for entry in element.all("qti-map-entry") {
            let key = entry.attribute("map-key").unwrap_or_default();
            self.spaces(entry, key, base_type);
            let key = match base_type {
                Some(BaseType::String) | None => Some(Scalar::String(key.into())),
                Some(base_type) => self.key(entry, key, base_type),
            };
            is_readable &= key.is_some();
            entries.extend(key.map(|key| MapEntry {
                key,
                mapped: number(entry, "mapped-value").unwrap_or(0.0),
                case_sensitive: boolean(entry, "case-sensitive").unwrap_or(false),
            }));
        }
        if base_type == Some(BaseType::Point) {
            self.wrong(
                element,
                "a mapping cannot have points",
                "use qti-area-mapping, which maps areas",
            );
        }
        if !is_readable {
            entries.clear();
        }
        Mapping {
            entries,
            default: number(element, "default-value").unwrap_or(0.0),
            lower: number(element, "lower-bound"),
            upper: number(element, "upper-bound"),
        }
    }

    fn area_mapping(&mut self, element: Element<'_>, base_type: Option<BaseType>) -> AreaMapping {
        if base_type != Some(BaseType::Point) {
            self.wrong(
                element,
                "an area mapping must have points as values",
                "use qti-mapping, or write base-type=\"point\"",
            );
        }
        let mut entries = Vec::new();
        for entry in element.all("qti-area-map-entry") {
            self.check_area(entry);
            let mapped = number(entry, "mapped-value").unwrap_or(0.0);
            entries.extend(area(entry).map(|area| AreaMapEntry { area, mapped }));
        }
        AreaMapping {
            entries,
            default: number(element, "default-value").unwrap_or(0.0),
            lower: number(element, "lower-bound"),
            upper: number(element, "upper-bound"),
        }
    }

    /// Whether the coordinates fit the shape.
    pub(super) fn check_area(&mut self, element: Element<'_>) {
        let Some(area) = area(element) else { return };
        let count = area.coordinates.len();
        let (fits, wanted) = match area.shape {
            Shape::Default => (true, ""),
            Shape::Rect => (count == 4, "left,top,right,bottom"),
            Shape::Circle => (count == 3, "x,y,radius"),
            Shape::Ellipse => (count == 4, "x,y,horizontal radius,vertical radius"),
            Shape::Poly => (count >= 6 && count % 2 == 0, "x1,y1,x2,y2,x3,y3,…"),
        };
        if !fits {
            let shape = element.attribute("shape").unwrap_or_default();
            self.found.warning(
                element,
                format!("the shape '{shape}' has {count} coordinates"),
                format!("write coords=\"{wanted}\""),
            );
        }
    }

    fn lookup(&mut self, element: Element<'_>, declaration: &Declaration) -> Option<LookupTable> {
        let base_type = declaration.base_type?;
        if let Some(table) = element.first("qti-match-table") {
            let mut entries = Vec::new();
            for entry in table.all("qti-match-table-entry") {
                let source = entry.attribute("source-value").and_then(|s| s.trim().parse().ok());
                let target = self.target(entry, "target-value", base_type);
                entries.extend(source.map(|source| (source, target)));
            }
            let default = self.target(table, "default-value", base_type);
            return Some(LookupTable::Match { entries, default });
        }
        let table = element.first("qti-interpolation-table")?;
        let mut entries = Vec::new();
        for entry in table.all("qti-interpolation-table-entry") {
            entries.push(InterpolationEntry {
                source: number(entry, "source-value").unwrap_or(0.0),
                include_boundary: boolean(entry, "include-boundary").unwrap_or(true),
                target: self.target(entry, "target-value", base_type),
            });
        }
        let default = self.target(table, "default-value", base_type);
        Some(LookupTable::Interpolation { entries, default })
    }

    fn target(&mut self, element: Element<'_>, attribute: &str, base_type: BaseType) -> Value {
        let scalar = element.attribute(attribute).and_then(|v| self.scalar(element, v, base_type));
        scalar.map_or(Value::Null, Value::Single)
    }
}

/// The message about a value that is not of its type, and the remedy.
fn not_of_type(value: &str, base_type: BaseType) -> (String, String) {
    let message = format!("'{}' is not of the type '{}'", value.trim(), base_type.name());
    (message, format!("write {}", example(base_type)))
}

/// An example of a value of the type.
pub(super) fn example(base_type: BaseType) -> &'static str {
    match base_type {
        BaseType::Boolean => "true or false",
        BaseType::DirectedPair | BaseType::Pair => "two identifiers separated by a space",
        BaseType::Duration => "seconds, or a duration such as PT1M30S",
        BaseType::File => "a file",
        BaseType::Float => "a number such as 0.5",
        BaseType::Identifier => "an identifier without spaces",
        BaseType::Integer => "a whole number",
        BaseType::Point => "two whole numbers separated by a space",
        BaseType::String => "a text",
        BaseType::Uri => "an address",
    }
}
