//! Rules for secrets recognised by their context: headers, cookies, URLs, arguments of known
//! programs.

use crate::redact::plausibility;
use crate::redact::rules::Rule;

pub(super) const CONTEXT_RULES: &[Rule] = &[
    Rule::group(
        "signature",
        &["x-amz-signature", "x-amz-security-token", "x-goog-signature"],
        "[A-Za-z-]+(?:=|: ?)([A-Za-z0-9%+/=_-]{20,})",
    ),
    Rule::whole(
        "jwt",
        &["eyJ"],
        r"eyJ[A-Za-z0-9_-]{10,}\.(?:eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)?|[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]{10,}){2,3})",
    ),
    // PEM encoded in base64 again, as in a kubeconfig: `-----BEGIN … PRIVATE`.
    Rule::whole(
        "private-key",
        &["LS0tLS1CRUdJTi"],
        "LS0tLS1CRUdJTi(?:BQUklWQVRF|B[SE]U0EgUFJJVkFUR|BFQyBQUklWQVRF|BPUEVOU1NIIFBSSVZBVE|BFTkNSWVBURUQgUFJJVkFUR)[A-Za-z0-9+/=_-]+",
    ),
    Rule::group(
        "basic",
        &["authorization"],
        r#"(?i:authorization)(?:\\{0,7}["'`]\]?)?[ \t]{0,8}[:=,][ \t]{0,8}\[?\\{0,7}["'`]?(?i:basic)[ \t]{1,8}([A-Za-z0-9+/_-]{4,}={0,2})"#,
    )
    .when(plausibility::is_header),
    Rule::group(
        "bearer",
        &["authorization"],
        r#"(?i:authorization)(?:\\{0,7}["'`]\]?)?[ \t]{0,8}[:=,][ \t]{0,8}\[?\\{0,7}["'`]?(?i:bearer|token|apikey|digest|negotiate|ssws|bot|key|geniekey)[ \t]{1,8}([A-Za-z0-9._~+/=:%-]{4,})"#,
    )
    .when(plausibility::is_header),
    Rule::group("bearer", &["bearer "], "(?i:bearer)[ ]{1,8}([A-Za-z0-9._~+/=:%-]{16,})").when(plausibility::is_bearer),
    Rule::group(
        "session",
        &["cookie"],
        r#"(?i:cookie)(?:\\{0,7}["'`]\]?)?[ \t]{0,8}[:=,][ \t]{0,8}\[?\\{0,7}["'`]?([^\r\n"'`\\]{16,})"#,
    )
    .when(plausibility::is_cookie),
    Rule::group("password", &[" -p"], r#" -p(?:[ \t]{1,8})?["']?([^\s"'\\]+)"#).after("sshpass").when(plausibility::is_argument),
    Rule::group("password", &[" -p"], r#" -p(?:[ \t]{1,8})?["']?([^\s"'\\]+)"#).after("docker login").when(plausibility::is_argument),
    Rule::group("password", &[" -p"], r#" -p["']?([^\s"'\\]+)"#).after("mysql").when(plausibility::is_argument),
    Rule::group("password", &[" -a"], r#" -a[ \t]{1,8}["']?([^\s"'\\]+)"#).after("redis-cli").when(plausibility::is_argument),
    // A line of `.pgpass`; the port is nearly always the same.
    Rule::group("password", &[":5432:"], r#":5432:[^\s:"'/]{1,64}:[^\s:"'/]{1,64}:([^\s"']{4,})"#).when(plausibility::is_given),
    Rule::group("password", &["pass:"], r#"pass:([^\s"'\\]+)"#).after("openssl").when(plausibility::is_argument),
    // A token as the user name, as in a Sentry DSN or `https://<token>@host/`.
    Rule::group("token", &["://"], r"://([A-Za-z0-9_~.+%-]{20,})(?::[A-Za-z0-9_~.+%-]*)?@").when(plausibility::is_key),
    Rule::group(
        "api-key",
        &["?key=", "&key=", "?code=", "&code=", "?appid=", "&appid="],
        "[?&][a-z]+=([A-Za-z0-9_~.+/%=-]{20,})",
    )
    .when(plausibility::is_parameter),
    Rule::group("bearer", &["ssws "], "(?i:ssws) {1,8}([A-Za-z0-9_-]{20,})").when(plausibility::is_bearer),
    Rule::group("session", &["_gitlab_session="], "[a-z_]+=([a-f0-9]{32})"),
    Rule::group("password", &["://"], r#"://[^\s/?#@:"'`<>\[\]\\|]*:([^\s/?#"'`<>\\]+)@"#).when(plausibility::is_given),
    Rule::group(
        "password",
        &[" -u", "\"-u", "'-u", " --user", "\"--user", "'--user", " --proxy-user", "\"--proxy-user"],
        r#"[ "'](?:-u|--user|--proxy-user)(?:[ \t=]{0,8}|\\{0,7}["'],?[ \t]{0,8})(?:\\{0,7}["'][^\r\n:"'\\]+:([^\r\n"'\\]+)|[^\s:"'\\]+:([^\s"'\\]+))"#,
    )
    .after("curl")
    .when(plausibility::is_login),
];
