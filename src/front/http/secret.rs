//! A token: what a client shows to be let in.
//!
//! Invariant: it is shown to nobody but who asked for a new one; it is compared by its hash, in constant time.

use std::fmt;

use rustix::rand::{GetRandomFlags, getrandom};

use crate::error::{Code, Error};

/// What tokens of lockgate's own begin with, so that they are found where they should not be.
const MARK: &str = "lockgate_";
/// The shortest token that is taken, in characters, and the longest.
const LENGTH: (usize, usize) = (24, 512);

/// A token.
pub struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// A token that nobody knows: 256 random bits.
    ///
    /// Errors: `INTERNAL` where the system gives no randomness.
    pub fn fresh() -> Result<Secret, Error> {
        let mut bytes = [0_u8; 32];
        let filled = getrandom(&mut bytes, GetRandomFlags::empty()).is_ok_and(|filled| filled == bytes.len());
        if !filled {
            return Err(Error::new(Code::Internal, "the system gives no random bytes for a token"));
        }
        Ok(Secret(format!("{MARK}{}", blake3::Hash::from_bytes(bytes).to_hex())))
    }

    /// Takes a token that somebody else has made; `from` says where it stands.
    ///
    /// Errors: `INVALID_INPUT` for one that is short enough to be guessed, or that no header can carry.
    pub fn given(text: &str, from: &str) -> Result<Secret, Error> {
        let (least, most) = LENGTH;
        if (least..=most).contains(&text.len()) && is_token(text.as_bytes()) {
            return Ok(Secret(text.to_owned()));
        }
        let wanted = "letters, digits and any of -._~+/, with = only at the end";
        let seen = format!("{from} must have {least} to {most} characters: {wanted}");
        Err(Error::new(Code::InvalidInput, seen).hint("lockgate makes one itself where none is given"))
    }

    /// The token itself, to be written where only its owner reads it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// A key that whoever has the secret can make again, of its own for each purpose and each `about`.
    pub(super) fn key(&self, purpose: &str, about: &[u8; 32]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key(purpose);
        hasher.update(about).update(self.0.as_bytes());
        *hasher.finalize().as_bytes()
    }

    /// Its BLAKE3, by which it is known.
    pub fn hash(&self) -> [u8; 32] {
        *blake3::hash(self.0.as_bytes()).as_bytes()
    }
}

/// Whether `shown` is the token of that hash; it takes as long whether it is or not.
pub(super) fn is(hash: &[u8; 32], shown: &blake3::Hash) -> bool {
    blake3::Hash::from_bytes(*hash) == *shown
}

/// The hash of the token in the value of a header `Authorization: Bearer TOKEN`.
pub(super) fn bearer(value: &[u8]) -> Option<blake3::Hash> {
    let (scheme, token) = value.split_at_checked("bearer ".len())?;
    let token = token.trim_ascii();
    let known = scheme.eq_ignore_ascii_case(b"bearer ") && token.len() <= LENGTH.1 && is_token(token);
    known.then(|| blake3::hash(token))
}

/// RFC 6750, `b64token`.
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
        let (one, other) = (Secret::fresh().unwrap(), Secret::fresh().unwrap());
        assert_ne!(one.reveal(), other.reveal());
        assert_eq!(Secret::given(one.reveal(), "it").unwrap().hash(), one.hash());
        let shown = |secret: &Secret| bearer(format!("Bearer {}", secret.reveal()).as_bytes()).unwrap();
        assert!(is(&one.hash(), &shown(&one)) && !is(&one.hash(), &shown(&other)));
        assert_eq!(format!("{one:?}"), "Secret");
    }

    #[test]
    fn keys_of_a_secret_differ_by_what_they_are_for() {
        let (one, other) = (Secret::fresh().unwrap(), Secret::fresh().unwrap());
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
            let refused = Secret::given(text, "LOCKGATE_TOKEN").unwrap_err();
            assert!(
                refused.message.contains("LOCKGATE_TOKEN")
                    && (text.is_empty() || !refused.message.contains(text))
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
            assert_eq!(bearer(value.as_bytes()), None, "{value}");
        }
        for value in ["Bearer abc", "bearer abc", "BEARER   abc ", "Bearer abc=="] {
            assert!(bearer(value.as_bytes()).is_some(), "{value}");
        }
    }
}
