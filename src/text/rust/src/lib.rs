//! Matador's text engine: tokenizers (Hugging Face `tokenizers`), chat templates (`minijinja`) and
//! grammars (`llguidance`) behind the C ABI of mtext.h.

mod abi;
mod bytes;
mod charsmap;
mod decode;
mod error;
mod gbnf;
mod gguf;
mod grammar;
mod grammar_abi;
mod grammar_source;
mod hf;
mod json_schema;
mod messages;
mod model;
mod piece_merger;
mod pretokenizers;
mod sentencepiece;
mod spm;
mod structural_tag;
mod template;
mod template_env;
mod tokenizer;
mod vocabulary_trie;
