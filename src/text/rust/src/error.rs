//! Errors as the C++ side knows them: a kind and a message that names the file or field.

use std::fmt;

/// The kinds of core/result.h that text can produce. The numbers are part of the C ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Kind {
    Invalid = 1,
    NotFound = 2,
    Unsupported = 3,
    Io = 4,
    Internal = 5,
}

#[derive(Clone, Debug)]
pub struct Error {
    pub kind: Kind,
    pub message: String,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn invalid(message: impl Into<String>) -> Self {
        Self {
            kind: Kind::Invalid,
            message: message.into(),
        }
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self {
            kind: Kind::NotFound,
            message: message.into(),
        }
    }

    pub fn unsupported(message: impl Into<String>) -> Self {
        Self {
            kind: Kind::Unsupported,
            message: message.into(),
        }
    }

    /// The same error, found while reading `place`.
    pub fn within(mut self, place: impl fmt::Display) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<tokenizers::Error> for Error {
    fn from(error: tokenizers::Error) -> Self {
        Self::invalid(error.to_string())
    }
}

/// What llguidance says of a grammar.
impl From<anyhow::Error> for Error {
    fn from(error: anyhow::Error) -> Self {
        Self::invalid(format!("{error:#}").trim_end_matches("\n<non-verbose/>"))
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::invalid(error.to_string())
    }
}
