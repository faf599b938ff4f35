//! SentencePiece's BPE: of all adjacent pairs whose join is a piece, the one with the best score is
//! merged first. The pairs are looked up as a text is encoded; a list of all merges, as `tokenizers`
//! takes it, is several times the vocabulary and takes a second to build.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use ahash::RandomState;
use hashbrown::HashTable;
use tokenizers::Token;

/// How a piece takes part.
#[derive(Clone, Copy)]
pub struct MergeRule {
    pub score: f32,
    pub mergeable: bool,
}

pub struct PieceMerger {
    texts: Vec<Box<str>>,
    rules: Vec<MergeRule>,
    ids: HashTable<u32>,
    hasher: RandomState,
    pub unknown: Option<u32>,
    /// Spell what is no piece as `<0xNN>` pieces, where all of them exist.
    pub byte_fallback: bool,
    /// A stretch of text that is a piece is that piece, whatever merges would make of it.
    pub whole_pieces: bool,
}

/// Part of a text. Those that were merged into their left neighbour are empty.
struct Symbol {
    id: u32,
    start: usize,
    length: usize,
    previous: Option<usize>,
    next: Option<usize>,
}

/// Joins the symbol at `left` with its next one, if they still have these lengths.
struct Merge {
    score: f32,
    id: u32,
    left: usize,
    left_length: usize,
    right_length: usize,
}

impl Ord for Merge {
    /// The greatest is first: the best score; then the first piece, the shortest left part, the
    /// leftmost pair.
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |merge: &Self| (merge.id, merge.left_length, merge.left);
        self.score
            .total_cmp(&other.score)
            .then_with(|| key(other).cmp(&key(self)))
    }
}

impl PartialOrd for Merge {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Merge {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Merge {}

impl PieceMerger {
    /// Of equal texts the last counts.
    pub fn new(pieces: impl ExactSizeIterator<Item = (Box<str>, MergeRule)>) -> Self {
        let hasher = RandomState::new();
        let (mut texts, mut rules) = (
            Vec::with_capacity(pieces.len()),
            Vec::with_capacity(pieces.len()),
        );
        let mut ids: HashTable<u32> = HashTable::with_capacity(pieces.len());
        for (text, rule) in pieces {
            let id = texts.len() as u32;
            let hash = hasher.hash_one(&*text);
            texts.push(text);
            rules.push(rule);
            let equal = |known: &u32| texts[*known as usize] == texts[id as usize];
            match ids.find_mut(hash, equal) {
                Some(known) => *known = id,
                None => {
                    ids.insert_unique(hash, id, |id| hasher.hash_one(&*texts[*id as usize]));
                }
            }
        }
        Self {
            texts,
            rules,
            ids,
            hasher,
            unknown: None,
            byte_fallback: false,
            whole_pieces: false,
        }
    }

    pub fn size(&self) -> usize {
        self.ids.len()
    }

    /// The highest id.
    pub fn last_id(&self) -> Option<u32> {
        (self.texts.len() as u32).checked_sub(1)
    }

    pub fn id(&self, text: &str) -> Option<u32> {
        let hash = self.hasher.hash_one(text);
        self.ids
            .find(hash, |id| &*self.texts[*id as usize] == text)
            .copied()
    }

    pub fn text(&self, id: u32) -> Option<&str> {
        self.texts.get(id as usize).map(|text| &**text)
    }

    pub fn pieces(&self) -> impl Iterator<Item = (&str, u32)> {
        self.ids.iter().map(|&id| (&*self.texts[id as usize], id))
    }

    pub fn tokenize(&self, text: &str) -> Vec<Token> {
        if self.whole_pieces {
            if let Some(id) = self.id(text) {
                return vec![Token::new(id, text.to_string(), (0, text.len()))];
            }
        }
        let mut symbols = self.split(text);
        self.merge(text, &mut symbols);
        let left = symbols.iter().filter(|symbol| symbol.length > 0);
        left.map(|symbol| {
            let piece = self.texts[symbol.id as usize].to_string();
            Token::new(
                symbol.id,
                piece,
                (symbol.start, symbol.start + symbol.length),
            )
        })
        .collect()
    }

    /// A symbol a character; characters that are no pieces as bytes or, in one, as the unknown piece.
    fn split(&self, text: &str) -> Vec<Symbol> {
        let mut symbols: Vec<Symbol> = Vec::with_capacity(text.len());
        let mut unknown_end = None;
        for (start, character) in text.char_indices() {
            let length = character.len_utf8();
            let spelling = &text[start..start + length];
            if let Some(id) = self.id(spelling) {
                append(&mut symbols, id, start, length);
            } else if let Some(bytes) = self.bytes(spelling) {
                for (at, id) in bytes.into_iter().enumerate() {
                    append(&mut symbols, id, start + at, 1);
                }
            } else if let Some(id) = self.unknown {
                match symbols.last_mut() {
                    Some(last) if unknown_end == Some(start) => last.length += length,
                    _ => append(&mut symbols, id, start, length),
                }
                unknown_end = Some(start + length);
            }
        }
        symbols
    }

    fn bytes(&self, spelling: &str) -> Option<Vec<u32>> {
        if !self.byte_fallback {
            return None;
        }
        let piece = |byte| self.id(&format!("<{byte:#04X}>"));
        spelling.bytes().map(piece).collect()
    }

    fn merge(&self, text: &str, symbols: &mut [Symbol]) {
        let pairs = 0..symbols.len();
        let mut queue: BinaryHeap<Merge> = pairs
            .filter_map(|left| self.pair(text, symbols, left))
            .collect();
        while let Some(merge) = queue.pop() {
            let Some(right) = symbols[merge.left].next else {
                continue;
            };
            let lengths = (symbols[merge.left].length, symbols[right].length);
            if lengths != (merge.left_length, merge.right_length) {
                continue;
            }
            let next = symbols[right].next;
            symbols[right].length = 0;
            let joined = &mut symbols[merge.left];
            joined.id = merge.id;
            joined.length += merge.right_length;
            joined.next = next;
            let previous = joined.previous;
            if let Some(next) = next {
                symbols[next].previous = Some(merge.left);
            }
            queue.extend(previous.and_then(|left| self.pair(text, symbols, left)));
            queue.extend(self.pair(text, symbols, merge.left));
        }
    }

    /// The merge of the symbol at `left` with its next one, if there is one.
    fn pair(&self, text: &str, symbols: &[Symbol], left: usize) -> Option<Merge> {
        let first = &symbols[left];
        let second = &symbols[first.next?];
        let mergeable = |id: u32| self.rules[id as usize].mergeable;
        if !mergeable(first.id) || !mergeable(second.id) {
            return None;
        }
        let id = self.id(&text[first.start..second.start + second.length])?;
        mergeable(id).then(|| Merge {
            score: self.rules[id as usize].score,
            id,
            left,
            left_length: first.length,
            right_length: second.length,
        })
    }
}

fn append(symbols: &mut Vec<Symbol>, id: u32, start: usize, length: usize) {
    let at = symbols.len();
    if let Some(last) = symbols.last_mut() {
        last.next = Some(at);
    }
    symbols.push(Symbol {
        id,
        start,
        length,
        previous: at.checked_sub(1),
        next: None,
    });
}
