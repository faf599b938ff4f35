//! Grammars over a vocabulary (llguidance): which tokens may come next.

use std::sync::Mutex;

use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};

use crate::error::{Error, Result};
use crate::tokenizer::TextTokenizer;
use crate::vocabulary_trie;

/// Compiling recurses as deep as a source nests; this much only costs address space.
const COMPILE_STACK: usize = 256 << 20;

/// What all grammars of one vocabulary share. Immutable.
pub struct GrammarCompiler {
    factory: ParserFactory,
}

impl GrammarCompiler {
    pub fn new(tokenizer: &TextTokenizer) -> Result<Self> {
        let trie = vocabulary_trie::build(tokenizer);
        let mut factory = ParserFactory::new_simple(&trie)?;
        factory.quiet();
        factory.limits_mut().verbose_errors = false;
        Ok(Self { factory })
    }

    /// `read` makes the grammar; it and the compilation have a deep stack. The time is bounded by
    /// llguidance's limits on a grammar's size and its lexer's fuel.
    pub fn compile(
        &self,
        read: impl FnOnce() -> Result<TopLevelGrammar> + Send,
    ) -> Result<Grammar> {
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(COMPILE_STACK);
            let compiling = thread.spawn_scoped(scope, || self.compile_here(read()?));
            let compiling = compiling.map_err(|error| Error::invalid(error.to_string()))?;
            compiling.join().unwrap_or_else(|_| {
                Err(Error::invalid(
                    "the grammar cannot be compiled (its compiler gave up)",
                ))
            })
        })
    }

    fn compile_here(&self, grammar: TopLevelGrammar) -> Result<Grammar> {
        let mut matcher = Matcher::new(Ok(self.factory.create_parser(grammar)?));
        // The first mask shows a grammar that nothing matches, and fills the lexer's tables, which
        // every state begins with.
        let end = self.factory.tok_env().tok_trie().vocab_size() - 1;
        let mask = matcher.compute_mask()?;
        if mask.iter().all(|token| token as usize == end) {
            return Err(Error::invalid("no text matches it"));
        }
        Ok(Grammar {
            fresh: Mutex::new(matcher),
            end,
        })
    }
}

/// A compiled grammar. Any thread may use it.
pub struct Grammar {
    fresh: Mutex<Matcher>,
    end: usize,
}

impl Grammar {
    pub fn start(&self) -> State {
        // Its own copy of the lexer's tables: states neither wait for each other nor share limits.
        let fresh = self
            .fresh
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        State {
            matcher: fresh.deep_clone(),
            end: self.end,
        }
    }
}

/// How far one text has come. One user at a time.
pub struct State {
    matcher: Matcher,
    end: usize,
}

impl State {
    /// Sets bit t % 32 of words[t / 32] for each token t that may come next and clears the rest.
    /// True: the text may end here.
    pub fn fill_mask(&mut self, words: &mut [u32]) -> Result<bool> {
        let mask = self.matcher.compute_mask_or_eos()?;
        let source = mask.as_slice();
        let shared = source.len().min(words.len());
        words[..shared].copy_from_slice(&source[..shared]);
        words[shared..].fill(0);
        if let Some(word) = words.get_mut(self.end / 32) {
            *word &= !(1 << (self.end % 32));
        }
        Ok(mask.is_allowed(self.end as u32))
    }

    pub fn accept(&mut self, token: u32) -> Result<()> {
        Ok(self.matcher.consume_token(token)?)
    }

    /// Takes back the last tokens.
    pub fn rollback(&mut self, tokens: usize) -> Result<()> {
        Ok(self.matcher.rollback(tokens)?)
    }

    /// Nothing can follow.
    pub fn finished(&self) -> bool {
        self.matcher.is_stopped() && !self.matcher.is_error()
    }
}
