//! What is checked of a JSON schema before llguidance compiles it, and how its output is spaced.

use serde_json::{json, Map, Value};

use crate::error::{Error, Result};

/// Enforced by llguidance, or of no effect on what is valid. Everything else is refused: a keyword
/// that is passed over would let invalid output through.
const KNOWN: [&str; 44] = [
    "$ref",
    "$defs",
    "definitions",
    "$id",
    "id",
    "$schema",
    "$anchor",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "contentMediaType",
    "contentEncoding",
    "type",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "properties",
    "patternProperties",
    "additionalProperties",
    "required",
    "minProperties",
    "maxProperties",
    "items",
    "prefixItems",
    "additionalItems",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "discriminator",
];
const MAPS: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];
const LISTS: [&str; 5] = ["items", "prefixItems", "anyOf", "oneOf", "allOf"];
const ONES: [&str; 3] = ["items", "additionalItems", "additionalProperties"];

/// One space at most, and only after a separator: a model that may write white space at will writes
/// it without end.
fn spacing() -> Value {
    json!({"whitespace_flexible": false, "item_separator": ", ?", "key_separator": ": ?"})
}

/// The schema for llguidance. The error names a keyword that cannot be enforced, and its place.
pub fn prepare(schema: Value) -> Result<Value> {
    let mut map = match schema {
        Value::Object(map) => map,
        Value::Bool(true) => Map::new(),
        Value::Bool(false) => {
            return Err(Error::invalid("the schema is false: nothing matches it"))
        }
        other => return Err(unexpected("the schema", "an object or a boolean", &other)),
    };
    check_object(&map, "#")?;
    map.insert("x-guidance".to_string(), spacing());
    Ok(Value::Object(map))
}

fn unexpected(place: &str, expected: &str, found: &Value) -> Error {
    let found: String = found.to_string().chars().take(60).collect();
    Error::invalid(format!("{place}: expected {expected}, found {found}"))
}

fn check(schema: &Value, place: &str) -> Result<()> {
    match schema {
        Value::Bool(_) => Ok(()),
        Value::Object(map) => check_object(map, place),
        other => Err(unexpected(place, "a schema", other)),
    }
}

fn check_object(schema: &Map<String, Value>, place: &str) -> Result<()> {
    if let Some(keyword) = schema.keys().find(|name| !KNOWN.contains(&name.as_str())) {
        return Err(Error::unsupported(format!(
            "{place}: the keyword '{keyword}' is not supported"
        )));
    }
    for (keyword, value) in schema {
        let inner = format!("{place}/{keyword}");
        match value {
            Value::Object(map) if MAPS.contains(&keyword.as_str()) => {
                for (name, property) in map {
                    check(property, &format!("{inner}/{name}"))?;
                }
            }
            Value::Array(list) if LISTS.contains(&keyword.as_str()) => {
                for (index, item) in list.iter().enumerate() {
                    check(item, &format!("{inner}/{index}"))?;
                }
            }
            one if ONES.contains(&keyword.as_str()) => check(one, &inner)?,
            _ => {}
        }
    }
    Ok(())
}
