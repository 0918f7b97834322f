//! What every reply to a client passes on its way out: secrets are taken out,
//! then what does not fit is cut, and the reader is told where the rest is.

use serde_json::{Map, Value};

use super::budget::{self, Budget, Cut};
use crate::redact;

/// Makes a reply fit to leave. Returns the text that goes with it.
pub(crate) fn pass(structured: &mut Value, text: &str, budget: Budget) -> String {
    redact::value(structured);
    // The words that say so must fit as well.
    if let Some(cut) = budget::fit(structured, budget.chars - TOLD) {
        tell(structured, &cut);
    }
    budget::fit_text(&redact::text(text), budget.chars).into_owned()
}

/// Room for the notice about a cut.
const TOLD: usize = 300;

/// Says in the reply's own `notice` that it was cut, and where the rest is.
fn tell(structured: &mut Value, cut: &Cut) {
    let told = format!(
        "shortened from {} characters: the files named in the reply hold everything, and delegate_results with \
         include_output gives more",
        cut.chars_before
    );
    let Some(root) = structured.as_object_mut() else { return };
    match root.get_mut("meta") {
        Some(Value::Object(meta)) => add_notice(meta, told),
        _ => add_notice(root, told),
    }
}

fn add_notice(fields: &mut Map<String, Value>, told: String) {
    let before = fields.get("notice").and_then(Value::as_str).map(|before| format!("{before}; "));
    fields.insert("notice".into(), format!("{}{told}", before.unwrap_or_default()).into());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_leave_neither_as_structure_nor_as_text() {
        let secret = format!("ghp_{}", "Ab3".repeat(12));
        let mut structured = json!({ "meta": {}, "data": { "summary": format!("pushed with {secret}") } });
        let text = pass(&mut structured, &format!("summary: pushed with {secret}\n"), Budget::USUAL);
        assert!(!structured.to_string().contains(&secret), "{structured}");
        assert!(!text.contains(&secret) && text.contains("redacted"), "{text}");
    }

    #[test]
    fn a_reply_that_is_too_long_is_cut_and_says_so() {
        let long = "word ".repeat(20_000);
        for budget in [Budget::USUAL, Budget::MOST] {
            let mut structured = json!({ "meta": { "notice": "1 unread" }, "data": { "output": long } });
            let text = pass(&mut structured, &long, budget);
            assert!(
                structured.to_string().chars().count() <= budget.chars
                    && text.chars().count() <= budget.chars
            );
            let notice = structured["meta"]["notice"].as_str().unwrap();
            assert!(notice.starts_with("1 unread; shortened from 100"), "{notice}");
        }
        let mut report = json!({ "summary": long });
        pass(&mut report, "", Budget::USUAL);
        assert!(report["notice"].as_str().unwrap().starts_with("shortened"));
    }

    #[test]
    fn what_fits_is_left_alone() {
        let mut structured = json!({ "meta": {}, "data": { "summary": "all fine" } });
        let before = structured.clone();
        assert_eq!(pass(&mut structured, "summary: all fine\n", Budget::USUAL), "summary: all fine\n");
        assert_eq!(structured, before);
    }
}
