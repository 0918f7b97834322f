//! `delegator setup vscode`: the settings of an editor, changed and put back.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::env::TestEnv;

const PROFILES: &str = "terminal.integrated.profiles.linux";
const DEFAULT: &str = "terminal.integrated.defaultProfile.linux";

/// Where VS Code would keep its settings in this world.
fn settings(env: &TestEnv) -> PathBuf {
    let dir = env.root().join("config/Code/User");
    fs::create_dir_all(&dir).unwrap();
    dir.join("settings.json")
}

/// The settings as VS Code would read them.
fn meant(text: &str) -> Value {
    let mut plain = String::new();
    let mut rest = text.trim_start_matches('\u{feff}');
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' => rest.find("*/").unwrap() + 2,
            '"' => rest[1..].find('"').unwrap() + 2,
            other => other.len_utf8(),
        };
        if first == '}' || first == ']' {
            plain.truncate(plain.trim_end().trim_end_matches(',').len());
        }
        if first != '/' {
            plain.push_str(&rest[..length]);
        }
        rest = &rest[length..];
    }
    serde_json::from_str(&plain).unwrap_or_else(|error| panic!("{error}: {plain}"))
}

/// Sets up, twice, and undoes: to the byte, and with nothing else changed.
#[track_caller]
fn check(before: Option<&str>) {
    let env = TestEnv::new();
    let file = settings(&env);
    if let Some(before) = before {
        fs::write(&file, before).unwrap();
    }
    let dry = env.expect(0, &["setup", "vscode", "--dry-run"]).stdout;
    assert!(dry.contains("dry run") && dry.contains("added the profile"), "{dry}");
    assert_eq!(fs::read_to_string(&file).ok().as_deref(), before);
    let said = env.expect(0, &["setup", "vscode"]).stdout;
    assert!(
        said.contains("made it the default") && said.contains("undo: `delegator setup vscode --undo`"),
        "{said}"
    );
    let after = fs::read_to_string(&file).unwrap();
    let mut now = meant(&after);
    assert_eq!(now[DEFAULT], "delegator");
    let profile = &now[PROFILES]["delegator"];
    assert_eq!(profile["path"], env!("CARGO_BIN_EXE_delegator"));
    assert_eq!(
        (&profile["args"][0], &profile["env"]["DELEGATOR_TERMINAL"]),
        (&"terminal".into(), &Value::Null)
    );
    // Whatever else was there is there, in the same words.
    let mut was = meant(before.filter(|text| !text.trim().is_empty()).unwrap_or("{}"));
    now[PROFILES].as_object_mut().unwrap().remove("delegator");
    for all in [&mut now, &mut was] {
        let all = all.as_object_mut().unwrap();
        all.remove(DEFAULT);
        all.retain(|_, value| *value != serde_json::json!({}));
    }
    assert_eq!(now, was);
    for comment in before.unwrap_or_default().lines().filter_map(|line| Some(line.split_once("// ")?.1)) {
        assert!(after.contains(comment), "{comment}: {after}");
    }
    let again = env.expect(0, &["setup", "vscode"]).stdout;
    assert!(again.contains("nothing to do"), "{again}");
    assert_eq!(fs::read_to_string(&file).unwrap(), after);
    env.expect(0, &["setup", "vscode", "--undo"]);
    assert_eq!(fs::read_to_string(&file).ok().as_deref(), before);
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), usize::from(before.is_some()));
    assert!(env.expect(0, &["setup", "vscode", "--undo"]).stdout.contains("nothing to undo"));
}

#[test]
fn settings_come_back_to_the_byte() {
    check(None);
    check(Some(""));
    check(Some("{}"));
    check(Some("{\n}\n"));
    check(Some("{\n    \"editor.fontSize\": 14\n}\n"));
    check(Some("{\"a\":1}"));
    check(Some(
        "// mine\n{\n  // size\n  \"editor.fontSize\": 14, // big\n  \"x\": [1, 2,], /* last */\n  // end\n}\n",
    ));
    check(Some("\u{feff}{\r\n\t\"a\": \"b // no comment\"\r\n}"));
    let full = "{\n  \"a\": 1,\n  \"terminal.integrated.profiles.linux\": {\n    \"zsh\": { \"path\": \"zsh\" }, // z\n  },\n  \
                \"terminal.integrated.defaultProfile.linux\": \"zsh\" // my default\n}\n";
    check(Some(full));
    check(Some(&full.replace("\n    \"zsh\": { \"path\": \"zsh\" }, // z\n  ", "")));
    check(Some(&full.replace("\"zsh\" // my default", "null")));
}

#[test]
fn what_was_changed_meanwhile_stays() {
    let env = TestEnv::new();
    let file = settings(&env);
    let before = "{\n    // mine\n    \"terminal.integrated.defaultProfile.linux\": \"zsh\", // default\n    \"a\": 1\n}\n";
    fs::write(&file, before).unwrap();
    env.expect(0, &["setup", "vscode"]);
    let changed = fs::read_to_string(&file).unwrap().replace("\"a\": 1", "\"a\": 2");
    fs::write(&file, &changed).unwrap();
    let said = env.expect(0, &["setup", "vscode", "--undo"]).stdout;
    assert!(said.contains("made \"zsh\" the default again"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), before.replace("\"a\": 1", "\"a\": 2"));
    // Somebody else's choice of a default is theirs.
    env.expect(0, &["setup", "vscode"]);
    let changed =
        fs::read_to_string(&file).unwrap().replace("\"delegator\", // default", "\"fish\", // default");
    fs::write(&file, &changed).unwrap();
    env.expect(0, &["setup", "vscode", "--undo"]);
    let after = fs::read_to_string(&file).unwrap();
    assert_eq!(
        (meant(&after)[DEFAULT].as_str(), meant(&after).get(PROFILES)),
        (Some("fish"), None),
        "{after}"
    );
}

#[test]
fn a_default_that_was_chosen_between_two_times_is_the_one_to_go_back_to() {
    let env = TestEnv::new();
    let file = settings(&env);
    let before = "{\n    // mine\n    \"terminal.integrated.defaultProfile.linux\": \"zsh\", // default\n    \"a\": 1\n}\n";
    fs::write(&file, before).unwrap();
    env.expect(0, &["setup", "vscode"]);
    let chosen =
        fs::read_to_string(&file).unwrap().replace("\"delegator\", // default", "\"fish\", // default");
    fs::write(&file, &chosen).unwrap();
    let said = env.expect(0, &["setup", "vscode"]).stdout;
    assert!(said.contains("(it was \"fish\")"), "{said}");
    env.expect(0, &["setup", "vscode", "--undo"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), before.replace("\"zsh\"", "\"fish\""));
}

#[test]
fn what_is_not_understood_is_left_alone() {
    let env = TestEnv::new();
    let file = settings(&env);
    for bad in [
        "[]",
        "{ \"a\": }",
        "{ \"a\": 1 \"b\": 2 }",
        "{ \"terminal.integrated.profiles.linux\": null }",
        "{ \"terminal.integrated.defaultProfile.linux\": 1, \"terminal.integrated.defaultProfile.linux\": 2 }",
    ] {
        fs::write(&file, bad).unwrap();
        let ran = env.expect(2, &["setup", "vscode"]);
        assert!(
            ran.stderr.contains("could not be parsed") && ran.stderr.contains("nothing was changed"),
            "{ran:?}"
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), bad);
    }
    fs::write(&file, [0xff, 0xfe]).unwrap();
    env.expect(2, &["setup", "vscode"]);
    fs::remove_dir_all(env.root().join("config/Code")).unwrap();
    let ran = env.expect(3, &["setup", "vscode", "--json"]);
    assert!(ran.stdout.contains("--settings"), "{ran:?}");
}

#[test]
fn another_file_may_be_named_and_links_and_rights_stay() {
    use std::os::unix::fs::PermissionsExt;
    let env = TestEnv::new();
    let (real, link) = (env.root().join("dotfiles.json"), env.root().join("link.json"));
    fs::write(&real, "{\n  \"a\": 1\n}\n").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o644)).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let named = ["setup", "vscode", "--settings", link.to_str().unwrap()];
    let set_up = env.json(&[&named[..], &["--json"]].concat());
    assert_eq!(
        (&set_up["data"]["changed"], &set_up["data"]["target"]),
        (&true.into(), &"vscode".into()),
        "{set_up:#}"
    );
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o644);
    let backup = env.root().join("link.json.before-delegator");
    assert_eq!(fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fs::read_to_string(&real).unwrap().contains("delegator"));
    env.expect(0, &[&named[..], &["--undo"]].concat());
    assert_eq!(fs::read_to_string(&real).unwrap(), "{\n  \"a\": 1\n}\n");
}

#[test]
fn a_profile_that_somebody_had_comes_back() {
    let env = TestEnv::new();
    let file = settings(&env);
    for default in ["\"delegator\"", "\"zsh\""] {
        let before = format!(
            "{{\n  \"{PROFILES}\": {{\n    \"delegator\": {{ \"path\": \"/mine\" }}, // mine\n    \"zsh\": {{ \"path\": \"zsh\" }}\n  }},\n  \
             \"{DEFAULT}\": {default},\n  \"a\": 1\n}}\n"
        );
        fs::write(&file, &before).unwrap();
        // Nobody set anything up: there is nothing to undo.
        assert!(env.expect(0, &["setup", "vscode", "--undo"]).stdout.contains("nothing to undo"));
        assert_eq!(fs::read_to_string(&file).unwrap(), before);
        let said = env.expect(0, &["setup", "vscode"]).stdout;
        assert!(said.contains("corrected the profile"), "{said}");
        let changed = fs::read_to_string(&file).unwrap().replace("\"a\": 1", "\"a\": 2");
        fs::write(&file, &changed).unwrap();
        let said = env.expect(0, &["setup", "vscode", "--undo"]).stdout;
        assert!(said.contains("restored the previous profile"), "{said}");
        assert_eq!(fs::read_to_string(&file).unwrap(), before.replace("\"a\": 1", "\"a\": 2"));
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
    }
}

#[test]
fn a_file_that_is_called_like_a_backup_is_left_alone() {
    let env = TestEnv::new();
    let file = settings(&env);
    let theirs = file.with_file_name("settings.json.before-delegator");
    for before in [Some("{\n  \"a\": 1\n}\n"), None] {
        let _ = fs::remove_file(&file);
        before.iter().for_each(|before| fs::write(&file, before).unwrap());
        fs::write(&theirs, "not yours").unwrap();
        env.expect(0, &["setup", "vscode"]);
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "not yours");
        env.expect(0, &["setup", "vscode", "--undo"]);
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "not yours");
        assert_eq!(fs::read_to_string(&file).ok().as_deref(), before);
        let left = fs::read_dir(file.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1 + usize::from(before.is_some()));
    }
}
