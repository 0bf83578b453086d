//! Finds the ids of the requests in a JSON-RPC batch, so that each of them can be answered.
//!
//! Invariant: memory does not grow with the number of messages in the batch.

use std::collections::HashSet;
use std::fmt;

use rmcp::model::RequestId;
use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};

/// The maximum number of requests of a batch whose ids are answered.
const MAX_REQUESTS: usize = 1000;

/// Returns the ids of the first requests of a batch, each once; none for a text that is not a JSON list.
pub(super) fn batch_ids(batch: &[u8]) -> Vec<RequestId> {
    serde_json::from_slice(batch).map_or_else(|_| Vec::new(), |BatchIds(ids)| ids)
}

struct BatchIds(Vec<RequestId>);

/// A message of a batch.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum BatchEntry {
    Request {
        id: RequestId,
        #[serde(rename = "method")]
        _method: IgnoredAny,
    },
    /// A notification, a response, or no message at all.
    Other(IgnoredAny),
}

impl<'de> Deserialize<'de> for BatchIds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<BatchIds, D::Error> {
        deserializer.deserialize_seq(BatchVisitor)
    }
}

struct BatchVisitor;

impl<'de> Visitor<'de> for BatchVisitor {
    type Value = BatchIds;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a batch")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<BatchIds, A::Error> {
        let (mut ids, mut known, mut requests) = (Vec::new(), HashSet::new(), 0);
        while requests < MAX_REQUESTS {
            match entries.next_element()? {
                Some(BatchEntry::Request { id, .. }) => {
                    requests += 1;
                    if known.insert(id.clone()) {
                        ids.push(id);
                    }
                }
                Some(BatchEntry::Other(_)) => {}
                None => return Ok(BatchIds(ids)),
            }
        }
        while entries.next_element::<IgnoredAny>()?.is_some() {}
        Ok(BatchIds(ids))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_ids_to_answer() {
        let batch =
            br#"[{"id":1,"method":"ping","params":{"id":9}}, 5, [{"id":2,"method":"x"}], {"method":"x"},
            {"id":3,"result":{}}, {"id":null,"method":"x"}, {"method":"y","id":"four"}]"#;
        let ids = batch_ids(batch);
        assert_eq!(ids, [RequestId::Number(1), RequestId::String("four".into())]);
        for text in ["", "[", "[{\"id\":1,\"method\":\"x\"}", "[{\"id\":1,\"method\":\"x\"}] 2", "{}", "[]"] {
            assert_eq!(batch_ids(text.as_bytes()), [], "{text}");
        }
    }

    #[test]
    fn only_the_first_requests_are_found() {
        let request = |id: usize| format!(r#"{{"id":{id},"method":"x"}},"#);
        let many = format!("[{}2]", (0..2 * MAX_REQUESTS).map(request).collect::<String>());
        assert_eq!(batch_ids(many.as_bytes()).len(), MAX_REQUESTS);
        let many = format!("[{}{}2]", request(1).repeat(MAX_REQUESTS), request(2));
        assert_eq!(batch_ids(many.as_bytes()), [RequestId::Number(1)]);
    }

    #[test]
    fn a_duplicate_id_is_found_once() {
        let batch =
            br#"[{"id":1,"method":"x"},{"id":"1","method":"x"},{"id":1,"method":"y"},{"id":2,"method":"x"}]"#;
        let ids = [RequestId::Number(1), RequestId::String("1".into()), RequestId::Number(2)];
        assert_eq!(batch_ids(batch), ids);
    }
}
