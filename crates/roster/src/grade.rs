//! Grades: stored as sent, compared by value (docs/decisions/006).

use serde_json::Number;

/// The stored text of a grade that was sent as a number: `3` is `03`, `11` is `11`, `-1` is `-1`.
pub(crate) fn written(number: &Number) -> String {
    match number.as_i64() {
        Some(grade @ 0..=9) => format!("0{grade}"),
        _ => number.to_string(),
    }
}

/// The text by which grades compare: `3` and `03` are one, others ignore ASCII case.
pub fn comparable(grade: &str) -> String {
    match grade.trim().parse::<i64>() {
        Ok(number) => written(&number.into()),
        Err(_) => grade.to_ascii_lowercase(),
    }
}

/// The number that a grade stands for: a kindergarten is 0, what comes before it -1, advanced placement
/// 13.
pub fn value(grade: &str) -> Option<i64> {
    match grade.trim().to_ascii_uppercase().as_str() {
        "K" | "KG" | "TK" => Some(0),
        "PK" | "PR" | "IT" => Some(-1),
        "AP" => Some(13),
        digits => digits.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::comparable;

    #[test]
    fn grades_compare_by_value() {
        assert_eq!(comparable("3"), "03");
        assert_eq!(comparable("03"), "03");
        assert_eq!(comparable("11"), "11");
        assert_eq!(comparable("-1"), "-1");
        assert_eq!(comparable("KG"), "kg");
    }
}
