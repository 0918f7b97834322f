//! Texts as terms: the words that carry meaning, reduced to their stems.
//!
//! The same word is the same term in a task and in a skill, whatever its ending.

/// Common words that say nothing about a subject.
#[rustfmt::skip]
const EMPTY: &[&str] = &[
    "able", "about", "above", "across", "actually", "after", "again", "against", "all", "along", "already",
    "also", "always", "am", "an", "and", "another", "any", "anybody", "anyone", "anything", "are", "around",
    "as", "ask", "asks", "at", "away", "back", "be", "because", "been", "before", "being", "between", "both",
    "but", "by", "can", "cannot", "could", "did", "do", "does", "doing", "don", "done", "down", "during",
    "each", "either", "else", "etc", "even", "every", "everyone", "everything", "few", "first", "for", "from",
    "further", "gets", "give", "given", "go", "goes", "going", "got", "had", "has", "have", "he", "hello",
    "her", "here", "hi", "him", "his", "how", "however", "if", "in", "instead", "into", "is", "it", "its",
    "just", "last", "let", "lets", "like", "ll", "lot", "lots", "many", "may", "maybe", "me", "might", "more",
    "most", "much", "must", "my", "never", "new", "next", "no", "nobody", "nor", "not", "nothing", "now",
    "of", "off", "often", "on", "once", "one", "only", "or", "other", "our", "out", "over", "own", "per",
    "perhaps", "please", "quite", "rather", "re", "really", "same", "second", "several", "she", "should",
    "simply", "since", "skill", "skills", "so", "some", "someone", "something", "sometimes", "still", "such",
    "tell", "tells", "than", "thank", "thanks", "that", "the", "their", "them", "then", "there", "these",
    "they", "this", "those", "through", "throughout", "to", "today", "together", "tomorrow", "too", "two",
    "under", "until", "up", "us", "ve", "very", "via", "want", "wants", "was", "we", "well", "went", "were",
    "what", "when", "whenever", "where", "whether", "which", "while", "who", "why", "will", "with", "within",
    "without", "would", "yesterday", "yet", "you", "your",
];

const LONGEST_EMPTY: usize = 10;

/// Short forms that are as common as the words they stand for.
const SHORT_FORMS: &[(&str, &[&str])] = &[
    ("a11y", &["accessibility"]),
    ("config", &["configuration"]),
    ("configs", &["configuration"]),
    ("db", &["database"]),
    ("deps", &["dependencies"]),
    ("doc", &["document"]),
    ("docs", &["document"]),
    ("i18n", &["internationalization"]),
    ("js", &["javascript"]),
    ("k8s", &["kubernetes"]),
    ("l10n", &["localization"]),
    ("perf", &["performance"]),
    ("postgresql", &["postgres"]),
    ("pr", &["pull", "request"]),
    ("prs", &["pull", "request"]),
    ("repo", &["repository"]),
    ("repos", &["repository"]),
    ("ts", &["typescript"]),
];

/// Longer words are no words of a language, but keys, hashes and data.
const LONGEST_WORD: usize = 40;

/// The fields of a skill, in the order of their counts.
pub(super) const FIELDS: usize = 3;

/// A skill's text as it is ranked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Terms {
    /// Sorted by term.
    pub(super) counts: Vec<TermCount>,
    /// The number of terms in each field.
    pub(super) lengths: [u32; FIELDS],
}

/// How often a term stands in each field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TermCount {
    pub(super) term: u32,
    pub(super) fields: [u8; FIELDS],
}

impl Terms {
    pub(super) fn of(name: &str, description: &str, body: &str) -> Self {
        let mut found: Vec<(u32, u8)> = Vec::with_capacity(body.len() / 8 + 16);
        let mut lengths = [0; FIELDS];
        for (field, text) in (0u8..).zip([name, description, body]) {
            let before = found.len();
            each_term(text, |term, _| found.push((term, field)));
            lengths[usize::from(field)] = u32::try_from(found.len() - before).unwrap_or(u32::MAX);
        }
        found.sort_unstable();
        let mut counts: Vec<TermCount> = Vec::with_capacity(found.len());
        for (term, field) in found {
            if counts.last().is_none_or(|last| last.term != term) {
                counts.push(TermCount { term, fields: [0; FIELDS] });
            }
            if let Some(last) = counts.last_mut() {
                let count = &mut last.fields[usize::from(field)];
                *count = count.saturating_add(1);
            }
        }
        counts.shrink_to_fit();
        Self { counts, lengths }
    }

    pub(super) fn fields(&self, term: u32) -> Option<[u8; FIELDS]> {
        let at = self.counts.binary_search_by_key(&term, |count| count.term).ok()?;
        Some(self.counts[at].fields)
    }
}

/// Calls `each` with every term of `text`, and with the word that it stands for.
pub(super) fn each_term(text: &str, mut each: impl FnMut(u32, &str)) {
    let mut word = String::with_capacity(LONGEST_WORD);
    let mut stem = Vec::with_capacity(LONGEST_WORD);
    // One more character, so that the last word ends.
    for c in text.chars().chain([' ']) {
        let joins = c.is_alphanumeric() && !is_ideograph(c);
        // `c++` and `c#` are words.
        if joins || (matches!(c, '+' | '#') && word.len() == 1 || word == "c+") {
            if c.is_ascii() {
                word.push(c.to_ascii_lowercase())
            } else {
                word.extend(c.to_lowercase())
            }
            continue;
        }
        // Usually between two words.
        if word.is_empty() && !is_ideograph(c) {
            continue;
        }
        match SHORT_FORMS.binary_search_by_key(&word.as_str(), |form| form.0) {
            Ok(at) => SHORT_FORMS[at].1.iter().for_each(|whole| each(hash(stemmed(whole, &mut stem)), &word)),
            Err(_) if says_something(&word) => each(hash(stemmed(&word, &mut stem)), &word),
            Err(_) => {}
        }
        word.clear();
        if is_ideograph(c) {
            let mut bytes = [0; 4];
            let alone = c.encode_utf8(&mut bytes);
            each(hash(alone.as_bytes()), alone);
        }
    }
}

/// The term of one word.
pub(super) fn term(word: &str) -> u32 {
    hash(stemmed(word, &mut Vec::new()))
}

fn says_something(word: &str) -> bool {
    (2..=LONGEST_WORD).contains(&word.len())
        && word.bytes().any(|byte| !byte.is_ascii_digit())
        && (word.len() > LONGEST_EMPTY || EMPTY.binary_search(&word).is_err())
}

/// Writing without spaces: every character is a term.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

/// FNV-1a, folded to 32 bits.
fn hash(bytes: &[u8]) -> u32 {
    let long = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (long ^ (long >> 32)) as u32
}

/// The word without its English endings, so that `migrate`, `migrating` and `migrations` are one term. What is
/// left need not be a word.
fn stemmed<'a>(word: &str, stem: &'a mut Vec<u8>) -> &'a [u8] {
    stem.clear();
    stem.extend_from_slice(word.as_bytes());
    if !word.is_ascii() || word.len() < 4 {
        return stem;
    }
    singular(stem);
    swap(stem, b"ysis", b"yz", 3);
    swap(stem, b"our", b"or", 3);
    let _ = swap(stem, b"ability", b"", 4) || swap(stem, b"ibility", b"", 4) || swap(stem, b"ity", b"", 4);
    if swap(stem, b"ing", b"", 3) || swap(stem, b"ed", b"", 4) {
        undouble(stem);
    }
    if swap(stem, b"er", b"", 4) || swap(stem, b"or", b"", 4) {
        undouble(stem);
    }
    let _ = swap(stem, b"tion", b"t", 3) || swap(stem, b"sion", b"s", 3);
    let _ = swap(stem, b"able", b"", 4) || swap(stem, b"ible", b"", 4) || swap(stem, b"ly", b"", 4);
    let _ = swap(stem, b"ance", b"", 4) || swap(stem, b"ence", b"", 4);
    swap(stem, b"e", b"", 3);
    swap(stem, b"at", b"", 5);
    swap(stem, b"ment", b"", 5);
    let _ = swap(stem, b"is", b"iz", 4) || swap(stem, b"ys", b"yz", 3);
    stem
}

fn singular(stem: &mut Vec<u8>) {
    if swap(stem, b"ies", b"y", 2) || [b"us", b"is", b"ss"].iter().any(|end| stem.ends_with(*end)) {
        return;
    }
    let hissing = [&b"ses"[..], b"xes", b"zes", b"ches", b"shes"];
    let end = if hissing.iter().any(|end| stem.ends_with(end)) { &b"es"[..] } else { b"s" };
    swap(stem, end, b"", 2);
}

/// `running` is `run`, but `billing` is `bill`.
fn undouble(stem: &mut Vec<u8>) {
    if let [.., one, other] = stem[..]
        && one == other
        && stem.len() > 3
        && !matches!(one, b'l' | b's' | b'z')
    {
        stem.pop();
    }
}

/// Replaces an ending if at least `rest` characters with a vowel among them stay.
fn swap(stem: &mut Vec<u8>, end: &[u8], with: &[u8], rest: usize) -> bool {
    if !stem.ends_with(end) || stem.len() < end.len() + rest {
        return false;
    }
    let kept = stem.len() - end.len();
    if !stem[..kept].iter().any(|byte| matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')) {
        return false;
    }
    stem.truncate(kept);
    stem.extend_from_slice(with);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::test_rows;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_term(text, |_, word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn the_forms_of_a_word_are_one_term() {
        let rows = include_str!("../../tests/data/word_forms.jsonl");
        for (same, other) in test_rows::<(Vec<String>, String)>(rows) {
            let first = term(&same[0]);
            assert!(same.iter().all(|word| term(word) == first), "{same:?}");
            assert_ne!(term(&other), first, "{other}");
        }
    }

    #[test]
    fn the_tables_are_sorted_for_the_search() {
        assert!(EMPTY.is_sorted() && SHORT_FORMS.is_sorted());
        assert!(EMPTY.iter().all(|word| word.len() <= LONGEST_EMPTY));
    }

    #[test]
    fn words_are_what_stands_between_signs() {
        assert_eq!(
            words("Please fix the C++ parser, PR #42 (node.js)"),
            ["fix", "c++", "parser", "pr", "pr", "node", "js"]
        );
        assert_eq!(words("数据 migration"), ["数", "据", "migration"]);
        assert_eq!(words(&"x".repeat(41)), [""; 0]);
    }

    #[test]
    fn a_term_is_counted_by_field() {
        let terms = Terms::of("pdf-forms", "Fill PDF forms", "Open the pdf. Fill each form.");
        assert_eq!(terms.fields(term("pdf")), Some([1, 1, 1]));
        assert_eq!(terms.fields(term("fill")), Some([0, 1, 1]));
        assert_eq!(terms.fields(term("excel")), None);
        assert_eq!(terms.lengths, [2, 3, 4]);
    }
}
