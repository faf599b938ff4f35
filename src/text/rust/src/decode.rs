//! Decoding as a pipeline of streaming steps, one for each part of a tokenizer's decoder. Decoding a
//! whole text is the same pipeline run to its end, so the two always agree.

use tokenizers::decoders::DecoderWrapper;
use tokenizers::pre_tokenizers::metaspace::PrependScheme;
use tokenizers::Decoder as _;

use crate::bytes::{byte_level_bytes, fallback_byte, Replacement, Utf8Stream};

/// One part of a decoder with what it remembers between tokens.
#[derive(Clone)]
enum Step {
    /// Decides by each token alone.
    Stateless(Box<DecoderWrapper>),
    /// Decides by each token alone, but treats the first otherwise.
    FirstDiffers {
        decoder: Box<DecoderWrapper>,
        first: bool,
    },
    ByteLevel(Utf8Stream),
    ByteFallback(Utf8Stream),
    /// Cuts `content` from both ends of the text.
    StripEnds {
        content: char,
        start: usize,
        stop: usize,
        held: String,
    },
    /// Word ends (`</w>`) become spaces, except the last.
    WordEnds {
        suffix: String,
        held: String,
    },
    /// No decoder: tokens joined with spaces.
    Spaced {
        first: bool,
    },
}

/// A tokenizer's decoder, ready to be cloned for each text.
#[derive(Clone)]
pub struct Pipeline {
    steps: Vec<Step>,
}

impl Pipeline {
    /// None: a decoder that needs the whole text (such as CTC).
    pub fn new(decoder: Option<&DecoderWrapper>) -> Option<Self> {
        let mut steps = Vec::new();
        match decoder {
            None => steps.push(Step::Spaced { first: true }),
            Some(decoder) => add_steps(decoder, &mut false, &mut steps)?,
        }
        Some(Self { steps })
    }

    pub fn push(&mut self, token: String) -> String {
        self.run(0, vec![token])
    }

    pub fn finish(&mut self) -> String {
        let mut text = String::new();
        for i in 0..self.steps.len() {
            let last = self.steps[i].finish();
            if !last.is_empty() {
                text += &self.run(i + 1, vec![last]);
            }
        }
        text
    }

    /// The bytes that a token stands for inside a text.
    pub fn bytes(&self, token: &str) -> Vec<u8> {
        let mut text = token.to_string();
        for step in &self.steps {
            match step {
                Step::ByteLevel(_) => return byte_level_bytes(&text),
                Step::ByteFallback(_) => {
                    if let Some(byte) = fallback_byte(&text) {
                        return vec![byte];
                    }
                }
                Step::StripEnds { .. } => {}
                Step::WordEnds { suffix, .. } => text = text.replace(suffix.as_str(), " "),
                Step::Spaced { .. } => text.insert(0, ' '),
                Step::Stateless(decoder) => text = decode_one(decoder, text),
                Step::FirstDiffers { decoder, .. } => text = decode_later(decoder, text),
            }
        }
        text.into_bytes()
    }

    fn run(&mut self, from: usize, mut items: Vec<String>) -> String {
        for step in &mut self.steps[from..] {
            items = items
                .into_iter()
                .flat_map(|item| step.apply(item))
                .collect();
        }
        items.concat()
    }
}

/// Appends the steps of `decoder`. `fused`: the text is one token from here on, so that what acts on
/// each token acts on the whole.
fn add_steps(decoder: &DecoderWrapper, fused: &mut bool, steps: &mut Vec<Step>) -> Option<()> {
    let whole = |decoder: &DecoderWrapper| Box::new(decoder.clone());
    match decoder {
        DecoderWrapper::Sequence(sequence) => {
            for part in sequence.get_decoders() {
                add_steps(part, fused, steps)?;
            }
        }
        DecoderWrapper::Fuse(_) => *fused = true,
        DecoderWrapper::Strip(strip) if *fused => steps.push(Step::StripEnds {
            content: strip.content,
            start: strip.start,
            stop: strip.stop,
            held: String::new(),
        }),
        // The last token cannot be known before the end.
        _ if *fused => return None,
        DecoderWrapper::CTC(_) => return None,
        DecoderWrapper::Replace(_) | DecoderWrapper::Strip(_) => {
            steps.push(Step::Stateless(whole(decoder)));
        }
        DecoderWrapper::WordPiece(_) => {
            steps.push(Step::FirstDiffers {
                decoder: whole(decoder),
                first: true,
            });
        }
        DecoderWrapper::Metaspace(metaspace) => {
            let first = metaspace.get_prepend_scheme() != PrependScheme::Never;
            steps.push(Step::FirstDiffers {
                decoder: whole(decoder),
                first,
            });
        }
        DecoderWrapper::ByteLevel(_) => {
            steps.push(Step::ByteLevel(Utf8Stream::new(Replacement::EachPart)));
            *fused = true;
        }
        DecoderWrapper::ByteFallback(_) => {
            steps.push(Step::ByteFallback(Utf8Stream::new(Replacement::EachByte)));
        }
        DecoderWrapper::BPE(bpe) => {
            steps.push(Step::WordEnds {
                suffix: bpe.suffix.clone(),
                held: String::new(),
            });
        }
    }
    Some(())
}

fn decode_one(decoder: &DecoderWrapper, token: String) -> String {
    decoder
        .decode_chain(vec![token])
        .map(|tokens| tokens.concat())
        .unwrap_or_default()
}

fn decode_later(decoder: &DecoderWrapper, token: String) -> String {
    let tokens = decoder
        .decode_chain(vec![String::new(), token])
        .unwrap_or_default();
    tokens.into_iter().skip(1).collect()
}

fn non_empty(text: String) -> Vec<String> {
    if text.is_empty() {
        Vec::new()
    } else {
        vec![text]
    }
}

impl Step {
    fn apply(&mut self, token: String) -> Vec<String> {
        match self {
            Step::Stateless(decoder) => vec![decode_one(decoder, token)],
            Step::FirstDiffers { decoder, first } => {
                let decode = if std::mem::take(first) {
                    decode_one
                } else {
                    decode_later
                };
                vec![decode(decoder, token)]
            }
            Step::ByteLevel(stream) => vec![stream.push(&byte_level_bytes(&token))],
            Step::ByteFallback(stream) => match fallback_byte(&token) {
                Some(byte) => non_empty(stream.push(&[byte])),
                None => {
                    let mut items = non_empty(stream.finish());
                    items.push(token);
                    items
                }
            },
            Step::StripEnds {
                content,
                start,
                stop,
                held,
            } => {
                held.push_str(&token);
                vec![strip_ends(held, *content, start, *stop)]
            }
            Step::WordEnds { suffix, held } => {
                let mut text = std::mem::take(held).replace(suffix.as_str(), " ");
                let end = token.find(suffix.as_str()).unwrap_or(token.len());
                text.push_str(&token[..end]);
                held.push_str(&token[end..]);
                vec![text]
            }
            Step::Spaced { first } => {
                let space = if std::mem::take(first) { "" } else { " " };
                vec![format!("{space}{token}")]
            }
        }
    }

    fn finish(&mut self) -> String {
        match self {
            Step::ByteLevel(stream) | Step::ByteFallback(stream) => stream.finish(),
            Step::WordEnds { suffix, held } => std::mem::take(held).replace(suffix.as_str(), ""),
            Step::StripEnds { held, .. } => {
                held.clear();
                String::new()
            }
            Step::Stateless(_) | Step::FirstDiffers { .. } | Step::Spaced { .. } => String::new(),
        }
    }
}

/// Takes from `held` what is neither still to be cut at the start nor may turn out to be the end.
fn strip_ends(held: &mut String, content: char, start: &mut usize, stop: usize) -> String {
    while *start > 0 && !held.is_empty() {
        if held.starts_with(content) {
            held.drain(..content.len_utf8());
            *start -= 1;
        } else {
            *start = 0;
        }
    }
    let tail = held
        .chars()
        .rev()
        .take(stop)
        .take_while(|c| *c == content)
        .count();
    let keep = held.len() - tail * content.len_utf8();
    held.drain(..keep).collect()
}
