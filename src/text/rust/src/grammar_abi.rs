//! The C ABI of grammars (mtext.h).

use crate::abi::{create, destroy, guard, Text, TextSink};
use crate::error::Result;
use crate::grammar::{Grammar, GrammarCompiler, State};
use crate::grammar_source::{self, Kind};
use crate::tokenizer::TextTokenizer;

#[no_mangle]
pub unsafe extern "C" fn mtext_grammar_compiler_new(
    tokenizer: *const TextTokenizer,
    out: *mut *mut GrammarCompiler,
    message: TextSink,
) -> i32 {
    create(out, message, || GrammarCompiler::new(&*tokenizer))
}

#[no_mangle]
pub unsafe extern "C" fn mtext_grammar_compiler_free(compiler: *mut GrammarCompiler) {
    destroy(compiler);
}

#[no_mangle]
pub unsafe extern "C" fn mtext_grammar_compile(
    compiler: *const GrammarCompiler,
    kind: i32,
    source: Text,
    out: *mut *mut Grammar,
    message: TextSink,
) -> i32 {
    create(out, message, || {
        let (kind, source) = (Kind::from_number(kind)?, source.str("grammar")?);
        (*compiler).compile(|| grammar_source::read(kind, source))
    })
}

#[no_mangle]
pub unsafe extern "C" fn mtext_grammar_free(grammar: *mut Grammar) {
    destroy(grammar);
}

#[no_mangle]
pub unsafe extern "C" fn mtext_grammar_start(grammar: *const Grammar) -> *mut State {
    Box::into_raw(Box::new((*grammar).start()))
}

#[no_mangle]
pub unsafe extern "C" fn mtext_grammar_state_free(state: *mut State) {
    destroy(state);
}

#[no_mangle]
pub unsafe extern "C" fn mtext_grammar_state_fill_mask(
    state: *mut State,
    words: *mut u32,
    count: usize,
    may_end: *mut bool,
    message: TextSink,
) -> i32 {
    guard(message, || {
        let words = std::slice::from_raw_parts_mut(words, count);
        *may_end = (*state).fill_mask(words)?;
        Ok(String::new())
    })
}

#[no_mangle]
pub unsafe extern "C" fn mtext_grammar_state_accept(
    state: *mut State,
    token: u32,
    message: TextSink,
) -> i32 {
    guard(message, || done((*state).accept(token)))
}

#[no_mangle]
pub unsafe extern "C" fn mtext_grammar_state_rollback(
    state: *mut State,
    tokens: usize,
    message: TextSink,
) -> i32 {
    guard(message, || done((*state).rollback(tokens)))
}

#[no_mangle]
pub unsafe extern "C" fn mtext_grammar_state_finished(state: *const State) -> bool {
    (*state).finished()
}

fn done(result: Result<()>) -> Result<String> {
    result.map(|()| String::new())
}
