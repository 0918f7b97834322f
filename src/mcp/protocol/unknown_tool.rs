//! What is said of a tool that there is not: that it is still to come, or which
//! other one may have been meant.

use crate::config::ToolProfile;
use crate::mcp::tools::{Effect, Tool, find, listed};
use crate::reply::line;
use crate::text::plain;

/// Of the contract, and not built yet.
const LATER: [&str; 10] = [
    "codex",
    "delegate_autopilot",
    "delegate_apply",
    "_codex_cloud_submit",
    "_codex_cloud_status",
    "_codex_cloud_wait",
    "_codex_cloud_results",
    "_codex_cloud_cancel",
    "_codex_cloud_list_environments",
    "_codex_cloud_github_setup",
];
/// What many names begin with: it tells none from another.
const SHARED: [&str; 4] = ["_codex_local_", "_codex_", "codex_", "delegate_"];
/// From there on, a word is taken for another one.
const ALIKE: f64 = 0.88;

/// Why `name` cannot be called here, and what can.
pub(crate) fn message(name: &str, profile: ToolProfile) -> String {
    if let Some(tool) = find(name) {
        return format!("`{}` is listed by `delegator serve --tools all`", tool.name);
    }
    let shown = line(name, 80);
    if LATER.contains(&name) {
        return format!("`{shown}` is not there yet; `tools/list` names what is");
    }
    match nearest(name, profile) {
        Some(near) => format!("unknown tool `{shown}`; did you mean `{}`?", near.name),
        None => format!("unknown tool `{shown}`; `tools/list` names those there are"),
    }
}

/// What ends or removes something is proposed to nobody who did not name it.
fn nearest(name: &str, profile: ToolProfile) -> Option<&'static Tool> {
    let name = plain::line(name, 80).to_lowercase();
    if let Some(same) = listed(profile).find(|tool| letters(tool.name) == letters(&name)) {
        return Some(same);
    }
    let score = |tool: &Tool| {
        let alike = strsim::jaro_winkler(own(&name), own(tool.name));
        // Of two with the same word, the one that begins alike.
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

/// A name however it is spelt: `delegateCancel`, `delegate-cancel`.
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
            assert!(find(name).is_none(), "{name} is there");
            assert!(message(name, ToolProfile::Default).contains("not there yet"), "{name}");
        }
        assert!(message("_codex_local_run", ToolProfile::Default).contains("--tools all"));
        assert!(message("delegate_zzz", ToolProfile::Default).contains("tools/list"));
    }
}
