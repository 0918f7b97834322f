//! Parses the version and options of the installed Codex from `--version` and `exec --help`.
//! Options come and go between releases, so none is assumed.

/// The options of `codex exec`. If the program could not be asked, all are assumed to exist.
pub(super) struct CliOptions<'a> {
    help: Option<&'a str>,
}

impl<'a> CliOptions<'a> {
    pub(super) fn new(help: Option<&'a str>) -> Self {
        Self { help: help.filter(|help| help.contains("--")) }
    }

    pub(super) fn known(&self) -> bool {
        self.help.is_some()
    }

    /// Whether the help text defines `option`, such as `--json`. Mentions in prose do not count.
    pub(super) fn has(&self, option: &str) -> bool {
        let defines = |line: &str| {
            let line = line.trim_start();
            line.starts_with('-') && line.split([' ', ',', '=']).take(3).any(|word| word == option)
        };
        self.help.is_none_or(|help| help.lines().any(defines))
    }
}

/// The version in `codex-cli 0.166.0`.
pub(crate) fn parse_version(text: &str) -> Option<String> {
    let version = text.lines().find_map(|line| line.trim().strip_prefix("codex-cli "))?;
    let version = version.split_whitespace().next()?;
    version.starts_with(|c: char| c.is_ascii_digit()).then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = "Run Codex non-interactively\n\nOptions:\n  -c, --config <key=value>\n          Equivalent of --gone in the file\n\n      --json\n          Print events\n\n  -o, --output-last-message <FILE>\n";

    #[track_caller]
    fn check(help: Option<&str>, option: &str, expected: bool) {
        assert_eq!(CliOptions::new(help).has(option), expected, "{option}");
    }

    #[test]
    fn options_are_found_by_their_definition() {
        check(Some(HELP), "--json", true);
        check(Some(HELP), "-o", true);
        check(Some(HELP), "--output-last-message", true);
    }

    #[test]
    fn an_option_in_prose_or_by_half_is_not_offered() {
        check(Some(HELP), "--gone", false);
        check(Some(HELP), "--js", false);
        check(Some(HELP), "--output-last", false);
    }

    #[test]
    fn without_an_answer_everything_is_believed_to_be_there() {
        check(None, "--anything", true);
        check(Some(""), "--anything", true);
    }

    #[test]
    fn the_version_is_read_from_its_line() {
        assert_eq!(parse_version("codex-cli 0.166.0\n").as_deref(), Some("0.166.0"));
        assert_eq!(
            parse_version("WARNING: x\ncodex-cli 0.167.0-alpha.1\n").as_deref(),
            Some("0.167.0-alpha.1")
        );
        assert_eq!(parse_version("codex 1"), None);
        assert_eq!(parse_version("codex-cli "), None);
    }
}
