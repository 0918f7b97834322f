//! Tests that a line read alone is shown as it is when the whole file is read.

use proptest::prelude::*;

use crate::inspect::Mode;
use crate::inspect::line_pieces::unredacted;
use crate::inspect::reference_answers::{ask, find};
use crate::redact;

/// Lines in which a secret is recognizable only together with others. `tag` is different for each secret.
fn told_by_others(which: usize, count: usize, tag: &mut impl FnMut() -> String) -> Vec<String> {
    let (begin, end) = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----");
    let line = |tag: String| format!("MIIE{tag}{}", "aB3x".repeat(12));
    let key: Vec<String> = (0..count).map(|_| line(tag())).collect();
    match which {
        0 => vec!["a line of text".to_owned(); count],
        1 => vec!["done".to_owned()],
        2 => key,
        3 => [vec![begin.to_owned()], key, vec![format!("{}==", tag()), end.to_owned()]].concat(),
        4 => [key, vec![format!("{}==", tag()), end.to_owned()]].concat(),
        5 => [key, vec![String::new(), format!("{}-----END PRIVATE KEY-----", tag())]].concat(),
        6 => {
            (1..).zip(key).map(|(n, line)| format!("  {n}: {line}")).chain([format!("  99: {end}")]).collect()
        }
        7 => vec![format!(r"x {}\n{}\n", line(tag()), key.join(r"\n")), end.to_owned()],
        8 => vec![end.to_owned()],
        9 => vec![
            r"curl -X POST \".to_owned(),
            r"  -s \".to_owned(),
            format!("  -u bob:{}! https://x/", tag()),
        ],
        10 => vec![r#"password="hunter22 \"#.to_owned(), format!("{}\" then", tag())],
        11 => vec![r"make \".to_owned(), format!("  -u bob:{}!", tag())],
        12 => vec![format!(r#"{{"u":"https:\/\/bob:{}!@h","k":1}}"#, tag())],
        13 => vec![format!("\u{feff}x pass\u{200b}word=x\u{7}{} y", tag())],
        14 => vec![format!(r"DB_PASSWORD\u003d{}; x", tag())],
        15 => {
            let colour = |marker: &str| marker.replace("KEY", "\u{1b}[01;31m\u{1b}[KKEY\u{1b}[m\u{1b}[K");
            [vec![colour(begin)], key, vec![colour(end)]].concat()
        }
        _ => {
            let quoted = key.iter().map(|line| format!("    \"{line}\","));
            ["  \"k\": [".to_owned()].into_iter().chain(quoted).chain([format!("    \"{end}\"")]).collect()
        }
    }
}

fn check_by_whole(content: &str, tags: &[String]) -> Result<(), TestCaseError> {
    let whole: Vec<String> = content.lines().map(|line| unredacted(line.as_bytes())).collect();
    let whole = redact::text(&whole.join("\n")).into_owned();
    let lines = content.lines().count() as u64;
    let stored = content.as_bytes();
    let mut shown = Vec::new();
    for number in 1..=lines {
        let modes = [
            Mode::Range { start: number, end: number },
            Mode::Head { lines: number },
            Mode::Tail { lines: number },
        ];
        for mode in modes {
            shown.extend(ask(stored, mode, None, 1 << 20).content.lines().map(str::to_owned));
        }
    }
    let found = ask(stored, find("^", 1, 1000), None, 1 << 20);
    prop_assert_eq!(found.match_count, lines);
    for block in found.matches {
        shown.extend([block.context_before, vec![block.match_line], block.context_after].concat());
    }
    for line in &shown {
        let is_known = line.is_empty() || *line == redact::key_mark() || line.contains("PRIVATE KEY-----");
        prop_assert!(is_known || whole.lines().any(|one| one.contains(line)), "{line:?} of {whole}");
    }
    for tag in tags.iter().filter(|tag| !whole.contains(*tag)) {
        prop_assert!(shown.iter().all(|line| !line.contains(tag)), "{tag} in {shown:?}");
        prop_assert_eq!(ask(stored, find(tag, 0, 9), None, 1000).match_count, 0);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_mode_shows_of_a_line_what_the_whole_would_hide(
        parts in prop::collection::vec((0usize..17, 1usize..5), 0..7), crlf: bool,
    ) {
        let mut tags = Vec::new();
        let mut tag = || {
            tags.push(format!("Zq9x{:03}", tags.len()));
            tags[tags.len() - 1].clone()
        };
        let lines: Vec<String> =
            parts.into_iter().flat_map(|(which, count)| told_by_others(which, count, &mut tag)).collect();
        check_by_whole(&lines.join(if crlf { "\r\n" } else { "\n" }), &tags)?;
    }
}
