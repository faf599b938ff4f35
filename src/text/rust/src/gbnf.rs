//! GBNF, llama.cpp's notation of grammars (https://github.com/ggml-org/llama.cpp, grammars/README),
//! which vLLM's `guided_grammar` takes too, turned into llguidance's Lark.
//!
//! Rules that do not recurse become terminals, which match as regular expressions do. In those that
//! recurse, a terminal takes the longest text it can.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::grammar_source::quote;

const MAX_RULES: usize = 4096;

enum Node {
    Choice(Vec<Node>),
    Sequence(Vec<Node>),
    /// Lark that needs no names: a literal or a class.
    Text(String),
    Rule(usize),
    Repeat(Box<Node>, u32, Option<u32>),
}

/// The Lark of a GBNF whose start is `root`.
pub fn to_lark(source: &str) -> Result<String> {
    let mut parser = Parser {
        characters: source.chars().collect(),
        at: 0,
        names: HashMap::new(),
        rules: Vec::new(),
    };
    parser.rules()?;
    let undefined = parser
        .names
        .iter()
        .find(|(_, id)| parser.rules[**id].is_none());
    if let Some((name, _)) = undefined {
        return Err(Error::invalid(format!("the rule '{name}' is not defined")));
    }
    let root = parser.names.get("root");
    let root = *root.ok_or_else(|| Error::invalid("there is no rule 'root' to start from"))?;
    let rules: Vec<Node> = parser.rules.into_iter().flatten().collect();
    let regular = regular(&rules);
    let name = |id: usize| format!("{}{id}", if regular[id] { "T" } else { "r" });
    let mut lark = format!("start: {}\n", name(root));
    for (id, rule) in rules.iter().enumerate() {
        lark += &format!("{}: {}\n", name(id), rule.lark(&name));
    }
    Ok(lark)
}

/// The rules that lead to no recursion.
fn regular(rules: &[Node]) -> Vec<bool> {
    let mut regular = vec![false; rules.len()];
    // Whatever only uses regular rules is regular; it takes as many rounds as rules nest.
    loop {
        let mut changed = false;
        for (id, rule) in rules.iter().enumerate() {
            if !regular[id] && rule.uses_only(&regular) {
                regular[id] = true;
                changed = true;
            }
        }
        if !changed {
            return regular;
        }
    }
}

impl Node {
    fn uses_only(&self, regular: &[bool]) -> bool {
        match self {
            Node::Choice(nodes) | Node::Sequence(nodes) => {
                nodes.iter().all(|node| node.uses_only(regular))
            }
            Node::Text(_) => true,
            Node::Rule(id) => regular[*id],
            Node::Repeat(node, ..) => node.uses_only(regular),
        }
    }

    fn lark(&self, name: &impl Fn(usize) -> String) -> String {
        let join = |nodes: &[Node], between: &str| {
            let parts: Vec<String> = nodes.iter().map(|node| node.lark(name)).collect();
            parts.join(between)
        };
        match self {
            Node::Choice(nodes) if nodes.len() == 1 => nodes[0].lark(name),
            Node::Choice(nodes) => format!("({})", join(nodes, " | ")),
            Node::Sequence(nodes) if nodes.is_empty() => quote(""),
            Node::Sequence(nodes) => join(nodes, " "),
            Node::Text(text) => text.clone(),
            Node::Rule(id) => name(*id),
            Node::Repeat(node, low, high) => {
                let high = high.map_or(String::new(), |high| high.to_string());
                format!("({}){{{low},{high}}}", node.lark(name))
            }
        }
    }
}

struct Parser {
    characters: Vec<char>,
    at: usize,
    names: HashMap<String, usize>,
    rules: Vec<Option<Node>>,
}

impl Parser {
    fn fail<T>(&self, expected: &str) -> Result<T> {
        let before = &self.characters[..self.at.min(self.characters.len())];
        let line = before.iter().filter(|c| **c == '\n').count() + 1;
        let rest: String = self.characters[before.len()..].iter().take(20).collect();
        Err(Error::invalid(format!(
            "line {line}: expected {expected}, found '{}'",
            rest.escape_debug()
        )))
    }

    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn take(&mut self, text: &str) -> bool {
        let found = text
            .chars()
            .enumerate()
            .all(|(i, c)| self.characters.get(self.at + i) == Some(&c));
        if found {
            self.at += text.chars().count();
        }
        found
    }

    /// White space and comments; newlines end a rule outside of parentheses.
    fn skip(&mut self, newlines: bool) {
        while let Some(c) = self.peek() {
            match c {
                '#' => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                '\n' | '\r' if !newlines => return,
                c if c.is_whitespace() => self.at += 1,
                _ => return,
            }
        }
    }

    fn word(&mut self) -> Result<Option<usize>> {
        let start = self.at;
        let in_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        while self.peek().is_some_and(in_name) {
            self.at += 1;
        }
        if start == self.at {
            return Ok(None);
        }
        if self.rules.len() > MAX_RULES {
            return Err(Error::invalid(format!(
                "it has more than {MAX_RULES} rules"
            )));
        }
        let name: String = self.characters[start..self.at].iter().collect();
        let next = self.rules.len();
        let id = *self.names.entry(name).or_insert(next);
        if id == next {
            self.rules.push(None);
        }
        Ok(Some(id))
    }

    fn rules(&mut self) -> Result<()> {
        self.skip(true);
        while self.at < self.characters.len() {
            let Some(id) = self.word()? else {
                return self.fail("the name of a rule");
            };
            self.skip(false);
            if !self.take("::=") {
                return self.fail("'::='");
            }
            if self.rules[id].is_some() {
                return self.fail("a rule that is not defined yet");
            }
            self.skip(true);
            let body = self.choice(false)?;
            self.rules[id] = Some(body);
            if self.peek().is_some_and(|c| c != '\n' && c != '\r') {
                return self.fail("the end of the rule");
            }
            self.skip(true);
        }
        Ok(())
    }

    fn choice(&mut self, nested: bool) -> Result<Node> {
        let mut nodes = vec![self.sequence(nested)?];
        while self.take("|") {
            self.skip(true);
            nodes.push(self.sequence(nested)?);
        }
        Ok(Node::Choice(nodes))
    }

    fn sequence(&mut self, nested: bool) -> Result<Node> {
        let mut nodes = Vec::new();
        self.skip(nested);
        while let Some(c) = self.peek() {
            let node = match c {
                '"' => self.literal()?,
                '[' => self.class()?,
                '.' => {
                    self.at += 1;
                    Node::Text("/[\\x{0}-\\x{10FFFF}]/".to_string())
                }
                '(' => {
                    self.at += 1;
                    let inner = self.choice(true)?;
                    if !self.take(")") {
                        return self.fail("')'");
                    }
                    inner
                }
                _ => match self.word()? {
                    Some(id) => Node::Rule(id),
                    None => break,
                },
            };
            nodes.push(self.repeated(node)?);
            self.skip(nested);
        }
        Ok(Node::Sequence(nodes))
    }

    fn repeated(&mut self, node: Node) -> Result<Node> {
        let (low, high) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => return self.counted(node),
            _ => return Ok(node),
        };
        self.at += 1;
        Ok(Node::Repeat(Box::new(node), low, high))
    }

    /// `{3}`, `{3,}`, `{,3}` or `{2,3}`
    fn counted(&mut self, node: Node) -> Result<Node> {
        self.at += 1;
        let low = self.number();
        let (low, high) = if self.take(",") {
            (low.unwrap_or(0), self.number())
        } else {
            match low {
                Some(count) => (count, Some(count)),
                None => return self.fail("a number of repetitions"),
            }
        };
        if !self.take("}") || high.is_some_and(|high| high < low) {
            return self.fail("repetitions such as {2,3}");
        }
        Ok(Node::Repeat(Box::new(node), low, high))
    }

    fn number(&mut self) -> Option<u32> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        let digits: String = self.characters[start..self.at].iter().collect();
        digits.parse().ok()
    }

    fn literal(&mut self) -> Result<Node> {
        self.at += 1;
        let mut text = String::new();
        while !self.take("\"") {
            text.push(self.character()?);
        }
        Ok(Node::Text(quote(&text)))
    }

    fn class(&mut self) -> Result<Node> {
        self.at += 1;
        let mut class = if self.take("^") { "/[^" } else { "/[" }.to_string();
        while !self.take("]") {
            let low = self.character()? as u32;
            class += &format!("\\x{{{low:X}}}");
            let range = self.peek() == Some('-') && self.characters.get(self.at + 1) != Some(&']');
            if range {
                self.at += 1;
                let high = self.character()? as u32;
                if high < low {
                    return self.fail("a range that goes up");
                }
                class += &format!("-\\x{{{high:X}}}");
            }
        }
        if class.ends_with(['[', '^']) {
            return self.fail("a class that is not empty");
        }
        Ok(Node::Text(class + "]/"))
    }

    fn character(&mut self) -> Result<char> {
        let Some(c) = self.peek() else {
            return self.fail("the end of a literal or class");
        };
        self.at += 1;
        if c != '\\' {
            return Ok(c);
        }
        let escaped = self.peek();
        self.at += 1;
        match escaped {
            Some('n') => Ok('\n'),
            Some('r') => Ok('\r'),
            Some('t') => Ok('\t'),
            Some('x') => self.code(2),
            Some('u') => self.code(4),
            Some('U') => self.code(8),
            Some(c) if !c.is_alphanumeric() => Ok(c),
            _ => self.fail("an escape: \\n, \\r, \\t, \\x, \\u, \\U or a punctuation mark"),
        }
    }

    fn code(&mut self, digits: usize) -> Result<char> {
        let end = (self.at + digits).min(self.characters.len());
        let text: String = self.characters[self.at.min(end)..end].iter().collect();
        let code = u32::from_str_radix(&text, 16)
            .ok()
            .filter(|_| text.len() == digits);
        match code.and_then(char::from_u32) {
            Some(c) => {
                self.at = end;
                Ok(c)
            }
            None => self.fail("the code of a character"),
        }
    }
}
