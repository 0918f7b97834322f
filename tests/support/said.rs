//! Parses the text of a reply into labels, their values, and the output at its end.

/// Marks summaries and lists that an agent wrote.
const BY_AGENT: &str = " (reported by the agent)";
const OUTPUT: [&str; 5] = ["answer:", "stdout:", "stderr:", "events:", "guide:"];

/// A text after the name of its tool.
#[derive(Debug)]
pub struct Said<'a> {
    pub entries: Vec<Entry<'a>>,
    /// The output of the run with its headers, without the last lines.
    pub output: &'a str,
    /// It was too long, and its end is missing.
    pub cut: bool,
}

/// A label with the rest of its line or the list below it.
#[derive(Debug)]
pub struct Entry<'a> {
    pub label: &'a str,
    pub by_agent: bool,
    pub value: &'a str,
    pub items: Vec<&'a str>,
    /// Lines below an item, with its number.
    pub below: Vec<(usize, &'a str)>,
    /// The number of items left out.
    pub more: usize,
}

impl<'a> Said<'a> {
    /// Parses `text` with these labels. `behind` lists the labels that may follow the output, and
    /// how many lines of each, last one first.
    pub fn read(text: &'a str, known: &[&str], behind: &[(&str, usize)]) -> Result<Said<'a>, String> {
        let (text, cut) = match text.rsplit_once("\n… (cut: ") {
            // The line before may be truncated.
            Some((kept, _)) => (kept.rsplit_once('\n').map_or("", |(whole, _)| whole), true),
            None => (text.strip_suffix('\n').ok_or("no newline at the end")?, false),
        };
        let (front, output, back) = parts(text, if cut { &[] } else { behind });
        let mut entries: Vec<Entry<'a>> = Vec::new();
        for line in front.lines().chain(back.lines()) {
            if let Some(item) = line.strip_prefix("- ") {
                entries.last_mut().ok_or("an item of no list")?.items.push(item);
            } else if let Some(below) = line.strip_prefix("    | ") {
                let entry = entries.last_mut().ok_or("a line below no list")?;
                let item = entry.items.len().checked_sub(1).ok_or("a line below no item")?;
                entry.below.push((item, below));
            } else if let Some(more) = line.strip_prefix("... (+") {
                let more = more.strip_suffix(" more)").and_then(|more| more.parse().ok());
                entries.last_mut().ok_or("an end of no list")?.more = more.ok_or("no number of more")?;
            } else {
                entries.push(Entry::read(line, known)?);
            }
        }
        Ok(Said { entries, output, cut })
    }
}

impl<'a> Entry<'a> {
    fn read(line: &'a str, known: &[&str]) -> Result<Entry<'a>, String> {
        let (label, value) = line.split_once(':').ok_or_else(|| format!("`{line}` has no label"))?;
        let own = label.strip_suffix(BY_AGENT);
        let (label, by_agent) = (own.unwrap_or(label), own.is_some());
        if !known.contains(&label) {
            return Err(format!("nothing is known of the label `{label}`"));
        }
        Ok(Entry {
            label,
            by_agent,
            value: value.trim_start(),
            items: Vec::new(),
            below: Vec::new(),
            more: 0,
        })
    }
}

/// The text before the output, the output, and the text after it.
fn parts<'a>(text: &'a str, behind: &[(&str, usize)]) -> (&'a str, &'a str, &'a str) {
    let mut at = 0;
    let start = text.split_inclusive('\n').find_map(|line| {
        let begins = OUTPUT.contains(&line.trim_end()).then_some(at);
        at += line.len();
        begins
    });
    let (front, rest) = text.split_at(start.unwrap_or(text.len()));
    let mut end = rest.len();
    for (label, most) in behind {
        for _ in 0..*most {
            let last = rest[..end].trim_end_matches('\n').rfind('\n').map_or(0, |at| at + 1);
            if rest[last..end].strip_prefix(label).is_some_and(|value| value.starts_with(": ")) {
                end = last;
            }
        }
    }
    (front, &rest[..end], &rest[end..])
}
