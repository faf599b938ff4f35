//! Bytes and text: GPT-2's printable alphabet for bytes, `<0xNN>` byte tokens, and UTF-8 that
//! arrives in pieces.

use std::sync::LazyLock;

/// GPT-2 spells each byte as one printable character: printable Latin-1 as itself, the rest from
/// U+0100 on (openai/gpt-2, encoder.py, `bytes_to_unicode`).
static ALPHABET: LazyLock<[char; 256]> = LazyLock::new(|| {
    let mut next = 0x100;
    std::array::from_fn(|byte| match byte as u8 {
        b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF => byte as u8 as char,
        _ => {
            next += 1;
            char::from_u32(next - 1).expect("below the surrogates")
        }
    })
});

static BYTE_OF: LazyLock<[Option<u8>; 0x144]> = LazyLock::new(|| {
    let mut bytes = [None; 0x144];
    for (byte, character) in ALPHABET.iter().enumerate() {
        bytes[*character as usize] = Some(byte as u8);
    }
    bytes
});

/// The bytes that a byte-level token spells; a token outside the alphabet stands for itself.
pub fn byte_level_bytes(token: &str) -> Vec<u8> {
    let spelled: Option<Vec<u8>> = token
        .chars()
        .map(|c| BYTE_OF.get(c as usize).copied().flatten())
        .collect();
    spelled.unwrap_or_else(|| token.as_bytes().to_vec())
}

/// The byte of a byte-fallback token: `<0xE2>` is 0xE2.
pub fn fallback_byte(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    if digits.len() != 2 {
        return None;
    }
    u8::from_str_radix(digits, 16).ok()
}

/// How an invalid sequence becomes U+FFFD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// One for each maximal invalid part (the Unicode standard's practice).
    EachPart,
    /// One for each byte (byte fallback).
    EachByte,
}

/// Turns bytes into text as they come: everything decided comes out, a sequence that may yet be
/// completed stays.
#[derive(Clone, Debug)]
pub struct Utf8Stream {
    replacement: Replacement,
    held: Vec<u8>,
}

impl Utf8Stream {
    pub fn new(replacement: Replacement) -> Self {
        Self {
            replacement,
            held: Vec::new(),
        }
    }

    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        self.take(false)
    }

    pub fn finish(&mut self) -> String {
        self.take(true)
    }

    fn take(&mut self, ended: bool) -> String {
        let mut text = String::new();
        let mut rest = self.held.as_slice();
        let kept = loop {
            let error = match std::str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    break 0;
                }
                Err(error) => error,
            };
            let (valid, invalid) = rest.split_at(error.valid_up_to());
            text.push_str(std::str::from_utf8(valid).expect("checked"));
            let bad = match error.error_len() {
                Some(length) => length,
                None if ended => invalid.len(),
                None => break invalid.len(),
            };
            let marks = if self.replacement == Replacement::EachByte {
                bad
            } else {
                1
            };
            text.extend(std::iter::repeat_n(char::REPLACEMENT_CHARACTER, marks));
            rest = &invalid[bad..];
        };
        self.held.drain(..self.held.len() - kept);
        text
    }
}
