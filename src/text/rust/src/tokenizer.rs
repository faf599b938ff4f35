//! TextTokenizer: a `tokenizers` object with the tables that serving needs beside it.

use std::collections::HashSet;

use tokenizers::{
    AddedVocabulary, Encoding, Model, OffsetReferential, OffsetType, PreTokenizer, Token,
};

use crate::decode::Pipeline;
use crate::error::{Error, Result};
use crate::model::Tokenizer;

/// Ids beyond this are refused: tables are indexed by id, and a file may name any.
const MAX_ID: u32 = 1 << 24;

/// Byte strings by id, in one allocation.
#[derive(Default)]
struct Table {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Table {
    fn push(&mut self, entry: &[u8]) {
        self.bytes.extend_from_slice(entry);
        self.ends.push(self.bytes.len());
    }

    fn get(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let Some(&end) = self.ends.get(id) else {
            return &[];
        };
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.bytes[start..end]
    }
}

pub struct TextTokenizer {
    hf: Tokenizer,
    /// The added tokens, but without the special ones in text.
    plain: AddedVocabulary,
    pipeline: Option<Pipeline>,
    texts: Table,
    bytes: Table,
    special: HashSet<u32>,
    pub bos: Option<u32>,
    pub eos: Vec<u32>,
}

impl TextTokenizer {
    pub fn new(mut hf: Tokenizer, bos: Option<u32>, eos: Vec<u32>) -> Result<Self> {
        hf.with_truncation(None)?;
        hf.with_padding(None);
        let size = size(&hf)?;
        let pipeline = Pipeline::new(hf.get_decoder());
        let mut plain = hf.get_added_vocabulary().clone();
        plain.set_encode_special_tokens(true);
        let added = hf.get_added_vocabulary().get_added_tokens_decoder();
        let special = added
            .iter()
            .filter(|(_, token)| token.special)
            .map(|(id, _)| *id)
            .collect();
        let (mut texts, mut bytes) = (Table::default(), Table::default());
        for id in 0..size {
            let decoded = hf.id_to_token(id).unwrap_or_default();
            texts.push(
                added
                    .get(&id)
                    .map_or(decoded.as_bytes(), |token| token.content.as_bytes()),
            );
            match &pipeline {
                Some(pipeline) => bytes.push(&pipeline.bytes(&decoded)),
                None => bytes.push(decoded.as_bytes()),
            }
        }
        Ok(Self {
            hf,
            plain,
            pipeline,
            texts,
            bytes,
            special,
            bos,
            eos,
        })
    }

    /// `parse_special`: spellings of special tokens in the text become those tokens.
    pub fn encode(&self, text: &str, add_special: bool, parse_special: bool) -> Result<Vec<u32>> {
        if parse_special {
            return Ok(self.hf.encode_fast(text, add_special)?.get_ids().to_vec());
        }
        let mut pieces = self
            .plain
            .extract_and_normalize(self.hf.get_normalizer(), text);
        if let Some(splitter) = self.hf.get_pre_tokenizer() {
            splitter.pre_tokenize(&mut pieces)?;
        }
        pieces.tokenize(|piece| self.plain_tokens(piece.get()))?;
        let tokens = pieces
            .get_splits(OffsetReferential::Normalized, OffsetType::Byte)
            .into_iter()
            .flat_map(|(_, _, tokens)| tokens.clone().unwrap_or_default())
            .collect();
        let encoding = self
            .hf
            .post_process(Encoding::from_tokens(tokens, 0), None, add_special)?;
        Ok(encoding.get_ids().to_vec())
    }

    /// The model's tokens for `piece`, none of them a special token that the text merely spells: a
    /// model whose vocabulary holds the special tokens would find them there.
    fn plain_tokens(&self, piece: &str) -> tokenizers::Result<Vec<Token>> {
        let model = self.hf.get_model();
        let mut plain = Vec::new();
        for token in model.tokenize(piece)? {
            let text = piece
                .get(token.offsets.0..token.offsets.1)
                .unwrap_or_default();
            if !self.special.contains(&token.id) || self.texts.get(token.id) != text.as_bytes() {
                plain.push(token);
                continue;
            }
            let first = text.chars().next().map_or(0, char::len_utf8);
            if first < text.len() {
                plain.extend(self.plain_tokens(&text[..first])?);
                plain.extend(self.plain_tokens(&text[first..])?);
            }
        }
        Ok(plain)
    }

    pub fn size(&self) -> u32 {
        self.texts.ends.len() as u32
    }

    pub fn token_text(&self, id: u32) -> &[u8] {
        self.texts.get(id)
    }

    pub fn token_bytes(&self, id: u32) -> &[u8] {
        self.bytes.get(id)
    }

    pub fn is_special(&self, id: u32) -> bool {
        self.special.contains(&id)
    }

    pub fn token_id(&self, token: &str) -> Option<u32> {
        self.hf.token_to_id(token)
    }
}

/// One more than the highest id.
fn size(hf: &Tokenizer) -> Result<u32> {
    let added = hf.get_added_vocabulary().get_added_tokens_decoder().keys();
    let last = hf.get_model().last_id().max(added.max().copied());
    match last {
        None => Err(Error::invalid("the vocabulary has no tokens")),
        Some(id) if id >= MAX_ID => Err(Error::invalid(format!(
            "token id {id}: at most {MAX_ID} are supported"
        ))),
        Some(id) => Ok(id + 1),
    }
}

/// Turns ids into text one by one; `TextTokenizer::decode` is the same done at once.
pub struct Decoder {
    skip_special: bool,
    state: State,
}

enum State {
    Streaming(Pipeline),
    /// The decoder needs all tokens: decode anew each time and give what has been added.
    Whole {
        ids: Vec<u32>,
        given: usize,
    },
}

impl TextTokenizer {
    pub fn decoder(&self, skip_special: bool) -> Decoder {
        let state = match &self.pipeline {
            Some(pipeline) => State::Streaming(pipeline.clone()),
            None => State::Whole {
                ids: Vec::new(),
                given: 0,
            },
        };
        Decoder {
            skip_special,
            state,
        }
    }

    pub fn decode(&self, ids: &[u32], skip_special: bool) -> Result<String> {
        if self.pipeline.is_none() {
            return Ok(self.hf.decode(ids, skip_special)?);
        }
        let mut decoder = self.decoder(skip_special);
        let mut text = String::new();
        for &id in ids {
            text += &decoder.push(self, id)?;
        }
        text += &decoder.finish(self)?;
        Ok(text)
    }
}

impl Decoder {
    pub fn push(&mut self, tokenizer: &TextTokenizer, id: u32) -> Result<String> {
        if self.skip_special && tokenizer.is_special(id) {
            return Ok(String::new());
        }
        match &mut self.state {
            State::Streaming(pipeline) => Ok(tokenizer
                .hf
                .id_to_token(id)
                .map_or(String::new(), |token| pipeline.push(token))),
            State::Whole { ids, given } => {
                ids.push(id);
                let text = tokenizer.hf.decode(ids, self.skip_special)?;
                let settled = text.trim_end_matches(char::REPLACEMENT_CHARACTER);
                let piece = settled.get(*given..).unwrap_or_default().to_string();
                *given += piece.len();
                Ok(piece)
            }
        }
    }

    pub fn finish(&mut self, tokenizer: &TextTokenizer) -> Result<String> {
        match &mut self.state {
            State::Streaming(pipeline) => Ok(pipeline.finish()),
            State::Whole { ids, given } => {
                let text = tokenizer.hf.decode(ids, self.skip_special)?;
                Ok(text.get(*given..).unwrap_or_default().to_string())
            }
        }
    }
}
