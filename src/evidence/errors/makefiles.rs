//! What a Makefile says of its targets: what is made along with one, so that `make` is `make main` where it makes
//! nothing else.

use std::collections::HashMap;

/// So deep is looked for what a target needs.
const MOST_TARGETS: usize = 500;

#[derive(Debug, Default)]
pub(super) struct Makefile {
    /// What is made without a word.
    first: Option<String>,
    rules: HashMap<String, Rule>,
}

#[derive(Debug, Default)]
struct Rule {
    needs: Vec<String>,
    /// Whether it does something itself.
    has_recipe: bool,
}

impl Makefile {
    pub(super) fn read(text: &str) -> Self {
        let (mut file, mut now): (Self, Vec<String>) = Default::default();
        for line in text.lines() {
            if line.starts_with('\t') {
                now.iter().for_each(|target| file.rule(target).has_recipe = true);
                continue;
            }
            let Some((targets, needs)) = line.split_once(':').filter(|_| !line.starts_with(['#', ' ']))
            else {
                continue;
            };
            let needs = needs.trim_start_matches(':');
            // It sets a variable.
            if needs.starts_with('=') || targets.contains('=') {
                continue;
            }
            let (needs, recipe) =
                needs.split_once(';').map_or((needs, None), |(needs, rest)| (needs, Some(rest)));
            let needs = needs.split('#').next().unwrap_or_default().replace('|', " ");
            now = targets.split_whitespace().map(str::to_owned).collect();
            for target in &now {
                let rule = file.rule(target);
                rule.needs.extend(needs.split_whitespace().map(str::to_owned));
                rule.has_recipe |= recipe.is_some();
            }
            let goal = now.iter().find(|target| !target.starts_with('.') && !target.contains(['%', '$']));
            file.first = file.first.take().or(goal.cloned());
        }
        file
    }

    fn rule(&mut self, target: &str) -> &mut Rule {
        self.rules.entry(target.to_owned()).or_default()
    }

    /// All that is made where these are asked for, without those that are nothing but a name for others.
    pub(super) fn made(&self, asked: &[String]) -> Vec<String> {
        let is_first = |target: &String| target == "all" && !self.rules.contains_key(target);
        let asked =
            asked.iter().map(|target| self.first.as_ref().filter(|_| is_first(target)).unwrap_or(target));
        let mut made: Vec<String> = asked.cloned().collect();
        let mut at = 0;
        while let Some(target) = made.get(at).filter(|_| made.len() < MOST_TARGETS) {
            let needs = self.rules.get(target).map(|rule| rule.needs.clone()).unwrap_or_default();
            let new: Vec<String> = needs.into_iter().filter(|need| !made.contains(need)).collect();
            made.extend(new);
            at += 1;
        }
        made.retain(|target| {
            self.rules.get(target).is_none_or(|rule| rule.has_recipe || rule.needs.is_empty())
        });
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_is_what_a_target_needs() {
        let text = "CC := gcc\nX = a: b\n.PHONY: all clean\nall: main lib # both\nmain: main.c | out\n\tgcc main.c\nlib: ; ar x\nclean:\n\trm -f main\n%.o: %.c\n\tgcc -c $<\n";
        let makefile = Makefile::read(text);
        let made = |asked: &str| makefile.made(&[asked.to_owned()]).join(" ");
        assert_eq!(made("all"), "main lib main.c out");
        assert_eq!(made("main"), "main main.c out");
        assert_eq!(made("clean"), "clean");
        assert_eq!(made("other"), "other");
        let ring = Makefile::read("check: a\na: b\n\tx\nb: a\n\ty\n");
        assert_eq!(ring.made(&["all".to_owned()]), ["a", "b"]);
    }
}
