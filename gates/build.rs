//! Lists the definitions of this folder, so that a new gate is one new file.

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

/// The files that define no gate.
const TABLES: [&str; 3] = ["entities", "languages", "quality"];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        if path.extension().is_some_and(|extension| extension == "yaml") && !TABLES.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names.sort();
    let mut code = String::from("&[\n");
    for name in names {
        let path = folder.join(format!("{name}.yaml"));
        writeln!(code, "({name:?}, include_str!({path:?})),")?;
    }
    code.push_str("]\n");
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("definitions.rs"), code)?;
    println!("cargo::rerun-if-changed={}", folder.display());
    Ok(())
}
