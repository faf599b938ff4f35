//! SentencePiece vocabularies (from tokenizer.model or GGUF) as `tokenizers` objects that encode as
//! SentencePieceProcessor does. Kudo and Richardson 2018, arXiv:1808.06226.

use serde_json::{json, Value};
use tokenizers::models::unigram::Unigram;
use tokenizers::normalizers::Sequence;
use tokenizers::{
    AddedToken, DecoderWrapper, NormalizerWrapper, PostProcessorWrapper, PreTokenizerWrapper,
};

use crate::charsmap;
use crate::error::{Error, Result};
use crate::model::{TextModel, Tokenizer};
use crate::piece_merger::{MergeRule, PieceMerger};

/// What a token is, with the numbers of sentencepiece_model.proto and of GGUF's token_type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    Normal,
    Unknown,
    Control,
    UserDefined,
    Unused,
    Byte,
}

impl PieceKind {
    pub fn from_number(number: i64) -> Option<Self> {
        Some(match number {
            1 => Self::Normal,
            2 => Self::Unknown,
            3 => Self::Control,
            4 => Self::UserDefined,
            5 => Self::Unused,
            6 => Self::Byte,
            _ => return None,
        })
    }
}

#[derive(Clone, Debug)]
pub struct Piece {
    pub text: String,
    pub score: f32,
    pub kind: PieceKind,
}

pub struct SpmOptions {
    pub unigram: bool,
    pub byte_fallback: bool,
    pub unknown: Option<u32>,
    pub charsmap: Vec<u8>,
    pub add_dummy_prefix: bool,
    /// The dummy prefix goes before every stretch of text between added tokens, not only the first
    /// (the `legacy` behaviour).
    pub prefix_every_stretch: bool,
    pub remove_extra_whitespaces: bool,
    pub escape_whitespaces: bool,
    /// User-defined pieces are found after normalisation (SentencePiece) or in the raw text
    /// (llama.cpp, which merges them too).
    pub user_defined_in_raw_text: bool,
}

pub fn build(pieces: &[Piece], options: &SpmOptions) -> Result<Tokenizer> {
    let mut tokenizer = Tokenizer::new(model(pieces, options)?);
    tokenizer.with_normalizer(Some(normalizer(options)?))?;
    let pre_tokenizers = pre_tokenizers(pieces, options);
    if !pre_tokenizers.is_empty() {
        let sequence = json!({"type": "Sequence", "pretokenizers": pre_tokenizers});
        tokenizer.with_pre_tokenizer(Some(part::<PreTokenizerWrapper>(sequence)?));
    }
    tokenizer.with_decoder(Some(part::<DecoderWrapper>(decoder(options))?));
    tokenizer.add_tokens(
        pieces
            .iter()
            .filter_map(|piece| added_token(piece, options)),
    )?;
    Ok(tokenizer)
}

/// A part of a tokenizer from the JSON that tokenizer.json would hold.
pub fn part<T: serde::de::DeserializeOwned>(json: Value) -> Result<T> {
    Ok(serde_json::from_value(json)?)
}

/// Puts BOS before and EOS after a text.
pub fn bos_eos(bos: Option<(&str, u32)>, eos: Option<(&str, u32)>) -> Result<PostProcessorWrapper> {
    let special = |token: Option<(&str, u32)>, type_id: u32| {
        token.map(|(text, _)| json!({"SpecialToken": {"id": text, "type_id": type_id}}))
    };
    let sequence = |name: &str, type_id: u32| {
        let text = json!({"Sequence": {"id": name, "type_id": type_id}});
        [special(bos, type_id), Some(text), special(eos, type_id)]
            .into_iter()
            .flatten()
    };
    let tokens: serde_json::Map<String, Value> = [bos, eos]
        .into_iter()
        .flatten()
        .map(|(text, id)| {
            (
                text.to_string(),
                json!({"id": text, "ids": [id], "tokens": [text]}),
            )
        })
        .collect();
    part(json!({
        "type": "TemplateProcessing",
        "single": sequence("A", 0).collect::<Vec<_>>(),
        "pair": sequence("A", 0).chain(sequence("B", 1)).collect::<Vec<_>>(),
        "special_tokens": tokens,
    }))
}

fn model(pieces: &[Piece], options: &SpmOptions) -> Result<TextModel> {
    if let Some(unknown) = options.unknown.filter(|id| *id as usize >= pieces.len()) {
        let size = pieces.len();
        return Err(Error::invalid(format!(
            "unknown token {unknown}: the vocabulary has {size}"
        )));
    }
    if options.unigram {
        let vocab = pieces
            .iter()
            .map(|p| (p.text.clone(), f64::from(p.score)))
            .collect();
        let unknown = options.unknown.map(|id| id as usize);
        return Ok(Unigram::from(vocab, unknown, options.byte_fallback)?.into());
    }
    let has_user_defined = pieces
        .iter()
        .any(|piece| piece.kind == PieceKind::UserDefined);
    let rules = pieces
        .iter()
        .map(|piece| (piece.text.as_str().into(), rule(piece, options)));
    let mut merger = PieceMerger::new(rules);
    merger.unknown = options.unknown;
    merger.byte_fallback = options.byte_fallback;
    merger.whole_pieces = has_user_defined && !options.user_defined_in_raw_text;
    Ok(TextModel::Pieces(merger))
}

fn rule(piece: &Piece, options: &SpmOptions) -> MergeRule {
    // Texts are compared with pieces as they grow, so a file must not be able to hold one without end.
    const LONGEST: usize = 1024;
    let mergeable = match piece.kind {
        _ if piece.text.len() > LONGEST => false,
        PieceKind::Normal => true,
        PieceKind::UserDefined | PieceKind::Unused => options.user_defined_in_raw_text,
        PieceKind::Unknown | PieceKind::Control | PieceKind::Byte => false,
    };
    MergeRule {
        score: piece.score,
        mergeable,
    }
}

fn added_token(piece: &Piece, options: &SpmOptions) -> Option<AddedToken> {
    let special = match piece.kind {
        PieceKind::Control | PieceKind::Unknown => true,
        PieceKind::UserDefined if options.user_defined_in_raw_text => false,
        _ => return None,
    };
    Some(AddedToken::from(piece.text.clone(), special).normalized(false))
}

fn normalizer(options: &SpmOptions) -> Result<NormalizerWrapper> {
    let mut parts: Vec<NormalizerWrapper> = Vec::new();
    if !options.charsmap.is_empty() {
        parts.push(charsmap::read(&options.charsmap)?.into());
    }
    if options.remove_extra_whitespaces {
        parts.push(replace(json!({"Regex": r"\A +| +\z"}), "")?);
        parts.push(replace(json!({"Regex": " {2,}"}), " ")?);
    }
    if options.escape_whitespaces {
        parts.push(replace(json!({"String": " "}), "▁")?);
    }
    if options.add_dummy_prefix && options.prefix_every_stretch {
        // Metaspace gives no prefix to a text that starts with one; SentencePiece does.
        parts.push(replace(json!({"Regex": r"\A▁"}), "▁▁")?);
    }
    Ok(Sequence::new(parts).into())
}

fn replace(pattern: Value, content: &str) -> Result<NormalizerWrapper> {
    part(json!({"type": "Replace", "pattern": pattern, "content": content}))
}

fn pre_tokenizers(pieces: &[Piece], options: &SpmOptions) -> Vec<Value> {
    let mut parts = Vec::new();
    if options.add_dummy_prefix {
        let scheme = if options.prefix_every_stretch {
            "always"
        } else {
            "first"
        };
        parts.push(json!({
            "type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": false,
        }));
    }
    let mut user_defined: Vec<&str> = pieces
        .iter()
        .filter(|piece| piece.kind == PieceKind::UserDefined && !piece.text.is_empty())
        .map(|piece| piece.text.as_str())
        .collect();
    if !user_defined.is_empty() && !options.user_defined_in_raw_text {
        user_defined.sort_by_key(|text| std::cmp::Reverse(text.len()));
        let pattern: Vec<String> = user_defined.into_iter().map(escape_regex).collect();
        parts.push(json!({
            "type": "Split",
            "pattern": {"Regex": pattern.join("|")},
            "behavior": "Isolated",
            "invert": false,
        }));
    }
    parts
}

fn decoder(options: &SpmOptions) -> Value {
    let mut parts = vec![json!({"type": "Replace", "pattern": {"String": "▁"}, "content": " "})];
    if options.byte_fallback {
        parts.push(json!({"type": "ByteFallback"}));
    }
    parts.push(json!({"type": "Fuse"}));
    if options.add_dummy_prefix {
        parts.push(json!({"type": "Strip", "content": " ", "start": 1, "stop": 0}));
    }
    json!({"type": "Sequence", "decoders": parts})
}

fn escape_regex(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if r"\.+*?()|[]{}^$".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
