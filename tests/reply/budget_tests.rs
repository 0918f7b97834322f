//! Tests that any value fits its budget and keeps its shape.

use proptest::prelude::*;
use serde_json::json;

use super::super::size_caps::is_whole;
use super::*;

fn chars(value: &Value) -> usize {
    value.to_string().chars().count()
}

/// All of a text.
fn fit_text(text: &str, limit: usize) -> Cow<'_, str> {
    super::fit_text(text, limit, text.chars().count())
}

/// Without a text beside it.
fn fit(value: &mut Value, chars: usize) -> Option<Cut> {
    super::fit(value, Room { chars, shown: usize::MAX })
}

/// Fits `given`, and checks all that holds whatever it is.
#[track_caller]
fn check(given: &Value, limit: usize) -> (Value, Option<Cut>) {
    let mut value = given.clone();
    let cut = fit(&mut value, limit);
    assert_eq!(cut.is_none(), chars(given) <= limit);
    match cut {
        None => assert_eq!(value.to_string(), given.to_string()),
        Some(cut) => assert_eq!(cut.chars_before, chars(given)),
    }
    let hopeless = !Caps::FLOORS[4].fits(given, limit);
    assert!(chars(&value) <= limit || hopeless, "{} > {limit}: {value}", chars(&value));
    assert_like(&value, given);
    let mut again = value.clone();
    fit(&mut again, limit);
    assert_eq!(again, value, "fitted twice");
    (value, cut)
}

/// The same, but for ends of texts and lists.
#[track_caller]
fn assert_like(cut: &Value, whole: &Value) {
    match (cut, whole) {
        (Value::String(cut), Value::String(whole)) if cut != whole => {
            assert!(!is_whole(whole), "{whole:?} was cut");
            assert!(whole.starts_with(cut.strip_suffix(CUT).unwrap()), "{cut:?} of {whole:?}");
        }
        (Value::Array(cut), Value::Array(whole)) => {
            assert!(cut.len() <= whole.len());
            cut.iter().zip(whole).for_each(|(cut, whole)| assert_like(cut, whole));
        }
        (Value::Object(cut), Value::Object(whole)) => {
            assert!(cut.keys().eq(whole.keys()));
            cut.values().zip(whole.values()).for_each(|(cut, whole)| assert_like(cut, whole));
        }
        _ => assert_eq!(cut, whole),
    }
}

#[test]
fn long_strings_are_cut_first_and_alike() {
    let text = "some words ".repeat(1000);
    let id = "x".repeat(500);
    let given =
        json!({ "a": text, "b": text, "short": "a few words", "id": id, "list": [1, 2, 3, 4, 5, 6, 7] });
    let (value, cut) = check(&given, 4_000);
    assert_eq!(cut, Some(Cut { chars_before: chars(&given), strings: 2, items: 0 }));
    assert_eq!(value["a"], value["b"]);
    let end = value["a"].as_str().unwrap();
    assert!(["some …", "some…", "words …", "words…"].iter().any(|one| end.ends_with(one)), "{end}");
    assert_eq!(
        (&value["short"], &value["id"], &value["list"]),
        (&given["short"], &given["id"], &given["list"])
    );
    assert!(chars(&value) > 3_900, "{} is too short", chars(&value));
}

#[test]
fn then_long_lists_keep_their_first_items() {
    let text = "words ".repeat(60);
    let given = json!({ "events": vec![&text; 100], "files": ["a", "b", "c", "d", "e"], "n": 5 });
    let (value, cut) = check(&given, 8_000);
    let kept = value["events"].as_array().unwrap().len();
    assert!((30..100).contains(&kept), "{kept}");
    assert_eq!(cut.unwrap().items, 100 - kept);
    assert_eq!(value["files"], given["files"]);
    assert!(value["events"][0].as_str().unwrap().chars().count() > 150);
}

#[test]
fn at_last_everything_gets_small() {
    let text = "words ".repeat(60);
    let given = json!({ "a": vec![&text; 100], "b": vec![&text; 4], "c": text });
    let (value, _) = check(&given, 600);
    assert_eq!(value["a"].as_array().unwrap().len(), 5);
    let (value, _) = check(&given, 100);
    assert_eq!((&value["a"], &value["b"]), (&json!([]), &json!([])));
}

#[test]
fn a_value_that_cannot_fit_is_as_short_as_it_can_be() {
    let given = json!({ "id": "T-local-000000000000", "n": 12345, "text": "words ".repeat(60), "list": [1] });
    let (value, cut) = check(&given, 20);
    assert_eq!(value["id"], given["id"]);
    assert_eq!(value["list"], json!([]));
    assert_eq!(cut.map(|cut| (cut.strings, cut.items)), Some((1, 1)));
}

#[test]
fn what_is_of_use_only_as_a_whole_stays_whole() {
    let path = format!("/home/a b/{}", "x".repeat(400));
    let given = json!([path, "2026-11-15T09:30:00.123Z", "words ".repeat(100)]);
    let (value, _) = check(&given, 700);
    assert_eq!((&value[0], &value[1]), (&given[0], &given[1]));
}

#[test]
fn a_string_is_cut_after_a_line_or_else_a_word() {
    let shown = |text: &str| shortened(text, 20);
    assert_eq!(shown("one line of\nfive w\nand more of it"), "one line of\nfive w\n…");
    assert_eq!(shown("one line\nof a few more words"), "one line\nof a few …");
    assert_eq!(shown("éééééééééééééééééééééééééééééé"), "ééééééééééééééééééé…");
    assert_eq!(shortened("abc", 0), "");
}

#[test]
fn a_text_is_cut_after_a_line_and_says_how_long_it_was() {
    let text = "a line of text\n".repeat(20);
    assert_eq!(
        fit_text(&text, 80),
        "a line of text\na line of text\na line of text\n… (cut: 300 characters in all)\n"
    );
    assert_eq!(fit_text(&text, 300), text);
    assert_eq!(fit_text(&"word ".repeat(20), 50), "word word word word\n… (cut: 100 characters in all)");
    assert_eq!(fit_text(&text, 10), "a line of…");
    assert_eq!(fit_text(&text, 0), "");
}

/// Ids, prose, text with many escapes; lists and objects of them.
fn values() -> impl Strategy<Value = Value> {
    let string = prop_oneof![
        "[a-zA-Z0-9_/-]{0,40}",
        "[a-z]{500,530}",
        "([a-zé]{1,9}[ \n]){0,120}",
        "[\\x00-\\x7fé…\u{1F600}]{0,300}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        string.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 60, 12, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..12).prop_map(Value::from),
            prop::collection::vec(("[a-zé\n\"]{0,9}", inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_comes_fits_and_keeps_its_shape(value in values(), limit in 0usize..3_000) {
        check(&value, limit);
    }

    #[test]
    fn whatever_text_comes_fits(text in "([a-zé]{1,9}[ \n]?){0,80}", limit in 0usize..300) {
        let fitted = fit_text(&text, limit);
        prop_assert!(fitted.chars().count() <= limit);
        prop_assert_eq!(fitted == text, text.chars().count() <= limit);
        prop_assert_eq!(fit_text(&fitted, limit), fitted.as_ref());
    }
}
