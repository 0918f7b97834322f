//! A command line, cut into words and what stands between them.

use std::iter::Peekable;
use std::mem::take;
use std::str::Chars;

/// Deeper substitutions are not followed.
const DEEPEST: usize = 32;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Pipe,
    /// `;`, or the end of a line.
    End,
    /// `&`: what follows does not wait.
    Background,
    /// `||`: what follows runs only after a failure.
    Or,
    /// The beginning and the end of a shell of its own.
    Open,
    Close,
    /// `&&`: what follows runs only after a success.
    And,
    /// A file that is read, or a word in its place.
    Input(String),
    /// The text that follows the line, by its number.
    Document(usize),
    /// Output goes to a file; `hides` where it is standard output, `appends`
    /// where what the file held stays in it.
    Output {
        file: String,
        hides: bool,
        appends: bool,
    },
}

pub(super) struct Lexer<'a> {
    rest: Peekable<Chars<'a>>,
    /// Ends of the documents that begin on the next line.
    documents: Vec<Ending>,
    /// The documents that came so far.
    texts: Vec<String>,
    /// How many substitutions are open now.
    depth: usize,
    /// Whether a word was met whose end is not known for sure.
    unread: bool,
    /// Whether something is computed, or looks as if: `((n > 0))`.
    pub(super) computes: bool,
}

/// The line that a document ends at.
struct Ending {
    word: String,
    /// Whether tabs may stand before it: `<<-`.
    indented: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        let rest = line.chars().peekable();
        Self { rest, documents: Vec::new(), texts: Vec::new(), depth: 0, unread: false, computes: false }
    }

    /// What a substitution runs of which this is the rest, and what stands behind it.
    pub(super) fn up_to_end(text: &'a str) -> (String, &'a str) {
        let (mut lexer, mut inner) = (Self::new(text), String::new());
        lexer.up_to_bracket(&mut inner);
        let left: usize = lexer.rest.map(char::len_utf8).sum();
        let inner = inner.strip_suffix(')').unwrap_or(&inner).to_owned();
        (inner, &text[text.len() - left..])
    }

    /// Whether what was read so far may mean something else.
    pub(super) fn is_unread(&self) -> bool {
        self.unread
    }

    /// What stands in a document, once the line is read.
    pub(super) fn text(&self, number: usize) -> String {
        self.texts.get(number).cloned().unwrap_or_default()
    }

    pub(super) fn next(&mut self) -> Option<Token> {
        loop {
            while self.rest.next_if(|c| matches!(c, ' ' | '\t' | '\r')).is_some() {}
            match *self.rest.peek()? {
                '\n' => {
                    self.rest.next();
                    self.read_documents();
                    return Some(Token::End);
                }
                ';' => {
                    self.rest.next();
                    return Some(Token::End);
                }
                '(' => {
                    self.rest.next();
                    self.computes |= self.rest.peek() == Some(&'(');
                    return Some(Token::Open);
                }
                ')' => {
                    self.rest.next();
                    return Some(Token::Close);
                }
                '#' => while self.rest.next_if(|c| *c != '\n').is_some() {},
                '|' => {
                    self.rest.next();
                    if self.took('|') {
                        return Some(Token::Or);
                    }
                    self.took('&');
                    return Some(Token::Pipe);
                }
                '&' => {
                    self.rest.next();
                    if self.took('&') {
                        return Some(Token::And);
                    }
                    if !self.took('>') {
                        return Some(Token::Background);
                    }
                    let appends = self.took('>');
                    return Some(Token::Output { file: self.operand(), hides: true, appends });
                }
                '<' => return Some(self.input()),
                '>' => {
                    if let Some(output) = self.output(true) {
                        return Some(output);
                    }
                }
                _ => {
                    let word = self.word();
                    if word == "0" && self.rest.peek() == Some(&'<') {
                        continue;
                    }
                    let numbered = matches!(word.as_str(), "1" | "2" | "3") && self.rest.peek() == Some(&'>');
                    if !numbered {
                        return Some(Token::Word(word));
                    }
                    if let Some(output) = self.output(word == "1") {
                        return Some(output);
                    }
                }
            }
        }
    }

    fn took(&mut self, c: char) -> bool {
        self.rest.next_if_eq(&c).is_some()
    }

    /// What stands after `>`; `None` where one descriptor is made another.
    fn output(&mut self, hides: bool) -> Option<Token> {
        self.rest.next();
        if self.took('&') {
            let file = self.operand();
            // What is closed goes nowhere.
            if file == "-" {
                return Some(Token::Output { file: "/dev/null".to_owned(), hides, appends: false });
            }
            let is_file = file.contains(|c: char| !c.is_ascii_digit() && c != '-');
            return is_file.then_some(Token::Output { file, hides: true, appends: false });
        }
        let appends = self.took('>');
        self.took('|');
        Some(Token::Output { file: self.operand(), hides, appends })
    }

    /// What stands after `<`.
    fn input(&mut self) -> Token {
        self.rest.next();
        let is_text = self.took('<');
        if !is_text || self.took('<') {
            let mark = if is_text { "<<< " } else { "< " };
            // Another descriptor.
            self.took('&');
            return Token::Input(format!("{mark}{}", self.operand()));
        }
        let ending = self.ending();
        self.documents.push(ending);
        Token::Document(self.texts.len() + self.documents.len() - 1)
    }

    /// The word that an operator is followed by.
    fn operand(&mut self) -> String {
        while self.rest.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
        self.word()
    }

    /// What stands after `<<`.
    fn ending(&mut self) -> Ending {
        let indented = self.took('-');
        Ending { word: self.operand(), indented }
    }

    fn read_documents(&mut self) {
        for ending in take(&mut self.documents) {
            let text = self.document(&ending);
            self.texts.push(text);
        }
    }

    fn document(&mut self, ending: &Ending) -> String {
        let mut text = String::new();
        loop {
            let mut line = String::new();
            while let Some(c) = self.rest.next_if(|c| *c != '\n') {
                line.push(c);
            }
            let more = self.rest.next().is_some();
            let bare = if ending.indented { line.trim_start_matches('\t') } else { &line };
            if !more || bare == ending.word {
                return text;
            }
            text.push_str(&line);
            text.push('\n');
        }
    }

    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(c) =
            self.rest.next_if(|c| !matches!(c, ' ' | '\t' | '\r' | '\n' | ';' | '|' | '&' | '<' | '>' | ')'))
        {
            match c {
                '\'' if word.ends_with('$') => self.escaped(&mut word),
                '\'' => self.quoted(&mut word),
                '"' => self.double_quoted(&mut word),
                '\\' => word.extend(self.rest.next().filter(|c| *c != '\n')),
                '`' => self.backquoted(&mut word),
                '(' => self.bracketed(&mut word),
                c => word.push(c),
            }
        }
        word
    }

    fn quoted(&mut self, word: &mut String) {
        while let Some(c) = self.rest.next_if(|c| *c != '\'') {
            word.push(c);
        }
        self.close();
    }

    /// `$'…'`, where it is one: its text is another than what is written.
    fn escaped(&mut self, word: &mut String) {
        self.unread = true;
        while let Some(c) = self.rest.next_if(|c| *c != '\'') {
            word.push(c);
            word.extend(self.rest.next_if(|_| c == '\\'));
        }
        self.close();
    }

    fn double_quoted(&mut self, word: &mut String) {
        let mut braces = 0_usize;
        while let Some(c) = self.rest.next_if(|c| *c != '"') {
            match c {
                '\\' => match self.rest.next() {
                    Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                    Some('\n') | None => {}
                    Some(c) => word.extend(['\\', c]),
                },
                '`' => self.backquoted(word),
                '$' => {
                    word.push('$');
                    if self.took('(') {
                        self.bracketed(word);
                    } else if self.took('{') {
                        braces += 1;
                        word.push('{');
                    }
                }
                c => {
                    braces = braces.saturating_sub(usize::from(c == '}'));
                    word.push(c);
                }
            }
        }
        // This quote opens another inside it.
        self.unread |= braces > 0;
        self.close();
    }

    fn backquoted(&mut self, word: &mut String) {
        word.push('`');
        while let Some(c) = self.rest.next_if(|c| *c != '`') {
            word.push(c);
            word.extend(self.rest.next_if(|_| c == '\\'));
        }
        word.push('`');
        self.close();
    }

    /// What ends here, or is never closed.
    fn close(&mut self) {
        self.unread |= self.rest.next().is_none();
    }

    /// A substitution, brackets and all: what it runs prints nothing itself.
    fn bracketed(&mut self, word: &mut String) {
        word.push('(');
        if self.depth == DEEPEST {
            self.unread = true;
            word.extend(self.rest.by_ref());
            return;
        }
        // A document of the line begins after one of those in here, or in the midst of it.
        let outer = take(&mut self.documents);
        let from = word.len();
        self.depth += 1;
        self.up_to_bracket(word);
        self.depth -= 1;
        self.unread |= !self.documents.is_empty() || (!outer.is_empty() && word[from..].contains('\n'));
        self.documents = outer;
    }

    fn up_to_bracket(&mut self, word: &mut String) {
        let is_sum = self.rest.peek() == Some(&'(');
        let mut open = 1;
        while open > 0 {
            let Some(c) = self.rest.next() else {
                self.unread = true;
                return;
            };
            match c {
                '(' => open += 1,
                ')' => open -= 1,
                '#' if word.ends_with([' ', '\t', '\n', ';', '(']) => {
                    self.unread |= is_sum;
                    while self.rest.next_if(|c| *c != '\n').is_some() {}
                    continue;
                }
                '`' => {
                    self.backquoted(word);
                    continue;
                }
                // Its patterns end with a bracket as well.
                ' ' => self.unread |= word.ends_with("case"),
                _ => {}
            }
            word.push(c);
            match c {
                '\'' | '"' => self.quoted_inside(c, word),
                '\\' => word.extend(self.rest.next()),
                '<' if !is_sum && self.rest.peek() == Some(&'<') => self.document_inside(word),
                '\n' => self.documents_inside(word),
                _ => {}
            }
        }
    }

    /// With its quotes: it may be read once more, as a part of what the substitution runs.
    fn quoted_inside(&mut self, quote: char, word: &mut String) {
        let before = word.strip_suffix(quote);
        match quote {
            '"' => self.double_quoted(word),
            _ if before.is_some_and(|before| before.ends_with('$')) => self.escaped(word),
            _ => self.quoted(word),
        }
        word.push(quote);
    }

    fn document_inside(&mut self, word: &mut String) {
        word.extend(self.rest.next());
        if self.took('<') {
            word.push('<');
            return;
        }
        let ending = self.ending();
        word.push_str(if ending.indented { "-" } else { "" });
        word.push('\'');
        word.push_str(&ending.word);
        word.push('\'');
        self.documents.push(ending);
    }

    fn documents_inside(&mut self, word: &mut String) {
        for ending in take(&mut self.documents) {
            word.push_str(&self.document(&ending));
            word.push_str(&ending.word);
            word.push('\n');
        }
    }
}
