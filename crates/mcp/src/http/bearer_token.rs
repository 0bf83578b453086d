//! Bearer tokens.
//!
//! Invariant: a token is shown only once, to the user who creates it. Tokens are compared by hash in constant time.

use std::fmt;
use std::ops::RangeInclusive;

use crate::random::random;
use lockgate_error::{Code, Error};

/// Prefix of tokens that lockgate creates, so that leaked ones can be found.
const TOKEN_PREFIX: &str = "lockgate_";
/// The valid lengths of a token, in characters.
const LENGTHS: RangeInclusive<usize> = 24..=512;

/// A token that authenticates an HTTP client.
pub struct BearerToken(String);

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BearerToken(..)")
    }
}

impl BearerToken {
    /// Creates a token from 256 random bits.
    ///
    /// Errors: `INTERNAL` when the system provides no random bytes.
    pub fn generate() -> Result<BearerToken, Error> {
        let no_bytes = || Error::new(Code::Internal, "the system gives no random bytes for a token");
        let bytes = random().ok_or_else(no_bytes)?;
        Ok(BearerToken(format!("{TOKEN_PREFIX}{}", blake3::Hash::from_bytes(bytes).to_hex())))
    }

    /// Validates an existing token; `from` names its source.
    ///
    /// Errors: `INVALID_INPUT` for a token that is too short to be safe, or that is invalid in a header.
    pub fn parse(text: &str, from: &str) -> Result<BearerToken, Error> {
        if LENGTHS.contains(&text.len()) && is_token(text.as_bytes()) {
            return Ok(BearerToken(text.to_owned()));
        }
        let wanted = "letters, digits and any of -._~+/, with = only at the end";
        let (least, most) = (LENGTHS.start(), LENGTHS.end());
        let message = format!("{from} must have {least} to {most} characters: {wanted}");
        Err(Error::new(Code::InvalidInput, message).hint("without a token, lockgate creates one"))
    }

    /// Returns the token, for output that only its owner reads.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Derives a key for a purpose and `about`; the same secret always gives the same key.
    pub(super) fn key(&self, purpose: &str, about: &[u8; 32]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key(purpose);
        hasher.update(about).update(self.0.as_bytes());
        *hasher.finalize().as_bytes()
    }

    /// Returns the BLAKE3 hash that identifies the token.
    pub fn hash(&self) -> [u8; 32] {
        *blake3::hash(self.0.as_bytes()).as_bytes()
    }
}

/// Compares the hash of a token in constant time.
pub(super) fn matches(hash: &[u8; 32], shown: &blake3::Hash) -> bool {
    blake3::Hash::from_bytes(*hash) == *shown
}

/// Returns the hash of the token in an `Authorization: Bearer TOKEN` header value.
pub(super) fn hash_from_header(value: &[u8]) -> Option<blake3::Hash> {
    let (scheme, token) = value.split_at_checked("bearer ".len())?;
    let token = token.trim_ascii();
    let known = scheme.eq_ignore_ascii_case(b"bearer ") && token.len() <= *LENGTHS.end() && is_token(token);
    known.then(|| blake3::hash(token))
}

/// True if the text is a `b64token` of RFC 6750.
fn is_token(text: &[u8]) -> bool {
    let end = text.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(byte);
    end > 0 && text.iter().take(end).all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_token_is_one_that_can_be_given_and_shown() {
        let (one, other) = (BearerToken::generate().unwrap(), BearerToken::generate().unwrap());
        assert_ne!(one.reveal(), other.reveal());
        assert_eq!(BearerToken::parse(one.reveal(), "it").unwrap().hash(), one.hash());
        let shown =
            |token: &BearerToken| hash_from_header(format!("Bearer {}", token.reveal()).as_bytes()).unwrap();
        assert!(matches(&one.hash(), &shown(&one)) && !matches(&one.hash(), &shown(&other)));
        assert_eq!(format!("{one:?}"), "BearerToken(..)");
    }

    #[test]
    fn keys_of_a_secret_differ_by_what_they_are_for() {
        let (one, other) = (BearerToken::generate().unwrap(), BearerToken::generate().unwrap());
        let key = one.key("a", &[1; 32]);
        assert_eq!(key, one.key("a", &[1; 32]));
        for key_of_other in [other.key("a", &[1; 32]), one.key("b", &[1; 32]), one.key("a", &[2; 32])] {
            assert_ne!(key, key_of_other);
        }
    }

    #[test]
    fn what_is_no_token_is_not_taken() {
        for text in [
            "",
            "short",
            &"x".repeat(23),
            &"x".repeat(513),
            "twenty-four characters!!",
            "0123456789abcdef=0123456",
        ] {
            let error = BearerToken::parse(text, "LOCKGATE_TOKEN").unwrap_err();
            assert!(
                error.message.contains("LOCKGATE_TOKEN")
                    && (text.is_empty() || !error.message.contains(text))
            );
        }
        for value in [
            "",
            "Bearer",
            "Bearer ",
            "Bearer a b",
            "Basic abc",
            "Bearer\tabc",
            "Bearer ===",
            "Bearer a,b",
            "Bearer é",
        ] {
            assert_eq!(hash_from_header(value.as_bytes()), None, "{value}");
        }
        for value in ["Bearer abc", "bearer abc", "BEARER   abc ", "Bearer abc=="] {
            assert!(hash_from_header(value.as_bytes()).is_some(), "{value}");
        }
    }
}
