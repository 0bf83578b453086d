//! The reads of the clients.

use super::entities::{Entity, Kind};
use super::load::Load;
use super::options::Storage;
use super::peer::Peer;
use super::random::Random;
use super::report::CallKind;

impl Load {
    /// Looks at something within reach, and now and then for what is not.
    pub async fn read(&self, peer: &mut Peer, own: usize, dice: &mut Random) -> (CallKind, Option<String>) {
        let entity_number = self.reach[own][dice.below(self.reach[own].len())];
        let entity = self.entities.borrow()[entity_number].clone();
        let fields = self.entity_fields(&entity);
        let (sort, tool, arguments) = match dice.below(100) {
            0..=49 => {
                let first = 1 + dice.below(entity.lines());
                let lines = format!(r#"{{{fields},"start_line":{first},"end_line":{}}}"#, first + 60);
                (CallKind::Lines, "read_content_lines", lines)
            }
            50..=89 => (CallKind::Whole, "get_content", format!("{{{fields}}}")),
            90..=97 => (CallKind::Search, "search_content", self.search(&entity)),
            _ => return (CallKind::Foreign, self.probe(peer, own, dice).await),
        };
        let code = match self.call(peer, own, tool, &arguments).await {
            Ok(response) => response.code(),
            Err(code) => Some(code),
        };
        (sort, code)
    }

    /// A search for the functions of one entity among all of its type.
    fn search(&self, entity: &Entity) -> String {
        let pattern = format!(r#""pattern":"def part_{:06}_\\d+\\(","max_results":5"#, entity.number);
        match (self.options.storage, entity.kind) {
            (Storage::Files, _) => format!("{{{pattern}}}"),
            (Storage::Postgres, Kind::AppFile) => format!(
                r#"{{"pattern":"function part_{:06}_\\d+\\(","max_results":5,"entity_type":"app_file","app_id":"{}"}}"#,
                entity.number,
                entity.app()
            ),
            (Storage::Postgres, kind) => format!(r#"{{{pattern},"entity_type":"{}"}}"#, kind.name()),
        }
    }

    /// Asks for what is another organisation's.
    async fn probe(&self, peer: &mut Peer, own: usize, dice: &mut Random) -> Option<String> {
        let other = {
            let entities = self.entities.borrow();
            let foreign = |one: &Entity| one.kind != Kind::Module && one.organization != own;
            let tries = (0..100).map(|_| dice.below(entities.len()));
            tries.map(|at| &entities[at]).find(|one| foreign(one)).cloned()
        }?;
        match self.call(peer, own, "get_content", &format!("{{{}}}", self.entity_fields(&other))).await {
            Err(code) => Some(code),
            Ok(response) => match response.code() {
                Some(code) if code == "FILE_NOT_FOUND" || self.options.storage == Storage::Files => None,
                code => {
                    self.broken(format!(
                        "{} of {} was answered with {code:?}",
                        other.path, other.organization
                    ));
                    code
                }
            },
        }
    }
}
