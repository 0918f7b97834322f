//! Tests of the JSON scanner: any document in any parts, and any bytes.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// Copies a document, and counts what begins and ends.
#[derive(Default)]
struct Copied {
    text: Vec<u8>,
    open: i64,
    begun: usize,
}

impl Reader for Copied {
    fn name(&mut self, _: &[u8]) {}

    fn begin(&mut self, _: Kind, _: At) {
        self.open += 1;
        self.begun += 1;
    }

    fn end(&mut self) {
        self.open -= 1;
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
    }
}

fn scan(parts: &[&[u8]]) -> Result<Copied, NotJson> {
    let (mut scanner, mut copied) = (Scanner::new(), Copied::default());
    for part in parts {
        scanner.feed(part, &mut copied)?;
    }
    scanner.finish(&mut copied)?;
    Ok(copied)
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

#[test]
fn what_is_no_json_is_refused_with_its_line() {
    for (given, message) in [
        ("", "unexpected end"),
        ("{\"a\": ", "unexpected end"),
        ("\"abc", "unexpected end"),
        ("{\n\"a\" 1}", "line 2: unexpected `1`"),
        ("[1,]", "line 1: unexpected `]`"),
        ("[1}", "line 1: unexpected `}`"),
        ("{\"a\":1,}", "line 1: unexpected `}`"),
        ("{} {}", "line 1: unexpected `{`"),
        ("[tru]", "line 1: not a number, `true`, `false` or `null`"),
        ("-", "line 1: not a number, `true`, `false` or `null`"),
        ("é", "line 1: unexpected `\\u{c3}`"),
    ] {
        let error = scan(&[given.as_bytes()]).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(message), "{given}");
    }
    let bomb = "[".repeat(1 << 20);
    assert_eq!(scan(&[bomb.as_bytes()]).err(), Some(NotJson::Deep { line: 1 }));
}

proptest! {
    #[test]
    fn a_document_is_the_same_however_it_comes(value in values(), pretty: bool, cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5)) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort();
        let parts: Vec<&[u8]> = cuts.windows(2).map(|cut| &text.as_bytes()[cut[0]..cut[1]]).collect();
        let copied = scan(&parts).unwrap();
        prop_assert_eq!(String::from_utf8(copied.text).unwrap(), value.to_string());
        prop_assert_eq!(copied.open, 0);
    }

    #[test]
    fn what_a_parser_takes_is_taken(text in r#"[\[\]{},:"a1\\ tnul.e-]{0,12}"#) {
        let parsed = serde_json::from_str::<IgnoredAny>(&text).is_ok();
        prop_assert!(!parsed || scan(&[text.as_bytes()]).is_ok(), "{}", text);
    }

    #[test]
    fn whatever_comes_is_read(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = scan(&[&bytes]);
    }
}
