//! JSON as it was sent: a tree that borrows its text, for what is checked and then let go.

use std::borrow::Cow;
use std::fmt;
use std::ops::Index;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

/// A JSON value.
#[derive(Clone, Debug)]
pub(crate) enum Tree<'a> {
    Null,
    Truth(bool),
    Number(Number),
    Text(Cow<'a, str>),
    List(Vec<Self>),
    Object(TreeObject<'a>),
}

/// Room for the members of an object, of which one of an event has about as many.
const MEMBERS: usize = 8;

/// A member of an object.
type TreeMember<'a> = (Cow<'a, str>, Tree<'a>);

/// The members of an object, in the order sent. Of members with one name, `get` finds the last one; all of them are checked.
#[derive(Clone, Debug, Default)]
pub(crate) struct TreeObject<'a>(Vec<TreeMember<'a>>);

impl<'a> Tree<'a> {
    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(crate) fn as_f64(&self) -> Option<f64> {
        if let Self::Number(number) = self { number.as_f64() } else { None }
    }

    pub(crate) fn as_list(&self) -> Option<&[Self]> {
        if let Self::List(items) = self { Some(items) } else { None }
    }

    pub(crate) fn as_object(&self) -> Option<&TreeObject<'a>> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// Whether an object in it has two members of one name.
    pub(crate) fn has_repeated_names(&self) -> bool {
        match self {
            Self::List(items) => items.iter().any(Self::has_repeated_names),
            Self::Object(TreeObject(members)) => {
                let mut names: Vec<&str> = members.iter().map(|(name, _)| &**name).collect();
                names.sort_unstable();
                names.windows(2).any(|pair| pair[0] == pair[1])
                    || members.iter().any(|(_, value)| value.has_repeated_names())
            }
            _ => false,
        }
    }
}

/// Whether a value is a whole number from 0, which some write `1.0`.
pub(crate) fn is_whole(value: &Tree<'_>) -> bool {
    value.as_f64().is_some_and(|number| number >= 0.0 && number.fract() == 0.0)
}

impl<'a> TreeObject<'a> {
    pub(crate) fn get(&self, name: &str) -> Option<&Tree<'a>> {
        self.0.iter().rfind(|(known, _)| known == name).map(|(_, value)| value)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Tree<'a>)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }
}

/// A member; `null` if it is missing.
impl Index<&str> for Tree<'_> {
    type Output = Self;

    fn index(&self, name: &str) -> &Self {
        self.as_object().and_then(|object| object.get(name)).unwrap_or(&Self::Null)
    }
}

/// Text that is borrowed where nothing in it is escaped.
#[derive(serde::Deserialize)]
struct TreeText<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Tree<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeReader)
    }
}

struct TreeReader;

impl<'de> Visitor<'de> for TreeReader {
    type Value = Tree<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_unit<E>(self) -> Result<Tree<'de>, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Tree<'de>, E> {
        Ok(Tree::Truth(truth))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Tree<'de>, E> {
        Ok(Tree::Number(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Tree<'de>, E> {
        Ok(Tree::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Tree<'de>, E> {
        Ok(Number::from_f64(number).map_or(Tree::Null, Tree::Number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Tree<'de>, E> {
        Ok(Tree::Text(text.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Tree<'de>, E> {
        Ok(Tree::Text(text.to_owned().into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree<'de>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Tree::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree<'de>, A::Error> {
        let mut members = Vec::with_capacity(MEMBERS);
        while let Some(TreeText(name)) = map.next_key()? {
            members.push((name, map.next_value()?));
        }
        Ok(Tree::Object(TreeObject(members)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn value(tree: &Tree<'_>) -> Value {
        match tree {
            Tree::Null => Value::Null,
            Tree::Truth(truth) => (*truth).into(),
            Tree::Number(number) => number.clone().into(),
            Tree::Text(text) => (&**text).into(),
            Tree::List(items) => items.iter().map(value).collect(),
            Tree::Object(object) => {
                object.iter().map(|(name, member)| (name, value(member))).collect()
            }
        }
    }

    #[test]
    fn a_tree_is_equal_to_the_parsed_value() {
        let many = (0..100).map(|n| format!("\"m{}\":{n}", n % 40)).collect::<Vec<_>>().join(",");
        for text in [
            r#"{"a":1,"b":[true,null,-2,2.5,"x\n",{"c":{}}],"a":{"again":"é"},"d":"\u00e9"}"#,
            r#"{"a":1,"b":2,"a":3,"b":4,"c":5}"#,
            &format!("{{{many}}}"),
            "[]",
            "18446744073709551615",
        ] {
            let tree: Tree<'_> = serde_json::from_str(text).unwrap();
            assert_eq!(value(&tree), serde_json::from_str::<Value>(text).unwrap());
        }
    }
}
