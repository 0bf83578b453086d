//! The entities: what each is called, and what its text must be by the edits that were acknowledged.

use std::fmt::Write as _;

use super::random::Random;

/// What an entity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    AppFile,
    Workflow,
    Module,
}

impl Kind {
    pub const fn name(self) -> &'static str {
        match self {
            Kind::AppFile => "app_file",
            Kind::Workflow => "workflow",
            Kind::Module => "module",
        }
    }
}

/// One entity, and the marks that its text has: one for each edit.
#[derive(Debug, Clone)]
pub struct Entity {
    pub number: usize,
    pub kind: Kind,
    pub organization: usize,
    pub path: String,
    pub parts: usize,
    /// The part in which each mark stands, and the edit that put it there; in the order of the text within a part.
    pub marks: Vec<(usize, usize)>,
    /// The version that was told last.
    pub version: String,
}

/// Apps of each organisation.
const APPS: usize = 4;

/// The name of an organisation.
pub fn organization(number: usize) -> String {
    format!("org-{number:02}")
}

/// The apps of an organisation.
pub fn apps(organization: usize) -> impl Iterator<Item = String> {
    (0..APPS).map(move |app| format!("app-{organization:02}-{app}"))
}

impl Entity {
    /// Entity `number` of a load with so many organisations: six of ten are files of apps, three workflows, one a module.
    pub fn new(number: usize, organizations: usize) -> Entity {
        let mut dice = Random(number as u64);
        let kind = match number % 10 {
            0..=5 => Kind::AppFile,
            6..=8 => Kind::Workflow,
            _ => Kind::Module,
        };
        let path = match kind {
            Kind::AppFile => format!("src/area_{:02}/view_{number:06}.tsx", number % 37),
            Kind::Workflow => format!("workflows/area_{:02}/flow_{number:06}.py", number % 37),
            Kind::Module => format!("modules/module_{number:06}.py"),
        };
        let parts = 1 + dice.below(18);
        let organization = (number / 10) % organizations;
        let mut entity =
            Entity { number, kind, organization, path, parts, marks: Vec::new(), version: String::new() };
        entity.version = version(&entity.text());
        entity
    }

    /// The app of an app file.
    pub fn app(&self) -> String {
        format!("app-{:02}-{}", self.organization, (self.number / 7) % APPS)
    }

    /// Whose it is, as its marks say: two characters.
    pub fn scope(&self) -> String {
        match self.kind {
            Kind::AppFile | Kind::Workflow => format!("{:02}", self.organization),
            // Everybody's.
            Kind::Module => "gl".to_owned(),
        }
    }

    /// The mark of an edit of this entity, which stands in its text once.
    pub fn mark(&self, edit: usize) -> String {
        format!("@@o{}-{edit:07}.", self.scope())
    }

    /// The line before which the marks of a part stand.
    pub fn anchor(&self, part: usize) -> String {
        format!("    {} slot {part:02} of {:06}\n", self.comment(), self.number)
    }

    /// The line of a mark.
    pub fn mark_line(&self, edit: usize) -> String {
        format!("    {} {}\n", self.comment(), self.mark(edit))
    }

    const fn comment(&self) -> &'static str {
        match self.kind {
            Kind::AppFile => "//",
            Kind::Workflow | Kind::Module => "#",
        }
    }

    /// The lines of its text, without marks.
    pub const fn lines(&self) -> usize {
        3 + self.parts * 16
    }

    /// Its text, with its marks.
    pub fn text(&self) -> String {
        self.text_with(&self.marks)
    }

    /// Its text with these marks.
    pub fn text_with(&self, marks: &[(usize, usize)]) -> String {
        let mut text = String::with_capacity(self.parts * 1100 + 200);
        let (number, scope) = (self.number, self.scope());
        match self.kind {
            Kind::AppFile => writeln!(
                text,
                "// View {number:06} of @@o{scope}-app.\nimport {{ useState }} from \"react\";\n"
            ),
            Kind::Workflow => {
                writeln!(text, "# Flow {number:06} of @@o{scope}-flow.\nfrom platform_sdk import workflow\n")
            }
            Kind::Module => writeln!(text, "# Module {number:06} of @@o{scope}-module.\nimport json\n"),
        }
        .expect("a text takes it");
        let mut dice = Random(number as u64 ^ 0x5eed);
        for part in 0..self.parts {
            self.opening(&mut text, part);
            for line in 0..12 {
                self.statement(&mut text, &mut dice, line);
            }
            for &(_, edit) in marks.iter().filter(|(place, _)| *place == part) {
                text.push_str(&self.mark_line(edit));
            }
            text.push_str(&self.anchor(part));
            text.push_str(match self.kind {
                Kind::AppFile => "    return total;\n}\n",
                Kind::Workflow | Kind::Module => "    return total\n\n",
            });
        }
        text
    }

    fn opening(&self, text: &mut String, part: usize) {
        let number = self.number;
        match (self.kind, part) {
            (Kind::AppFile, _) => writeln!(
                text,
                "export function part_{number:06}_{part:02}(value: number[], total: number = 0): number {{"
            ),
            (Kind::Workflow, 0) => writeln!(
                text,
                "@workflow(name=\"flow_{number:06}\")\nasync def part_{number:06}_{part:02}(value, total=0):"
            ),
            _ => writeln!(text, "def part_{number:06}_{part:02}(value, total=0):"),
        }
        .expect("a text takes it");
    }

    fn statement(&self, text: &mut String, dice: &mut Random, line: usize) {
        let [a, b, c, d] = std::array::from_fn(|_| WORDS[dice.below(WORDS.len())]);
        let number = dice.below(1000);
        match self.kind {
            Kind::AppFile => writeln!(
                text,
                "    const {a}_{b}_{line} = value.filter(({c}) => {c} > {number}).length; // {d} {c} {a}"
            ),
            Kind::Workflow | Kind::Module => writeln!(
                text,
                "    {a}_{b}_{line} = [{c} for {c} in value if {c} > {number}]  # {d} {c} of the {a} {b}"
            ),
        }
        .expect("a text takes it");
    }

    /// The marks that stand in a text that is this entity's; nothing where the text is not what these marks make of it.
    pub fn marks_in(&self, text: &str) -> Option<Vec<(usize, usize)>> {
        let mut marks = Vec::new();
        let start = format!("    {} @@o{}-", self.comment(), self.scope());
        let mut part = 0;
        for line in text.lines() {
            if let Some(edit) = line.strip_prefix(&start) {
                marks.push((part, edit.strip_suffix('.')?.parse().ok()?));
            } else if line == self.anchor(part).trim_end() {
                part += 1;
            }
        }
        (self.text_with(&marks) == text).then_some(marks)
    }
}

/// The version of a text, as lockgate tells it.
pub fn version(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().chars().take(12).collect()
}

const WORDS: [&str; 64] = [
    "account", "agent", "answer", "area", "batch", "board", "branch", "budget", "cache", "call", "caller",
    "card", "chain", "client", "code", "column", "contract", "counter", "customer", "device", "draft",
    "edge", "entry", "event", "field", "figure", "filter", "folder", "form", "graph", "group", "header",
    "invoice", "item", "journal", "label", "ledger", "limit", "mail", "market", "member", "message", "month",
    "note", "offer", "order", "owner", "page", "parcel", "payment", "person", "place", "price", "project",
    "quota", "record", "region", "report", "result", "server", "status", "ticket", "vendor", "window",
];
