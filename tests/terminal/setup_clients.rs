//! `delegator setup [CLIENT...]`: the configuration of every MCP client, changed and put back.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::env::TestEnv;
use crate::window::Window;

/// The directories that the clients make for themselves.
const DIRECTORIES: [&str; 13] = [
    "user/.claude",
    "user/.codex",
    "user/.gemini",
    "user/.qwen",
    "user/.copilot",
    "user/.cline",
    "user/.continue",
    "user/.cursor",
    "user/.codeium/windsurf",
    "config/Code/User/globalStorage/saoudrizwan.claude-dev",
    "config/opencode",
    "config/Claude",
    "config/zed",
];

/// A machine with every client, and the files that setup knows.
fn machine() -> (TestEnv, Vec<PathBuf>) {
    let env = TestEnv::new();
    for directory in DIRECTORIES {
        fs::create_dir_all(env.root().join(directory)).unwrap();
    }
    let printed = env.json(&["setup", "--print", "--json"]);
    let files = rows(&printed).into_iter().flat_map(|row| row["files"].as_array().unwrap().clone());
    let files: Vec<PathBuf> = files.map(|file| file["file"].as_str().unwrap().into()).collect();
    assert_eq!(files.len(), 17);
    (env, files)
}

fn rows(reply: &Value) -> Vec<Value> {
    reply["data"]["clients"].as_array().unwrap().clone()
}

/// A configuration that somebody wrote: comments, other servers, an order of its own.
fn written_by_hand(file: &Path) -> &'static str {
    match file.file_name().unwrap().to_str().unwrap() {
        "config.toml" => "# top\nmodel = \"m\" # why\n\n[mcp_servers.other]\ncommand = \"x\"\n# of other\n",
        "config.yaml" => {
            "name: mine # why\nmcpServers:\n  # first\n  - name: other\n    command: x\nrules: []\n"
        }
        "SKILL.md" => "---\nname: delegator\n---\nAnother skill.\n",
        ".claude.json" => "{\n  \"startups\": 7,\n  \"mcpServers\": {}\n}\n",
        "settings.json" if file.ends_with(".claude/settings.json") => {
            "{\n  \"permissions\": { \"deny\": [], \"allow\": [\"Bash(ls:*)\", \"Read\"] }\n}\n"
        }
        "settings.json" if file.ends_with("zed/settings.json") => {
            "// top\n{\n  \"context_servers\": {\n    \"other\": { \"command\": \"x\" }, // of other\n  },\n  \"theme\": \"One\",\n}\n"
        }
        "opencode.json" => {
            "{\"mcp\": {\"other\": {\"type\": \"local\", \"command\": [\"x\"]}}, \"model\": \"m\"}\n"
        }
        "mcp.json" => {
            "{\n\t\"servers\": {\n\t\t\"other\": { \"command\": \"x\" }\n\t},\n\t\"mcpServers\": {\n\t}\n}\n"
        }
        _ => {
            "{\n    \"theme\": 1,\n    /* others */\n    \"mcpServers\": {\n        \"other\": { \"command\": \"x\" }\n    }\n}\n"
        }
    }
}

/// Sets up all clients, twice, and undoes: to the byte.
#[track_caller]
fn check(prepare: impl Fn(&Path, &str)) {
    let (env, files) = machine();
    for file in &files {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        prepare(file, written_by_hand(file));
    }
    let state = || -> Vec<_> {
        let one = |file: &PathBuf| {
            let mode = fs::metadata(file).ok().map(|found| found.permissions().mode());
            (fs::read(file).ok(), fs::read_link(file).ok(), mode)
        };
        files.iter().map(one).collect()
    };
    let before = state();
    let dry = env.json(&["setup", "--dry-run", "--json"]);
    assert_eq!((&dry["meta"]["dry_run"], &dry["data"]["changed"]), (&json!(true), &json!(true)));
    assert_eq!(state(), before);

    let said = env.expect(0, &["setup", "--yes"]).stdout;
    assert!(said.contains("undo: `delegator setup --undo`"), "{said}");
    for ((file, was), now) in files.iter().zip(&before).zip(state()) {
        assert_eq!((&now.1, now.2), (&was.1, was.2.or(now.2)), "{}: link and mode", file.display());
        let now = String::from_utf8(now.0.unwrap()).unwrap();
        let ours = [env!("CARGO_BIN_EXE_delegator"), "mcp__delegator", "delegator_exclude: true"];
        assert!(ours.iter().any(|text| now.contains(text)), "{}: {now}", file.display());
        let was = String::from_utf8(was.0.clone().unwrap_or_default()).unwrap();
        if !file.ends_with("SKILL.md") {
            assert_eq!(was.starts_with('\u{feff}'), now.starts_with('\u{feff}'));
            assert_eq!(now.contains("\r\n"), was.contains("\r\n"), "{}", file.display());
            assert_eq!(
                now.matches('\n').count(),
                now.matches(if was.contains("\r\n") { "\r\n" } else { "\n" }).count()
            );
            in_order(&was, &now);
        }
    }
    let after = state();
    let again = env.json(&["setup", "--yes", "--json"]);
    assert_eq!(again["data"]["changed"], false, "{again:#}");
    assert_eq!(state(), after);

    env.expect(0, &["setup", "--undo", "--yes"]);
    assert_eq!(state(), before);
    assert_eq!(env.expect(0, &["setup", "--undo", "--yes"]).stdout, "nothing to undo\n");
    assert_eq!(fs::read_dir(env.home().join("setup")).unwrap().count(), 0, "backups are left");
}

/// Every word of the old text is in the new one, in the same order.
#[track_caller]
fn in_order(was: &str, now: &str) {
    let mut rest = now;
    for word in was.trim_start_matches('\u{feff}').split(|c: char| c.is_whitespace() || "{}[],".contains(c)) {
        let at = rest.find(word).unwrap_or_else(|| panic!("`{word}` of {was} is gone: {now}"));
        rest = &rest[at + word.len()..];
    }
}

#[test]
fn files_that_did_not_exist_are_made_and_removed() {
    check(|file, _| fs::remove_file(file).unwrap_or_default());
}

#[test]
fn files_with_other_servers_come_back_to_the_byte() {
    check(|file, text| fs::write(file, text).unwrap());
    check(|file, text| fs::write(file, text.trim_end()).unwrap());
    check(|file, text| fs::write(file, text.replace('\n', "\r\n")).unwrap());
    check(|file, text| fs::write(file, format!("\u{feff}{text}")).unwrap());
}

#[test]
fn links_and_modes_stay() {
    check(|file, text| {
        let target = file.with_extension("target");
        fs::write(&target, text).unwrap();
        symlink(&target, file).unwrap();
    });
    check(|file, text| {
        fs::write(file, text).unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
    });
}

#[test]
fn broken_files_are_refused_with_their_place_and_the_other_clients_are_set_up() {
    let (env, files) = machine();
    let broken = |file: &Path| match file.extension().unwrap().to_str().unwrap() {
        "toml" => "a = 1\nb = \n",
        "yaml" => "a: 1\nb: [\n",
        _ => "{\n  \"a\": 1,\n  oops\n}\n",
    };
    let refused: Vec<&PathBuf> = files.iter().filter(|file| !file.ends_with("SKILL.md")).collect();
    for file in &refused {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, broken(file)).unwrap();
    }
    let zed = env.root().join("config/zed/settings.json");
    fs::write(&zed, "{}").unwrap();
    let reply: Value = serde_json::from_str(&env.expect(2, &["setup", "--yes", "--json"]).stdout).unwrap();
    for row in rows(&reply) {
        if row["client"] == "zed" {
            continue;
        }
        let problem = row["problem"].as_str().unwrap();
        assert!(problem.contains("on line "), "{problem}");
        assert!(refused.iter().any(|file| problem.contains(file.to_str().unwrap())), "{problem}");
    }
    for file in refused.iter().filter(|file| ***file != zed) {
        assert_eq!(fs::read_to_string(file).unwrap(), broken(file));
    }
    assert!(fs::read_to_string(&zed).unwrap().contains("context_servers"));
    assert!(!env.root().join("user/.claude/skills").exists());
}

#[test]
fn only_our_entry_is_taken_out_of_a_file_that_has_changed_since() {
    let (env, files) = machine();
    env.expect(0, &["setup", "--yes"]);
    let edited: Vec<&PathBuf> = files.iter().filter(|file| !file.ends_with("SKILL.md")).collect();
    for file in &edited {
        let text = fs::read_to_string(file).unwrap();
        let text = match file.extension().unwrap().to_str().unwrap() {
            "toml" => format!("model = \"m\"\n{text}"),
            "yaml" => format!("{text}rules: []\n"),
            _ => text.replacen('{', "{\n    // mine\n    \"theme\": 1,", 1),
        };
        fs::write(file, text).unwrap();
    }
    let skill = env.root().join("user/.claude/skills/delegator/SKILL.md");
    fs::write(&skill, "My own.\n").unwrap();
    let said = env.expect(0, &["setup", "--undo", "--yes"]).stdout;
    assert!(said.contains("left the file as it is: the skill `delegator` was changed"), "{said}");
    assert_eq!(fs::read_to_string(&skill).unwrap(), "My own.\n");
    assert_eq!(said.matches("the file has changed since").count(), edited.len(), "{said}");
    for file in edited {
        let left = fs::read_to_string(file).unwrap();
        let expected = match file.extension().unwrap().to_str().unwrap() {
            "toml" => "model = \"m\"\n",
            "yaml" => "name: Local Config\nversion: 1.0.0\nschema: v1\nrules: []\n",
            _ => "{\n    // mine\n    \"theme\": 1\n}\n",
        };
        assert_eq!(left, expected, "{}", file.display());
    }
}

#[test]
fn an_entry_that_somebody_made_is_completed_and_comes_back() {
    let env = TestEnv::new();
    let file = env.root().join("user/.codex/config.toml");
    fs::create_dir(file.parent().unwrap()).unwrap();
    let own = format!(
        "[mcp_servers.delegator]\ncommand = {:?} # mine\nargs = [\"serve\", \"--tools\", \"all\"]\n\n[mcp_servers.delegator.env]\nA = \"b\"\n",
        env!("CARGO_BIN_EXE_delegator")
    );
    fs::write(&file, &own).unwrap();
    env.expect(0, &["setup", "codex", "--yes"]);
    let now = fs::read_to_string(&file).unwrap();
    assert!(now.contains("# mine\nargs = [\"serve\", \"--tools\", \"all\"]\n"), "{now}");
    assert!(now.contains("default_tools_approval_mode = \"approve\"\n"), "{now}");
    assert!(now.ends_with("\n\n[mcp_servers.delegator.env]\nA = \"b\"\n"), "{now}");
    // A later setup does not take the first one's entry for the user's.
    fs::write(&file, now.replace("\"approve\"", "\"prompt\"").replace("tool_timeout_sec = 300\n", ""))
        .unwrap();
    env.expect(0, &["setup", "codex", "--yes"]);
    assert!(fs::read_to_string(&file).unwrap().contains("\"prompt\""));
    env.expect(0, &["setup", "codex", "--undo", "--yes"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), own);
}

#[test]
fn nothing_is_changed_without_consent() {
    let env = TestEnv::new();
    let file = env.root().join("user/.cursor/mcp.json");
    let none = env.expect(3, &["setup", "cursor", "--yes"]).stderr;
    assert!(none.contains("no Cursor here: looked for `cursor` on PATH or"), "{none}");
    fs::create_dir(file.parent().unwrap()).unwrap();
    let asked = env.expect(2, &["setup", "cursor"]).stderr;
    assert!(asked.contains("no terminal to ask on") && asked.contains("`--yes`"), "{asked}");
    assert!(!file.exists());
    for (answer, made) in [("n\r", false), ("y\r", true)] {
        let mut window = Window::with(env.command(&["setup", "cursor"]), 80, 24);
        window.await_text("Make these changes? [y/N]");
        window.type_in(answer);
        window.expect(0);
        assert_eq!(file.exists(), made);
    }
}

#[test]
fn runs_of_our_own_are_not_given_the_skill() {
    let (env, _) = machine();
    env.expect(0, &["setup", "codex", "--yes"]);
    let listed = || env.expect(0, &["skills"]).stdout.contains("Hand coding work");
    assert!(!listed());
    let skill = env.root().join("user/.agents/skills/delegator/SKILL.md");
    let text = fs::read_to_string(&skill).unwrap();
    fs::write(&skill, text.replace("delegator_exclude: true\n", "")).unwrap();
    assert!(listed());
}

/// Every place and entry, as it is printed for those who write it by hand.
#[test]
fn what_to_write_by_hand() {
    let env = TestEnv::new();
    let mut command = env.command(&["setup", "--print"]);
    command.env_remove("XDG_CONFIG_HOME").env_remove("DELEGATOR_HOME").env("CODEX_API_KEY", "made-up-key-31");
    let printed = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let printed = printed
        .replace(env!("CARGO_BIN_EXE_delegator"), "[delegator]")
        .replace(env.root().join("user").to_str().unwrap(), "~");
    let (places, skill): (Vec<_>, Vec<_>) =
        printed.split_inclusive("\n\n").partition(|part| !part.contains("SKILL"));
    assert!(!skill.is_empty());
    insta::assert_snapshot!(places.concat());
}
