//! SentencePiece's precompiled character maps: a u32 size, a double-array trie (darts-clone) of that
//! many bytes, then the replacements as strings that end in a zero byte. The crate that applies them
//! trusts them, so all that can be reached in one is checked here.

use tokenizers::normalizers::Precompiled;

use crate::error::{Error, Result};

pub fn read(map: &[u8]) -> Result<Precompiled> {
    check(map).map_err(|what| Error::invalid(format!("precompiled_charsmap: {what}")))?;
    Precompiled::from(map).map_err(|error| Error::invalid(error.to_string()))
}

/// As `read`, from the base64 that tokenizer.json holds.
pub fn check_base64(text: &str) -> Result<()> {
    read(&decode_base64(text)).map(|_| ())
}

/// One element of the array: a node's label and the place of its children, or a leaf's value.
#[derive(Clone, Copy)]
struct Unit(u32);

impl Unit {
    fn has_leaf(self) -> bool {
        self.0 >> 8 & 1 == 1
    }

    fn value(self) -> usize {
        (self.0 & 0x7FFF_FFFF) as usize
    }

    fn label(self) -> u32 {
        self.0 & 0x8000_00FF
    }

    fn offset(self) -> usize {
        ((self.0 >> 10) as usize) << ((self.0 & 0x200) >> 6)
    }
}

fn check(map: &[u8]) -> std::result::Result<(), String> {
    let bytes = map.len();
    let (size, rest) = map
        .split_first_chunk::<4>()
        .ok_or(format!("{bytes} bytes, no trie"))?;
    let size = u32::from_le_bytes(*size) as usize;
    if size == 0 || size % 4 != 0 || size > rest.len() {
        return Err(format!(
            "a trie of {size} bytes does not fit into its {bytes} bytes"
        ));
    }
    let (trie, strings) = rest.split_at(size);
    let strings = std::str::from_utf8(strings).map_err(|_| "its strings are not UTF-8")?;
    let unit = |bytes: &[u8]| Unit(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    walk(&trie.chunks_exact(4).map(unit).collect::<Vec<_>>(), strings)
}

/// Visits each node that a search can come to.
fn walk(units: &[Unit], strings: &str) -> std::result::Result<(), String> {
    let mut seen = vec![false; units.len()];
    let mut bases = vec![units[0].offset()];
    while let Some(base) = bases.pop() {
        if base | 0xFF >= units.len() {
            return Err(format!("its trie leads to {base} of {} units", units.len()));
        }
        if std::mem::replace(&mut seen[base], true) {
            continue;
        }
        for label in 1..=0xFF {
            let node = base ^ label;
            let unit = units[node];
            if unit.label() as usize != label {
                continue;
            }
            let next = node ^ unit.offset();
            let leaf = units.get(next).map(|leaf| leaf.value());
            if unit.has_leaf() && !leaf.is_some_and(|at| strings.is_char_boundary(at)) {
                return Err("its trie leads beyond its strings".to_string());
            }
            bases.push(next);
        }
    }
    Ok(())
}

fn decode_base64(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut word, mut bits) = (0u32, 0);
    for digit in text.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        word = word << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits) as u8);
        }
    }
    bytes
}
