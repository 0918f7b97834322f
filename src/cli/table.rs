//! Text in columns, by display width, without colour.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const GAP: usize = 2;
/// The last column is never cut below this, even when the line then wraps.
const LEAST: usize = 8;

/// Aligned lines; the last column is cut to what is left of `width`.
pub(super) fn table(rows: &[Vec<String>], width: Option<usize>) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.saturating_sub(1)).map(widest).collect();
    let taken: usize = widths.iter().map(|width| width + GAP).sum();
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(taken).max(LEAST));
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            match widths.get(column) {
                Some(wide) => {
                    line.push_str(cell);
                    line.push_str(&" ".repeat(wide - cell.width() + GAP));
                }
                None => line.push_str(&fit(cell, room)),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The text, or as much of it as `width` columns show, `…` at its end.
pub(super) fn fit(text: &str, width: usize) -> String {
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
        check(Some(3), &[&["abcd", "0123456789012"]], "abcd  0123456…\n");
    }

    #[test]
    fn wide_characters_count_twice() {
        check(Some(14), &[&["任务", "x"], &["ab", "任务任务任务"]], "任务  x\nab    任务任…\n");
        assert_eq!(fit("任务", 3), "任…");
        assert_eq!(fit("任务", 4), "任务");
        assert_eq!(fit("abc", 0), "…");
    }
}
