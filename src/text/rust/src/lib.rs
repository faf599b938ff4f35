//! Matador's text engine: tokenizers (Hugging Face `tokenizers`) and chat templates (`minijinja`)
//! behind the C ABI of mtext.h.

mod abi;
mod bytes;
mod charsmap;
mod decode;
mod error;
mod gguf;
mod hf;
mod messages;
mod pretokenizers;
mod sentencepiece;
mod spm;
mod template;
mod template_env;
mod tokenizer;
