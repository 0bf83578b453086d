//! Tells files of code, markup and settings whose language is not in the catalogue from texts of any other kind.
//!
//! Templates and the formats of Markdown are not among them: they may contain any text.

use crate::path::file_name;
use lockgate_text::WordList;

/// The extensions of such files.
static EXTENSIONS: WordList = WordList::new(
    "
    asm awk bat bazel bzl cfg clj cljc cljs cmake cmd coffee conf cs cu d dart edn el elm env erl ex exs
    f90 fish frag fs gd glsl gql gradle graphql groovy hcl hrl hs ini ino jl json5 jsonl ksh kt kts less
    lisp lua m mak mk ml mli mm ndjson nim nix pas php pl pm prisma properties proto ps1 psm1 r rb rkt s
    sass scala scm scss sol styl sv svelte swift tcl tf tfvars thrift v vb vert vhd vim vue wgsl zig zsh
    ",
);

/// The names of such files.
static NAMES: WordList = WordList::new(
    "
    BUILD CMakeLists.txt GNUmakefile Gemfile Jenkinsfile Justfile Makefile Procfile Rakefile Vagrantfile
    WORKSPACE justfile makefile .editorconfig .gitignore .npmrc
    ",
);

/// True for a file of code, markup or settings, by its name.
pub(super) fn is_code_file(path: &str) -> bool {
    NAMES.has(file_name(path)) || EXTENSIONS.has(&extension(path))
}

pub(super) fn is_makefile(path: &str) -> bool {
    let name = file_name(path);
    name.eq_ignore_ascii_case("makefile") || name == "GNUmakefile" || name.ends_with(".mk")
}

/// Returns the part of the name behind its last dot in lower case; empty without a dot.
pub(super) fn extension(path: &str) -> String {
    file_name(path).rsplit_once('.').map(|(_, extension)| extension.to_lowercase()).unwrap_or_default()
}
