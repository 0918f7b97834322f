//! Splits a command line into words and operators, respecting quotes.

/// An operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Pipe,
    And,
    Or,
    /// `;`, or a line end.
    Next,
    Background,
    /// `(`
    Open,
    /// `)`
    Close,
    /// Standard output is redirected to a file, which is the token's text.
    Writes,
    /// Any other redirection.
    Redirects,
}

impl Op {
    /// Whether another step begins after it.
    pub(super) fn separates(&self) -> bool {
        !matches!(self, Op::Writes | Op::Redirects)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    /// `None` for a word.
    pub(super) op: Option<Op>,
    /// As written.
    pub(super) raw: String,
    /// Without quotes.
    pub(super) text: String,
}

impl Token {
    /// The token that every line ends with.
    pub(super) fn end() -> Self {
        Self { op: Some(Op::Next), raw: String::new(), text: String::new() }
    }
}

/// The tokens of `line`; `None` if a quote is not closed.
pub(super) fn lex(line: &str) -> Option<Vec<Token>> {
    let mut lexer = Lexer { line, at: 0, documents: Vec::new() };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.token()? {
        tokens.push(token);
    }
    Some(tokens)
}

struct Lexer<'a> {
    line: &'a str,
    at: usize,
    /// The terminators of the here-documents that begin on the next line.
    documents: Vec<String>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.line[self.at..]
    }

    fn op(&mut self, op: Op, length: usize) -> Option<Option<Token>> {
        let raw = self.rest()[..length].trim().to_owned();
        self.at += length;
        Some(Some(Token {
            op: Some(op),
            raw: if raw.is_empty() { ";".to_owned() } else { raw },
            text: String::new(),
        }))
    }

    /// The next token. Outer `None`: cannot be parsed. Inner `None`: end of the line.
    fn token(&mut self) -> Option<Option<Token>> {
        loop {
            let blank = self.rest().len() - self.rest().trim_start_matches([' ', '\t', '\r']).len();
            self.at += blank;
            if self.rest().starts_with("\\\n") {
                self.at += 2;
            } else if self.rest().starts_with('#') {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            } else {
                break;
            }
        }
        let rest = self.rest();
        if rest.is_empty() {
            return Some(None);
        }
        if rest.starts_with('\n') {
            let token = self.op(Op::Next, 1);
            self.skip_documents();
            return token;
        }
        if let Some(found) = self.redirection() {
            return found.map(Some);
        }
        let ops = [
            ("&&", Op::And),
            ("||", Op::Or),
            ("|&", Op::Pipe),
            (";;", Op::Next),
            ("|", Op::Pipe),
            (";", Op::Next),
            ("&", Op::Background),
            ("(", Op::Open),
            (")", Op::Close),
        ];
        match ops.iter().find(|(sign, _)| self.rest().starts_with(sign)) {
            Some((sign, op)) => self.op(*op, sign.len()),
            None => {
                let (raw, text) = self.word()?;
                Some(Some(Token { op: None, raw, text }))
            }
        }
    }

    /// `>`, `2>&1`, `<<EOF` and the like. Inner `None`: its word cannot be parsed.
    fn redirection(&mut self) -> Option<Option<Token>> {
        let rest = self.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (fd, sign) = rest.split_at(digits);
        let all = sign.starts_with("&>");
        let sign = sign.strip_prefix('&').filter(|_| all).unwrap_or(sign);
        if !sign.starts_with(['>', '<']) || (digits > 1 && !all) {
            return None;
        }
        let kind = ["<<<", "<<-", "<<", "<&", "<", ">>", ">&", ">|", ">"]
            .into_iter()
            .find(|kind| sign.starts_with(kind))?;
        let (fd, from) = (fd.to_owned(), self.at);
        self.at += digits + usize::from(all) + kind.len();
        while self.rest().starts_with([' ', '\t']) {
            self.at += 1;
        }
        let Some((_, text)) = self.word() else { return Some(None) };
        if matches!(kind, "<<" | "<<-") {
            self.documents.push(text.clone());
        }
        let is_file = kind != ">&" || !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let writes = kind.starts_with('>') && is_file && (all || fd.is_empty() || fd == "1" || kind == ">&");
        let op = if writes { Op::Writes } else { Op::Redirects };
        Some(Some(Token { op: Some(op), raw: self.line[from..self.at].to_owned(), text }))
    }

    /// Skips the announced here-documents.
    fn skip_documents(&mut self) {
        for end in std::mem::take(&mut self.documents) {
            while !self.rest().is_empty() {
                let length = self.rest().find('\n').map_or(self.rest().len(), |at| at + 1);
                let is_end = self.rest()[..length].trim() == end;
                self.at += length;
                if is_end {
                    break;
                }
            }
        }
    }

    /// One word, as written and without its quotes.
    fn word(&mut self) -> Option<(String, String)> {
        let (from, mut text) = (self.at, String::new());
        while let Some(c) = self.rest().chars().next() {
            match c {
                ' ' | '\t' | '\r' | '\n' | ';' | '|' | '&' | '(' | ')' | '<' | '>' => break,
                '\'' => {
                    let end = self.rest()[1..].find('\'')?;
                    text.push_str(&self.rest()[1..=end]);
                    self.at += end + 2;
                }
                '"' => self.double_quoted(&mut text)?,
                '\\' => {
                    let next = self.rest()[1..].chars().next();
                    text.extend(next.filter(|c| *c != '\n'));
                    self.at += 1 + next.map_or(0, char::len_utf8);
                }
                '$' if self.rest().starts_with("$(") => self.substitution(&mut text)?,
                '`' => {
                    let end = self.rest()[1..].find('`')? + 2;
                    text.push_str(&self.rest()[..end]);
                    self.at += end;
                }
                c => {
                    text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        if self.at == from {
            // A character that no word begins with.
            return None;
        }
        Some((self.line[from..self.at].to_owned(), text))
    }

    fn double_quoted(&mut self, text: &mut String) -> Option<()> {
        self.at += 1;
        loop {
            let c = self.rest().chars().next()?;
            if self.rest().starts_with("$(") {
                self.substitution(text)?;
                continue;
            }
            self.at += c.len_utf8();
            match c {
                '"' => return Some(()),
                '\\' => {
                    let next = self.rest().chars().next()?;
                    self.at += next.len_utf8();
                    match next {
                        '"' | '\\' | '$' | '`' => text.push(next),
                        '\n' => {}
                        next => text.extend(['\\', next]),
                    }
                }
                c => text.push(c),
            }
        }
    }

    /// `$(…)` with its brackets.
    fn substitution(&mut self, text: &mut String) -> Option<()> {
        let (from, mut open) = (self.at, 0_usize);
        loop {
            let c = self.rest().chars().next()?;
            match c {
                '\'' => self.at += self.rest()[1..].find('\'')? + 2,
                '"' => self.double_quoted(&mut String::new())?,
                _ => self.at += c.len_utf8(),
            }
            match c {
                '(' => open += 1,
                ')' => open -= 1,
                _ => {}
            }
            if open == 0 && c == ')' {
                text.push_str(&self.line[from..self.at]);
                return Some(());
            }
        }
    }
}
