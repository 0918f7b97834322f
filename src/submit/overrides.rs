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

    fn pass(text: &str) -> Option<(String, String)> {
        check_override(&Config::default(), text).ok()
    }

    #[test]
    fn only_listed_keys_pass_and_values_become_scalars() {
        let verbosity = |value: &str| Some(("model_verbosity".to_owned(), value.to_owned()));
        assert_eq!(pass("model_verbosity=high"), verbosity("\"high\""));
        assert_eq!(pass("model_verbosity=\"a\\\"b\""), verbosity("'a\"b'"));
        assert_eq!(pass("model_verbosity=3"), verbosity("3"));
        for other in ["model=other", "model_verbosity", "model_verbosity={a=1}", "model_verbosity=[1]"] {
            assert_eq!(pass(other), None, "{other}");
        }
    }

    #[test]
    fn a_key_is_compared_to_the_letter() {
        for key in [
            " model_verbosity",
            "model_verbosity ",
            "\"model_verbosity\"",
            "'model_verbosity'",
            "Model_verbosity",
            "model_verbosity.x",
            "x.model_verbosity",
            "model_verbosity\n",
            "model_verbos\u{456}ty",
            "model_verbosity\u{200b}",
            "",
        ] {
            assert_eq!(pass(&format!("{key}=high")), None, "{key:?}");
        }
    }

    #[test]
    fn no_configuration_can_allow_what_raises_access() {
        let keys = [
            "notify",
            "mcp_servers.x.command",
            "model_provider",
            "model_providers.x",
            "sandbox_mode",
            "sandbox_workspace_write.network_access",
            "openai_base_url",
            "x.base_url",
            "hooks",
            "projects",
            "shell_environment_policy.set",
            "profiles.x.sandbox_mode",
            "profile",
            "permissions.x",
            "default_permissions",
            "features.use_legacy_landlock",
            "Notify",
            " notify",
            "\"notify\"",
            "a..b",
            "a b",
        ];
        let mut config = Config::default();
        config.config_override_keys = keys.map(str::to_owned).to_vec();
        for key in keys {
            assert!(check_override(&config, &format!("{key}=1")).is_err(), "{key}");
        }
    }

    #[test]
    fn a_second_line_is_no_second_setting() {
        assert_eq!(pass("model_verbosity=1\nnotify=[\"sh\"]"), None);
        assert_eq!(pass("model_verbosity=\"a\"\n[mcp_servers.x]\ncommand=\"sh\""), None);
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
