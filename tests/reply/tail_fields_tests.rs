//! Tests that the ends of streams stay, and that everything said of a cut is true.

use proptest::prelude::*;
use serde_json::json;

use super::super::budget::{Room, fit};
use super::*;
use crate::text::marks;

/// The end of a stream that was cut; checks what is said of the rest.
#[track_caller]
fn taken_apart<'a>(cut: &'a str, whole: &str) -> &'a str {
    let mark = marks(cut).next().unwrap_or_else(|| panic!("no mark: {cut}"));
    let (head, tail) = (&cut[..mark.at.start], &cut[mark.at.end..]);
    assert!(whole.starts_with(head) && whole.ends_with(tail), "{cut}");
    assert_eq!(mark.missing, (whole.len() - head.len() - tail.len()) as u64);
    tail
}

#[test]
fn room_is_shared_alike_and_what_is_left_over_is_used() {
    assert_eq!(shares(&[10, 20], 100), [10, 20]);
    assert_eq!(shares(&[500, 20, 500], 100), [40, 20, 40]);
    assert_eq!(shares(&[500, 500], 0), [0, 0]);
    assert_eq!(shares(&[], 7), Vec::<usize>::new());
}

/// A reply about one run.
fn reply(streams: [&str; 3], events: usize, files: usize, words: usize) -> Value {
    let event = |number: usize| json!({ "type": "item", "id": number, "text": "word ".repeat(number % 40) });
    let events: Vec<Value> = (0..events).map(event).collect();
    json!({ "data": {
        "task_id": "T-local-000000000000",
        "summary": "word ".repeat(words),
        "answer": streams[1],
        "output": { "truncated": false, "original_size": 7, "stdout": streams[0], "stderr": streams[1] },
        "events": { "count": 900, "items": events },
        "metadata": {
            "file_operations": { "added_files": (0..files).map(|n| format!("src/{n}.rs")).collect::<Vec<_>>(), "files_changed": files },
            "error_context": { "partial_results": { "last_output": streams[2], "last_events": events } },
        },
    } })
}

proptest! {
    #[test]
    fn ends_stay_and_everything_said_of_a_cut_is_true(
        streams in prop::array::uniform3("([a-zé\"]{1,30}\n?){0,300}"),
        events in 0usize..60,
        files in 0usize..120,
        words in 0usize..2_000,
        limit in 4_000usize..20_000,
        shown in 1_500usize..20_000,
    ) {
        let given = reply(streams.each_ref().map(String::as_str), events, files, words);
        let mut value = given.clone();
        let cut = fit(&mut value, Room { chars: limit, shown });
        prop_assert!(cost(&value) <= limit, "{} > {limit}: {value:#}", cost(&value));
        let told = Ends::take(&mut value.clone()).shown_size();
        prop_assert!(told <= shown, "{told} > {shown}");
        prop_assert_eq!(cut.is_none(), value == given);
        let (data, whole) = (&value["data"], &given["data"]);
        let mut lost = false;
        for (place, ..) in PLACES {
            let (now, before) = (data.pointer(place).unwrap(), whole.pointer(place).unwrap());
            match (now, before) {
                (Value::String(now), Value::String(before)) if now != before => {
                    let tail = taken_apart(now, before);
                    prop_assert!(!tail.is_empty(), "{place}: {now}");
                    lost |= place.starts_with("/output/");
                }
                (Value::Array(now), Value::Array(before)) => {
                    // One that is too long alone is shortened.
                    let ids = |items: &[Value]| items.iter().map(|item| item["id"].clone()).collect::<Vec<_>>();
                    prop_assert!(ids(before).ends_with(&ids(now)), "{place}");
                    prop_assert!(before.is_empty() || !now.is_empty(), "{place}");
                }
                (now, before) => prop_assert_eq!(now, before),
            }
        }
        prop_assert_eq!(&data["output"]["truncated"], &json!(lost));
        let named = &data["metadata"]["file_operations"];
        let there = named["added_files"].as_array().unwrap().len();
        let left_out = named["left_out"].as_u64().unwrap_or_default();
        prop_assert_eq!(there + usize::try_from(left_out).unwrap(), files);
    }
}
