//! Messages as a template wants them. Templates differ in whether content is text or a list of
//! parts and whether a call's arguments are an object or text; what one wants is found by trying.

use serde_json::{json, Value};

use crate::error::{Error, Result};

const ROLES: [&str; 4] = ["system", "user", "assistant", "tool"];
/// Found in a rendered text, it shows that the template printed it.
const NEEDLE: &str = "n33dle";

/// What a template does with one role's content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Content {
    takes_text: bool,
    takes_parts: bool,
}

/// How a template reads messages.
#[derive(Debug, Default)]
pub struct Habits {
    content: [Content; ROLES.len()],
    takes_argument_objects: bool,
    /// Tools that the request offers are shown.
    pub takes_tools: bool,
}

impl Habits {
    /// Renders small conversations and tools with `render` (None: the template refused).
    pub fn observe(render: &dyn Fn(Value, Value) -> Option<String>) -> Self {
        let shows = |messages: Value, quoted: &[&str]| {
            render(messages, Value::Null).is_some_and(|text| {
                text.contains(NEEDLE) && !quoted.iter().any(|quoted| text.contains(quoted))
            })
        };
        let single = format!("'{NEEDLE}'");
        let double = format!("\"{NEEDLE}\"");
        // What the other messages hold must not decide what is learnt of this one.
        let shown = |role: &str, content: Form, quoted: &[&str]| {
            [text as Form, parts]
                .iter()
                .any(|other| shows(conversation(role, content(NEEDLE), *other), quoted))
        };
        let content = ROLES.map(|role| Content {
            takes_text: shown(role, text, &[]),
            takes_parts: shown(role, parts, &[&single, &double]),
        });
        let arguments = calling(json!({NEEDLE: "value"}), text);
        let takes_tools = [text as Form, parts].iter().any(|form| {
            let messages = conversation("user", form("hi"), *form);
            render(messages, offering()).is_some_and(|text| text.contains(NEEDLE))
        });
        Self {
            content,
            takes_argument_objects: shows(arguments, &[&single]),
            takes_tools,
        }
    }

    fn content_of(&self, role: &str) -> Content {
        let known = ROLES.iter().position(|known| *known == role);
        known.map_or(
            Content {
                takes_text: true,
                takes_parts: false,
            },
            |at| self.content[at],
        )
    }
}

/// How a message holds its text.
type Form = fn(&str) -> Value;

fn text(text: &str) -> Value {
    text.into()
}

fn parts(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// A conversation in which `role` says `content` and the others speak in the form `other`.
fn conversation(role: &str, content: Value, other: Form) -> Value {
    let hi = json!({"role": "user", "content": other("hi")});
    let said = json!({"role": role, "content": content});
    match role {
        "system" => json!([said, hi]),
        "assistant" => json!([hi, said]),
        "tool" => {
            let mut messages = calling(json!({"a": 1}), other);
            let result = json!({
                "role": "tool", "name": "f", "tool_call_id": "call00000", "content": content,
            });
            messages
                .as_array_mut()
                .into_iter()
                .for_each(|messages| messages.push(result.clone()));
            messages
        }
        _ => json!([said]),
    }
}

fn offering() -> Value {
    let parameters = json!({"type": "object", "properties": {}});
    let function = json!({"name": NEEDLE, "description": NEEDLE, "parameters": parameters});
    json!([{"type": "function", "function": function}])
}

fn calling(arguments: Value, form: Form) -> Value {
    let function = json!({"name": "f", "arguments": arguments});
    let call = json!({"id": "call00000", "type": "function", "function": function});
    json!([
        {"role": "user", "content": form("hi")},
        {"role": "assistant", "content": form(""), "tool_calls": [call]},
    ])
}

/// The messages with null fields left out, and content and arguments in the form the template takes.
pub fn prepare(messages: &Value, habits: &Habits) -> Result<Value> {
    let list = messages.as_array().filter(|list| !list.is_empty());
    let list = list.ok_or_else(|| Error::invalid("messages: expected a list with messages"))?;
    let mut prepared = Vec::with_capacity(list.len());
    for (at, message) in list.iter().enumerate() {
        let fields = message.as_object();
        let fields =
            fields.ok_or_else(|| Error::invalid(format!("messages[{at}]: expected an object")))?;
        let mut fields = fields.clone();
        fields.retain(|_, value| !value.is_null());
        let role = fields
            .get("role")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let habit = habits.content_of(role);
        if let Some(content) = fields.get_mut("content") {
            adapt_content(content, habit)
                .map_err(|error| error.within(format!("messages[{at}].content")))?;
        }
        let calls = fields.get_mut("tool_calls").and_then(Value::as_array_mut);
        for call in calls
            .into_iter()
            .flatten()
            .filter(|_| habits.takes_argument_objects)
        {
            parse_arguments(call);
        }
        prepared.push(Value::Object(fields));
    }
    Ok(Value::Array(prepared))
}

fn adapt_content(content: &mut Value, habit: Content) -> Result<()> {
    match content {
        Value::Array(parts) if !habit.takes_parts => *content = join_parts(parts)?.into(),
        Value::String(text) if habit.takes_parts && !habit.takes_text => {
            *content = parts(text);
        }
        _ => {}
    }
    Ok(())
}

/// Text parts follow one another without a gap.
fn join_parts(parts: &[Value]) -> Result<String> {
    let mut texts = Vec::with_capacity(parts.len());
    for (at, part) in parts.iter().enumerate() {
        let text = part
            .as_str()
            .or_else(|| part.get("text").and_then(Value::as_str));
        texts.push(text.ok_or_else(|| {
            let kind = part
                .get("type")
                .and_then(Value::as_str)
                .unwrap_or("unknown");
            Error::invalid(format!(
                "[{at}] is of type '{kind}'; the chat template takes text only"
            ))
        })?);
    }
    Ok(texts.concat())
}

/// The API writes arguments as JSON text.
fn parse_arguments(call: &mut Value) {
    let function = match call.get_mut("function") {
        Some(function) => function,
        None => call,
    };
    let Some(arguments) = function.get_mut("arguments") else {
        return;
    };
    let parsed = arguments
        .as_str()
        .and_then(|text| serde_json::from_str::<Value>(text).ok());
    if let Some(parsed) = parsed.filter(Value::is_object) {
        *arguments = parsed;
    }
}
