//! The Jinja environment of chat templates: transformers' functions and filters, Python's methods,
//! and limits on what a template may use up.

use jiff::tz::TimeZone;
use jiff::Timestamp;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{Environment, Error as JinjaError, ErrorKind};
use minijinja_contrib::pycompat;

use crate::error::{Error, Result};

/// About one unit for an instruction or 64 bytes: ends an endless loop within a second or so, and a
/// template cannot use more than some 130 MB.
const FUEL: u64 = 2_000_000;

pub fn environment(source: &str) -> Result<Environment<'static>> {
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build();
    let mut environment = Environment::new();
    environment.set_syntax(syntax.map_err(|error| message_of(&error))?);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_unknown_method_callback(pycompat::unknown_method_callback);
    environment.set_formatter(|output, state, value| match value.kind() {
        ValueKind::Number => Ok(output.write_str(&number(value))?),
        _ => minijinja::escape_formatter(output, state, value),
    });
    environment.set_fuel(Some(FUEL));
    environment.add_function("raise_exception", raise_exception);
    environment.add_filter("tojson", to_json);
    let source = without_generation_blocks(source);
    environment
        .add_template_owned("chat", source)
        .map_err(|error| message_of(&error))?;
    Ok(environment)
}

/// The template's own words where it raised, else what and where.
pub fn message_of(error: &JinjaError) -> Error {
    let detail = error
        .detail()
        .map_or(error.kind().to_string(), str::to_string);
    if error.kind() == ErrorKind::InvalidOperation && is_raised(error) {
        return Error::invalid(detail);
    }
    let line = error
        .line()
        .map_or(String::new(), |line| format!("line {line}: "));
    if error.kind() == ErrorKind::OutOfFuel {
        return Error::invalid(format!("chat template: {line}it does not come to an end"));
    }
    Error::invalid(format!("chat template: {line}{}: {detail}", error.kind()))
}

/// Marks an error as the template's own.
#[derive(Debug)]
struct Raised;

impl std::fmt::Display for Raised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("raised by the template")
    }
}

impl std::error::Error for Raised {}

fn is_raised(error: &JinjaError) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<Raised>())
}

fn raise_exception(message: String) -> std::result::Result<Value, JinjaError> {
    Err(JinjaError::new(ErrorKind::InvalidOperation, message).with_source(Raised))
}

/// strftime_now: the local time `now`, or the clock's, in a format of strftime.
pub fn clock(now: Option<i64>) -> Value {
    Value::from_function(
        move |format: String| -> std::result::Result<String, JinjaError> {
            let invalid = |error: jiff::Error| {
                JinjaError::new(
                    ErrorKind::InvalidOperation,
                    format!("strftime_now: {error}"),
                )
            };
            let time = match now {
                Some(seconds) => Timestamp::from_second(seconds).map_err(invalid)?,
                None => Timestamp::now(),
            };
            let local = time.to_zoned_datetime(TimeZone::system());
            jiff::fmt::strtime::format(format.as_bytes(), &local).map_err(invalid)
        },
    )
}

/// `{% generation %}` only marks what the assistant wrote, for training; minijinja has no such tag.
fn without_generation_blocks(source: &str) -> String {
    let mut kept = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(start) = rest.find("{%") {
        let start = start + 2;
        let Some(length) = rest[start..].find("%}") else {
            break;
        };
        let tag = &rest[start..start + length];
        let inner = tag
            .trim_start_matches(['-', '+'])
            .trim_end_matches(['-', '+'])
            .trim();
        let replacement = match inner {
            "generation" => "if true",
            "endgeneration" => "endif",
            _ => inner,
        };
        kept.push_str(&rest[..start]);
        kept.push_str(&tag.replacen(inner, replacement, 1));
        kept.push_str("%}");
        rest = &rest[start + length + 2..];
    }
    kept.push_str(rest);
    kept
}

/// json.dumps as transformers calls it: ", " and ": " between, nothing escaped that need not be.
fn to_json(
    value: &Value,
    indent: Option<Value>,
    options: Kwargs,
) -> std::result::Result<Value, JinjaError> {
    let indent = match indent {
        Some(indent) => Some(indent),
        None => options.get::<Option<Value>>("indent")?,
    };
    let separators = options.get::<Option<Vec<String>>>("separators")?;
    let mut writer = JsonWriter {
        ensure_ascii: options
            .get::<Option<bool>>("ensure_ascii")?
            .unwrap_or(false),
        sort_keys: options.get::<Option<bool>>("sort_keys")?.unwrap_or(false),
        indent: indent.as_ref().and_then(indent_of),
        item_separator: String::new(),
        key_separator: String::new(),
        text: String::new(),
    };
    options.assert_all_used()?;
    let usual = if writer.indent.is_some() { "," } else { ", " };
    (writer.item_separator, writer.key_separator) = match separators.as_deref() {
        Some([item, key]) => (item.clone(), key.clone()),
        _ => (usual.to_string(), ": ".to_string()),
    };
    writer.value(value, 0)?;
    Ok(Value::from(writer.text))
}

/// What one level is indented with: so many spaces, or a text.
fn indent_of(indent: &Value) -> Option<String> {
    match indent.as_str() {
        Some(text) => Some(text.to_string()),
        None => i64::try_from(indent.clone())
            .ok()
            .map(|n| " ".repeat(n.clamp(0, 64) as usize)),
    }
}

struct JsonWriter {
    ensure_ascii: bool,
    sort_keys: bool,
    indent: Option<String>,
    item_separator: String,
    key_separator: String,
    text: String,
}

impl JsonWriter {
    fn value(&mut self, value: &Value, depth: usize) -> std::result::Result<(), JinjaError> {
        match value.kind() {
            ValueKind::None => self.text.push_str("null"),
            ValueKind::Bool => self
                .text
                .push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => self.text.push_str(&number(value)),
            ValueKind::String => self.string(value.as_str().unwrap_or_default()),
            ValueKind::Seq | ValueKind::Iterable => {
                let items = value.try_iter()?.collect::<Vec<_>>();
                self.list(('[', ']'), depth, &items, |writer, item| {
                    writer.value(item, depth + 1)
                })?;
            }
            ValueKind::Map => {
                let mut keys = value.try_iter()?.collect::<Vec<_>>();
                if self.sort_keys {
                    keys.sort();
                }
                self.list(('{', '}'), depth, &keys, |writer, key| {
                    writer.string(&key.to_string());
                    let separator = writer.key_separator.clone();
                    writer.text.push_str(&separator);
                    writer.value(&value.get_item(key)?, depth + 1)
                })?;
            }
            kind => {
                let message = format!("tojson: a value of type {kind} has no JSON form");
                return Err(JinjaError::new(ErrorKind::InvalidOperation, message));
            }
        }
        Ok(())
    }

    fn list(
        &mut self,
        brackets: (char, char),
        depth: usize,
        items: &[Value],
        write: impl Fn(&mut Self, &Value) -> std::result::Result<(), JinjaError>,
    ) -> std::result::Result<(), JinjaError> {
        self.text.push(brackets.0);
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                let separator = self.item_separator.clone();
                self.text.push_str(&separator);
            }
            self.line(depth + 1);
            write(self, item)?;
        }
        if !items.is_empty() {
            self.line(depth);
        }
        self.text.push(brackets.1);
        Ok(())
    }

    fn line(&mut self, depth: usize) {
        if let Some(indent) = &self.indent {
            self.text.push('\n');
            self.text.push_str(&indent.repeat(depth));
        }
    }

    fn string(&mut self, text: &str) {
        self.text.push('"');
        for c in text.chars() {
            match c {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                '\u{8}' => self.text.push_str("\\b"),
                '\u{c}' => self.text.push_str("\\f"),
                c if c < ' ' || (self.ensure_ascii && !c.is_ascii()) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        self.text.push_str(&format!("\\u{unit:04x}"));
                    }
                }
                c => self.text.push(c),
            }
        }
        self.text.push('"');
    }
}

/// A number as Python writes it.
fn number(value: &Value) -> String {
    if value.is_integer() {
        return value.to_string();
    }
    let number = f64::try_from(value.clone()).unwrap_or_default();
    let magnitude = number.abs();
    if magnitude == 0.0 || (1e-4..1e16).contains(&magnitude) || !number.is_finite() {
        return value.to_string();
    }
    // Rust writes 1e-7 and 1e16, Python 1e-07 and 1e+16.
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, power) = match exponent.strip_prefix('-') {
        Some(power) => ('-', power),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{power:0>2}")
}
