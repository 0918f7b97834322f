//! Makes a recorded terminal the default in VS Code: adds a profile to `settings.json` and selects
//! it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::host::{Env, env};
use crate::setup::jsonc::{self, Layout, Object};
use crate::setup::{Backup, Change, SetupAction, SetupError, text_of};

const PROFILE: &str = "delegator";
#[cfg(not(target_os = "macos"))]
const PROFILES: &str = "terminal.integrated.profiles.linux";
#[cfg(not(target_os = "macos"))]
const DEFAULT: &str = "terminal.integrated.defaultProfile.linux";
#[cfg(target_os = "macos")]
const PROFILES: &str = "terminal.integrated.profiles.osx";
#[cfg(target_os = "macos")]
const DEFAULT: &str = "terminal.integrated.defaultProfile.osx";

/// The end of every backup, which distinguishes it from other files.
const OURS: &str = "\n// kept by `delegator setup vscode`: `--undo` puts back what stands above\n";
/// Number of names tried for the backup.
const TRIED: usize = 10;

/// The path of the user's VS Code settings.
fn located(env: &Env) -> Result<PathBuf, SetupError> {
    let home = || env.path("HOME").ok_or(SetupError::NoHome);
    #[cfg(target_os = "macos")]
    let config = home()?.join("Library/Application Support");
    #[cfg(not(target_os = "macos"))]
    let config = env.path("XDG_CONFIG_HOME").map_or_else(|| home().map(|home| home.join(".config")), Ok)?;
    Ok(config.join("Code/User/settings.json"))
}

/// The change to the settings that makes new terminals recorded by `program`, or undoes that.
pub(crate) fn vscode(
    env: &Env,
    settings: Option<PathBuf>,
    program: &Path,
    way: SetupAction,
) -> Result<Change, SetupError> {
    let file = settings.map_or_else(|| located(env), Ok)?;
    let before = text_of(&file)?;
    let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if before.is_none() && !dir.is_dir() {
        return Err(SetupError::NoVsCode(file));
    }
    let (backup, kept) = backup(&file)?;
    let not_understood = |why| SetupError::NotUnderstood { path: file.clone(), why };
    match way {
        SetupAction::SetUp => set_up(&file, before, kept, backup, program).map_err(not_understood),
        SetupAction::Undo => undo(&file, before, kept, backup).map_err(not_understood),
    }
}

/// The path of the backup, and its content if it exists. Other files with its name are left alone.
fn backup(file: &Path) -> Result<(PathBuf, Option<String>), SetupError> {
    let name = format!("{}.before-delegator", file.file_name().unwrap_or_default().to_string_lossy());
    let mut free = None;
    for number in 1..=TRIED {
        let name = if number == 1 { name.clone() } else { format!("{name}-{number}") };
        let path = file.with_file_name(name);
        match text_of(&path) {
            Ok(Some(text)) => {
                if let Some(kept) = text.strip_suffix(OURS) {
                    return Ok((path, Some(kept.to_owned())));
                }
            }
            Ok(None) => {
                free.get_or_insert(path);
            }
            // Not ours.
            Err(_) => {}
        }
    }
    free.map(|path| (path, None)).ok_or_else(|| SetupError::NotUnderstood {
        path: file.with_file_name(name),
        why: "too many files have this name".to_owned(),
    })
}

fn set_up(
    file: &Path,
    before: Option<String>,
    kept: Option<String>,
    backup: PathBuf,
    program: &Path,
) -> Result<Change, String> {
    let text = before.as_deref().filter(|text| !text.trim().is_empty()).unwrap_or(NEW);
    let (after, steps) = applied(text, &program.to_string_lossy())?;
    if steps.is_empty() {
        return Ok(Change::none(file.to_owned()));
    }
    let root = jsonc::parse(text)?;
    let ours = root.member(PROFILES)?.and_then(|member| member.object.clone());
    let again = ours.map_or(Ok(false), |profiles| profiles.member(PROFILE).map(|found| found.is_some()))?;
    let chosen =
        root.member(DEFAULT)?.is_none_or(|member| text[member.value.clone()] != format!("\"{PROFILE}\""));
    let backup = match (&before, kept.filter(|_| again)) {
        (None, _) => None,
        (Some(text), None) => Some(Backup::Write(backup, format!("{text}{OURS}"))),
        // The user has chosen another default since; undo must restore that one.
        (Some(_), Some(kept)) if chosen => {
            Some(Backup::Write(backup, taken_out(text, &root, Some(&kept))?.0 + OURS))
        }
        // The backup from the first time is still right.
        (Some(_), Some(_)) => None,
    };
    Ok(Change { after: Some(after), backup, steps, ..Change::none(file.to_owned()) })
}

const NEW: &str = "{\n}\n";

/// The settings with the profile, and what changed.
fn applied(text: &str, program: &str) -> Result<(String, Vec<String>), String> {
    let mut steps = Vec::new();
    let mut text = text.to_owned();
    let root = jsonc::parse(&text)?;
    let profile = |layout: Option<&Layout>| profile(program, layout);
    match root.member(PROFILES)? {
        None => {
            let edits = root.insert(&text, PROFILES, &|layout| profiles(program, layout));
            steps.push(format!("added the profile `{PROFILE}` to `{PROFILES}`"));
            text = jsonc::edited(&text, edits);
        }
        Some(member) => {
            let all = member.object.as_ref().ok_or_else(|| format!("`{PROFILES}` is not an object"))?;
            let edits = match all.member(PROFILE)? {
                None => {
                    steps.push(format!("added the profile `{PROFILE}` to `{PROFILES}`"));
                    all.insert(&text, PROFILE, &profile)
                }
                Some(ours) if starts(&text[ours.value.clone()], program) => Vec::new(),
                Some(ours) => {
                    steps.push(format!("corrected the profile `{PROFILE}` in `{PROFILES}`"));
                    vec![(ours.value.clone(), profile(None))]
                }
            };
            text = jsonc::edited(&text, edits);
        }
    }
    let root = jsonc::parse(&text)?;
    let name = format!("\"{PROFILE}\"");
    let edits = match root.member(DEFAULT)? {
        Some(member) if text[member.value.clone()] == name => Vec::new(),
        Some(member) => {
            let was = &text[member.value.clone()];
            steps.push(format!("made it the default, `{DEFAULT}` (it was {was})"));
            vec![(member.value.clone(), name)]
        }
        None => {
            steps.push(format!("made it the default, `{DEFAULT}`"));
            root.insert(&text, DEFAULT, &|_| name.clone())
        }
    };
    Ok((jsonc::edited(&text, edits), steps))
}

/// Whether a profile starts `program`.
fn starts(profile: &str, program: &str) -> bool {
    serde_json::from_str(profile)
        .is_ok_and(|profile: Value| profile["path"] == program && profile["args"][0] == "terminal")
}

/// Whether we wrote a profile, for any path of the program.
fn is_ours(profile: &str) -> bool {
    match serde_json::from_str::<Value>(profile) {
        Ok(profile) => profile["args"][0] == "terminal",
        // The user may have added a comment.
        Err(_) => profile.contains("\"terminal\""),
    }
}

/// The text of the profile. Clears the variable, because VS Code may have been started from a
/// recorded terminal.
fn profile(program: &str, layout: Option<&Layout>) -> String {
    let program = Value::from(program);
    let members = [
        format!("\"path\": {program}"),
        "\"args\": [\"terminal\"]".to_owned(),
        format!("\"env\": {{ \"{}\": null }}", env::TERMINAL),
    ];
    object(&members, layout)
}

fn profiles(program: &str, layout: Option<&Layout>) -> String {
    let inner = layout.map(|layout| format!("{}{}", layout.indent, layout.unit));
    let inner = layout.zip(inner).map(|(layout, indent)| layout.at(indent));
    object(&[format!("\"{PROFILE}\": {}", profile(program, inner.as_ref()))], layout)
}

fn object(members: &[String], layout: Option<&Layout>) -> String {
    match layout {
        None => format!("{{ {} }}", members.join(", ")),
        Some(Layout { newline, indent, unit, .. }) => {
            let lines: Vec<String> =
                members.iter().map(|member| format!("{newline}{indent}{unit}{member}")).collect();
            format!("{{{}{newline}{indent}}}", lines.join(","))
        }
    }
}

fn undo(
    file: &Path,
    before: Option<String>,
    kept: Option<String>,
    backup: PathBuf,
) -> Result<Change, String> {
    let drop_backup = kept.is_some().then_some(Backup::Drop(backup));
    let Some(text) = before.filter(|text| !text.trim().is_empty()) else {
        return Ok(Change::none(file.to_owned()));
    };
    let root = jsonc::parse(&text)?;
    let program = program_in(&text, &root)?;
    // Nothing else has changed: restore the backup exactly.
    let made = |from: &str| {
        program.as_deref().is_some_and(|program| applied(from, program).is_ok_and(|made| made.0 == text))
    };
    let was_empty = kept.as_deref().is_some_and(|kept| kept.trim().is_empty());
    if let Some(kept) = kept.as_ref().filter(|kept| made(if was_empty { NEW } else { kept })) {
        let steps = vec!["restored the previous settings".to_owned()];
        return Ok(Change {
            after: Some(kept.clone()),
            backup: drop_backup,
            steps,
            ..Change::none(file.to_owned())
        });
    }
    if kept.is_none() && made(NEW) {
        let steps = vec!["removed the file, which contained nothing else".to_owned()];
        return Ok(Change { steps, ..Change::none(file.to_owned()) });
    }
    let (after, steps) = taken_out(&text, &root, kept.as_deref())?;
    if steps.is_empty() {
        return Ok(Change::none(file.to_owned()));
    }
    Ok(Change { after: Some(after), backup: drop_backup, steps, ..Change::none(file.to_owned()) })
}

/// The program in our profile.
fn program_in(text: &str, root: &Object) -> Result<Option<String>, String> {
    let profiles = root.member(PROFILES)?.and_then(|member| member.object.as_ref());
    let ours = profiles.map_or(Ok(None), |profiles| profiles.member(PROFILE))?;
    let value = ours.and_then(|ours| serde_json::from_str::<Value>(&text[ours.value.clone()]).ok());
    Ok(value.and_then(|value| Some(value["path"].as_str()?.to_owned())))
}

/// The settings without our profile and with the previous default.
fn taken_out(text: &str, root: &Object, kept: Option<&str>) -> Result<(String, Vec<String>), String> {
    let mut steps = Vec::new();
    let mut text = text.to_owned();
    let kept = kept.and_then(|kept| Some((kept, jsonc::parse(kept).ok()?)));
    let had = |key: &str| {
        let (kept, object) = kept.as_ref()?;
        Some(kept[object.member(key).ok()??.value.clone()].to_owned())
    };
    // A profile of the same name that existed before.
    let theirs = kept.as_ref().and_then(|(kept, object)| {
        let profiles = object.member(PROFILES).ok()??.object.as_ref()?;
        let profile = &kept[profiles.member(PROFILE).ok()??.value.clone()];
        (!is_ours(profile)).then(|| profile.to_owned())
    });
    let profiles = root.member(PROFILES)?.and_then(|member| member.object.as_ref());
    if let Some(profiles) = profiles
        && let Some(profile) = profiles.member(PROFILE)?
    {
        if !is_ours(&text[profile.value.clone()]) {
            return Ok((text, steps));
        }
        let last = profiles.members.len() == 1 && had(PROFILES).is_none();
        let edits = match &theirs {
            Some(theirs) => {
                steps.push(format!("restored the previous profile `{PROFILE}`"));
                vec![(profile.value.clone(), theirs.clone())]
            }
            None => {
                steps.push(format!("removed the profile `{PROFILE}`"));
                if last { root.remove(&text, PROFILES) } else { profiles.remove(&text, PROFILE) }
            }
        };
        text = jsonc::edited(&text, edits);
    }
    let root = jsonc::parse(&text)?;
    if let Some(member) = root.member(DEFAULT)?
        && text[member.value.clone()] == format!("\"{PROFILE}\"")
    {
        let edits = match had(DEFAULT).filter(|was| theirs.is_some() || *was != format!("\"{PROFILE}\"")) {
            Some(was) if was == format!("\"{PROFILE}\"") => Vec::new(),
            Some(was) => {
                steps.push(format!("made {was} the default again"));
                vec![(member.value.clone(), was)]
            }
            None => {
                steps.push(format!("removed `{DEFAULT}`"));
                root.remove(&text, DEFAULT)
            }
        };
        text = jsonc::edited(&text, edits);
    }
    Ok((text, steps))
}
