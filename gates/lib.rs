//! The catalogue of lockgate as text: one YAML file for each gate, the table of languages, the types of entities, and the
//! default policy.
//!
//! This crate only carries the files of its folder. A file `NAME.yaml` that is added to the folder is in
//! [`DEFINITIONS`] after the next build; nothing else has to be changed. It does not parse them: that is the task of
//! `lockgate-policy`, whose tests read every definition and demand samples that pass and samples that are found.
//!
//! ```
//! let (name, text) = lockgate_gates::DEFINITIONS[0];
//! assert!(!name.is_empty() && text.contains("languages:"));
//! ```

/// The definition of every gate, by its name for a policy, sorted by name.
pub static DEFINITIONS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/definitions.rs"));

/// The languages: their file names, extensions and interpreters, and the pattern of their imports.
pub static LANGUAGES: &str = include_str!("languages.yaml");

/// The built-in types of entities: their owners, languages and gates.
pub static ENTITIES: &str = include_str!("entities.yaml");

/// The policy of a project that has none.
pub static DEFAULT_POLICY: &str = include_str!("quality.yaml");
