//! Vocabularies as GGUF metadata holds them (tokenizer.ggml.*), encoded as llama.cpp does.

use ahash::AHashMap;
use serde_json::{json, Value};
use tokenizers::models::bpe::BPE;
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::{AddedToken, DecoderWrapper, NormalizerWrapper, PreTokenizerWrapper};

use crate::error::{Error, Result};
use crate::model::Tokenizer;
use crate::pretokenizers::{self, PreTokenizer, Spelling};
use crate::spm::{self, bos_eos, part, Piece, PieceKind, SpmOptions};
use crate::tokenizer::TextTokenizer;

/// A vocabulary; ids that are absent are None, settings that the file leaves open too.
#[derive(Default)]
pub struct Vocab<'a> {
    pub model: &'a str,
    pub pre: &'a str,
    pub tokens: Vec<&'a str>,
    pub scores: &'a [f32],
    pub types: &'a [i32],
    pub merges: Vec<&'a str>,
    pub bos: Option<u32>,
    pub eos: Option<u32>,
    pub unknown: Option<u32>,
    pub separator: Option<u32>,
    pub class: Option<u32>,
    pub end_of_turn: Option<u32>,
    pub end_of_message: Option<u32>,
    pub add_bos: Option<bool>,
    pub add_eos: Option<bool>,
    pub add_space_prefix: bool,
    pub remove_extra_whitespaces: bool,
    pub charsmap: &'a [u8],
}

pub fn load(vocab: &Vocab) -> Result<TextTokenizer> {
    check(vocab)?;
    let pieces = pieces(vocab)?;
    let (mut tokenizer, add_bos, add_eos) = match vocab.model {
        "gpt2" => byte_pairs(vocab, &pieces)?,
        "llama" => (sentencepiece(vocab, &pieces, false)?, true, false),
        "t5" => (sentencepiece(vocab, &pieces, true)?, false, true),
        "bert" => (word_pieces(vocab, &pieces)?, true, true),
        other => {
            return Err(Error::unsupported(format!(
                "tokenizer.ggml.model is '{other}'; gpt2, llama, bert and t5 are supported"
            )))
        }
    };
    let bert = vocab.model == "bert";
    let first = if bert {
        vocab.class.or(vocab.bos)
    } else {
        vocab.bos
    };
    let last = if bert {
        vocab.separator.or(vocab.eos)
    } else {
        vocab.eos
    };
    let named = |id: Option<u32>, wanted: bool| {
        id.filter(|_| wanted)
            .map(|id| (pieces[id as usize].text.as_str(), id))
    };
    let processor = bos_eos(
        named(first, vocab.add_bos.unwrap_or(add_bos)),
        named(last, vocab.add_eos.unwrap_or(add_eos)),
    )?;
    tokenizer.with_post_processor(Some(processor));
    let ends = [vocab.eos, vocab.end_of_turn, vocab.end_of_message]
        .into_iter()
        .flatten();
    let mut eos: Vec<u32> = Vec::new();
    for id in ends {
        if !eos.contains(&id) {
            eos.push(id);
        }
    }
    TextTokenizer::new(tokenizer, vocab.bos, eos)
}

fn check(vocab: &Vocab) -> Result<()> {
    let size = vocab.tokens.len();
    if size == 0 {
        return Err(Error::invalid("tokenizer.ggml.tokens is empty"));
    }
    for (name, length) in [
        ("scores", vocab.scores.len()),
        ("token_type", vocab.types.len()),
    ] {
        if length != 0 && length != size {
            return Err(Error::invalid(format!(
                "tokenizer.ggml.{name} has {length} entries; there are {size} tokens"
            )));
        }
    }
    let ids = [
        ("bos", vocab.bos),
        ("eos", vocab.eos),
        ("unknown", vocab.unknown),
        ("seperator", vocab.separator),
        ("cls", vocab.class),
        ("eot", vocab.end_of_turn),
        ("eom", vocab.end_of_message),
    ];
    for (name, id) in ids {
        if let Some(id) = id.filter(|id| *id as usize >= size) {
            return Err(Error::invalid(format!(
                "tokenizer.ggml.{name}_token_id is {id}; there are {size} tokens"
            )));
        }
    }
    if let Some(id) = vocab.scores.iter().position(|score| score.is_nan()) {
        return Err(Error::invalid(format!(
            "tokenizer.ggml.scores[{id}] is not a number"
        )));
    }
    Ok(())
}

fn pieces(vocab: &Vocab) -> Result<Vec<Piece>> {
    let piece = |(id, text): (usize, &&str)| {
        let kind = match vocab.types.get(id) {
            // 0 is llama.cpp's "undefined", which it treats as an ordinary token.
            None | Some(0) => PieceKind::Normal,
            Some(&number) => PieceKind::from_number(number.into()).ok_or_else(|| {
                Error::invalid(format!(
                    "tokenizer.ggml.token_type[{id}] is {number}, not 0 to 6"
                ))
            })?,
        };
        let score = vocab.scores.get(id).copied().unwrap_or_default();
        // An empty token would match everywhere.
        let text = if text.is_empty() {
            format!("[EMPTY_{id}]")
        } else {
            text.to_string()
        };
        Ok(Piece { text, score, kind })
    };
    vocab.tokens.iter().enumerate().map(piece).collect()
}

/// Specials for control tokens, plain added tokens for user-defined ones.
fn add_tokens(tokenizer: &mut Tokenizer, pieces: &[Piece]) -> Result<()> {
    let added = pieces.iter().filter_map(|piece| match piece.kind {
        PieceKind::Control | PieceKind::Unknown => Some((piece, true)),
        PieceKind::UserDefined => Some((piece, false)),
        _ => None,
    });
    tokenizer.add_tokens(
        added.map(|(piece, special)| {
            AddedToken::from(piece.text.clone(), special).normalized(false)
        }),
    )?;
    Ok(())
}

fn sentencepiece(vocab: &Vocab, pieces: &[Piece], unigram: bool) -> Result<Tokenizer> {
    let unknown = pieces
        .iter()
        .position(|piece| piece.kind == PieceKind::Unknown);
    let options = SpmOptions {
        unigram,
        byte_fallback: pieces.iter().any(|piece| piece.kind == PieceKind::Byte),
        unknown: vocab.unknown.or(unknown.map(|id| id as u32)),
        charsmap: vocab.charsmap.to_vec(),
        add_dummy_prefix: vocab.add_space_prefix,
        prefix_every_stretch: true,
        remove_extra_whitespaces: vocab.remove_extra_whitespaces,
        escape_whitespaces: true,
        // llama.cpp finds these in the raw text, except that T5's own tokenizer does not.
        user_defined_in_raw_text: !unigram,
    };
    spm::build(pieces, &options)
}

fn byte_pairs(vocab: &Vocab, pieces: &[Piece]) -> Result<(Tokenizer, bool, bool)> {
    let name = if vocab.pre.is_empty() {
        "default"
    } else {
        vocab.pre
    };
    let kind = pretokenizers::find(name).map_err(|nearest| {
        Error::unsupported(format!(
            "tokenizer.ggml.pre is '{name}', which is not known; the nearest known is '{nearest}'"
        ))
    })?;
    let ids = pieces
        .iter()
        .enumerate()
        .map(|(id, piece)| (piece.text.clone(), id as u32));
    let mut builder = BPE::builder()
        .vocab_and_merges(ids.collect::<AHashMap<_, _>>(), merges(vocab)?)
        .ignore_merges(kind.ignore_merges)
        .byte_fallback(kind.spelling == Spelling::Metaspace)
        .fuse_unk(kind.spelling != Spelling::Bytes);
    if let Some(unknown) = vocab.unknown.filter(|_| kind.spelling != Spelling::Bytes) {
        builder = builder.unk_token(pieces[unknown as usize].text.clone());
    }
    let model = builder
        .build()
        .map_err(|error| Error::invalid(format!("tokenizer.ggml.merges: {error}")))?;
    let mut tokenizer = Tokenizer::new(model.into());
    spell(&mut tokenizer, kind)?;
    add_tokens(&mut tokenizer, pieces)?;
    Ok((tokenizer, kind.add_bos, false))
}

fn merges(vocab: &Vocab) -> Result<Vec<(String, String)>> {
    let pair = |(at, merge): (usize, &&str)| {
        // A token may itself hold spaces, but not begin with one.
        let space = merge
            .char_indices()
            .skip(1)
            .find(|(_, c)| *c == ' ')
            .map(|(at, _)| at);
        let space = space.ok_or_else(|| {
            Error::invalid(format!(
                "tokenizer.ggml.merges[{at}] is '{merge}', not two tokens"
            ))
        })?;
        Ok((merge[..space].to_string(), merge[space + 1..].to_string()))
    };
    vocab.merges.iter().enumerate().map(pair).collect()
}

/// The parts around the merges: how text is split and spelled, and back.
fn spell(tokenizer: &mut Tokenizer, kind: &PreTokenizer) -> Result<()> {
    let behavior = if kind.spelling == Spelling::Words {
        "Removed"
    } else {
        "Isolated"
    };
    let split = |pattern: &&str| {
        json!({
            "type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": false,
        })
    };
    let mut parts: Vec<Value> = kind.splits.iter().map(split).collect();
    let decoder = match kind.spelling {
        Spelling::Bytes => {
            let bytes = json!({
                "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
                "use_regex": false,
            });
            parts.push(bytes.clone());
            Some(bytes)
        }
        Spelling::Metaspace => {
            let escape = json!({"type": "Replace", "pattern": {"String": " "}, "content": "▁"});
            tokenizer.with_normalizer(Some(part::<NormalizerWrapper>(escape)?))?;
            let unescape = json!({"type": "Replace", "pattern": {"String": "▁"}, "content": " "});
            let decoders = json!([unescape, {"type": "ByteFallback"}, {"type": "Fuse"}]);
            Some(json!({"type": "Sequence", "decoders": decoders}))
        }
        Spelling::Words => None,
    };
    let sequence = json!({"type": "Sequence", "pretokenizers": parts});
    tokenizer.with_pre_tokenizer(Some(part::<PreTokenizerWrapper>(sequence)?));
    if let Some(decoder) = decoder {
        tokenizer.with_decoder(Some(part::<DecoderWrapper>(decoder)?));
    }
    Ok(())
}

/// WordPiece. The file spells "▁word" for what begins a word and "piece" for what continues one,
/// where BERT's vocabulary has "word" and "##piece".
fn word_pieces(vocab: &Vocab, pieces: &[Piece]) -> Result<Tokenizer> {
    let bracketed = |text: &str| text.starts_with('[') && text.ends_with(']');
    let word = |text: &str| {
        text.strip_prefix('▁')
            .filter(|word| !word.is_empty())
            .map(str::to_string)
    };
    let spelled = |piece: &Piece| match word(&piece.text) {
        Some(word) => word,
        None if piece.kind != PieceKind::Normal || bracketed(&piece.text) => piece.text.clone(),
        None => format!("##{}", piece.text),
    };
    let ids = pieces
        .iter()
        .enumerate()
        .map(|(id, piece)| (spelled(piece), id as u32));
    let unknown = match vocab.unknown {
        Some(id) => spelled(&pieces[id as usize]),
        None => "[UNK]".to_string(),
    };
    let model = WordPiece::builder()
        .vocab(ids.collect::<AHashMap<_, _>>())
        .unk_token(unknown)
        .continuing_subword_prefix("##".to_string())
        .max_input_chars_per_word(100)
        .build()?;
    // A vocabulary with capitals was made from text that kept them.
    let cased = pieces.iter().any(|piece| {
        piece.kind == PieceKind::Normal
            && !bracketed(&piece.text)
            && piece.text.chars().any(|c| c.is_ascii_uppercase())
    });
    let mut tokenizer = Tokenizer::new(model.into());
    tokenizer.with_normalizer(Some(part::<NormalizerWrapper>(json!({
        "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
        "strip_accents": null, "lowercase": !cased,
    }))?))?;
    let words = json!({"type": "BertPreTokenizer"});
    tokenizer.with_pre_tokenizer(Some(part::<PreTokenizerWrapper>(words)?));
    let decoder = json!({"type": "WordPiece", "prefix": "##", "cleanup": true});
    tokenizer.with_decoder(Some(part::<DecoderWrapper>(decoder)?));
    let specials = pieces
        .iter()
        .filter(|p| p.kind == PieceKind::Control || bracketed(&p.text));
    let specials = specials.filter(|piece| !piece.text.starts_with("[unused"));
    tokenizer.add_tokens(specials.map(|piece| AddedToken::from(piece.text.clone(), true)))?;
    Ok(tokenizer)
}
