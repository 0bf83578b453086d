//! How the entities come into the store.

use std::fs;
use std::rc::Rc;

use super::load::Load;
use super::options::Kept;
use super::peer::{Era, Peer};
use super::servers::{Place, Server, token};
use super::wire::quoted;
use super::world::{Kind, apps, organization};

/// Connections that write at a time.
const WRITERS: usize = 16;

/// Puts all entities where the servers find them.
pub async fn seed(load: &Rc<Load>, place: &Place, server: &Server) {
    match load.options.kept {
        Kept::Files => files(load, place),
        Kept::Postgres => {
            for own in 0..load.options.organizations {
                for app in apps(own) {
                    let mut command = place.lockgate("admin");
                    let url = place.database.as_ref().unwrap().url();
                    command.args([
                        "store",
                        "app",
                        "add",
                        &app,
                        "--organization",
                        &organization(own),
                        "--store",
                        &url,
                    ]);
                    assert!(command.output().unwrap().status.success(), "lockgate store app add");
                }
            }
            by_calls(load, server).await;
        }
    }
}

fn files(load: &Load, place: &Place) {
    for entity in load.entities.borrow().iter() {
        let of = (entity.kind != Kind::Module).then_some(entity.organization);
        let path = place.root(of).join(&entity.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, entity.text()).unwrap();
    }
}

/// Has clients write them.
async fn by_calls(load: &Rc<Load>, server: &Server) {
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        let (load, address) = (Rc::clone(load), server.address);
        writers.push(tokio::task::spawn_local(async move {
            let mut peers: Vec<Peer> = (0..load.options.organizations)
                .map(|own| Peer::new(Era::Stateless, token(own), vec![address], 0))
                .collect();
            for number in (writer..load.options.entities).step_by(WRITERS) {
                let entity = load.entities.borrow()[number].clone();
                let own = entity.organization;
                let arguments = format!("{{{},\"content\":{}}}", load.named(&entity), quoted(&entity.text()));
                let answered = load.call(&mut peers[own], own, "replace_content", &arguments).await.unwrap();
                let said = String::from_utf8_lossy(&answered.body);
                assert_eq!(answered.code(), None, "{} cannot be made: {said}", entity.path);
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
}
