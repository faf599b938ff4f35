//! Chat templates: Jinja rendered as transformers.apply_chat_template does.

use std::collections::BTreeMap;
use std::path::Path;

use minijinja::value::{Serde, Value as JinjaValue};
use minijinja::Environment;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::hf::{read_json, read_text};
use crate::messages::{self, Habits};
use crate::template_env::{clock, environment, message_of};

/// What stands behind the text that `continue_final` looks for, and cuts away.
const CONTINUE_TAG: &str = "CONTINUE_FINAL_MESSAGE_TAG ";
const REASONING_FIELDS: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

#[derive(Default)]
pub struct Input {
    pub messages: Value,
    /// Null where there are none, as are documents.
    pub tools: Value,
    pub documents: Value,
    pub variables: Map<String, Value>,
    pub add_generation_prompt: bool,
    pub continue_final: bool,
    /// Seconds since 1970 for strftime_now; None: the clock.
    pub now: Option<i64>,
}

pub struct ChatTemplate {
    source: String,
    tokens: Map<String, Value>,
    environment: Environment<'static>,
    habits: Habits,
}

impl ChatTemplate {
    /// `tokens`: bos_token, eos_token and the like, as the template's variables.
    pub fn compile(source: &str, tokens: Map<String, Value>) -> Result<Self> {
        let environment = environment(source)?;
        let source = source.to_string();
        let mut template = Self {
            source,
            tokens,
            environment,
            habits: Habits::default(),
        };
        template.habits = Habits::observe(&|messages, tools| {
            let input = Input {
                messages,
                tools,
                now: Some(0),
                ..Input::default()
            };
            template.render_values(&input, input.messages.clone()).ok()
        });
        Ok(template)
    }

    /// chat_template.jinja, chat_template.json or tokenizer_config.json's.
    pub fn from_folder(folder: &str) -> Result<Self> {
        let path = Path::new(folder);
        let config = read_json(&path.join("tokenizer_config.json"))?.unwrap_or_default();
        let special = read_json(&path.join("special_tokens_map.json"))?.unwrap_or_default();
        let (name, source) = match read_text(&path.join("chat_template.jinja"))? {
            Some(source) => ("chat_template.jinja", Some(source)),
            None => match read_json(&path.join("chat_template.json"))? {
                Some(json) => ("chat_template.json", default_template(&json)),
                None => ("tokenizer_config.json", default_template(&config)),
            },
        };
        let Some(source) = source else {
            return Err(Error::not_found(format!(
                "{folder}: no chat template in it"
            )));
        };
        let template = Self::compile(&source, named_tokens(&config, &special));
        template.map_err(|error| error.within(path.join(name).display()))
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// The template shows the tools it is given.
    pub fn takes_tools(&self) -> bool {
        self.habits.takes_tools
    }

    pub fn render(&self, input: &Input) -> Result<String> {
        let mut messages = messages::prepare(&input.messages, &self.habits)?;
        if !input.continue_final {
            return self.render_values(input, messages);
        }
        if input.add_generation_prompt {
            return Err(Error::invalid(
                "continue_final_message and add_generation_prompt exclude each other",
            ));
        }
        let last = mark_last(&mut messages)?;
        cut_at_mark(&self.render_values(input, messages)?, &last)
    }

    fn render_values(&self, input: &Input, mut messages: Value) -> Result<String> {
        alias_reasoning(&mut messages);
        let mut variables = self.tokens.clone();
        variables.extend(input.variables.clone());
        variables.insert("messages".into(), messages);
        variables.insert("tools".into(), input.tools.clone());
        variables.insert("documents".into(), input.documents.clone());
        variables.insert(
            "add_generation_prompt".into(),
            input.add_generation_prompt.into(),
        );
        let mut context: BTreeMap<String, JinjaValue> = variables
            .into_iter()
            .map(|(name, value)| (name, JinjaValue::from(Serde(value))))
            .collect();
        context.insert("strftime_now".into(), clock(input.now));
        let template = self
            .environment
            .get_template("chat")
            .map_err(|e| message_of(&e))?;
        template
            .render(JinjaValue::from(context))
            .map_err(|error| message_of(&error))
    }
}

/// A `chat_template` entry: a template, or a list of named ones.
fn default_template(json: &Value) -> Option<String> {
    let entry = json.get("chat_template")?;
    if let Some(source) = entry.as_str() {
        return Some(source.to_string());
    }
    let named = |named: &&Value| named.get("name").and_then(Value::as_str) == Some("default");
    Some(
        entry
            .as_array()?
            .iter()
            .find(named)?
            .get("template")?
            .as_str()?
            .to_string(),
    )
}

fn named_tokens(config: &Value, special: &Value) -> Map<String, Value> {
    let names = crate::hf::NAMED_TOKENS;
    let text = |name: &str| {
        let token = config.get(name).or_else(|| special.get(name))?;
        let text = token
            .as_str()
            .or_else(|| token.get("content").and_then(Value::as_str));
        text.map(|text| (name.to_string(), text.into()))
    };
    names.iter().filter_map(|name| text(name)).collect()
}

/// Templates read reasoning under different names.
fn alias_reasoning(messages: &mut Value) {
    for message in messages.as_array_mut().into_iter().flatten() {
        let Some(message) = message.as_object_mut() else {
            continue;
        };
        let reasoning = REASONING_FIELDS
            .iter()
            .find_map(|name| message.get(*name))
            .cloned();
        if let Some(reasoning) = reasoning {
            message
                .entry("thinking")
                .or_insert_with(|| reasoning.clone());
            message.insert("reasoning_content".into(), reasoning);
        }
    }
}

/// Puts the tag behind the last message's text and returns that text.
fn mark_last(messages: &mut Value) -> Result<String> {
    let content = messages
        .as_array_mut()
        .and_then(|messages| messages.last_mut())
        .and_then(|message| message.get_mut("content"));
    let text = match content {
        Some(Value::Array(parts)) => parts.iter_mut().rev().find_map(|part| part.get_mut("text")),
        other => other,
    };
    match text {
        Some(Value::String(text)) => {
            let last = text.clone();
            text.push_str(CONTINUE_TAG);
            Ok(last)
        }
        _ => Err(Error::invalid(
            "continue_final_message: the last message has no text to continue",
        )),
    }
}

fn cut_at_mark(rendered: &str, last: &str) -> Result<String> {
    let tag = rendered.rfind(CONTINUE_TAG.trim_end());
    let Some(tag) = tag.filter(|_| rendered.contains(last.trim())) else {
        return Err(Error::invalid(
            "continue_final_message: the template changes the last message, so that it cannot be \
             continued",
        ));
    };
    let kept = &rendered[..tag];
    // Without the tag's space the template has trimmed the text.
    let spaced = rendered[tag..].starts_with(CONTINUE_TAG);
    Ok(if spaced { kept } else { kept.trim_end() }.to_string())
}
