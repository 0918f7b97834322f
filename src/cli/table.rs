//! Lays out text in columns by display width, without colour.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::redact;

const GAP: usize = 2;
/// The last two columns shrink to this width; after that, whole lines are cut.
const LEAST: usize = 8;

/// Aligned lines, none longer than `width`. The last two columns hold text and share the space that the
/// others leave.
///
/// Redacts before cutting, because half a secret is not recognised.
pub(super) fn table(rows: &[Vec<String>], width: Option<usize>) -> String {
    let told = |row: &Vec<String>| row.iter().map(|cell| redact::text(cell).into_owned()).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(told).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..columns).map(widest).collect();
    if let Some(width) = width {
        shrink(&mut widths, width);
    }
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let cell = fit(cell, widths[column]);
            line.push_str(&cell);
            line.push_str(&" ".repeat(widths[column] - cell.width() + GAP));
        }
        text.push_str(&fit(line.trim_end(), width.unwrap_or(usize::MAX)));
        text.push('\n');
    }
    text
}

/// Shrinks the wider of the last two columns until the line fits.
fn shrink(widths: &mut [usize], width: usize) {
    let taken: usize = widths.iter().map(|width| width + GAP).sum::<usize>().saturating_sub(GAP);
    let words = widths.len().saturating_sub(2);
    for _ in width..taken {
        match widths[words..].iter_mut().max() {
            Some(widest) if *widest > LEAST => *widest -= 1,
            Some(_) | None => return,
        }
    }
}

/// Redacts `text` and cuts it to `width` columns.
pub(super) fn drawn(text: &str, width: usize) -> String {
    fit(&redact::text(text), width)
}

/// Cuts the text to `width` columns, ending in `…` if anything was cut.
fn fit(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 1;
    let mut cut = String::new();
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        cut.push(c);
    }
    cut + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(width: Option<usize>, rows: &[&[&str]], expected: &str) {
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect();
        assert_eq!(table(&rows, width), expected);
    }

    #[test]
    fn columns_stand_below_each_other() {
        check(None, &[&["a", "long", "x"], &["bbb", "s", "yy"]], "a    long  x\nbbb  s     yy\n");
    }

    #[test]
    fn the_last_column_gives_way_to_a_narrow_terminal() {
        check(Some(16), &[&["abcd", "0123456789012"]], "abcd  012345678…\n");
        check(Some(3), &[&["abcd", "0123456789012"]], "ab…\n");
    }

    #[test]
    fn two_columns_of_words_share_what_is_left() {
        let row: &[&str] = &["id", "what is to be done", "what it does now"];
        check(Some(28), &[row], "id  what is to…  what it do…\n");
        check(Some(32), &[row, &["x", "y", "z"]], "id  what is to b…  what it does…\nx   y              z\n");
        let rows = [row.iter().map(|&cell| cell.to_owned()).collect()];
        for width in 1..60 {
            assert!(table(&rows, Some(width)).trim_end().width() <= width, "{width}");
        }
    }

    #[test]
    fn no_width_shows_a_part_of_a_secret() {
        let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
        let secrets =
            [(format!("git push https://bob:{token}@host/x.git"), token), (format!("echo {token}"), token)];
        for (text, secret) in secrets {
            for width in 1..=120 {
                let row = vec!["T-local-0123456789ab".to_owned(), text.clone(), format!("running: {text}")];
                for shown in [table(&[row], Some(width)), drawn(&text, width)] {
                    let leaks = (0..=secret.len() - 6).any(|at| shown.contains(&secret[at..at + 6]));
                    assert!(!leaks, "{width}: {shown}");
                }
            }
        }
    }

    #[test]
    fn wide_characters_count_twice() {
        check(Some(14), &[&["任务", "x"], &["ab", "任务任务任务"]], "任务  x\nab    任务任…\n");
        assert_eq!(fit("任务", 3), "任…");
        assert_eq!(fit("任务", 4), "任务");
        assert_eq!(fit("abc", 0), "…");
    }
}
