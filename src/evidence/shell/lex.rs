//! A command line, cut into words and what stands between them.

use std::iter::Peekable;
use std::str::Chars;

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
    documents: Vec<String>,
    /// The documents that came so far.
    texts: Vec<String>,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self { rest: line.chars().peekable(), documents: Vec::new(), texts: Vec::new() }
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
        self.took('-');
        let end = self.operand();
        self.documents.push(end);
        Token::Document(self.texts.len() + self.documents.len() - 1)
    }

    /// The word that an operator is followed by.
    fn operand(&mut self) -> String {
        while self.rest.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
        self.word()
    }

    fn read_documents(&mut self) {
        for end in std::mem::take(&mut self.documents) {
            let mut text = String::new();
            loop {
                let mut line = String::new();
                while let Some(c) = self.rest.next_if(|c| *c != '\n') {
                    line.push(c);
                }
                let more = self.rest.next().is_some();
                if !more || line.trim() == end {
                    break;
                }
                text.push_str(&line);
                text.push('\n');
            }
            self.texts.push(text);
        }
    }

    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(c) =
            self.rest.next_if(|c| !matches!(c, ' ' | '\t' | '\r' | '\n' | ';' | '|' | '&' | '<' | '>' | ')'))
        {
            match c {
                '\'' => self.quoted(&mut word),
                '"' => self.double_quoted(&mut word),
                '\\' => word.extend(self.rest.next().filter(|c| *c != '\n')),
                '`' => {
                    word.push('`');
                    while let Some(c) = self.rest.next_if(|c| *c != '`') {
                        word.push(c);
                    }
                    word.extend(self.rest.next());
                }
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
        self.rest.next();
    }

    fn double_quoted(&mut self, word: &mut String) {
        while let Some(c) = self.rest.next_if(|c| *c != '"') {
            match c {
                '\\' => match self.rest.next() {
                    Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                    Some('\n') | None => {}
                    Some(c) => word.extend(['\\', c]),
                },
                c => word.push(c),
            }
        }
        self.rest.next();
    }

    /// A substitution, brackets and all: what it runs prints nothing itself.
    fn bracketed(&mut self, word: &mut String) {
        word.push('(');
        let mut open = 1;
        while open > 0 {
            let Some(c) = self.rest.next() else { return };
            match c {
                '(' => open += 1,
                ')' => open -= 1,
                _ => {}
            }
            word.push(c);
        }
    }
}
