//! vLLM's structural tags: free text in which certain beginnings open a part with a grammar of its
//! own. Both forms are read: `structures` with `triggers`, and xgrammar's nested `format`.

use serde_json::{json, Value};

use crate::error::{Error, Result};
use crate::grammar_source::quote;
use crate::json_schema;

const ANY: &str = "/[\\x{0}-\\x{10FFFF}]*/";

pub fn to_lark(tag: &Value) -> Result<String> {
    let mut writer = Writer::default();
    let start = match tag.get("format") {
        Some(format) => writer.format(format, "format")?,
        None => writer.old_form(tag)?,
    };
    Ok(format!("start: {start}\n{}", writer.rules))
}

/// Rules written so far. Each part gives the Lark expression that stands for it.
#[derive(Default)]
struct Writer {
    rules: String,
    count: usize,
}

/// A part between a beginning and an end.
struct Tag {
    begin: String,
    content: Content,
    end: String,
}

enum Content {
    AnyText,
    Lark(String),
}

impl Writer {
    /// Writes a rule, or a terminal where the prefix is a capital, and gives its name.
    fn rule(&mut self, prefix: &str, attributes: &str, body: &str) -> String {
        self.count += 1;
        let name = format!("{prefix}{}", self.count);
        self.rules += &format!("{name}{attributes}: {body}\n");
        name
    }

    /// {"structures": [{"begin", "schema", "end"}], "triggers": [...]}
    fn old_form(&mut self, tag: &Value) -> Result<String> {
        let mut tags = Vec::new();
        for (index, structure) in list(tag, "structures", "")?.iter().enumerate() {
            let place = format!("structures[{index}]");
            let schema = structure.get("schema").cloned().unwrap_or(json!({}));
            tags.push(Tag {
                begin: text(structure, "begin", &place)?,
                content: Content::Lark(json_lark(schema, &place)?),
                end: text(structure, "end", &place)?,
            });
        }
        self.triggered(&texts(tag, "triggers", "")?, tags)
    }

    fn format(&mut self, format: &Value, place: &str) -> Result<String> {
        let kind = text(format, "type", place)?;
        match kind.as_str() {
            "const_string" => Ok(quote(&text(format, "value", place)?)),
            "json_schema" => {
                let schema = format.get("json_schema").cloned().unwrap_or(Value::Null);
                json_lark(schema, &format!("{place}.json_schema"))
            }
            "regex" => {
                let pattern = text(format, "pattern", place)?;
                Ok(self.rule("T", "", &regex_lark(&pattern)))
            }
            "any_text" => Ok(self.rule("T", "", ANY)),
            "sequence" => self.joined(format, place, " "),
            "or" => self.joined(format, place, " | "),
            "tag" => {
                let tag = self.tag(format, place)?;
                let begin = quote(&tag.begin);
                let rest = self.rest(tag);
                Ok(format!("{begin} {rest}"))
            }
            "triggered_tags" => {
                let mut tags = Vec::new();
                for (index, tag) in list(format, "tags", place)?.iter().enumerate() {
                    tags.push(self.tag(tag, &format!("{place}.tags[{index}]"))?);
                }
                refuse_options(format, place)?;
                self.triggered(&texts(format, "triggers", place)?, tags)
            }
            other => Err(Error::unsupported(format!(
                "{place}.type: '{other}' is not supported; const_string, json_schema, regex, \
                 any_text, sequence, or, tag and triggered_tags are"
            ))),
        }
    }

    fn joined(&mut self, format: &Value, place: &str, between: &str) -> Result<String> {
        let mut parts = Vec::new();
        for (index, part) in list(format, "elements", place)?.iter().enumerate() {
            parts.push(self.format(part, &format!("{place}.elements[{index}]"))?);
        }
        Ok(format!("({})", parts.join(between)))
    }

    fn tag(&mut self, tag: &Value, place: &str) -> Result<Tag> {
        let content = tag.get("content").unwrap_or(&Value::Null);
        let any = content.get("type") == Some(&json!("any_text"));
        Ok(Tag {
            begin: text(tag, "begin", place)?,
            content: match any {
                true => Content::AnyText,
                false => Content::Lark(self.format(content, &format!("{place}.content"))?),
            },
            end: text(tag, "end", place)?,
        })
    }

    /// What follows the beginning of a tag.
    fn rest(&mut self, tag: Tag) -> String {
        let end = quote(&tag.end);
        match tag.content {
            Content::Lark(lark) => format!("{lark} {end}"),
            Content::AnyText => self.rule("any", "[lazy]", &format!("{ANY} {end}")),
        }
    }

    /// Free text; where a trigger has been written, one of the tags that begin with it follows.
    fn triggered(&mut self, triggers: &[String], tags: Vec<Tag>) -> Result<String> {
        let quoted: Vec<String> = triggers.iter().map(|trigger| quote(trigger)).collect();
        let free = format!("{ANY} & ~({ANY} ({}) {ANY})", quoted.join(" | "));
        let free = self.rule("T", "", &free);
        let mut rests = vec![Vec::new(); triggers.len()];
        for tag in tags {
            let found = triggers
                .iter()
                .position(|trigger| tag.begin.starts_with(trigger.as_str()));
            let Some(trigger) = found else {
                let begin = tag.begin;
                return Err(Error::invalid(format!(
                    "triggers: none begins the tag '{begin}'"
                )));
            };
            let begin = quote(&tag.begin[triggers[trigger].len()..]);
            let rest = self.rest(tag);
            rests[trigger].push(format!("{begin} {rest}"));
        }
        let mut parts = Vec::new();
        for (trigger, rests) in quoted.iter().zip(rests) {
            if rests.is_empty() {
                return Err(Error::invalid(format!(
                    "triggers: no tag begins with {trigger}"
                )));
            }
            let lead = self.rule("lead", "[lazy]", &format!("{free} {trigger}"));
            parts.push(format!("{lead} ({})", rests.join(" | ")));
        }
        let part = self.rule("part", "", &parts.join(" | "));
        Ok(format!("({part})* {free}"))
    }
}

fn refuse_options(format: &Value, place: &str) -> Result<()> {
    for option in ["at_least_one", "stop_after_first"] {
        if format.get(option).is_some_and(|value| value != false) {
            return Err(Error::unsupported(format!(
                "{place}.{option} is not supported"
            )));
        }
    }
    Ok(())
}

fn json_lark(schema: Value, place: &str) -> Result<String> {
    let schema = json_schema::prepare(schema).map_err(|error| error.within(place))?;
    Ok(format!("%json {schema}"))
}

fn regex_lark(pattern: &str) -> String {
    format!("/{}/", pattern.replace('/', "\\/"))
}

fn text(object: &Value, field: &str, place: &str) -> Result<String> {
    let found = object.get(field).and_then(Value::as_str);
    let found = found.ok_or_else(|| missing(place, field, "a string"))?;
    Ok(found.to_string())
}

fn texts(object: &Value, field: &str, place: &str) -> Result<Vec<String>> {
    let texts = list(object, field, place)?.iter();
    let texts: Option<Vec<String>> = texts
        .map(|text| text.as_str().map(str::to_string))
        .collect();
    let texts = texts.filter(|texts| texts.iter().all(|text| !text.is_empty()));
    texts.ok_or_else(|| missing(place, field, "strings that are not empty"))
}

fn list<'a>(object: &'a Value, field: &str, place: &str) -> Result<&'a Vec<Value>> {
    let found = object.get(field).and_then(Value::as_array);
    let found = found.filter(|list| !list.is_empty());
    found.ok_or_else(|| missing(place, field, "an array that is not empty"))
}

fn missing(place: &str, field: &str, expected: &str) -> Error {
    let dot = if place.is_empty() { "" } else { "." };
    Error::invalid(format!("{place}{dot}{field}: expected {expected}"))
}
