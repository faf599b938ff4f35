//! The ways to write down a grammar, each turned into llguidance's.

use llguidance::api::TopLevelGrammar;
use serde_json::{json, Value};

use crate::error::{Error, Result};
use crate::gbnf;
use crate::json_schema;
use crate::structural_tag;

/// Bytes of a source. A compiled grammar is some tens of times as large.
const MAX_SIZE: usize = 512 << 10;
/// Brackets open at once, those of literals included.
const MAX_DEPTH: usize = 2000;

/// The numbers are part of the C ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Kind {
    /// A JSON schema, as JSON.
    JsonSchema = 0,
    /// A regular expression (the syntax of Rust's regex crate, without look-around), of all text.
    Regex = 1,
    /// A JSON array of strings, of which the text is one.
    Choice = 2,
    /// Lark as llguidance has it, or GBNF, whose rules are written `name ::= ...`.
    Grammar = 3,
    /// vLLM's structural tag, as JSON.
    StructuralTag = 4,
}

impl Kind {
    pub fn from_number(number: i32) -> Result<Self> {
        let kinds = [
            Self::JsonSchema,
            Self::Regex,
            Self::Choice,
            Self::Grammar,
            Self::StructuralTag,
        ];
        let kind = kinds.into_iter().find(|kind| *kind as i32 == number);
        kind.ok_or_else(|| Error::invalid(format!("grammar kind {number} is not known")))
    }
}

pub fn read(kind: Kind, source: &str) -> Result<TopLevelGrammar> {
    check_bounds(source)?;
    match kind {
        Kind::JsonSchema => {
            let schema = json_schema::prepare(serde_json::from_str(source)?)?;
            Ok(TopLevelGrammar::from_json_schema(schema))
        }
        Kind::Regex => Ok(TopLevelGrammar::from_regex(source)),
        Kind::Choice => choice(&serde_json::from_str(source)?),
        Kind::Grammar if has_gbnf_rule(source) => {
            Ok(TopLevelGrammar::from_lark(gbnf::to_lark(source)?))
        }
        Kind::Grammar => Ok(TopLevelGrammar::from_lark(source.to_string())),
        Kind::StructuralTag => {
            let lark = structural_tag::to_lark(&serde_json::from_str(source)?)?;
            Ok(TopLevelGrammar::from_lark(lark))
        }
    }
}

/// A line begins with `name ::=`; within a line the sign may be text that a Lark grammar asks for.
fn has_gbnf_rule(source: &str) -> bool {
    let in_name = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    source.lines().any(|line| {
        let named = line.trim_start().trim_start_matches(in_name);
        named.len() < line.trim_start().len() && named.trim_start().starts_with("::=")
    })
}

fn check_bounds(source: &str) -> Result<()> {
    if source.len() > MAX_SIZE {
        let size = source.len();
        return Err(Error::invalid(format!(
            "it has {size} bytes; at most {MAX_SIZE} are compiled"
        )));
    }
    let mut depth = 0usize;
    for byte in source.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(Error::invalid(format!(
                "it nests deeper than {MAX_DEPTH} brackets"
            )));
        }
    }
    Ok(())
}

fn choice(choices: &Value) -> Result<TopLevelGrammar> {
    let wrong = || Error::invalid("expected an array of strings that is not empty");
    let texts = choices.as_array().filter(|all| !all.is_empty());
    let quoted: Option<Vec<String>> = texts
        .ok_or_else(wrong)?
        .iter()
        .map(|text| text.as_str().map(quote))
        .collect();
    let alternatives = quoted.ok_or_else(wrong)?.join(" | ");
    // One terminal, so that a choice may begin with another.
    Ok(TopLevelGrammar::from_lark(format!(
        "start: CHOICE\nCHOICE: {alternatives}"
    )))
}

/// A Lark literal.
pub fn quote(text: &str) -> String {
    json!(text).to_string().replace('\x7f', "\\u007f") + " "
}
