//! Tokenizers of Hugging Face folders: tokenizer.json or tokenizer.model, completed by
//! tokenizer_config.json, special_tokens_map.json and added_tokens.json as transformers does.

use std::path::Path;

use serde::de::IgnoredAny;
use serde::Deserialize;
use serde_json::Value;
use tokenizers::AddedToken;

use crate::charsmap;
use crate::error::{Error, Kind, Result};
use crate::model::Tokenizer;
use crate::sentencepiece;
use crate::spm::bos_eos;
use crate::tokenizer::TextTokenizer;

pub const NAMED_TOKENS: [&str; 7] = [
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
];

pub fn from_folder(folder: &str) -> Result<TextTokenizer> {
    let folder = Path::new(folder);
    let config = read_json(&folder.join("tokenizer_config.json"))?.unwrap_or_default();
    let special = read_json(&folder.join("special_tokens_map.json"))?.unwrap_or_default();
    let added = read_json(&folder.join("added_tokens.json"))?.unwrap_or_default();
    let setting = |name: &str| config.get(name).or_else(|| special.get(name)).cloned();
    let mut settings = Settings {
        added: added_tokens(&config, &added),
        special: Vec::new(),
        bos: setting("bos_token").and_then(|token| special_token(&token)),
        eos: setting("eos_token").and_then(|token| special_token(&token)),
        add_bos: config.get("add_bos_token").and_then(Value::as_bool),
        add_eos: config.get("add_eos_token").and_then(Value::as_bool),
    };
    for name in NAMED_TOKENS {
        settings
            .special
            .extend(setting(name).and_then(|token| special_token(&token)));
    }
    for name in ["additional_special_tokens", "extra_special_tokens"] {
        let tokens = setting(name).and_then(|tokens| tokens.as_array().cloned());
        settings
            .special
            .extend(tokens.unwrap_or_default().iter().filter_map(special_token));
    }
    let json = folder.join("tokenizer.json");
    if let Some(bytes) = read(&json)? {
        // Such a file says itself what begins and ends a text.
        (settings.add_bos, settings.add_eos) = (None, None);
        let tokenizer = parse_json(&bytes).map_err(|error| error.within(json.display()))?;
        return settings
            .complete(tokenizer)
            .map_err(|error| error.within(folder.display()));
    }
    let model = folder.join("tokenizer.model");
    let Some(bytes) = read(&model)? else {
        let folder = folder.display();
        return Err(Error::not_found(format!(
            "{folder}: no tokenizer.json and no tokenizer.model in it"
        )));
    };
    from_model(&bytes, legacy(&config), settings).map_err(|error| error.within(model.display()))
}

/// From the text of a tokenizer.json alone.
pub fn from_json(json: &[u8]) -> Result<TextTokenizer> {
    Settings::default().complete(parse_json(json)?)
}

/// From the bytes of a tokenizer.model alone.
pub fn from_sentencepiece(model: &[u8]) -> Result<TextTokenizer> {
    from_model(model, true, Settings::default())
}

fn from_model(bytes: &[u8], legacy: bool, mut settings: Settings) -> Result<TextTokenizer> {
    let loaded = sentencepiece::load(bytes, legacy)?;
    let named = |text: String| AddedToken::from(text, true);
    settings.bos = settings.bos.or(loaded.bos.map(named));
    settings.eos = settings.eos.or(loaded.eos.map(named));
    settings.complete(loaded.tokenizer)
}

/// The `legacy` of LlamaTokenizer, which is off unless told, and of the others, which is on.
fn legacy(config: &Value) -> bool {
    let class = config
        .get("tokenizer_class")
        .and_then(Value::as_str)
        .unwrap_or_default();
    config
        .get("legacy")
        .and_then(Value::as_bool)
        .unwrap_or(!class.starts_with("Llama"))
}

/// What the files beside tokenizer.json say.
#[derive(Default)]
struct Settings {
    added: Vec<AddedToken>,
    /// Special whatever else says; how they match is said by the tokenizer where it knows them.
    special: Vec<AddedToken>,
    bos: Option<AddedToken>,
    eos: Option<AddedToken>,
    add_bos: Option<bool>,
    add_eos: Option<bool>,
}

impl Settings {
    fn complete(self, mut tokenizer: Tokenizer) -> Result<TextTokenizer> {
        tokenizer.add_tokens(self.added)?;
        let known = tokenizer.get_added_vocabulary().get_added_tokens_decoder();
        let special: Vec<AddedToken> = self
            .special
            .into_iter()
            .map(|token| {
                known
                    .values()
                    .find(|k| k.content == token.content)
                    .cloned()
                    .unwrap_or(token)
            })
            .map(|token| token.special(true))
            .collect();
        tokenizer.add_tokens(special)?;
        let (bos, eos) = (
            identify(&tokenizer, &self.bos),
            identify(&tokenizer, &self.eos),
        );
        let ids = (
            bos.map(|(_, id)| id),
            eos.iter().map(|(_, id)| *id).collect(),
        );
        if self.add_bos.is_some() || self.add_eos.is_some() {
            let wanted = |add: Option<bool>| add.unwrap_or(false);
            let bos = bos.filter(|_| wanted(self.add_bos));
            let eos = eos.filter(|_| wanted(self.add_eos));
            let processor = bos_eos(bos, eos)?;
            tokenizer.with_post_processor(Some(processor));
        }
        TextTokenizer::new(tokenizer, ids.0, ids.1)
    }
}

fn identify<'a>(tokenizer: &Tokenizer, token: &'a Option<AddedToken>) -> Option<(&'a str, u32)> {
    let text = token.as_ref()?.content.as_str();
    Some((text, tokenizer.token_to_id(text)?))
}

fn parse_json(bytes: &[u8]) -> Result<Tokenizer> {
    // The crate panics at some syntax errors.
    serde_json::from_slice::<IgnoredAny>(bytes)?;
    check_charsmaps(bytes)?;
    Ok(Tokenizer::from_bytes(bytes)?)
}

fn check_charsmaps(json: &[u8]) -> Result<()> {
    #[derive(Deserialize)]
    struct Normalizer {
        #[serde(default)]
        normalizer: Value,
    }
    const NAME: &[u8] = b"precompiled_charsmap";
    if !json.windows(NAME.len()).any(|window| window == NAME) {
        return Ok(());
    }
    let normalizer = serde_json::from_slice::<Normalizer>(json)?.normalizer;
    let nested = normalizer.get("normalizers").and_then(Value::as_array);
    for part in nested.unwrap_or(&vec![normalizer.clone()]) {
        if let Some(map) = part.get("precompiled_charsmap").and_then(Value::as_str) {
            charsmap::check_base64(map)?;
        }
    }
    Ok(())
}

/// added_tokens_decoder of tokenizer_config.json in order of ids, else added_tokens.json.
fn added_tokens(config: &Value, added: &Value) -> Vec<AddedToken> {
    let mut tokens: Vec<(u64, AddedToken)> = Vec::new();
    if let Some(decoder) = config
        .get("added_tokens_decoder")
        .and_then(Value::as_object)
    {
        for (id, token) in decoder {
            tokens.extend(id.parse().ok().zip(added_token(token)));
        }
    } else if let Some(ids) = added.as_object() {
        for (text, id) in ids {
            let token = AddedToken::from(text.as_str(), false).normalized(false);
            tokens.extend(id.as_u64().map(|id| (id, token)));
        }
    }
    tokens.sort_by_key(|(id, _)| *id);
    tokens.into_iter().map(|(_, token)| token).collect()
}

/// A token as tokenizer_config.json writes it: its text, or an object with its properties.
fn added_token(token: &Value) -> Option<AddedToken> {
    let flag = |name: &str, otherwise: bool| {
        token
            .get(name)
            .and_then(Value::as_bool)
            .unwrap_or(otherwise)
    };
    let text = token.get("content").and_then(Value::as_str)?;
    let special = flag("special", false);
    Some(
        AddedToken::from(text, special)
            .single_word(flag("single_word", false))
            .lstrip(flag("lstrip", false))
            .rstrip(flag("rstrip", false))
            .normalized(flag("normalized", !special)),
    )
}

fn special_token(token: &Value) -> Option<AddedToken> {
    match token.as_str() {
        Some(text) => Some(AddedToken::from(text, true)),
        None => added_token(token).map(|token| token.special(true)),
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error {
            kind: Kind::Io,
            message: format!("{}: {error}", path.display()),
        }),
    }
}

/// A JSON file beside the tokenizer. None: it does not exist.
pub fn read_json(path: &Path) -> Result<Option<Value>> {
    let Some(bytes) = read(path)? else {
        return Ok(None);
    };
    let json = serde_json::from_slice(&bytes).map_err(Error::from);
    json.map(Some).map_err(|error| error.within(path.display()))
}

/// A text file. None: it does not exist.
pub fn read_text(path: &Path) -> Result<Option<String>> {
    let Some(bytes) = read(path)? else {
        return Ok(None);
    };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(_) => Err(Error::invalid(format!(
            "{}: it is not UTF-8",
            path.display()
        ))),
    }
}
