//! Seals the topic of a question into a state that the client returns.
//!
//! Invariant: an opened state was sealed by this server, or by one with the same key, for the same call and within
//! its lifetime. The content is signed, not encrypted: the client can read it.

use parking_lot::Mutex;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use lru::LruCache;
use rmcp::model::{JsonObject, RequestStateCodec, RequestStateError, SealOptions};
use serde::{Deserialize, Serialize};

use crate::random::random;
use lockgate_text::Version;

/// Maximum number of answered states that are remembered; each expires after some minutes.
const MAX_ANSWERED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4095);

/// The key and the used states of a server.
#[derive(Clone)]
pub(in crate::rpc) struct Seal {
    codec: Option<Arc<RequestStateCodec>>,
    /// The answered states; each is valid for one answer.
    answered: Arc<Mutex<LruCache<Version, ()>>>,
}

/// The topic of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Topic {
    /// The confirmation of the write with this name, with the code if the client's model wrote it.
    Write { about: String, written: Option<ModelCode> },
    /// The code for this version of a file; `prose` is set for a prose file.
    Code { version: String, prose: bool },
}

/// Code from the client's model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::rpc) struct ModelCode {
    /// The text of the code.
    pub(in crate::rpc) code: String,
    /// The version of the file that the model was shown.
    pub(in crate::rpc) version: String,
}

/// The reason why a state cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SealError {
    /// It belongs to another server or another call.
    Invalid,
    Expired,
}

/// The call of a question, to which its seal is bound.
#[derive(Debug, Default)]
pub(in crate::rpc) struct CallBinding(Vec<u8>);

impl CallBinding {
    /// Creates the binding from the tool and all its arguments.
    pub(in crate::rpc) fn new(tool: &str, arguments: &JsonObject) -> CallBinding {
        let arguments = serde_json::to_vec(arguments).unwrap_or_default();
        CallBinding([tool.as_bytes(), b"\0", Version::hash(&arguments).hex().as_bytes()].concat())
    }
}

impl Seal {
    /// Creates a seal with a random key; without random bytes, it can seal nothing.
    pub(in crate::rpc) fn new() -> Seal {
        Seal::from_key(random())
    }

    /// Creates a seal with a shared key, so that servers can open each other's states.
    pub(in crate::rpc) fn shared(key: [u8; RequestStateCodec::MIN_KEY_LENGTH]) -> Seal {
        Seal::from_key(Some(key))
    }

    fn from_key(key: Option<[u8; RequestStateCodec::MIN_KEY_LENGTH]>) -> Seal {
        let codec = key.and_then(|key| RequestStateCodec::try_new(key).ok());
        Seal { codec: codec.map(Arc::new), answered: Arc::new(Mutex::new(LruCache::new(MAX_ANSWERED))) }
    }

    /// Seals a topic for a call with a lifetime.
    pub(super) fn seal(&self, topic: &Topic, call: &CallBinding, timeout: Duration) -> Option<String> {
        let options = SealOptions::new().associated_data(&call.0).ttl(timeout);
        // It makes every state unique, also among servers that share a key.
        let number = u64::from_le_bytes(random()?);
        Some(self.codec.as_ref()?.seal_with(&serde_json::to_vec(&(number, topic)).ok()?, &options))
    }

    /// Opens a state that was sealed for the same call.
    pub(super) fn open(&self, state: &str, call: &CallBinding) -> Result<Topic, SealError> {
        let codec = self.codec.as_ref().ok_or(SealError::Invalid)?;
        match codec.open_with(state, &call.0) {
            Ok(sealed) => {
                let opened = serde_json::from_slice::<(u64, Topic)>(&sealed);
                opened.map(|(_, topic)| topic).map_err(|_| SealError::Invalid)
            }
            Err(RequestStateError::Expired) => Err(SealError::Expired),
            Err(_) => Err(SealError::Invalid),
        }
    }

    /// Marks a state as answered; returns true the first time.
    pub(super) fn mark_answered(&self, state: &str) -> bool {
        let mut answered = self.answered.lock();
        answered.put(Version::hash(state.as_bytes()), ()).is_none()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    fn asking(tool: &str, arguments: &Value) -> CallBinding {
        CallBinding::new(tool, arguments.as_object().unwrap())
    }

    fn topic() -> Topic {
        let code = ModelCode { code: "x = 1\n".into(), version: "0123456789ab".into() };
        Topic::Write { about: "a1b2".into(), written: Some(code) }
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
        let calls = [
            asking("safe_edit_file", &json!({ "path": "b", "content": "x" })),
            asking("create_file", &json!({ "path": "a", "content": "x" })),
            CallBinding::default(),
        ];
        for other in calls {
            assert_eq!(seal.open(&state, &other), Err(SealError::Invalid));
        }
        assert_eq!(Seal::new().open(&state, &call), Err(SealError::Invalid));
        for forged in ["", "x", "a1b2", &state.replacen('.', "", 1), &format!("{state}A")] {
            assert_eq!(seal.open(forged, &call), Err(SealError::Invalid), "{forged}");
        }
    }

    #[test]
    fn what_is_sealed_holds_for_a_time() {
        let (seal, call) = (Seal::new(), CallBinding::default());
        let state = seal.seal(&topic(), &call, Duration::ZERO).unwrap();
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(seal.open(&state, &call), Err(SealError::Expired));
    }

    #[test]
    fn servers_with_one_key_know_each_other_s_questions() {
        let (one, other) = (Seal::shared([7; 32]), Seal::shared([7; 32]));
        let call = CallBinding::default();
        let state = one.seal(&topic(), &call, LONG).unwrap();
        assert_eq!(other.open(&state, &call), Ok(topic()));
        assert_ne!(other.seal(&topic(), &call, LONG).unwrap(), state, "their states are not the same");
        assert_eq!(Seal::shared([8; 32]).open(&state, &call), Err(SealError::Invalid));
    }

    #[test]
    fn a_state_is_spent_once() {
        let seal = Seal::new();
        assert!(seal.mark_answered("one") && seal.mark_answered("two") && !seal.mark_answered("one"));
        assert!(!seal.clone().mark_answered("two"), "those who share a seal share what was answered");
    }
}
