//! What secrets of well-known makers look like: one row each.
//!
//! A row is tried only where one of its anchors stands, so that text without
//! them costs one pass over its bytes, and a pattern that is never needed is
//! never compiled. Patterns are anchored and no run of characters is read
//! twice by the same row: the whole is linear in the text.

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use super::judge;

/// Of a compiled pattern, in bytes; the largest needs a third of it.
const MOST_MEMORY: usize = 1 << 15;
/// How far before a secret the word is looked for that it may need.
const SAME_COMMAND: usize = 512;

/// One shape of secret.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) kind: &'static str,
    pub(super) anchors: &'static [&'static str],
    /// From the anchor on. Bytes: the classes of Unicode would need tables.
    pattern: &'static str,
    secret: Secret,
    /// Characters before the anchor that the pattern begins with.
    before: usize,
    /// A word that must stand before it in the same command.
    after: &'static str,
    /// Whether what looks like a secret is one.
    accept: fn(&str) -> bool,
}

/// Which part of what matched is the secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Secret {
    /// All of it. The anchor is spelled as it must be and begins a word.
    Whole,
    /// The pattern's group that took part. The anchor may be spelled in any case.
    Group,
}

pub(super) const RULES: &[Rule] = &[
    Rule::whole("anthropic", &["sk-ant-"], "sk-ant-[A-Za-z0-9_-]{16,}").when(judge::is_no_word),
    Rule::whole("openai", &["sk-"], "sk-[A-Za-z0-9_-]{20,}").when(judge::is_openai),
    Rule::whole("google", &["AIza"], "AIza[A-Za-z0-9_-]{30,}"),
    Rule::whole("google", &["ya29."], r"ya29\.[A-Za-z0-9_.-]{20,}"),
    Rule::whole("google", &["GOCSPX-"], "GOCSPX-[A-Za-z0-9_-]{20,}"),
    Rule::whole("google", &["AQ.Ab"], r"AQ\.Ab[A-Za-z0-9_-]{30,}"),
    Rule::whole("google", &["1//0"], "1//0[A-Za-z0-9_-]{30,}"),
    Rule::whole(
        "aws",
        &["AKIA", "ASIA", "ABIA", "ACCA"],
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
    ),
    Rule::whole("aws", &["ABSK"], "ABSK[A-Za-z0-9+/]{60,}={0,2}"),
    Rule::group(
        "signature",
        &["x-amz-signature", "x-amz-security-token", "x-goog-signature"],
        "[A-Za-z-]+(?:=|: ?)([A-Za-z0-9%+/=_-]{20,})",
    ),
    Rule::whole(
        "github",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        r"gh[pousr]_[A-Za-z0-9_]{20,}(?:\.[A-Za-z0-9_-]{10,}){0,2}",
    )
    .when(judge::is_no_word),
    Rule::whole("github", &["github_pat_"], "github_pat_[A-Za-z0-9_]{20,}").when(judge::is_no_word),
    Rule::whole(
        "gitlab",
        &["glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-", "gloas-"],
        r"gl[a-z]{2,5}-[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9_-]{2,}){0,3}",
    )
    .when(judge::is_no_word),
    Rule::whole("slack", &["xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"],
        "xox[a-z]-[A-Za-z0-9%+/_-]{10,}")
    .when(judge::is_no_word),
    Rule::whole("slack", &["xoxe.xox", "xapp-"], "(?:xoxe[.]xox[bp]|xapp)-[A-Za-z0-9-]{10,}").when(judge::is_no_word),
    Rule::group("slack", &["hooks.slack.com"], "[a-zA-Z.]+/[a-z]+/([A-Za-z0-9/_+-]{20,})"),
    Rule::whole(
        "stripe",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_"],
        "[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
    )
    .when(judge::is_no_word),
    Rule::whole("stripe", &["whsec_"], "whsec_[A-Za-z0-9+/_-]{24,}={0,2}").when(judge::is_no_word),
    Rule::whole("npm", &["npm_"], r"npm_[A-Za-z0-9]{36}\b"),
    Rule::whole("pypi", &["pypi-Ag"], "pypi-Ag[A-Za-z0-9_-]{30,}"),
    Rule::whole("huggingface", &["hf_"], "hf_[A-Za-z0-9]{30,}\\b").when(judge::is_no_word),
    Rule::whole("huggingface", &["api_org_"], "api_org_[A-Za-z0-9]{30,}\\b"),
    Rule::group("azure", &["accountkey", "sharedaccesskey"], "[A-Za-z]+=([A-Za-z0-9+/]{40,}={0,2})"),
    Rule::group("azure", &["?sig=", "&sig=", "0026sig="], "[&?026]+[Ss][Ii][Gg]=([A-Za-z0-9%+/=_-]{40,})"),
    Rule::whole(
        "azure",
        &["0Q~", "1Q~", "2Q~", "3Q~", "4Q~", "5Q~", "6Q~", "7Q~", "8Q~", "9Q~"],
        "[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,}",
    )
    .before(3),
    Rule::whole("azure", &["JQQJ99"], "[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{20,}\\b").before(52),
    Rule::whole(
        "jwt",
        &["eyJ"],
        r"eyJ[A-Za-z0-9_-]{10,}\.(?:eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)?|[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]{10,}){2,3})",
    ),
    Rule::whole("api-key", &["gsk_"], "gsk_[A-Za-z0-9_]{40,}").when(judge::is_no_word),
    Rule::whole("api-key", &["xai-"], "xai-[A-Za-z0-9_-]{40,}").when(judge::is_no_word),
    Rule::whole("api-key", &["pplx-"], "pplx-[A-Za-z0-9_-]{40,}").when(judge::is_no_word),
    Rule::whole("api-key", &["r8_"], "r8_[A-Za-z0-9_]{30,}").when(judge::is_no_word),
    Rule::whole("api-key", &["SG."], r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}").when(judge::is_no_word),
    Rule::whole("api-key", &["dop_v1_", "doo_v1_", "dor_v1_"], "do[opr]_v1_[A-Za-z0-9_]{40,}").when(judge::is_no_word),
    Rule::whole("api-key", &["dapi"], r"dapi[a-f0-9]{32}(?:-[0-9])?\b").when(judge::is_no_word),
    Rule::whole("api-key", &["hvs.", "hvb.", "hvr."], r"hv[sbr]\.[A-Za-z0-9_-]{24,}").when(judge::is_no_word),
    Rule::whole("api-key", &["shpat_", "shpss_", "shpca_", "shppa_"], "shp[a-z]{2}_[A-Za-z0-9_]{32,}")
        .when(judge::is_no_word),
    Rule::whole("api-key", &["lin_api_"], "lin_api_[A-Za-z0-9_]{32,}").when(judge::is_no_word),
    Rule::whole("api-key", &["ntn_"], "ntn_[A-Za-z0-9_]{40,}").when(judge::is_no_word),
    Rule::whole("api-key", &["sbp_"], "sbp_[A-Za-z0-9_]{40,}").when(judge::is_no_word),
    Rule::whole("api-key", &["dckr_pat_"], "dckr_pat_[A-Za-z0-9_-]{20,}").when(judge::is_no_word),
    Rule::whole("api-key", &["figd_"], "figd_[A-Za-z0-9_-]{30,}").when(judge::is_no_word),
    Rule::whole("api-key", &["ATATT3"], "ATATT3[A-Za-z0-9_=-]{60,}").when(judge::is_no_word),
    Rule::whole("api-key", &["sntrys_"], "sntrys_[A-Za-z0-9+/=_-]{30,}").when(judge::is_no_word),
    Rule::whole("api-key", &["glsa_"], "glsa_[A-Za-z0-9_]{32,}").when(judge::is_no_word),
    Rule::whole(
        "api-key",
        &[
            "ATBB", "ATCTT3", "bkua_", "CCIPAT_", "CFPAT-", "dp.ct.", "dp.pt.", "dp.st.", "dt0c01.", "EZAK", "fm2_",
            "glc_", "HRKU-", "key-", "lsv2_pt_", "lsv2_sk_", "NRAK-", "nvapi-", "ops_eyJ", "pcsk_", "PMAK-",
            "pscale_", "pul-", "rubygems_", "sb_secret_", "secret_", "sntryu_", "sq0csp-", "tvly-", "vcp_",
        ],
        "[A-Za-z0-9_.-]{24,}",
    )
    .when(judge::is_key),
    Rule::whole("api-key", &[".atlasv1."], r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{50,}").before(14),
    Rule::group("api-key", &["base64:"], "base64:([A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{22}==)"),
    Rule::group("telegram", &[":AA"], "[0-9]{8}:(AA[A-Za-z0-9_-]{32,34})").before(8),
    Rule::group("discord", &["/api/webhooks/"], "/api/webhooks/[0-9]+/([A-Za-z0-9_-]{40,})"),
    // Armour that is encoded once more, as in a kubeconfig: `-----BEGIN … PRIVATE`.
    Rule::whole(
        "private-key",
        &["LS0tLS1CRUdJTi"],
        "LS0tLS1CRUdJTi(?:BQUklWQVRF|B[SE]U0EgUFJJVkFUR|BFQyBQUklWQVRF|BPUEVOU1NIIFBSSVZBVE|BFTkNSWVBURUQgUFJJVkFUR)[A-Za-z0-9+/=_-]+",
    ),
    Rule::whole("api-key", &["tskey-"], "tskey-[a-z]+-[A-Za-z0-9_-]{20,}").when(judge::is_no_word),
    Rule::whole("api-key", &["AGE-SECRET-KEY-1"], r"AGE-SECRET-KEY-1[A-Z0-9]{50,}\b").when(judge::is_no_word),
    Rule::group(
        "basic",
        &["authorization"],
        r#"(?i:authorization)(?:\\{0,7}["'`]\]?)?[ \t]{0,8}[:=,][ \t]{0,8}\[?\\{0,7}["'`]?(?i:basic)[ \t]{1,8}([A-Za-z0-9+/_-]{4,}={0,2})"#,
    )
    .when(judge::is_header),
    Rule::group(
        "bearer",
        &["authorization"],
        r#"(?i:authorization)(?:\\{0,7}["'`]\]?)?[ \t]{0,8}[:=,][ \t]{0,8}\[?\\{0,7}["'`]?(?i:bearer|token|apikey|digest|negotiate)[ \t]{1,8}([A-Za-z0-9._~+/=:%-]{4,})"#,
    )
    .when(judge::is_header),
    Rule::group("bearer", &["bearer "], "(?i:bearer)[ ]{1,8}([A-Za-z0-9._~+/=:%-]{16,})").when(judge::is_bearer),
    Rule::group(
        "session",
        &["cookie"],
        r#"(?i:cookie)(?:\\{0,7}["'`]\]?)?[ \t]{0,8}[:=,][ \t]{0,8}\[?\\{0,7}["'`]?([^\r\n"'`\\]{16,})"#,
    )
    .when(judge::is_cookie),
    Rule::group("password", &[" -p"], r#" -p(?:[ \t]{1,8})?["']?([^\s"'\\]+)"#).after("sshpass").when(judge::is_argument),
    Rule::group("password", &[" -p"], r#" -p(?:[ \t]{1,8})?["']?([^\s"'\\]+)"#).after("docker login").when(judge::is_argument),
    Rule::group("password", &[" -p"], r#" -p["']?([^\s"'\\]+)"#).after("mysql").when(judge::is_argument),
    Rule::group("password", &[" -a"], r#" -a[ \t]{1,8}["']?([^\s"'\\]+)"#).after("redis-cli").when(judge::is_argument),
    // A line of `.pgpass`, whose port is nearly always the same.
    Rule::group("password", &[":5432:"], r#":5432:[^\s:"'/]{1,64}:[^\s:"'/]{1,64}:([^\s"']{4,})"#).when(judge::is_given),
    Rule::group("password", &["pass:"], r#"pass:([^\s"'\\]+)"#).after("openssl").when(judge::is_argument),
    Rule::group("password", &["://"], r#"://[^\s/?#@:"'`<>\[\]\\|]*:([^\s/?#"'`<>\\]+)@"#).when(judge::is_given),
    Rule::group(
        "password",
        &[" -u", "\"-u", "'-u", " --user", "\"--user", "'--user", " --proxy-user", "\"--proxy-user"],
        r#"[ "'](?:-u|--user|--proxy-user)(?:[ \t=]{0,8}|\\{0,7}["'],?[ \t]{0,8})(?:\\{0,7}["'][^\r\n:"'\\]+:([^\r\n"'\\]+)|[^\s:"'\\]+:([^\s"'\\]+))"#,
    )
    .after("curl")
    .when(judge::is_login),
];

impl Rule {
    const fn whole(kind: &'static str, anchors: &'static [&'static str], pattern: &'static str) -> Self {
        Self { kind, anchors, pattern, secret: Secret::Whole, before: 0, after: "", accept: |_| true }
    }

    const fn group(kind: &'static str, anchors: &'static [&'static str], pattern: &'static str) -> Self {
        Self { secret: Secret::Group, ..Self::whole(kind, anchors, pattern) }
    }

    const fn before(self, before: usize) -> Self {
        Self { before, ..self }
    }

    const fn after(self, after: &'static str) -> Self {
        Self { after, ..self }
    }

    const fn when(self, accept: fn(&str) -> bool) -> Self {
        Self { accept, ..self }
    }
}

/// The secret of the rule number `index` where its anchor stands at `at`.
pub(super) fn find(text: &str, index: usize, at: usize) -> Option<(Range<usize>, &'static str)> {
    let rule = RULES.get(index)?;
    let start = at.checked_sub(rule.before)?;
    if rule.secret == Secret::Whole {
        let spelled = rule.anchors.iter().any(|anchor| text[at..].starts_with(anchor));
        if !spelled || !begins_word(&text.as_bytes()[..start]) {
            return None;
        }
    }
    let found = compiled(index)?.captures(&text.as_bytes()[start..])?;
    let secret = found.iter().skip(1).flatten().next().or_else(|| found.get(0))?;
    let range = start + secret.start()..start + secret.end();
    let is_secret = (rule.accept)(text.get(range.clone())?) && follows(&text.as_bytes()[..start], rule.after);
    is_secret.then_some((range, rule.kind))
}

/// Whether `word` stands in the same command, which may go over several lines.
fn follows(before: &[u8], word: &str) -> bool {
    let near = &before[before.len().saturating_sub(SAME_COMMAND)..];
    let goes_on = |line: &[u8]| line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\");
    let is_end = |at: &usize| near[*at] == b'\n' && !goes_on(&near[..*at]);
    let start = (0..near.len()).rev().find(is_end).unwrap_or(0);
    memchr::memmem::find(&near[start..], word.as_bytes()).is_some()
}

pub(super) fn compiled(index: usize) -> Option<&'static Regex> {
    static COMPILED: [OnceLock<Option<Regex>>; RULES.len()] = [const { OnceLock::new() }; RULES.len()];
    COMPILED.get(index)?.get_or_init(|| compile(RULES.get(index)?.pattern)).as_ref()
}

/// A pattern that holds where the text begins. Ours all compile: a test says so.
pub(super) fn compile(pattern: &str) -> Option<Regex> {
    let anchored = format!(r"\A(?:{pattern})");
    RegexBuilder::new(&anchored)
        .unicode(false)
        .size_limit(MOST_MEMORY)
        .dfa_size_limit(MOST_MEMORY)
        .build()
        .ok()
}

/// Whether a word may begin after `before`. Escapes end in letters and are no
/// words: `\n`, `\u001b`, `%3D`, and the colours of a terminal.
fn begins_word(before: &[u8]) -> bool {
    let hex = |digits: &[&u8]| digits.iter().all(|digit| digit.is_ascii_hexdigit());
    match before {
        [] | [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f' | b'v'] => true,
        [.., last] if !last.is_ascii_alphanumeric() => true,
        [.., b'%', a, b] | [.., b'\\', b'x', a, b] if hex(&[a, b]) => true,
        [.., b'\\', b'u', a, b, c, d] if hex(&[a, b, c, d]) => true,
        [colour @ .., b'm' | b'K'] => {
            let tail = &colour[colour.len().saturating_sub(12)..];
            let digits = tail.iter().rev().take_while(|c| c.is_ascii_digit() || **c == b';').count();
            tail[..tail.len() - digits].ends_with(b"[")
        }
        _ => false,
    }
}
