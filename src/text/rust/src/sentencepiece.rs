//! tokenizer.model: SentencePiece's ModelProto (sentencepiece_model.proto), read without a protobuf
//! library: a handful of fields is all there is to it.

use crate::error::{Error, Result};
use crate::model::Tokenizer;
use crate::spm::{self, Piece, PieceKind, SpmOptions};

/// A SentencePiece model with the tokens that it names.
pub struct Loaded {
    pub tokenizer: Tokenizer,
    pub bos: Option<String>,
    pub eos: Option<String>,
}

/// `prefix_every_stretch`: tokenizer_config.json's `legacy`.
pub fn load(bytes: &[u8], prefix_every_stretch: bool) -> Result<Loaded> {
    let proto = ModelProto::parse(bytes)?;
    let trainer = &proto.trainer;
    let unigram = match trainer.model_type {
        1 => true,
        2 => false,
        other => {
            return Err(Error::unsupported(format!(
                "trainer_spec.model_type is {other}; 1 (unigram) and 2 (bpe) are supported"
            )))
        }
    };
    let options = SpmOptions {
        unigram,
        byte_fallback: trainer.byte_fallback,
        unknown: u32::try_from(trainer.unk_id).ok(),
        charsmap: proto.normalizer.charsmap,
        add_dummy_prefix: proto.normalizer.add_dummy_prefix,
        prefix_every_stretch,
        remove_extra_whitespaces: proto.normalizer.remove_extra_whitespaces,
        escape_whitespaces: proto.normalizer.escape_whitespaces,
        user_defined_in_raw_text: false,
    };
    let tokenizer = spm::build(&proto.pieces, &options)?;
    let named = |id: i64| {
        let piece = usize::try_from(id).ok().and_then(|id| proto.pieces.get(id));
        piece.map(|piece| piece.text.clone())
    };
    Ok(Loaded {
        tokenizer,
        bos: named(trainer.bos_id),
        eos: named(trainer.eos_id),
    })
}

struct ModelProto {
    pieces: Vec<Piece>,
    trainer: TrainerSpec,
    normalizer: NormalizerSpec,
}

/// The fields of TrainerSpec that encoding needs, with the proto's defaults.
struct TrainerSpec {
    model_type: i64,
    byte_fallback: bool,
    unk_id: i64,
    bos_id: i64,
    eos_id: i64,
}

struct NormalizerSpec {
    charsmap: Vec<u8>,
    add_dummy_prefix: bool,
    remove_extra_whitespaces: bool,
    escape_whitespaces: bool,
}

impl ModelProto {
    fn parse(bytes: &[u8]) -> Result<Self> {
        let mut proto = Self {
            pieces: Vec::new(),
            trainer: TrainerSpec {
                model_type: 1,
                byte_fallback: false,
                unk_id: 0,
                bos_id: 1,
                eos_id: 2,
            },
            normalizer: NormalizerSpec {
                charsmap: Vec::new(),
                add_dummy_prefix: true,
                remove_extra_whitespaces: true,
                escape_whitespaces: true,
            },
        };
        for field in (Reader { bytes, at: 0 }) {
            match field? {
                (1, Field::Bytes(piece)) => {
                    let place = proto.pieces.len();
                    let piece = parse_piece(piece);
                    proto
                        .pieces
                        .push(piece.map_err(|e| e.within(format!("pieces[{place}]")))?);
                }
                (2, Field::Bytes(spec)) => proto.trainer.parse(spec)?,
                (3, Field::Bytes(spec)) => proto.normalizer.parse(spec)?,
                _ => {}
            }
        }
        if proto.pieces.is_empty() {
            return Err(Error::invalid(
                "not a SentencePiece model: it has no pieces",
            ));
        }
        Ok(proto)
    }
}

impl TrainerSpec {
    fn parse(&mut self, bytes: &[u8]) -> Result<()> {
        for field in (Reader { bytes, at: 0 }) {
            match field? {
                (3, Field::Varint(value)) => self.model_type = value as i64,
                (35, Field::Varint(value)) => self.byte_fallback = value != 0,
                // An int32 of -1 arrives as 64 set bits.
                (40, Field::Varint(value)) => self.unk_id = value as i64,
                (41, Field::Varint(value)) => self.bos_id = value as i64,
                (42, Field::Varint(value)) => self.eos_id = value as i64,
                _ => {}
            }
        }
        Ok(())
    }
}

impl NormalizerSpec {
    fn parse(&mut self, bytes: &[u8]) -> Result<()> {
        for field in (Reader { bytes, at: 0 }) {
            match field? {
                (2, Field::Bytes(map)) => self.charsmap = map.to_vec(),
                (3, Field::Varint(value)) => self.add_dummy_prefix = value != 0,
                (4, Field::Varint(value)) => self.remove_extra_whitespaces = value != 0,
                (5, Field::Varint(value)) => self.escape_whitespaces = value != 0,
                _ => {}
            }
        }
        Ok(())
    }
}

fn parse_piece(bytes: &[u8]) -> Result<Piece> {
    let mut piece = Piece {
        text: String::new(),
        score: 0.0,
        kind: PieceKind::Normal,
    };
    for field in (Reader { bytes, at: 0 }) {
        match field? {
            (1, Field::Bytes(text)) => {
                let text = std::str::from_utf8(text);
                piece.text = text
                    .map_err(|_| Error::invalid("its text is not UTF-8"))?
                    .to_string();
            }
            (2, Field::Fixed32(bits)) => piece.score = f32::from_bits(bits),
            (3, Field::Varint(value)) => {
                piece.kind = PieceKind::from_number(value as i64)
                    .ok_or_else(|| Error::invalid(format!("type {value} is not one of 1 to 6")))?;
            }
            _ => {}
        }
    }
    if piece.score.is_nan() {
        return Err(Error::invalid("its score is not a number"));
    }
    Ok(piece)
}

enum Field<'a> {
    Varint(u64),
    Fixed64,
    Bytes(&'a [u8]),
    Fixed32(u32),
}

/// The fields of one protobuf message, as (number, value).
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let end = self
            .at
            .checked_add(count)
            .filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| {
            let (at, size) = (self.at, self.bytes.len());
            Error::invalid(format!("truncated: {count} bytes wanted at {at} of {size}"))
        })?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Error::invalid(format!(
            "a varint of more than 64 bits before byte {}",
            self.at
        )))
    }

    fn field(&mut self) -> Result<(u64, Field<'a>)> {
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Field::Varint(self.varint()?),
            1 => self.take(8).map(|_| Field::Fixed64)?,
            2 => {
                let length = self.varint()?;
                Field::Bytes(self.take(usize::try_from(length).unwrap_or(usize::MAX))?)
            }
            5 => {
                let bytes = self.take(4)?;
                Field::Fixed32(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            }
            wire => {
                return Err(Error::invalid(format!(
                    "wire type {wire} before byte {}",
                    self.at
                )));
            }
        };
        Ok((key >> 3, value))
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Result<(u64, Field<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at == self.bytes.len() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.at = self.bytes.len();
        }
        Some(field)
    }
}
