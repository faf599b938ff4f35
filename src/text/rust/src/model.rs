//! The models of `tokenizers`, and ours, behind its interface.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer};
use tokenizers::models::TrainerWrapper;
use tokenizers::{
    DecoderWrapper, Model, ModelWrapper, NormalizerWrapper, PostProcessorWrapper,
    PreTokenizerWrapper, Token, TokenizerImpl,
};

use crate::piece_merger::PieceMerger;

pub type Tokenizer = TokenizerImpl<
    TextModel,
    NormalizerWrapper,
    PreTokenizerWrapper,
    PostProcessorWrapper,
    DecoderWrapper,
>;

pub enum TextModel {
    Library(ModelWrapper),
    Pieces(PieceMerger),
}

impl TextModel {
    /// The highest id.
    pub fn last_id(&self) -> Option<u32> {
        match self {
            Self::Library(model) => model.get_vocab().into_values().max(),
            Self::Pieces(pieces) => pieces.last_id(),
        }
    }
}

impl<T: Into<ModelWrapper>> From<T> for TextModel {
    fn from(model: T) -> Self {
        Self::Library(model.into())
    }
}

impl<'de> Deserialize<'de> for TextModel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ModelWrapper::deserialize(deserializer).map(Self::Library)
    }
}

impl Model for TextModel {
    type Trainer = TrainerWrapper;

    fn tokenize(&self, sequence: &str) -> tokenizers::Result<Vec<Token>> {
        match self {
            Self::Library(model) => model.tokenize(sequence),
            Self::Pieces(pieces) => Ok(pieces.tokenize(sequence)),
        }
    }

    fn token_to_id(&self, token: &str) -> Option<u32> {
        match self {
            Self::Library(model) => model.token_to_id(token),
            Self::Pieces(pieces) => pieces.id(token),
        }
    }

    fn id_to_token(&self, id: u32) -> Option<String> {
        match self {
            Self::Library(model) => model.id_to_token(id),
            Self::Pieces(pieces) => pieces.text(id).map(str::to_string),
        }
    }

    fn get_vocab(&self) -> HashMap<String, u32> {
        match self {
            Self::Library(model) => model.get_vocab(),
            Self::Pieces(pieces) => pieces
                .pieces()
                .map(|(text, id)| (text.to_string(), id))
                .collect(),
        }
    }

    fn get_vocab_size(&self) -> usize {
        match self {
            Self::Library(model) => model.get_vocab_size(),
            Self::Pieces(pieces) => pieces.size(),
        }
    }

    fn save(&self, folder: &Path, prefix: Option<&str>) -> tokenizers::Result<Vec<PathBuf>> {
        match self {
            Self::Library(model) => model.save(folder, prefix),
            Self::Pieces(_) => Err("a vocabulary of pieces is not written".into()),
        }
    }

    fn get_trainer(&self) -> TrainerWrapper {
        match self {
            Self::Library(model) => model.get_trainer(),
            Self::Pieces(_) => tokenizers::models::bpe::BpeTrainer::default().into(),
        }
    }
}
