//! Files on disk: writes them with the folders above them, and reads all files of a folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Writes a file, and creates the folders above it.
#[track_caller]
pub fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
    let path = path.as_ref();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Writes files below a folder.
#[track_caller]
pub fn write_all<'a>(folder: &Path, files: impl IntoIterator<Item = &'a (&'a str, &'a str)>) {
    files.into_iter().for_each(|(path, text)| write(folder.join(path), text));
}

/// The bytes of each file below a folder, by its path in the folder; for a link those of its target's path. A folder that
/// does not exist has no files.
pub fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut files, mut open) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(next) = open.pop().filter(|next| next.exists()) {
        for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if kind.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                let target = || fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes();
                files.insert(name, if kind.is_symlink() { target() } else { fs::read(&path).unwrap() });
            }
        }
    }
    files
}
