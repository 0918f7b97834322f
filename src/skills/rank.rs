//! Ranks skills by their relevance to a task, and says from which score on one is relevant. Pure.
//!
//! Fielded BM25: a word in a name counts more than one in a description, and one in a body hardly. How rare a
//! word is among the skills is taken from their whole text. The score is in units of one rare word of a
//! description, so that it means the same for five skills as for five hundred.

use std::collections::HashSet;

use crate::skills::terms::{self, FIELDS, Terms};

/// Name, description, body.
const WEIGHTS: [f64; FIELDS] = [3.0, 1.0, 0.1];
/// How much the length of a field counts against it.
const LENGTH_PENALTY: [f64; FIELDS] = [0.3, 0.5, 0.5];
/// How soon repeating a word stops adding to the score.
const SATURATION: f64 = 1.2;
/// A task needs this score, times the logarithm of its length.
const LEAST: f64 = 0.68;
/// And this part of the best skill's score.
const LEAST_OF_BEST: f64 = 0.55;
/// What a generic word counts.
const GENERIC_WEIGHT: f64 = 0.3;
/// The rest of a longer task is a log or code rather than a description of the work.
const MOST_WORDS: usize = 300;

/// Words that stand in every second task, whatever it is about. Among few skills, counting does not show that.
#[rustfmt::skip]
const GENERIC: &[&str] = &[
    "add", "app", "application", "apply", "best", "change", "code", "correct", "create", "current", "data",
    "date", "detail", "example", "existing", "explain", "file", "find", "fix", "follow", "function", "good",
    "handle", "help", "improve", "include", "issue", "keep", "line", "list", "look", "make", "method", "name",
    "need", "page", "part", "problem", "produce", "project", "question", "read", "repository", "result",
    "run", "set", "show", "small", "software", "source", "start", "step", "support", "system", "task", "text",
    "thing", "time", "tool", "type", "update", "use", "user", "value", "way", "work", "write",
];

/// How well a skill fits a task.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ranked {
    /// Which of the skills.
    pub(super) skill: usize,
    pub(super) score: f64,
    /// The words of the task that are in its name or description.
    pub(super) matched: Vec<String>,
}

/// The skills that have anything in common with a task.
#[derive(Debug)]
pub(super) struct Ranking {
    /// Best first.
    pub(super) skills: Vec<Ranked>,
    /// From which score on a skill is relevant.
    pub(super) threshold: f64,
}

struct QueryWord {
    term: u32,
    text: String,
    weight: f64,
}

pub(super) fn rank(skills: &[&Terms], task: &str) -> Ranking {
    let query = query(skills, task);
    let average = average_lengths(skills);
    let mut ranked: Vec<Ranked> = Vec::new();
    for (skill, terms) in skills.iter().enumerate() {
        let mut score = 0.0;
        let mut matched = Vec::new();
        for word in &query {
            let Some(counts) = terms.fields(word.term) else { continue };
            let mut found = 0.0;
            for field in 0..FIELDS {
                let length = f64::from(terms.lengths[field]) / average[field];
                let penalty = 1.0 - LENGTH_PENALTY[field] + LENGTH_PENALTY[field] * length;
                found += WEIGHTS[field] * f64::from(counts[field]) / penalty;
            }
            score += word.weight * found * (SATURATION + 1.0) / (SATURATION + found);
            if counts[0] + counts[1] > 0 && !matched.contains(&word.text) {
                matched.push(word.text.clone());
            }
        }
        if !matched.is_empty() {
            ranked.push(Ranked { skill, score, matched });
        }
    }
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.skill.cmp(&other.skill)));
    let best = ranked.first().map_or(0.0, |best| best.score);
    let least = LEAST * (2.0 + query.len() as f64).ln();
    Ranking { skills: ranked, threshold: least.max(LEAST_OF_BEST * best) }
}

/// The different words of the task, each with its weight: 1 for a word of a single skill, less the more skills have
/// it.
fn query(skills: &[&Terms], task: &str) -> Vec<QueryWord> {
    let mut seen = HashSet::new();
    let mut words = Vec::new();
    let generic: HashSet<u32> = GENERIC.iter().map(|word| terms::term(word)).collect();
    terms::each_term(task, |term, text| {
        if words.len() < MOST_WORDS && seen.insert(term) {
            words.push(QueryWord { term, text: text.to_owned(), weight: 0.0 });
        }
    });
    for word in &mut words {
        let having = skills.iter().filter(|terms| terms.fields(word.term).is_some()).count();
        let rarity = rarity(skills.len(), having.max(1)) / rarity(skills.len(), 1);
        word.weight = if generic.contains(&word.term) { rarity * GENERIC_WEIGHT } else { rarity };
    }
    words
}

fn rarity(all: usize, having: usize) -> f64 {
    let (all, having) = (all as f64, having as f64);
    (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
}

fn average_lengths(skills: &[&Terms]) -> [f64; FIELDS] {
    let average = |field: usize| {
        let sum: f64 = skills.iter().map(|terms| f64::from(terms.lengths[field])).sum();
        (sum / skills.len().max(1) as f64).max(1.0)
    };
    std::array::from_fn(average)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks `(name, description)` pairs; the names of the relevant ones.
    fn relevant(skills: &[(&'static str, &str)], task: &str) -> Vec<&'static str> {
        let terms: Vec<Terms> = skills.iter().map(|(name, about)| Terms::of(name, about, "")).collect();
        let ranking = rank(&terms.iter().collect::<Vec<_>>(), task);
        let found = ranking.skills.iter().filter(|ranked| ranked.score >= ranking.threshold);
        found.map(|ranked| skills[ranked.skill].0).collect()
    }

    const SKILLS: &[(&str, &str)] = &[
        ("pdf-forms", "Fill the fields of PDF forms"),
        ("terraform", "Write infrastructure modules for the cloud"),
        ("release-notes", "Describe what is new in a release, from merged pull requests"),
    ];

    #[test]
    fn the_skill_with_the_words_of_the_task_is_relevant() {
        assert_eq!(relevant(SKILLS, "fill in this PDF form"), ["pdf-forms"]);
        assert_eq!(relevant(SKILLS, "Use Terraform for the new bucket"), ["terraform"]);
        assert_eq!(relevant(SKILLS, "Collect the merged PRs into release notes"), ["release-notes"]);
    }

    #[test]
    fn generic_words_and_one_word_of_a_long_task_are_not_enough() {
        assert_eq!(relevant(SKILLS, "write a new file"), [""; 0]);
        let long =
            "The invoice screen shows the wrong total when a customer has several fields with discounts";
        assert_eq!(relevant(SKILLS, long), [""; 0]);
        assert_eq!(relevant(SKILLS, ""), [""; 0]);
        assert_eq!(relevant(&[], "anything"), [""; 0]);
    }

    #[test]
    fn what_matched_is_told_in_the_words_of_the_task() {
        let terms = Terms::of("pdf-forms", "Fill the fields of PDF forms", "");
        let ranking = rank(&[&terms], "Filling two PDF files, no form");
        assert_eq!(ranking.skills[0].matched, ["filling", "pdf", "form"]);
    }
}
