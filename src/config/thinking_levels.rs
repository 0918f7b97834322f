//! Which model and which reasoning effort a thinking level means, from the table `[autopilot]`.

use serde::Deserialize;

use crate::host::Env;
use crate::model::{Level, ThinkingLevel};

/// The table as written. An environment variable takes precedence over its key.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ThinkingLevels {
    model_low: Option<String>,
    model_medium: Option<String>,
    model_high: Option<String>,
    reasoning_effort_low: String,
    reasoning_effort_medium: String,
    reasoning_effort_high: String,
}

impl Default for ThinkingLevels {
    fn default() -> Self {
        Self {
            model_low: None,
            model_medium: None,
            model_high: None,
            reasoning_effort_low: "low".into(),
            reasoning_effort_medium: "medium".into(),
            reasoning_effort_high: "high".into(),
        }
    }
}

impl ThinkingLevels {
    pub(super) fn resolve(&self, level: ThinkingLevel, env: &Env) -> Level {
        let (model, effort) = match level {
            ThinkingLevel::Low => (&self.model_low, &self.reasoning_effort_low),
            ThinkingLevel::Medium => (&self.model_medium, &self.reasoning_effort_medium),
            ThinkingLevel::High => (&self.model_high, &self.reasoning_effort_high),
        };
        let set = |what: &str| {
            let name = format!("CODEX_AUTOPILOT_{what}_{}", level.as_str().to_uppercase());
            env.text(&name).filter(|value| !value.is_empty()).map(str::to_owned)
        };
        // An empty text leaves the choice to the agent.
        let effort = set("REASONING_EFFORT").unwrap_or_else(|| effort.clone());
        Level {
            model: set("MODEL").or_else(|| model.clone()).filter(|model| !model.is_empty()),
            reasoning_effort: Some(effort).filter(|effort| !effort.is_empty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_goes_before_the_configuration() {
        let levels: ThinkingLevels =
            toml::from_str("model_low = \"small\"\nreasoning_effort_high = \"\"").unwrap();
        let env = Env::of(&[
            ("CODEX_AUTOPILOT_MODEL_MEDIUM", "mine"),
            ("CODEX_AUTOPILOT_REASONING_EFFORT_LOW", "minimal"),
        ]);
        let told = ThinkingLevel::ALL.map(|level| {
            let Level { model, reasoning_effort } = levels.resolve(level, &env);
            [model, reasoning_effort].map(|value| value.unwrap_or_else(|| "-".into())).join(" ")
        });
        assert_eq!(told, ["small minimal", "mine medium", "- -"]);
    }
}
