//! What a client is given to bring back, and nobody else can make: a question's topic under a seal.
//!
//! Invariant: what a seal opens was sealed by this server or by one that has its key, for the same call, and not longer ago
//! than it may be. It is no secret: whoever holds it can read it.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lru::LruCache;
use rmcp::model::{JsonObject, RequestStateCodec, RequestStateError, SealOptions};
use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};

use crate::text::Version;

/// The most answered states that are remembered; each is worth nothing after some minutes.
const MOST_ANSWERED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4095);

/// What a server keeps to know its own questions again.
#[derive(Clone)]
pub(in crate::front::mcp) struct Seal {
    codec: Option<Arc<RequestStateCodec>>,
    /// How many states there were: each has a number, so that no two are the same.
    given: Arc<AtomicU64>,
    /// The states that were answered: each holds for one answer.
    answered: Arc<Mutex<LruCache<Version, ()>>>,
}

/// What was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Topic {
    /// Whether this write may be made, by its name; with the code that the client's model wrote for it.
    Write { about: String, written: Option<ModelCode> },
    /// The code for this version of a file, and whether that is prose.
    Code { version: String, prose: bool },
}

/// Code that the client's model wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::front::mcp) struct ModelCode {
    /// The code.
    pub(in crate::front::mcp) code: String,
    /// The version of the file that the model was shown.
    pub(in crate::front::mcp) version: String,
}

/// Why a state opens nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lost {
    /// It is not of this server, or of another call.
    Strange,
    /// It was given too long ago.
    Old,
}

/// The call that a question is about: what a seal is bound to.
#[derive(Debug, Default)]
pub(in crate::front::mcp) struct Asking(Vec<u8>);

impl Asking {
    /// Takes the tool and all its arguments.
    pub(in crate::front::mcp) fn new(tool: &str, arguments: &JsonObject) -> Asking {
        let arguments = serde_json::to_vec(arguments).unwrap_or_default();
        Asking([tool.as_bytes(), b"\0", Version::hash(&arguments).hex().as_bytes()].concat())
    }
}

impl Seal {
    /// A seal that nobody else has; without one, where the system gives no randomness, nobody can be asked that way.
    pub(in crate::front::mcp) fn new() -> Seal {
        let key = random::<{ RequestStateCodec::MIN_KEY_LENGTH }>();
        Seal::from_codec(key.and_then(|key| RequestStateCodec::try_new(key).ok()))
    }

    /// A seal that several servers have, so that one of them knows what another has asked.
    #[cfg(feature = "http")]
    pub(in crate::front::mcp) fn shared(key: [u8; RequestStateCodec::MIN_KEY_LENGTH]) -> Seal {
        Seal::from_codec(RequestStateCodec::try_new(key).ok())
    }

    fn from_codec(codec: Option<RequestStateCodec>) -> Seal {
        // Not from nothing on: servers that share a seal would give the same states.
        let first = random().map(u64::from_le_bytes).unwrap_or_default();
        let answered = Arc::new(Mutex::new(LruCache::new(MOST_ANSWERED)));
        Seal { codec: codec.map(Arc::new), given: Arc::new(AtomicU64::new(first)), answered }
    }

    /// Seals a topic for a call and a time.
    pub(super) fn seal(&self, topic: &Topic, call: &Asking, patience: Duration) -> Option<String> {
        let options = SealOptions::new().associated_data(&call.0).ttl(patience);
        let number = self.given.fetch_add(1, Ordering::Relaxed);
        Some(self.codec.as_ref()?.seal_with(&serde_json::to_vec(&(number, topic)).ok()?, &options))
    }

    /// Opens what was sealed for the same call.
    pub(super) fn open(&self, state: &str, call: &Asking) -> Result<Topic, Lost> {
        let codec = self.codec.as_ref().ok_or(Lost::Strange)?;
        match codec.open_with(state, &call.0) {
            Ok(sealed) => {
                let opened = serde_json::from_slice::<(u64, Topic)>(&sealed);
                opened.map(|(_, topic)| topic).map_err(|_| Lost::Strange)
            }
            Err(RequestStateError::Expired) => Err(Lost::Old),
            Err(_) => Err(Lost::Strange),
        }
    }

    /// Whether a state is answered for the first time; it was from here on.
    pub(super) fn spend(&self, state: &str) -> bool {
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.put(Version::hash(state.as_bytes()), ()).is_none()
    }
}

/// Random bytes, where the system gives any.
fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0_u8; N];
    getrandom(&mut bytes, GetRandomFlags::empty()).is_ok_and(|filled| filled == N).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    fn asking(tool: &str, arguments: &Value) -> Asking {
        Asking::new(tool, arguments.as_object().unwrap())
    }

    fn topic() -> Topic {
        let written = ModelCode { code: "x = 1\n".into(), version: "0123456789ab".into() };
        Topic::Write { about: "a1b2".into(), written: Some(written) }
    }

    #[test]
    fn what_is_sealed_opens_for_its_call_alone() {
        let (seal, call) = (Seal::new(), asking("safe_edit_file", &json!({ "path": "a", "content": "x" })));
        let state = seal.seal(&topic(), &call, LONG).unwrap();
        assert_eq!(seal.open(&state, &call), Ok(topic()));
        assert_ne!(
            seal.seal(&topic(), &call, LONG).unwrap(),
            state,
            "what was answered is one of them alone"
        );
        let others = [
            asking("safe_edit_file", &json!({ "path": "b", "content": "x" })),
            asking("create_file", &json!({ "path": "a", "content": "x" })),
            Asking::default(),
        ];
        for other in others {
            assert_eq!(seal.open(&state, &other), Err(Lost::Strange));
        }
        assert_eq!(Seal::new().open(&state, &call), Err(Lost::Strange));
        for forged in ["", "x", "a1b2", &state.replacen('.', "", 1), &format!("{state}A")] {
            assert_eq!(seal.open(forged, &call), Err(Lost::Strange), "{forged}");
        }
    }

    #[test]
    fn what_is_sealed_holds_for_a_time() {
        let (seal, call) = (Seal::new(), Asking::default());
        let state = seal.seal(&topic(), &call, Duration::ZERO).unwrap();
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(seal.open(&state, &call), Err(Lost::Old));
    }

    #[cfg(feature = "http")]
    #[test]
    fn servers_with_one_key_know_each_other_s_questions() {
        let (one, other) = (Seal::shared([7; 32]), Seal::shared([7; 32]));
        let call = Asking::default();
        let state = one.seal(&topic(), &call, LONG).unwrap();
        assert_eq!(other.open(&state, &call), Ok(topic()));
        assert_ne!(other.seal(&topic(), &call, LONG).unwrap(), state, "their states are not the same");
        assert_eq!(Seal::shared([8; 32]).open(&state, &call), Err(Lost::Strange));
    }

    #[test]
    fn a_state_is_spent_once() {
        let seal = Seal::new();
        assert!(seal.spend("one") && seal.spend("two") && !seal.spend("one"));
        assert!(!seal.clone().spend("two"), "those who share a seal share what was answered");
    }
}
