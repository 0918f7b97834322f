//! What a step prints by its own words, and the exit code of another step among them.

use crate::evidence::shell::Step;

/// An output is searched for the words of so many steps.
const MOST_SPEAKING: usize = 16;

#[cfg(test)]
thread_local! {
    /// How many lines this thread has compared with the words of a step.
    static COMPARED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The words of a step, around the exit code of another where that is among them.
#[derive(Debug)]
pub(super) struct Template {
    head: String,
    tail: String,
    /// Whether something that is not known follows the tail.
    is_open: bool,
    /// The step whose exit code stands between them.
    pub(super) of: Option<Taken>,
    hole: Hole,
}

/// The exit code of the step at `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) of: usize,
    /// Whether it is that of the first of a pipeline, and of nothing else.
    pub(super) is_first: bool,
}

/// Where in the head each turn of a loop puts a word.
#[derive(Debug, PartialEq, Eq)]
enum Hole {
    Nowhere,
    At {
        from: usize,
        /// How much of the head follows it.
        after: usize,
        /// What it may be.
        values: Vec<String>,
    },
}

impl Template {
    pub(super) fn of(steps: &[Step], at: usize) -> Option<Self> {
        let words = words(&steps[at])?;
        let found = names(steps, at).into_iter().find_map(|name| {
            let (head, tail) = words.split_once(name.token.as_str())?;
            Some((head.to_owned(), tail.to_owned(), name))
        });
        let Some((head, tail, name)) = found else {
            // A star may stand for files.
            let is_plain = !words.contains('*');
            let hole = Hole::of(&words, &steps[at])?;
            let (tail, is_open) = (String::new(), false);
            return is_plain.then_some(Self { head: words, tail, is_open, of: None, hole });
        };
        let of = Some(name.taken(steps)?);
        let hole = Hole::of(&head, &steps[at])?;
        let open = tail.find('$').filter(|_| hole == Hole::Nowhere);
        let tail = tail[..open.unwrap_or(tail.len())].to_owned();
        (!tail.contains('$')).then_some(Self { head, tail, is_open: open.is_some(), of, hole })
    }

    /// Whether nothing in it is another's.
    pub(super) fn is_plain(&self) -> bool {
        self.hole == Hole::Nowhere && !self.is_open
    }

    /// Whether a line of an output may be it: what is not in there at all needs no look at each line.
    pub(super) fn may_be_in(&self, text: &str) -> bool {
        let from = if let Hole::At { from, .. } = self.hole { from } else { self.head.len() };
        text.contains(&self.head[..from])
    }

    /// Whether it is what a line says, whatever the number.
    pub(super) fn is_filled_by(&self, line: &str) -> bool {
        #[cfg(test)]
        COMPARED.set(COMPARED.get() + 1);
        let line = line.trim_end();
        match self.of {
            Some(_) => self.number(line).is_some(),
            None => self.fits(line),
        }
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        self.may_be_in(text) && text.lines().any(|line| self.is_filled_by(line))
    }

    /// Whether a line up to the number is its head.
    fn fits(&self, text: &str) -> bool {
        let Hole::At { from, after, values } = &self.hole else { return text == self.head };
        let (head, tail) = (&self.head[..*from], &self.head[self.head.len() - after..]);
        let value = text.strip_prefix(head).and_then(|rest| rest.strip_suffix(tail));
        value.is_some_and(|value| values.iter().any(|of| is_one_of(of, value)))
    }

    fn number(&self, line: &str) -> Option<i64> {
        let line = line.trim_end();
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let number = match &self.hole {
            Hole::Nowhere => {
                let rest = line.strip_prefix(self.head.as_str())?;
                let (number, rest) = rest.split_at(digits(rest));
                let is_end = rest == self.tail || (self.is_open && rest.starts_with(&self.tail));
                Some(number).filter(|_| is_end)?
            }
            Hole::At { .. } => {
                let rest = line.strip_suffix(self.tail.as_str())?;
                let head = rest.trim_end_matches(|c: char| c.is_ascii_digit());
                Some(&rest[head.len()..]).filter(|_| self.fits(head))?
            }
        };
        number.parse().ok().filter(|number| *number < 256)
    }

    /// All numbers that it was printed with. A bare one may be anything, but for the last that was printed.
    pub(super) fn numbers(&self, text: &str, is_last: bool) -> Vec<i64> {
        if is_last {
            return self.number(last_line(text)).into_iter().collect();
        }
        let says = self.head.contains(|c: char| c.is_alphabetic()) || self.hole != Hole::Nowhere;
        if !says || !self.may_be_in(text) {
            return Vec::new();
        }
        #[cfg(test)]
        COMPARED.set(COMPARED.get() + text.lines().count());
        text.lines().filter_map(|line| self.number(line)).collect()
    }
}

impl Hole {
    /// `None` where something in the head cannot be known.
    fn of(head: &str, step: &Step) -> Option<Self> {
        let Some(from) = head.find('$') else { return Some(Self::Nowhere) };
        let rest = head[from + 1..].trim_start_matches('{');
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        let rest = rest.trim_start_matches('}');
        let values = values(step, name).filter(|_| !rest.contains('$'))?;
        Some(Self::At { from, after: rest.len(), values })
    }
}

/// What stands for an exit code.
#[derive(Debug)]
pub(super) struct Name {
    /// `$?`, `$rc`
    pub(super) token: String,
    /// Whether it is that of the first of a pipeline.
    is_first: bool,
    /// The step that took it.
    from: usize,
}

impl Name {
    pub(super) fn taken(&self, steps: &[Step]) -> Option<Taken> {
        let last = self.from.checked_sub(1).filter(|last| !steps[*last].background)?;
        let piped = steps[..=last].iter().rev().take_while(|step| step.piped).count();
        // The pipes of another shell are not this one's.
        if self.is_first && piped > 0 && steps[last].shells != steps[self.from].shells {
            return None;
        }
        let of = if self.is_first { last - piped } else { last };
        Some(Taken { of, is_first: self.is_first })
    }
}

/// All that stands for an exit code at the step `at`.
pub(super) fn names(steps: &[Step], at: usize) -> Vec<Name> {
    const VALUES: [(&str, bool); 3] = [("$?", false), ("${PIPESTATUS[0]}", true), ("$PIPESTATUS", true)];
    let own = VALUES.iter().map(|(token, is_first)| Name {
        token: (*token).to_owned(),
        is_first: *is_first,
        from: at,
    });
    let kept = (0..at).rev().filter_map(|from| {
        let (name, value) = steps[from].sets()?.split_once('=')?;
        let (_, is_first) = VALUES.iter().find(|(of, _)| *of == value.trim_matches('"'))?;
        let tokens = [format!("${{{name}}}"), format!("${name}")];
        Some(tokens.map(|token| Name { token, is_first: *is_first, from }))
    });
    own.chain(kept.flatten()).collect()
}

/// The words that a loop gives a name: `for f in a b`.
fn values(step: &Step, name: &str) -> Option<Vec<String>> {
    let head = format!("for {name} in ");
    let of =
        |said: &String| said.strip_prefix(&head).map(|words| words.split(' ').map(str::to_owned).collect());
    step.context.iter().find_map(of)
}

/// Whether a word is what a pattern with a star may stand for.
fn is_one_of(pattern: &str, word: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == word,
        Some((head, tail)) => {
            let tail = tail.rsplit('*').next().unwrap_or(tail);
            word.len() >= head.len() + tail.len() && word.starts_with(head) && word.ends_with(tail)
        }
    }
}

/// The steps that print words of their own; of many, the first.
pub(super) fn speaking(steps: &[Step]) -> impl Iterator<Item = usize> {
    (0..steps.len()).filter(|at| words(&steps[*at]).is_some()).take(MOST_SPEAKING)
}

pub(super) fn last_line(text: &str) -> &str {
    text.lines().map(str::trim_end).rfind(|line| !line.is_empty()).unwrap_or_default()
}

/// What a step prints that prints its own words only.
pub(super) fn words(step: &Step) -> Option<String> {
    let prints = !step.silent && step.writes.is_empty() && !step.piped;
    let words = match (step.program(), step.args()) {
        ("echo", args) => {
            let options =
                args.iter().take_while(|arg| matches!(arg.as_str(), "-e" | "-n" | "-ne" | "-en")).count();
            args[options..].join(" ")
        }
        ("printf", [format, rest @ ..]) => {
            let format = format.strip_suffix("\\n").unwrap_or(format);
            let format = format.strip_prefix("\\n").unwrap_or(format);
            let filled = match rest {
                [] => format.to_owned(),
                [one] => format.replacen("%s", one, 1).replacen("%d", one, 1),
                _ => return None,
            };
            Some(filled).filter(|filled| !filled.contains('%'))?
        }
        _ => return None,
    };
    let is_option = words.starts_with('-') && !words.starts_with("--");
    let is_plain = !words.contains(['`', '\\']) && !is_option && !words.starts_with("$(");
    (prints && is_plain && !words.is_empty()).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::COMPARED;
    use crate::evidence::errors::left_by;

    #[test]
    fn lines_are_not_compared_with_words_that_are_nowhere_in_them() {
        let text = "some line of an output\n".repeat(1000);
        for words in ["; echo \"rc $?\"; ", " || echo \"failed $?\"; ", " && echo fine; "] {
            let line: String = (0..90).map(|at| format!("python3 a{at}.py{words}")).collect();
            COMPARED.set(0);
            assert_eq!(left_by(&[(&line, 0, &text)]), None, "{words}");
            assert_eq!(COMPARED.get(), 0, "{words}");
            left_by(&[(&line, 0, &format!("{text}rc 1\nfailed 1\nfine\n"))]);
            assert!(COMPARED.get() > 0, "{words}");
        }
    }
}
