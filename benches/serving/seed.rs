//! How the entities come into the store.

use std::fs;

use super::entities::{Entity, Kind, apps, organization};
use super::load::Load;
use super::options::Storage;
use super::peer::{Peer, ProtocolEra};
use super::postgres::Postgres;
use super::servers::{RunDir, Server, token};

/// Puts all entities where the servers find them.
pub async fn seed(load: &Load, place: &RunDir, server: &Server) {
    match (&place.database, load.options.storage) {
        (Some(database), Storage::Postgres) => {
            // The tables are made by the first call, which finds nothing.
            let nothing = Peer::new(ProtocolEra::Stateless, token(0), vec![server.address], 0)
                .call("get_content", r#"{"path":"no.py","entity_type":"module"}"#)
                .await
                .unwrap();
            let body = String::from_utf8_lossy(&nothing.body);
            assert_eq!(nothing.code().as_deref(), Some("FILE_NOT_FOUND"), "{body}");
            rows(load, database);
        }
        _ => files(load, place),
    }
}

fn files(load: &Load, place: &RunDir) {
    for entity in load.entities.borrow().iter() {
        let of = (entity.kind != Kind::Module).then_some(entity.organization);
        let path = place.root(of).join(&entity.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, entity.text()).unwrap();
    }
}

/// What has the key of an entity in a row.
pub fn key(entity: &Entity) -> String {
    let (own, app) = match entity.kind {
        Kind::AppFile => (organization(entity.organization), entity.app()),
        Kind::Workflow => (organization(entity.organization), String::new()),
        Kind::Module => (String::new(), String::new()),
    };
    format!("{}\t{own}\t{app}\t{}", entity.kind.name(), entity.path)
}

fn rows(load: &Load, database: &Postgres) {
    let entities = load.entities.borrow();
    database.fill("apps(id, organization, at)", |to| {
        for own in 0..load.options.organizations {
            apps(own).for_each(|app| writeln!(to, "{app}\t{}\t1", organization(own)).unwrap());
        }
    });
    let columns = "kind, organization, app, path";
    database.fill(
        &format!("entities({columns}, stamp, size, encoding, revision, author, created, changed)"),
        |to| {
            for entity in entities.iter() {
                let text = entity.text();
                let version = blake3::hash(text.as_bytes()).to_hex();
                writeln!(to, "{}\t\\\\x{version}\t{}\tutf-8\t1\tload\t1\t1", key(entity), text.len())
                    .unwrap();
            }
        },
    );
    for table in ["contents", "lines"] {
        let (part, first) = if table == "lines" { (", part", "\t1") } else { ("", "") };
        database.fill(&format!("{table}({columns}{part}, text)"), |to| {
            for entity in entities.iter() {
                let text = entity.text().replace('\\', "\\\\").replace('\n', "\\n");
                writeln!(to, "{}{first}\t{text}", key(entity)).unwrap();
            }
        });
    }
    // As the database does by itself after a while.
    database.ask("VACUUM ANALYZE");
    database.ask("CHECKPOINT");
}
