//! The vocabulary as llguidance wants it: a trie of the bytes that each token stands for.

use std::sync::Arc;

use llguidance::toktrie::{ApproximateTokEnv, TokEnv, TokRxInfo, TokTrie};

use crate::tokenizer::TextTokenizer;

/// The trie's mark of a token that text cannot spell. No UTF-8 text has this byte.
const SPECIAL: u8 = TokTrie::SPECIAL_TOKEN_MARKER;

/// Special tokens match no text; a grammar may name them (`<|name|>` in Lark). The end of the
/// output is one more token, whose id is `tokenizer.size()`: which tokens end an output is the
/// engine's affair.
pub fn build(tokenizer: &TextTokenizer) -> TokEnv {
    let end = tokenizer.size();
    let mut words: Vec<Vec<u8>> = (0..end).map(|id| word(tokenizer, id)).collect();
    words.push([&[SPECIAL], "<|end of output|>".as_bytes()].concat());
    let trie = TokTrie::from(&TokRxInfo::new(end + 1, end), &words);
    Arc::new(ApproximateTokEnv::new(trie))
}

fn word(tokenizer: &TextTokenizer, id: u32) -> Vec<u8> {
    if tokenizer.is_special(id) {
        return [&[SPECIAL], tokenizer.token_text(id)].concat();
    }
    match tokenizer.token_bytes(id) {
        [SPECIAL, ..] => Vec::new(),
        bytes => bytes.to_vec(),
    }
}
