//! Code that stands among the words of a command, or beside them: what it does, however that is written.

use std::collections::HashMap;

use super::{Call, Reach, is_interpreter};

/// Longer code is taken word by word.
const LONGEST: usize = 8 << 10;

/// The statements of some code, in the one way that all of their ways have in common.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Code {
    /// The modules that it takes in.
    modules: Vec<String>,
    statements: Vec<String>,
}

impl Code {
    /// Of Python; of others all is a statement.
    fn new(program: &str, text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let (mut code, mut names) = (Self::default(), HashMap::new());
        for statement in statements(text) {
            match imported(statement.trim()).filter(|_| program == "python" && !statement.starts_with(' ')) {
                Some(imported) => {
                    for (module, name, meant) in imported {
                        code.modules.push(module);
                        names.insert(name, meant);
                    }
                }
                None => code.statements.push(statement),
            }
        }
        code.statements.iter_mut().for_each(|statement| *statement = renamed(statement, &names));
        Some(code)
    }

    /// Whether it does all that the other does, in the same order, and nothing that may keep it from that.
    fn does(&self, other: &Self) -> bool {
        let mut left = other.statements.iter().peekable();
        let mut others = Vec::new();
        for statement in &self.statements {
            if left.next_if(|next| *next == statement).is_none() && left.peek().is_some() {
                others.push(statement);
            }
        }
        let may_end =
            |statement: &&String| ["exit", "quit", "return"].iter().any(|word| statement.contains(word));
        left.peek().is_none()
            && !others.iter().any(may_end)
            && other.modules.iter().all(|module| self.modules.contains(module))
    }

    /// Whether it takes in as much, or else has a statement of the other.
    fn is_next_try(&self, other: &Self) -> bool {
        let has = |statement: &String| self.statements.contains(statement);
        other.modules.iter().all(|module| self.modules.contains(module))
            && (!other.modules.is_empty() || other.statements.iter().any(has))
    }

    /// The files of the modules that it takes in, where it does nothing else.
    fn files_alone(&self) -> Vec<String> {
        let files = self.modules.iter().map(|module| format!("{}.py", module.replace('.', "/")));
        files.filter(|_| self.statements.is_empty()).collect()
    }

    /// Whether it takes in the module of a file.
    fn takes_in(&self, file: &str) -> bool {
        let module = file.strip_suffix(".py").map(|path| path.replace('/', "."));
        module.is_some_and(|module| self.modules.contains(&module))
    }
}

impl Call {
    /// The code that it runs, which is among its words or all that it reads.
    fn code(&self, input: &[String]) -> Option<Code> {
        match (self.words.as_slice(), input) {
            ([program, option, code], []) if matches!(option.as_str(), "-c" | "-e" | "--eval") => {
                Code::new(program, code)
            }
            // A document ends with its last line.
            ([program, rest @ ..], [text])
                if text.ends_with('\n') && rest.iter().all(|word| word == "-") && is_interpreter(program) =>
            {
                Code::new(program, text)
            }
            _ => None,
        }
    }

    /// The same as `covers`, of code.
    pub(crate) fn does_code_of(&self, input: &[String], failed: &Self, read: &[String]) -> bool {
        let is_same = self.words.first() == failed.words.first()
            && (&self.demands, &self.eases) == (&failed.demands, &failed.eases);
        let does = || Some(self.code(input)?.does(&failed.code(read)?));
        is_same && does().unwrap_or(false)
    }

    /// The files whose syntax it looks at, and at nothing else.
    fn looked_at(&self, input: &[String]) -> Vec<String> {
        match self.words.as_slice() {
            [program] if program == "py_compile" => self.asked.clone(),
            [_, check, file] if check == "--check" => vec![file.clone()],
            _ => self.code(input).map(|code| code.files_alone()).unwrap_or_default(),
        }
    }

    /// Whether a success of this shows that there is no fault in the syntax that `failed` looked at.
    pub(crate) fn reads(&self, input: &[String], failed: &Self, read: &[String]) -> bool {
        let ran = self.words.first().and_then(|file| file.strip_prefix("./"));
        let code = self.code(input);
        let own = [self.looked_at(input), ran.map(str::to_owned).into_iter().collect()].concat();
        let is_read = |file: &String| {
            own.iter().any(|own| Reach::Places.holds(own, file))
                || code.as_ref().is_some_and(|code| code.takes_in(file))
        };
        let failed = failed.looked_at(read);
        !failed.is_empty() && failed.iter().all(is_read)
    }

    /// Whether this is code that takes in all that some other did, which did not get far for a slip of its own.
    pub(crate) fn is_next_try(&self, input: &[String], failed: &Self, read: &[String]) -> bool {
        let is_same = self.words.first() == failed.words.first();
        let tries = || Some(self.code(input)?.is_next_try(&failed.code(read)?));
        is_same && tries().unwrap_or(false)
    }
}

/// The statements of a text, each with how far it is from the edge, and without spaces that say nothing.
fn statements(text: &str) -> Vec<String> {
    let (mut all, mut now) = (Vec::new(), String::new());
    let mut quote = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (None, '#') => {
                if rest.by_ref().any(|c| c == '\n') {
                    all.push(std::mem::take(&mut now));
                }
                continue;
            }
            (None, '\n' | ';') => {
                all.push(std::mem::take(&mut now));
                continue;
            }
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
        // Either quote is one.
        let is_quote = matches!(c, '"' | '\'') && (quote == Some(c) || quote.is_none());
        now.push(if is_quote { '"' } else { c });
    }
    all.push(now);
    all.iter().filter(|statement| !statement.trim().is_empty()).map(|statement| squeezed(statement)).collect()
}

/// Without spaces beside what is no letter, but for those that it begins with.
fn squeezed(statement: &str) -> String {
    let bare = statement.trim_start();
    // Behind a semicolon a space is no edge.
    let edge = if statement.starts_with("  ") || statement.starts_with('\t') { "  " } else { "" };
    let is_letter = |c: &char| c.is_alphanumeric() || *c == '_';
    let mut kept = String::from(edge);
    let mut letters = bare.trim_end().chars().peekable();
    let mut is_quoted = false;
    while let Some(c) = letters.next() {
        is_quoted ^= c == '"';
        let joins = c == ' ' && !is_quoted;
        let parts = kept.chars().next_back().is_some_and(|last| is_letter(&last))
            && letters.peek().is_some_and(is_letter);
        if !joins || parts {
            kept.push(c);
        }
    }
    kept
}

/// Of `from a import b as c`, each time: the module, the name that it has here, and what that means.
fn imported(statement: &str) -> Option<Vec<(String, String, String)>> {
    let named = |word: &str| match word.split_once(" as ") {
        Some((name, here)) => (name.trim().to_owned(), here.trim().to_owned()),
        None => (word.trim().to_owned(), word.trim().to_owned()),
    };
    if let Some(names) = statement.strip_prefix("import ") {
        let each = names.split(',').map(named).map(|(module, here)| (module.clone(), here, module));
        return Some(each.collect());
    }
    let (module, names) = statement.strip_prefix("from ")?.split_once(" import ")?;
    let names = names.trim_start_matches('(').trim_end_matches(')');
    let each = names.split(',').map(named);
    Some(each.map(|(name, here)| (module.to_owned(), here, format!("{module}.{name}"))).collect())
}

/// A statement in which each name is what it means.
fn renamed(statement: &str, names: &HashMap<String, String>) -> String {
    let mut kept = String::new();
    let mut is_quoted = false;
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = statement;
    while let Some(c) = rest.chars().next() {
        let end = rest.find(|c| !is_letter(c)).unwrap_or(rest.len()).max(c.len_utf8());
        let (word, after) = rest.split_at(end);
        let is_name = !is_quoted && !kept.ends_with('.');
        kept.push_str(names.get(word).filter(|_| is_name).map_or(word, String::as_str));
        is_quoted ^= c == '"';
        rest = after;
    }
    kept
}
