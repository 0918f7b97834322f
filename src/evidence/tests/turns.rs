//! Loops of which each turn runs tests of its own: `for f in tests/*.py; do pytest -q $f; done`.
//!
//! What failed in one turn was not mended by another, unlike where the same runs again
//! and again until it passes.

use super::Framework;
use super::packages::Packages;
use super::scope::Scope;

/// What a variable may stand for, as far as options go: any word.
const TURN: &str = "each-turn";

/// How a loop's variable says which tests a turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turns {
    /// By what is asked for: names of tests mean what they mean without the loop.
    Asked,
    /// By the directory that it runs in.
    Elsewhere,
}

/// Whether a framework with these arguments runs others in each turn of a loop over `variable`.
pub(super) fn turns(framework: Framework, directory: &str, args: &[String], variable: &str) -> Option<Turns> {
    let filled: Vec<String> = args.iter().map(|arg| filled(arg, variable)).collect();
    let is_elsewhere = self::filled(directory, variable) != directory;
    let scope = Scope::new(framework, if is_elsewhere { "" } else { directory }, &filled);
    let is_clear = scope.unclear.is_none();
    let named = match &scope.packages {
        Packages::Named(names) => names.as_slice(),
        Packages::Default | Packages::All => &[],
    };
    let lists = [&scope.places[..], &scope.targets, &scope.filters, named];
    let asks = lists.iter().any(|list| list.iter().any(|word| word.contains(TURN)));
    match (is_clear, is_elsewhere, asks) {
        (true, true, _) => Some(Turns::Elsewhere),
        (true, false, true) => Some(Turns::Asked),
        _ => None,
    }
}

/// A word with a value in the place of the variable: `$f`, `${f}`, or the `{}` of `find`.
fn filled(word: &str, variable: &str) -> String {
    if variable == "{}" {
        return word.replace(variable, TURN);
    }
    let braced = word.replace(&format!("${{{variable}}}"), TURN);
    let plain = format!("${variable}");
    let mut parts = braced.split(&plain);
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let goes_on = part.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        filled.push_str(if goes_on { &plain } else { TURN });
        filled.push_str(part);
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::super::detect::detect;
    use super::Turns;

    #[track_caller]
    fn check(expected: Option<Turns>, lines: &[&str]) {
        for line in lines {
            let found = detect(line).unwrap();
            assert_eq!(found.starts.last().unwrap().turns, expected, "{line}");
        }
    }

    #[test]
    fn a_turn_is_known_by_what_it_asks_for() {
        check(
            Some(Turns::Asked),
            &[
                "for f in tests/*.py; do pytest -q $f; done",
                "for f in a b; do echo $f; timeout 60 pytest -q \"tests/test_${f}.py\" | tail -3; done",
                "bash -lc 'for t in a b; do cargo test --test $t; done'",
                "for p in a b; do cargo test -p $p || break; done",
                "for f in src/*.test.js; do npx jest $f; done",
                "for k in a b; do pytest -q -k $k; done",
                "ls tests/*.py | while read -r f; do pytest -q $f; done",
                "find tests -name 'test_*.py' -exec pytest -q {} \\;",
            ],
        );
        check(
            Some(Turns::Elsewhere),
            &[
                "for d in api web; do (cd $d && pytest -q); done",
                "for d in a b; do (cd \"$d\"; npx jest); done",
            ],
        );
    }

    #[test]
    fn what_runs_again_until_it_passes_has_no_such_turns() {
        check(
            None,
            &[
                "pytest -q $f",
                "for i in 1 2; do pytest -q; done",
                "for i in 1 2; do pytest -q a.py; done",
                "for i in 1 2 3; do pytest -q a.py -p randomly --seed $i; done",
                "for i in 1 2; do SEED=$i pytest -q; done",
                "for f in a.py a.py; do pytest -q $f; done",
                "for f in a b; do pytest -q $f || pytest -q --lf $f; done",
                "for i in 1 2; do for f in a b; do pytest -q $f; done; done",
                "for f in a b; do for i in 1 2; do pytest -q $f; done; done",
                "for f in a b; do until pytest -q $f; do sleep 1; done; done",
                "for f in a b; do pytest -q $fs; done",
                "for f in a b; do pytest -q $f $other; done",
                "while ! pytest -q; do sleep 1; done",
                "while read a b; do pytest -q $b; done",
            ],
        );
    }
}
