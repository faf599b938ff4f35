//! The C ABI (mtext.h). Every entry catches panics: none crosses into C++.

use std::ffi::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};

use serde_json::{Map, Value};

use crate::error::{Error, Kind, Result};
use crate::gguf::{self, Vocab};
use crate::hf;
use crate::template::{ChatTemplate, Input};
use crate::tokenizer::{Decoder, TextTokenizer};

/// Borrowed bytes; valid during the call, or as long as the object that gave them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text {
    data: *const c_char,
    size: usize,
}

/// Where a text result, or the message of an error, goes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TextSink {
    context: *mut c_void,
    write: extern "C" fn(*mut c_void, *const c_char, usize),
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct IdSink {
    context: *mut c_void,
    write: extern "C" fn(*mut c_void, *const u32, usize),
}

#[repr(C)]
pub struct GgufVocab {
    model: Text,
    pre: Text,
    tokens: *const Text,
    token_count: usize,
    scores: *const f32,
    score_count: usize,
    types: *const i32,
    type_count: usize,
    merges: *const Text,
    merge_count: usize,
    charsmap: Text,
    bos: i32,
    eos: i32,
    unknown: i32,
    separator: i32,
    class_token: i32,
    end_of_turn: i32,
    end_of_message: i32,
    /// 1, 0, or -1 where the file does not say.
    add_bos: i32,
    add_eos: i32,
    add_space_prefix: bool,
    remove_extra_whitespaces: bool,
}

#[repr(C)]
pub struct TemplateInput {
    messages_json: Text,
    tools_json: Text,
    documents_json: Text,
    variables_json: Text,
    add_generation_prompt: bool,
    continue_final_message: bool,
    has_now: bool,
    now: i64,
}

impl Text {
    fn of(bytes: &[u8]) -> Self {
        Self {
            data: bytes.as_ptr().cast(),
            size: bytes.len(),
        }
    }

    /// SAFETY (here and below): the caller of the entry vouches for its pointers and sizes.
    unsafe fn bytes<'a>(self) -> &'a [u8] {
        slice(self.data.cast(), self.size)
    }

    pub unsafe fn str<'a>(self, what: &str) -> Result<&'a str> {
        std::str::from_utf8(self.bytes()).map_err(|error| {
            let at = error.valid_up_to();
            Error::invalid(format!("{what}: not UTF-8 at byte {at}"))
        })
    }

    /// Null where the text is empty.
    unsafe fn json(self, what: &str) -> Result<Value> {
        if self.size == 0 {
            return Ok(Value::Null);
        }
        serde_json::from_slice(self.bytes()).map_err(|error| Error::from(error).within(what))
    }

    unsafe fn object(self, what: &str) -> Result<Map<String, Value>> {
        match self.json(what)? {
            Value::Null => Ok(Map::new()),
            Value::Object(object) => Ok(object),
            _ => Err(Error::invalid(format!("{what}: expected an object"))),
        }
    }
}

unsafe fn slice<'a, T>(data: *const T, count: usize) -> &'a [T] {
    if count == 0 {
        &[]
    } else {
        std::slice::from_raw_parts(data, count)
    }
}

fn write(sink: TextSink, text: &str) {
    (sink.write)(sink.context, text.as_ptr().cast(), text.len());
}

/// Runs `body`; its text, or the error's message, goes to `sink`.
pub fn guard(sink: TextSink, body: impl FnOnce() -> Result<String>) -> i32 {
    finish(sink, catch(Kind::Internal, body))
}

/// Runs `body`; a panic in it becomes an error of kind `blame`.
fn catch<T>(blame: Kind, body: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("unknown");
        Err(Error {
            kind: blame,
            message: format!("text engine: {text}"),
        })
    })
}

fn finish(sink: TextSink, result: Result<String>) -> i32 {
    match result {
        Ok(text) => {
            write(sink, &text);
            0
        }
        Err(error) => {
            write(sink, &error.message);
            error.kind as i32
        }
    }
}

/// Puts what `body` makes behind `out`. Where the libraries panic at what they read, it is the file
/// that is wrong.
pub unsafe fn create<T>(out: *mut *mut T, sink: TextSink, body: impl FnOnce() -> Result<T>) -> i32 {
    let made = catch(Kind::Invalid, body);
    finish(
        sink,
        made.map(|object| {
            *out = Box::into_raw(Box::new(object));
            String::new()
        }),
    )
}

pub unsafe fn destroy<T>(object: *mut T) {
    if !object.is_null() {
        drop(Box::from_raw(object));
    }
}

#[no_mangle]
pub unsafe extern "C" fn mtext_tokenizer_from_folder(
    folder: Text,
    out: *mut *mut TextTokenizer,
    message: TextSink,
) -> i32 {
    create(out, message, || hf::from_folder(folder.str("folder")?))
}

#[no_mangle]
pub unsafe extern "C" fn mtext_tokenizer_from_json(
    json: Text,
    out: *mut *mut TextTokenizer,
    message: TextSink,
) -> i32 {
    create(out, message, || hf::from_json(json.bytes()))
}

#[no_mangle]
pub unsafe extern "C" fn mtext_tokenizer_from_sentencepiece(
    model: Text,
    out: *mut *mut TextTokenizer,
    message: TextSink,
) -> i32 {
    create(out, message, || hf::from_sentencepiece(model.bytes()))
}

#[no_mangle]
pub unsafe extern "C" fn mtext_tokenizer_from_gguf(
    vocab: *const GgufVocab,
    out: *mut *mut TextTokenizer,
    message: TextSink,
) -> i32 {
    create(out, message, || gguf::load(&read_vocab(&*vocab)?))
}

unsafe fn read_vocab<'a>(vocab: &GgufVocab) -> Result<Vocab<'a>> {
    let texts = |data: *const Text, count: usize, name: &str| -> Result<Vec<&'a str>> {
        let texts = slice(data, count).iter().enumerate();
        texts
            .map(|(at, text)| text.str(&format!("tokenizer.ggml.{name}[{at}]")))
            .collect()
    };
    let id = |id: i32| u32::try_from(id).ok();
    let choice = |choice: i32| (choice >= 0).then_some(choice != 0);
    Ok(Vocab {
        model: vocab.model.str("tokenizer.ggml.model")?,
        pre: vocab.pre.str("tokenizer.ggml.pre")?,
        tokens: texts(vocab.tokens, vocab.token_count, "tokens")?,
        scores: slice(vocab.scores, vocab.score_count),
        types: slice(vocab.types, vocab.type_count),
        merges: texts(vocab.merges, vocab.merge_count, "merges")?,
        bos: id(vocab.bos),
        eos: id(vocab.eos),
        unknown: id(vocab.unknown),
        separator: id(vocab.separator),
        class: id(vocab.class_token),
        end_of_turn: id(vocab.end_of_turn),
        end_of_message: id(vocab.end_of_message),
        add_bos: choice(vocab.add_bos),
        add_eos: choice(vocab.add_eos),
        add_space_prefix: vocab.add_space_prefix,
        remove_extra_whitespaces: vocab.remove_extra_whitespaces,
        charsmap: vocab.charsmap.bytes(),
    })
}

#[no_mangle]
pub unsafe extern "C" fn mtext_tokenizer_free(tokenizer: *mut TextTokenizer) {
    destroy(tokenizer);
}

#[no_mangle]
pub unsafe extern "C" fn mtext_encode(
    tokenizer: *const TextTokenizer,
    text: Text,
    add_special: bool,
    parse_special: bool,
    ids: IdSink,
    message: TextSink,
) -> i32 {
    guard(message, || {
        let found = (*tokenizer).encode(text.str("text")?, add_special, parse_special)?;
        (ids.write)(ids.context, found.as_ptr(), found.len());
        Ok(String::new())
    })
}

#[no_mangle]
pub unsafe extern "C" fn mtext_decode(
    tokenizer: *const TextTokenizer,
    ids: *const u32,
    count: usize,
    skip_special: bool,
    text: TextSink,
) -> i32 {
    guard(text, || {
        (*tokenizer).decode(slice(ids, count), skip_special)
    })
}

#[no_mangle]
pub unsafe extern "C" fn mtext_vocab_size(tokenizer: *const TextTokenizer) -> u32 {
    (*tokenizer).size()
}

#[no_mangle]
pub unsafe extern "C" fn mtext_token_text(tokenizer: *const TextTokenizer, id: u32) -> Text {
    Text::of((*tokenizer).token_text(id))
}

#[no_mangle]
pub unsafe extern "C" fn mtext_token_bytes(tokenizer: *const TextTokenizer, id: u32) -> Text {
    Text::of((*tokenizer).token_bytes(id))
}

#[no_mangle]
pub unsafe extern "C" fn mtext_is_special(tokenizer: *const TextTokenizer, id: u32) -> bool {
    (*tokenizer).is_special(id)
}

#[no_mangle]
pub unsafe extern "C" fn mtext_token_id(tokenizer: *const TextTokenizer, token: Text) -> i64 {
    let id = token
        .str("token")
        .ok()
        .and_then(|token| (*tokenizer).token_id(token));
    id.map_or(-1, i64::from)
}

#[no_mangle]
pub unsafe extern "C" fn mtext_bos_id(tokenizer: *const TextTokenizer) -> i64 {
    (*tokenizer).bos.map_or(-1, i64::from)
}

#[no_mangle]
pub unsafe extern "C" fn mtext_eos_ids(tokenizer: *const TextTokenizer, ids: IdSink) {
    let eos = &(*tokenizer).eos;
    (ids.write)(ids.context, eos.as_ptr(), eos.len());
}

#[no_mangle]
pub unsafe extern "C" fn mtext_decoder_new(
    tokenizer: *const TextTokenizer,
    skip_special: bool,
) -> *mut Decoder {
    Box::into_raw(Box::new((*tokenizer).decoder(skip_special)))
}

#[no_mangle]
pub unsafe extern "C" fn mtext_decoder_free(decoder: *mut Decoder) {
    destroy(decoder);
}

#[no_mangle]
pub unsafe extern "C" fn mtext_decoder_push(
    decoder: *mut Decoder,
    tokenizer: *const TextTokenizer,
    id: u32,
    text: TextSink,
) -> i32 {
    guard(text, || (*decoder).push(&*tokenizer, id))
}

#[no_mangle]
pub unsafe extern "C" fn mtext_decoder_finish(
    decoder: *mut Decoder,
    tokenizer: *const TextTokenizer,
    text: TextSink,
) -> i32 {
    guard(text, || (*decoder).finish(&*tokenizer))
}

#[no_mangle]
pub unsafe extern "C" fn mtext_template_compile(
    source: Text,
    tokens_json: Text,
    out: *mut *mut ChatTemplate,
    message: TextSink,
) -> i32 {
    create(out, message, || {
        ChatTemplate::compile(source.str("chat template")?, tokens_json.object("tokens")?)
    })
}

#[no_mangle]
pub unsafe extern "C" fn mtext_template_from_folder(
    folder: Text,
    out: *mut *mut ChatTemplate,
    message: TextSink,
) -> i32 {
    create(out, message, || {
        ChatTemplate::from_folder(folder.str("folder")?)
    })
}

#[no_mangle]
pub unsafe extern "C" fn mtext_template_free(template: *mut ChatTemplate) {
    destroy(template);
}

#[no_mangle]
pub unsafe extern "C" fn mtext_template_source(template: *const ChatTemplate) -> Text {
    Text::of((*template).source().as_bytes())
}

#[no_mangle]
pub unsafe extern "C" fn mtext_template_takes_tools(template: *const ChatTemplate) -> bool {
    (*template).takes_tools()
}

#[no_mangle]
pub unsafe extern "C" fn mtext_template_render(
    template: *const ChatTemplate,
    input: *const TemplateInput,
    text: TextSink,
) -> i32 {
    guard(text, || {
        let input = &*input;
        (*template).render(&Input {
            messages: input.messages_json.json("messages")?,
            tools: input.tools_json.json("tools")?,
            documents: input.documents_json.json("documents")?,
            variables: input.variables_json.object("chat_template_kwargs")?,
            add_generation_prompt: input.add_generation_prompt,
            continue_final: input.continue_final_message,
            now: input.has_now.then_some(input.now),
        })
    })
}
