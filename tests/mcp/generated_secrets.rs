//! A secret of every kind that must not leave, made up anew for each place.
//!
//! Their random parts are made here, lest a scanner take this file for a leak,
//! and are all different, so that a part of one tells which it is.

use std::collections::HashMap;

/// So many characters in a row of a secret are a part of it.
const PART: usize = 12;

/// A text with a secret in it.
pub struct Secret {
    pub kind: &'static str,
    pub text: String,
    /// What must not be seen of it.
    pub hidden: Vec<String>,
}

impl Secret {
    /// A part of it that a pattern would find.
    pub fn middle(&self) -> &str {
        let longest = self.hidden.iter().max_by_key(|part| part.len()).unwrap();
        &longest[longest.len() / 2 - PART / 2..][..PART]
    }
}

/// Every secret, those of whole lines last, and the one without end at the end.
pub fn secrets(place: &str) -> Vec<Secret> {
    let mut made =
        Making { seed: place.bytes().fold(7, |seed: u64, c| seed * 131 + u64::from(c)), all: Vec::new() };
    for (kind, before, length, after) in [
        ("OpenAI", "key sk-", 48, ""),
        ("OpenAI of a project", "key sk-proj-", 80, ""),
        ("Anthropic", "key sk-ant-api03-", 93, ""),
        ("Google", "key AIza", 35, ""),
        ("the secret of AWS", "AWS_SECRET_ACCESS_KEY=", 40, ""),
        ("Azure", "AccountName=a;AccountKey=", 86, "==;EndpointSuffix=core.windows.net"),
        ("Slack", "xoxb-123456789012-", 24, ""),
        ("Stripe", "sk_live_", 24, ""),
        ("npm", "//registry.npmjs.org/:_authToken=npm_", 36, ""),
        ("PyPI", "pypi-AgEIcHlwaS5vcmc", 80, ""),
        ("GitHub", "ghp_", 36, ""),
        ("GitHub by OAuth", "gho_", 36, ""),
        ("GitHub of a user", "ghu_", 36, ""),
        ("GitHub of a server", "ghs_", 36, ""),
        ("GitHub to refresh", "ghr_", 76, ""),
        ("GitHub, fine", "github_pat_", 82, ""),
        ("GitLab", "glpat-", 20, ""),
        ("Hugging Face", "hf_", 34, ""),
        ("JWT", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.", 43, ""),
        ("a bearer header", "Authorization: Bearer ", 40, ""),
        ("a basic header", "Authorization: Basic ", 32, ""),
        ("a header in JSON", r#"{"headers":{"authorization":"Bearer "#, 40, r#""}}"#),
        ("a URL with a password", "postgres://app:", 16, "@db.example.org:5432/x"),
        ("a URL in JSON of PHP", r#"{"url":"https:\/\/bob:"#, 16, r#"@host.example.org\/x"}"#),
        ("a password by name", "DB_PASSWORD=", 16, ""),
        ("a member by name", r#"{"client_secret": ""#, 32, r#""}"#),
    ] {
        let random = made.random(length);
        made.add(kind, format!("{before}{random}{after}"), &[&random]);
    }
    let id = made.random(16).to_ascii_uppercase();
    made.add("the id of AWS", format!("aws_access_key_id = AKIA{id}"), &[&id]);
    for (label, kind) in
        [("RSA PRIVATE KEY", "PEM"), ("OPENSSH PRIVATE KEY", "OpenSSH"), ("PGP PRIVATE KEY BLOCK", "PGP")]
    {
        let [a, b] = made.lines();
        made.add(kind, format!("-----BEGIN {label}-----\n{a}\n{b}\n-----END {label}-----"), &[&a, &b]);
    }
    let [a, b] = made.lines();
    let json = format!(
        r#"{{"private_key": "-----BEGIN PRIVATE KEY-----\n{a}\n{b}\n-----END PRIVATE KEY-----\n", "x": 1}}"#
    );
    made.add("a key in JSON", json, &[&a, &b]);
    let [a, b] = made.lines();
    made.add("a key without beginning", format!("{a}\n{b}\n-----END RSA PRIVATE KEY-----"), &[&a, &b]);
    let [a, b] = made.lines();
    made.add("a key without end", format!("-----BEGIN EC PRIVATE KEY-----\n{a}\n{b}"), &[&a, &b]);
    made.all
}

struct Making {
    seed: u64,
    all: Vec<Secret>,
}

impl Making {
    fn add(&mut self, kind: &'static str, text: String, hidden: &[&str]) {
        self.all.push(Secret { kind, text, hidden: hidden.iter().map(|part| (*part).to_owned()).collect() });
    }

    fn lines(&mut self) -> [String; 2] {
        [self.random(64), self.random(64)]
    }

    /// Letters and digits in an order that the seed decides.
    fn random(&mut self, length: usize) -> String {
        let sorts = [&b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[..], b"abcdefghijklmnopqrstuvwxyz", b"0123456789"];
        let mut next = |most: usize| {
            self.seed =
                self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.seed >> 33) as usize % most
        };
        // Of every sort one after another: none looks like a word by chance.
        (0..length).map(|at| char::from(sorts[at % 3][next(sorts[at % 3].len())])).collect()
    }
}

/// What tells parts of secrets in anything that is said.
pub struct Watch(HashMap<String, String>);

impl Watch {
    pub fn for_all<'a>(secrets: impl IntoIterator<Item = (&'a str, &'a Secret)>) -> Watch {
        let mut parts = HashMap::new();
        for (place, secret) in secrets {
            for hidden in &secret.hidden {
                for at in 0..=hidden.len() - PART {
                    parts.insert(hidden[at..at + PART].to_owned(), format!("{place}: {}", secret.kind));
                }
            }
        }
        Watch(parts)
    }

    /// Which secrets are told a part of.
    pub fn leaks(&self, said: &str) -> Vec<String> {
        let parts = (0..said.len()).filter_map(|at| said.get(at..at + PART));
        let mut leaks: Vec<String> = parts.filter_map(|part| self.0.get(part).cloned()).collect();
        leaks.sort();
        leaks.dedup();
        leaks
    }
}
