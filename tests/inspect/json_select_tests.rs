//! Tests of selecting values by a JSON path: long values in parts, secrets, and any document against a plain walk.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Copies, JsonPath, Scanner, Selected};
use crate::inspect::cursor::base36;
use crate::inspect::reference_answers::{added, ask, gzip, pages};
use crate::inspect::{Found, Mode};

fn select(path: &str, max_values: usize) -> Mode {
    Mode::Select { path: path.parse().unwrap(), max_values }
}

#[track_caller]
fn check(content: &str, path: &str, expected: &str, lines: &[u64]) {
    let found = ask(content.as_bytes(), select(path, 50), None, 1000);
    assert_eq!((found.content.as_str(), &found.value_lines[..]), (expected, lines), "{path}");
    assert_eq!(found.match_count, lines.len() as u64);
}

#[test]
fn values_of_a_document_are_selected() {
    let content = "{\"a\": [1, {\"b\": \"x y\"},\n null],\n \"b\": {\"c\": {\"b\": 2}}}";
    check(content, "$.a[1]", "{\"b\":\"x y\"}", &[1]);
    check(content, "$.a[*]", "1\n{\"b\":\"x y\"}\nnull", &[1, 1, 2]);
    check(content, "$.a[1:]", "{\"b\":\"x y\"}\nnull", &[1, 2]);
    check(content, "$..b", "\"x y\"\n{\"c\":{\"b\":2}}\n2", &[1, 3, 3]);
    check(content, "$.*", "[1,{\"b\":\"x y\"},null]\n{\"c\":{\"b\":2}}", &[1, 3]);
    check(content, "$['b'].c.b", "2", &[3]);
    check(content, "$.none", "", &[]);
}

#[test]
fn each_line_is_a_document() {
    let content = "{\"id\":1,\"t\":\"a\"}\n\n{\"id\":2}\nspoiled\n{\"id\":3,\"id\":4}\n{\"x\":0}";
    check(content, "$.id", "1\n2\n3\n4", &[1, 3, 5, 5]);
    let found = ask(content.as_bytes(), select("$.id", 50), None, 1000);
    assert_eq!(found.warning.as_deref(), Some("1 line is not JSON and was skipped"));
    let found = ask(b"{\"a\":1}\nnot json\n{\"a\":2\n{\"a\":3}", select("$..a", 50), None, 1000);
    assert_eq!(found.content, "1\n2\n3");
    let told = "1 line is not JSON and was skipped; 1 line is not JSON and was read up to the error";
    assert_eq!(found.warning.as_deref(), Some(told));
}

#[test]
fn what_is_no_json_says_why() {
    let found = ask(b"{\"a\": [1, 2,\n", select("$.a[0]", 1), None, 100);
    assert_eq!(found.content, "1");
    let found = ask(b"{\"a\": 1,\n \"b\": [2 3]}", select("$.b", 9), None, 100);
    assert_eq!(found.content, "");
    let warning = found.warning.unwrap();
    assert_eq!(warning, "2 lines are not JSON and were skipped");
}

/// All values that are shown, those that come in parts put together.
fn joined(pages: &[Found]) -> Vec<String> {
    let mut text = String::new();
    for page in pages.iter().filter(|page| page.match_count > 0) {
        let (part, ends) = added(page);
        text.push_str(&part);
        text.push_str(if ends { "\n" } else { "" });
    }
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_long_value_goes_on_from_its_cursor_and_the_next_follows() {
    let values = [json!("x".repeat(500)), json!("y"), json!({ "z": "é".repeat(30) })];
    let content = Value::from(values.to_vec()).to_string();
    let found = pages(content.as_bytes(), &select("$[*]", 9), 20);
    assert_eq!(joined(&found), values.clone().map(|value| value.to_string()));
    assert_eq!(found[0].content, "\"xxxxxxxxxxxxxxxxxx…");
    assert_eq!(found[1].content, format!("…{}…", "x".repeat(18)));
    assert!(found[0].cut && found[1].cut && !found.last().unwrap().cut);
    let part = found[1].partial_line.unwrap();
    assert_eq!((part.begins_before, part.goes_on, part.bytes), (true, true, Some(502)));
    assert!(found.iter().all(|page| page.content.chars().count() <= 20 && page.value_lines[0] == 1));
    // What is left of one comes with the next.
    let end = found.iter().find(|page| page.content.contains('\n')).unwrap();
    assert!(end.content.ends_with("x\"\n\"y\""), "{}", end.content);
    // In a line of many as well.
    let lines = format!("{{\"a\":1}}\n{{\"a\":{}}}\n{{\"a\":2}}\n", values[0]);
    let found = pages(lines.as_bytes(), &select("$.a", 9), 100);
    assert_eq!(joined(&found), ["1".to_owned(), values[0].to_string(), "2".to_owned()]);
}

#[test]
fn a_very_long_value_is_shown_in_parts_and_none_is_held() {
    for text in ["0123456789".repeat(30_000), "€uro ".repeat(30_000), "\\\"".repeat(50_000)] {
        let content = json!([1, text, 2]).to_string();
        for stored in [content.as_bytes().to_vec(), gzip(content.as_bytes())] {
            let found = pages(&stored, &select("$[*]", 9), 40_000);
            assert!(joined(&found) == ["1".to_owned(), json!(text).to_string(), "2".to_owned()]);
        }
    }
}

#[test]
fn a_long_value_that_is_hidden_has_an_end() {
    let content = json!({ "password": "hunter2x".repeat(50_000), "b": "x" }).to_string();
    let found = pages(content.as_bytes(), &select("$.*", 9), 1000);
    assert!(found.len() < 20 && found.iter().all(|page| !page.content.contains("unter")), "{found:?}");
    assert_eq!(joined(&found), ["\"[redacted:password]\"", "\"x\""]);
    for within in (0..8).flat_map(|part| [0, 1, 900, 70_000].map(|c| (part << 20) + c)) {
        let cursor = format!("s0.1.0.{}", base36(within)).parse().unwrap();
        let found = ask(content.as_bytes(), select("$.password", 9), Some(cursor), 1000);
        assert!(!found.content.contains("unter"), "{within}: {}", found.content);
    }
}

#[test]
fn a_secret_that_is_longer_than_what_is_held_is_shown_in_no_part() {
    let mut seed = 1_u64;
    let secret: String = (0..200_000)
        .map(|_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(
                b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"[(seed >> 33) as usize % 55],
            )
        })
        .collect();
    let of_member = json!({ "x": { "note": "two words", "api_key": secret, "z": "end" } });
    let in_text = json!({ "x": format!("it is said password={secret} and so on") });
    for document in [of_member, in_text] {
        let content = document.to_string();
        let found = pages(content.as_bytes(), &select("$.x", 9), 15_000);
        let shown = joined(&found).concat();
        assert!(shown.ends_with("\"end\"}") || shown.ends_with("and so on\""), "{shown}");
        let part = |at: usize| shown.contains(&secret[at..at + 12]);
        assert!(!(0..secret.len() - 12).step_by(500).any(part), "{} bytes", shown.len());
    }
}

#[test]
fn a_short_document_with_more_values_than_asked_for_goes_on() {
    for most in 1..5 {
        let found = pages(b"[1,2,3]", &select("$[*]", most), 1000);
        let contents: Vec<&str> = found.iter().map(|page| page.content.as_str()).collect();
        assert_eq!(contents.join("\n").trim_end(), "1\n2\n3", "{most}");
        assert!(found.iter().all(|page| page.match_count <= most as u64));
    }
    // Also where the room is what ends the page.
    let content = json!((0..100).map(|n| format!("{n}{}", "x".repeat(300))).collect::<Vec<_>>()).to_string();
    let found = pages(content.as_bytes(), &select("$[*]", 1000), 2000);
    assert_eq!(found.iter().map(|page| page.match_count).sum::<u64>(), 100);
}

#[test]
fn a_broken_document_says_why_though_it_is_short() {
    // What it is was told by less of it.
    let content = format!("{{\"a\": 1,\n\n\"b\": \"{}\", \"c\" 2}}", "x".repeat(100_000));
    let found = ask(content.as_bytes(), select("$.a", 9), None, 100);
    assert_eq!(
        (found.content.as_str(), found.content_type),
        ("1", crate::inspect::content_type::ContentType::Json)
    );
    let warning = found.warning.unwrap();
    assert_eq!(warning, "only a part could be read as JSON: line 3: unexpected `2`");
}

#[test]
fn matches_within_a_match_take_no_more_than_their_share() {
    let inner = vec!["{\"c\":0}"; 50_000].join(",");
    let content = format!("{{\"c\":[{inner}]}}");
    let path: JsonPath = "$..c".parse().unwrap();
    let mut copies = Copies::new(&path, 0, 1000, 5);
    Scanner::new().feed(content.as_bytes(), &mut copies).unwrap();
    assert_eq!(copies.done.len(), 5);
    // However many are open at once.
    let content = format!("{}{}{}", "{\"c\":".repeat(400), "1".repeat(100), "}".repeat(400));
    let mut copies = Copies::new(&path, 0, 1000, 1000);
    Scanner::new().feed(content.as_bytes(), &mut copies).unwrap();
    assert!(copies.done.iter().map(Selected::kept).sum::<usize>() <= 3000);
    let found = pages(content.as_bytes(), &select("$..c", 9), 3000);
    assert_eq!(joined(&found).len(), 400);
}

#[test]
fn a_long_value_is_cut_by_its_characters_and_not_through_a_secret() {
    let fits = "€".repeat(10_000);
    let found = ask(json!([fits]).to_string().as_bytes(), select("$[0]", 9), None, 12_000);
    assert!(!found.cut && found.content == format!("\"{fits}\""));
    let token = format!("ghp_{}", "aB3x".repeat(9));
    for before in [100, 1_000, 4_000, 6_900, 7_000, 7_900, 7_990, 8_000] {
        let content = json!([format!("{} {token} {}", "€".repeat(before), "y".repeat(90_000))]).to_string();
        let found = ask(content.as_bytes(), select("$[0]", 9), None, 8_000);
        assert!(found.cut && !found.content.contains("gh") && !found.content.contains("aB3"), "{before}");
        assert_eq!(found.content.chars().count(), 8_000);
    }
    // What is redacted takes less room than it took before: the rest of the room stays empty.
    for shift in 0..50 {
        let many = format!("{} ", token).repeat(200);
        let content = json!([format!("{} {many}{}", "x".repeat(shift), "€".repeat(30_000))]).to_string();
        let found = ask(content.as_bytes(), select("$[0]", 9), None, 100);
        assert!(found.cut && !found.content.contains("ghp") && !found.content.contains("aB3"));
    }
}

#[test]
fn what_stands_before_a_value_tells_that_it_is_secret() {
    let content = json!(["curl", "-u", "bob:letmein", "--password", "hunter2x", "x"]).to_string();
    check(&content, "$[2]", "\"bob:[redacted:password]\"", &[1]);
    check(&content, "$[4]", "\"[redacted:password]\"", &[1]);
    check(&content, "$[5]", "\"x\"", &[1]);
    check("{\"password\":\n\"hunter2x\"}", "$.password", "\"[redacted:password]\"", &[2]);
}

#[test]
fn the_lines_of_a_private_key_are_no_values() {
    let line = "MIIEpAIBAAKCAQEAx7Vn3k9QzT5sW2fJ8dLrY6mBcHpE4uGvNqXoKtRi1aZyDlSb";
    let (begin, end) = ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----");
    let document =
        json!({ "a": "open", "pem": [begin, line, line, "abcDEF12==", end], "id": line, "z": "shown" });
    let records =
        [begin, line, line, "abcDEF12==", end, "after"].map(|line| json!({ "msg": line }).to_string());
    for stored in [document.to_string(), format!("{document:#}"), records.join("\n")] {
        for path in ["$.pem[1]", "$.pem[*]", "$.pem[3]", "$.pem", "$.pem[1:4]", "$..pem", "$.msg", "$"] {
            for most in [1, 50] {
                for page in pages(stored.as_bytes(), &select(path, most), 1000) {
                    let told = page.content.replace(&format!("\"id\":\"{line}\""), "");
                    assert!(!told.contains("MIIE"), "{path}: {told}");
                    // As in the lines of a file, so short a line is told by standing alone.
                    assert!(!told.contains("abcDEF") || path == "$", "{path}: {told}");
                }
            }
        }
    }
    let document = document.to_string();
    check(&document, "$.z", "\"shown\"", &[1]);
    check(&document, "$.pem[2]", "\"[redacted:private-key]\"", &[1]);
    check(&document, "$.id", &format!("\"{line}\""), &[1]);
    check(
        &records.join("\n"),
        "$.msg",
        &format!("\"{begin}\"\n{}\"{end}\"\n\"after\"", "\"[redacted:private-key]\"\n".repeat(3)),
        &[1, 2, 3, 4, 5, 6],
    );
}

#[test]
fn a_cursor_that_was_made_up_shows_no_value_without_its_name() {
    let document = json!({ "password": "hunter2x", "b": ["ghp_", "x"] }).to_string();
    let lines = format!("{document}\n{document}\n");
    for stored in [&document, &lines] {
        for offset in 0..stored.len() as u64 + 2 {
            for path in ["$", "$[0]", "$.*", "$..password"] {
                let cursor = format!("s{}.1.0", base36(offset)).parse().unwrap();
                let found = ask(stored.as_bytes(), select(path, 9), Some(cursor), 1000);
                assert!(!found.content.contains("unter"), "{offset} {path}: {}", found.content);
            }
        }
    }
}

#[test]
fn the_name_of_a_member_tells_that_it_is_secret() {
    let content =
        json!({"password": "hunter2x", "k": {"api_key": "a7Bq9ZkT3mXw5Rc1VnY8dLf2Gs6Hj4Ep"}}).to_string();
    check(&content, "$.password", "\"[redacted:password]\"", &[1]);
    check(&content, "$.*.api_key", "\"[redacted:api-key]\"", &[1]);
}

/// All values that a path leads to, in the order in which they begin.
fn naive<'a>(value: &'a Value, path: &[&str], found: &mut Vec<&'a Value>) {
    let Some((step, rest)) = path.split_first() else { return found.push(value) };
    let members: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(name, value)| (format!(".{name}"), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(at, item)| (format!("[{at}]"), item)).collect(),
        _ => Vec::new(),
    };
    for (place, member) in members {
        match step.strip_prefix('.') {
            Some(below) if below.starts_with('.') => {
                if place == below {
                    naive(member, rest, found);
                }
                naive(member, path, found);
            }
            _ if *step == ".*" || *step == place => naive(member, rest, found),
            _ => {}
        }
    }
}

fn check_values(pages: &[Found], expected: &[&Value]) -> Result<(), TestCaseError> {
    let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
    prop_assert_eq!(joined(pages), expected);
    Ok(())
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!(1)),
        Just(json!("é\"\n")),
        Just(json!([])),
        Just(json!({}))
    ];
    leaf.prop_recursive(4, 30, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-c]", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_short_document_is_shown_whole_by_following_the_cursor(
        items in prop::collection::vec(values(), 1..12), most in 1usize..4, room in 16usize..200, packed: bool, below: bool,
    ) {
        let document = Value::from(items);
        let stored = if packed { gzip(document.to_string().as_bytes()) } else { document.to_string().into_bytes() };
        let (path, steps) = if below { ("$..a", vec!["..a"]) } else { ("$[*]", vec![".*"]) };
        let mut expected = Vec::new();
        naive(&document, &steps, &mut expected);
        let pages = pages(&stored, &select(path, most), room);
        check_values(&pages, &expected)?;
        prop_assert!(pages.iter().all(|page| page.match_count <= most as u64));
    }

    #[test]
    fn all_values_come_once_and_in_order(
        documents in prop::collection::vec(values(), 1..4),
        path in prop::collection::vec(prop::sample::select(vec![".a", ".b", "[0]", "[1]", ".*"]), 0..4),
        most in 1usize..4, room in 16usize..60, packed: bool, pretty: bool,
    ) {
        let is_one = documents.len() == 1 && pretty;
        let text: Vec<String> = documents.iter().map(|value| if is_one { format!("{value:#}") } else { value.to_string() }).collect();
        let stored = text.join("\n").into_bytes();
        let stored = if packed { gzip(&stored) } else { stored };
        let mut expected = Vec::new();
        for document in &documents {
            naive(document, &path, &mut expected);
        }
        let pages = pages(&stored, &select(&format!("${}", path.concat()), most), room);
        check_values(&pages, &expected)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// However it is cut, the parts make up the value, and a secret is in none.
    #[test]
    fn the_parts_of_a_value_make_it_up(
        words in prop::collection::vec((0usize..5, 1usize..20_000), 1..6), room in 8_000usize..60_000, packed: bool,
    ) {
        let token = format!("ghp_{}", "aB3x".repeat(9));
        let text: String = words.iter().map(|(which, length)| match which {
            0 => "word ".repeat(*length),
            1 => "é€🦀\"\\".repeat(*length / 2),
            2 => format!(" {token} ").repeat(1 + length / 3000),
            3 => " password=hunter2x ".repeat(1 + length / 500),
            _ => "x".repeat(*length),
        }).collect();
        let value = json!(text).to_string();
        let stored = format!("[{value},1]").into_bytes();
        let stored = if packed { gzip(&stored) } else { stored };
        let found = pages(&stored, &select("$[*]", 9), room);
        prop_assert!(found.iter().all(|page| page.content.chars().count() <= room));
        prop_assert!(joined(&found) == [crate::redact::text(&value).into_owned(), "1".to_owned()]);
    }
}
