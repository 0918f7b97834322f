//! Error for an unknown tool.

use crate::config::ToolProfile;
use crate::mcp::tools::{Effect, Tool, find, listed};
use crate::reply::line;
use crate::text::plain;

/// Planned tools that do not exist yet.
const LATER: [&str; 2] = ["claude_code", "gemini"];
/// Common prefixes, which do not help to distinguish names.
const SHARED: [&str; 4] = ["_codex_local_", "_codex_", "codex_", "delegate_"];
/// The similarity from which a name counts as a misspelling.
const ALIKE: f64 = 0.88;

/// Why `name` cannot be called, and what to call instead.
pub(crate) fn message(name: &str, profile: ToolProfile) -> String {
    if let Some(tool) = find(name) {
        return format!("`{}` is listed by `delegator serve --tools all`", tool.name);
    }
    let shown = line(name, 80);
    if LATER.contains(&name) {
        return format!("`{shown}` is not available yet; `tools/list` names the available tools");
    }
    match nearest(name, profile) {
        Some(near) => format!("unknown tool `{shown}`; did you mean `{}`?", near.name),
        None => format!("unknown tool `{shown}`; `tools/list` names the available tools"),
    }
}

/// The nearest tool. A destructive tool is suggested only if the name clearly means it.
fn nearest(name: &str, profile: ToolProfile) -> Option<&'static Tool> {
    let name = plain::line(name, 80).to_lowercase();
    if let Some(same) = listed(profile).find(|tool| letters(tool.name) == letters(&name)) {
        return Some(same);
    }
    let score = |tool: &Tool| {
        let alike = strsim::jaro_winkler(own(&name), own(tool.name));
        // Of two equally similar names, prefer the one with the same beginning.
        (alike, strsim::jaro_winkler(&name, tool.name))
    };
    let harmless = listed(profile).filter(|tool| tool.effect != Effect::Ends);
    let scored = harmless.map(|tool| (score(tool), tool)).filter(|((alike, _), _)| *alike > ALIKE);
    let by_score = |a: &((f64, f64), &Tool), b: &((f64, f64), &Tool)| {
        a.0.0.total_cmp(&b.0.0).then(a.0.1.total_cmp(&b.0.1))
    };
    scored.max_by(by_score).map(|(_, tool)| tool)
}

fn own(name: &str) -> &str {
    SHARED.iter().find_map(|shared| name.strip_prefix(shared)).unwrap_or(name)
}

/// Normalises spellings such as `delegateCancel` and `delegate-cancel`.
fn letters(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, profile: ToolProfile, near: Option<&str>) {
        assert_eq!(nearest(name, profile).map(|tool| tool.name), near, "{name}");
    }

    #[test]
    fn a_slip_is_told_from_another_word() {
        for (name, near) in [
            ("delegate_runn", Some("delegate_run")),
            ("delegate_stauts", Some("delegate_status")),
            ("delegateStatus", Some("delegate_status")),
            ("status", Some("delegate_status")),
            ("delegate_result", Some("delegate_results")),
            ("inspect", Some("inspect_output")),
            ("delegate_zzz", None),
            ("delegate_", None),
            ("", None),
        ] {
            check(name, ToolProfile::Default, near);
        }
        check("_codex_local_stauts", ToolProfile::All, Some("_codex_local_status"));
        check("delegate_stauts", ToolProfile::All, Some("delegate_status"));
    }

    #[test]
    fn nothing_that_ends_a_task_is_proposed_by_likeness() {
        for name in ["delegate_cancle", "delegate_cance", "_codex_cleanup", "delegate_cancel_all"] {
            for profile in [ToolProfile::Default, ToolProfile::All] {
                assert!(nearest(name, profile).is_none_or(|tool| tool.effect != Effect::Ends), "{name}");
            }
        }
        check("delegateCancel", ToolProfile::Default, Some("delegate_cancel"));
        check("delegate-cancel", ToolProfile::Default, Some("delegate_cancel"));
    }

    #[test]
    fn what_is_to_come_is_said_to_be() {
        for name in LATER {
            assert!(find(name).is_none(), "{name} exists");
            assert!(message(name, ToolProfile::Default).contains("not available yet"), "{name}");
        }
        assert!(message("_codex_local_run", ToolProfile::Default).contains("--tools all"));
        assert!(message("delegate_zzz", ToolProfile::Default).contains("tools/list"));
    }
}
