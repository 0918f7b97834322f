//! Checks a caller's overrides of the agent's configuration: only known keys, and only plain values.

use crate::config::Config;
use crate::context::TaskError;

/// Key parts that start programs or raise access even in a read-only sandbox, and anything that begins with
/// one of them. No configuration can allow them.
const FORBIDDEN: &[&str] = &[
    "notify",
    "mcp_servers",
    "model_provider",
    "sandbox",
    "projects",
    "hooks",
    "shell_environment_policy",
    // Newer names for the same settings, and one that includes them all.
    "permissions",
    "default_permissions",
    "profile",
    "use_legacy_landlock",
];

/// Splits `key=value` and returns the value as a TOML scalar.
pub(crate) fn check_override(config: &Config, text: &str) -> Result<(String, String), TaskError> {
    let Some((key, value)) = text.split_once('=') else { return Err(TaskError::BadOverride(text.into())) };
    if !is_allowed(key, &config.config_override_keys) {
        return Err(TaskError::OverrideNotAllowed(key.into()));
    }
    let scalar = scalar(value).ok_or_else(|| TaskError::BadOverride(text.into()))?;
    Ok((key.to_owned(), scalar))
}

fn is_allowed(key: &str, listed: &[String]) -> bool {
    let plain = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    };
    let harmless = |part: &str| {
        let part = part.to_ascii_lowercase();
        !FORBIDDEN.iter().any(|word| part.starts_with(word)) && !part.ends_with("base_url")
    };
    listed.iter().any(|known| known == key) && key.split('.').all(|part| plain(part) && harmless(part))
}

/// The value as a TOML scalar. Text that is not TOML becomes a string.
fn scalar(value: &str) -> Option<String> {
    let Ok(mut read) = toml::from_str::<toml::Table>(&format!("value = {value}")) else {
        return Some(toml::Value::from(value).to_string());
    };
    match (read.len(), read.remove("value")?) {
        (
            1,
            scalar @ (toml::Value::Integer(_)
            | toml::Value::Float(_)
            | toml::Value::Boolean(_)
            | toml::Value::String(_)),
        ) => Some(scalar.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::test_rows;

    #[test]
    fn every_override_passes_or_is_refused_as_its_row_says() {
        let rows = include_str!("../../tests/security/overrides.jsonl");
        for (listed, text, expected) in test_rows::<(Option<String>, String, Option<String>)>(rows) {
            let mut config = Config::default();
            config.config_override_keys = listed.map_or(config.config_override_keys, |key| vec![key]);
            let passed = check_override(&config, &text).ok();
            let given = |scalar| (text.split('=').next().unwrap_or_default().to_owned(), scalar);
            assert_eq!(passed, expected.map(given), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_is_one_scalar_to_codex(value in any::<String>()) {
            if let Some(written) = scalar(&value) {
                let read: toml::Table = toml::from_str(&format!("_x_ = {written}")).unwrap();
                prop_assert_eq!(read.len(), 1);
                prop_assert!(!read["_x_"].is_table() && !read["_x_"].is_array());
            }
        }
    }
}
