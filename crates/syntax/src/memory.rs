//! Measures and limits tree-sitter's memory through its allocator.
//!
//! Tree-sitter takes 10 to 30 times the size of an ordinary text, and over a hundred times that of a
//! text made of brackets. Its allocations are counted per thread, so that a parse can stop at its
//! limit.
//!
//! At the end of a text it also collects every way to recover from the last errors, in one step that
//! nothing can interrupt: 64 KB of `let = ;` take 1.1 GB there. Two counts bound the size of that step:
//! the number of errors so far, and the number of nodes on the parser's stack. A parse stops before
//! that step would exceed the limit.
//!
//! Invariant: all memory comes from libc; only counting is added.
#![expect(unsafe_code, reason = "tree-sitter takes its allocator as C functions, and malloc_trim is one")]

use std::alloc::Layout;
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Once;

use tree_sitter::{Allocator, set_allocator};

/// The memory limit of a parse: bytes for each byte of the text, and bytes for every text.
const PER_BYTE: usize = 5;
const ALWAYS: usize = 55 << 20;
/// The bytes that the server takes for each line: a line start for the text before the edit, and one for the text after it.
const PER_LINE: usize = 8;
/// The length of the lines of which the server's own share of the memory is enough, in bytes.
const ORDINARY_LINE: usize = 16;
/// The least that [`allowed`] returns, in bytes; more than [`SYMBOLS`].
const LEAST: usize = 32 << 20;

/// The share of the symbols of a text before and after an edit, in bytes.
const SYMBOLS: usize = 15 << 20;

/// The size of a node of tree-sitter's stack, `StackNode` in its stack.c.
const STACK_NODE: usize = 232;
/// The size of tree-sitter's record of an error, `StackSummary` in stack.c.
const SUMMARY: usize = 16;
/// Stack nodes get blocks of this size and no other block does, so they can be counted when they are
/// freed.
const STACK_NODE_BLOCK: usize = 248;
/// The bytes that the last step takes for each error and stack node: a pointer, in arrays that double
/// as they grow.
const PER_FAULT_AND_NODE: usize = 16;
/// libc's overhead for each block.
const HEADER: usize = 8;

/// The error of a parse that would exceed its memory limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shortage {
    /// The approximate number of bytes it would take.
    pub needed: usize,
    /// The memory limit of the parse, in bytes.
    pub allowed: usize,
}

impl std::fmt::Display for Shortage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Shortage { needed, allowed } = self;
        let needed = mib(*needed).max(mib(*allowed) + 1);
        write!(
            f,
            "its syntax tree would take about {needed} MiB of memory; the limit for a text of its size is {}",
            MemoryLimit(*allowed)
        )
    }
}

/// The memory limit of a parse in bytes. Its `Display` form explains how the limit follows from the
/// text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimit(pub usize);

impl std::fmt::Display for MemoryLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} MiB ({PER_BYTE} times the text and {} MiB, less for short lines)",
            mib(self.0),
            mib(ALWAYS)
        )
    }
}

/// Converts bytes to mebibytes, rounded up.
fn mib(bytes: usize) -> usize {
    bytes.div_ceil(1 << 20)
}

/// Returns the memory limit in bytes for a text. The lines of a text of short lines are charged, because the server keeps
/// their starts while a parser runs: those of a text of line ends take eight times the text.
pub fn allowed(text: &str) -> usize {
    let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let short = lines.saturating_sub(text.len() / ORDINARY_LINE);
    let all = text.len().saturating_mul(PER_BYTE).saturating_add(ALWAYS);
    all.saturating_sub(short.saturating_mul(PER_LINE)).max(LEAST)
}

/// Returns the memory limit in bytes for the tree of a text whose symbols are collected beside it.
pub fn allowed_beside_symbols(text: &str) -> usize {
    allowed(text) - SYMBOLS
}

thread_local! {
    /// The bytes that tree-sitter holds on this thread. Blocks freed by another thread make this too
    /// low, never too high.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static STACK_NODES: Cell<isize> = const { Cell::new(0) };
    static SUMMARIES: Cell<usize> = const { Cell::new(0) };
    #[cfg(test)]
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// Installs the counting allocator; must run before any grammar is handed out.
pub(super) fn install() {
    static INSTALLED: Once = Once::new();
    // SAFETY: the functions are libc's own with counting added, so either may free a block. No language
    // is handed out before this has run, so there is nothing to parse or query with, and it runs once.
    INSTALLED.call_once(|| unsafe {
        set_allocator(Some(Allocator { malloc, calloc, realloc, free }));
    });
}

/// Measures the memory of one parse.
pub(super) struct Meter {
    stack_nodes: isize,
    summaries: usize,
}

impl Meter {
    /// Starts a measurement on this thread.
    pub(super) fn start() -> Meter {
        Meter { stack_nodes: STACK_NODES.get(), summaries: SUMMARIES.get() }
    }

    /// Returns the bytes that tree-sitter holds on this thread, and the bytes it would take if the text
    /// ended here.
    pub(super) fn taken(&self) -> (usize, usize) {
        let live = usize::try_from(LIVE.get()).unwrap_or_default();
        let nodes = usize::try_from(STACK_NODES.get() - self.stack_nodes).unwrap_or_default();
        let summaries = SUMMARIES.get() - self.summaries;
        (live, summaries.min(nodes).saturating_mul(nodes).saturating_mul(PER_FAULT_AND_NODE))
    }
}

/// Returns freed memory to the operating system.
pub fn release() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it takes a number and touches only free memory.
    unsafe {
        libc::malloc_trim(0);
    }
}

fn count_allocated(block: *mut c_void) -> *mut c_void {
    let size = size(block);
    LIVE.set(LIVE.get() + size.cast_signed());
    if size == STACK_NODE_BLOCK + HEADER {
        STACK_NODES.set(STACK_NODES.get() + 1);
    }
    #[cfg(test)]
    PEAK.set(PEAK.get().max(LIVE.get()));
    block
}

fn count_freed(size: usize) {
    LIVE.set(LIVE.get() - size.cast_signed());
    if size == STACK_NODE_BLOCK + HEADER {
        STACK_NODES.set(STACK_NODES.get() - 1);
    }
}

/// The size of a block including libc's overhead; 0 for a null pointer.
fn size(block: *mut c_void) -> usize {
    if block.is_null() {
        return 0;
    }
    // SAFETY: the block came from one of the functions below, or from libc's own.
    unsafe { libc::malloc_usable_size(block) + HEADER }
}

/// Returns the size to request from libc.
fn block(size: usize) -> usize {
    match size {
        STACK_NODE => STACK_NODE_BLOCK,
        233..=STACK_NODE_BLOCK => STACK_NODE_BLOCK + 1,
        other => other,
    }
}

/// Aborts the process if the allocation failed, because tree-sitter does not check. Its default
/// functions abort, too.
fn check_allocation(block: *mut c_void, wanted: usize) -> *mut c_void {
    if block.is_null() && wanted > 0 {
        std::alloc::handle_alloc_error(Layout::from_size_align(wanted, 1).unwrap_or(Layout::new::<u8>()));
    }
    count_allocated(block)
}

unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    // SAFETY: any size may be asked for.
    let allocated = check_allocation(unsafe { libc::malloc(block(size)) }, size);
    if size == SUMMARY {
        SUMMARIES.set(SUMMARIES.get() + 1);
    }
    allocated
}

unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    let wanted = count.saturating_mul(size);
    // SAFETY: any size may be asked for.
    check_allocation(unsafe { libc::calloc(1, block(wanted)) }, wanted)
}

unsafe extern "C" fn realloc(old: *mut c_void, wanted: usize) -> *mut c_void {
    count_freed(size(old));
    // SAFETY: tree-sitter hands back a block that it got here, or a null pointer.
    check_allocation(unsafe { libc::realloc(old, block(wanted)) }, wanted)
}

unsafe extern "C" fn free(old: *mut c_void) {
    count_freed(size(old));
    // SAFETY: as above.
    unsafe { libc::free(old) }
}

/// Returns the most bytes that tree-sitter has held on this thread since the last call.
#[cfg(test)]
pub(super) fn peak() -> usize {
    usize::try_from(PEAK.replace(LIVE.get())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::super::parse::{ParseStop, parse_within};
    use super::super::{find, with_large_stack};
    use super::*;

    /// The allowed excess: growth between two checks, and blocks larger than their counted size.
    const SLACK: usize = 4 << 20;

    fn language(path: &str) -> &str {
        match path.rsplit_once('.').unwrap().1 {
            "json" if path == "tsconfig.json" => "jsonc",
            "py" => "python",
            "js" => "javascript",
            "ts" | "tsx" => "typescript",
            "rs" => "rust",
            "sh" => "bash",
            "h" => "c",
            "md" => "markdown",
            same => same,
        }
    }

    /// Parses a text; returns the result and the peak of memory.
    fn read(path: &str, text: &str, allowed: usize) -> (Result<(), ParseStop>, usize) {
        let grammar = find(language(path)).unwrap();
        let dialect = grammar.dialects(path).remove(0);
        with_large_stack(|_| {
            peak();
            let end = parse_within(allowed, &dialect, text, &mut || ControlFlow::Continue(()));
            (end.map(drop), peak())
        })
        .unwrap()
    }

    /// Texts that take much memory: a prefix and a repeated piece.
    const HOSTILE: [(&str, &str, &str); 64] = [
        ("a.py", "", "(1,"),
        ("a.py", "x = [", "1,"),
        ("a.py", "", "x = (]\n"),
        ("a.py", "", "if a:\n b\n"),
        ("a.py", "", "# a\n"),
        ("a.js", "", "let = ;\n"),
        ("a.js", "", "x = = ;\n"),
        ("a.js", "", "("),
        ("a.js", "", "a=>"),
        ("a.js", "x = [", "1,"),
        ("a.js", "", "`${"),
        ("a.js", "", "<a b={c}>"),
        ("a.ts", "", "let = ;\n"),
        ("a.ts", "", "a<b,"),
        ("a.tsx", "", "<a>"),
        ("a.rs", "", "fn f(){let = ;}\n"),
        ("a.rs", "", "!"),
        ("a.rs", "fn f(){", "a;"),
        ("a.rs", "", "#[a]"),
        ("a.json", "", "["),
        ("a.json", "[", "1,"),
        ("a.json", "", "1 "),
        ("tsconfig.json", "", "{\"a\":"),
        ("a.toml", "", "[[a]]\n"),
        ("a.toml", "a=[", "1,"),
        ("a.toml", "", "a =\n"),
        ("a.yaml", "", "- a\n"),
        ("a.yaml", "", "- [1, 2]\n"),
        ("a.yaml", "", "a: *b\n"),
        ("a.go", "package a\nvar t = []T{\n", "{1, 2},\n"),
        ("a.go", "package a\n", "var a = )\n"),
        ("a.go", "package a\n", "("),
        ("a.sh", "", "a;"),
        ("a.sh", "", "fi\n"),
        ("a.sh", "", "$("),
        ("a.sh", "", "a | "),
        ("a.html", "", "<a>"),
        ("a.html", "", "<p a=b c=d>"),
        ("a.html", "", "</b>"),
        ("a.html", "", "<!-- -->"),
        ("a.css", "", "a{b:1}"),
        ("a.css", "", "a{b c}"),
        ("a.css", "", "a "),
        ("a.css", "", "@a{"),
        ("a.c", "int t[][2] = {", "{1,2},"),
        ("a.c", "int a = ", "("),
        ("a.c", "", "#if a\n"),
        ("a.c", "", "x y z "),
        ("a.h", "", "int a;\n"),
        ("a.cpp", "", "A<B "),
        ("a.cpp", "", "template<"),
        ("a.cpp", "", "int = ;\n"),
        ("a.java", "class A { int[][] t = {\n", "{1,2},"),
        ("a.java", "", "x = = ;\n"),
        ("a.java", "", "@A"),
        ("a.md", "", "*a* "),
        ("a.md", "", "- a\n"),
        ("a.md", "", "> "),
        ("a.md", "", "|a"),
        ("a.md", "|a|b|\n|-|-|\n", "|c|d|\n"),
        ("a.md", "", "# a\n\n"),
        ("a.md", "", "[a]: b\n"),
        ("a.md", "", "<a>\n\n"),
        ("a.md", "", "```\n"),
    ];

    /// The size of the hostile texts: large enough for all to exceed the limit of the test, small
    /// enough for a debug build.
    const LENGTH: usize = 64 << 10;

    #[test]
    fn no_text_takes_more_memory_than_it_may_and_without_the_limit_most_do() {
        let allowed = 2 << 20;
        let (mut over, mut wrong) = (0, Vec::new());
        for (path, before, piece) in HOSTILE {
            let text = before.to_owned() + &piece.repeat(LENGTH / piece.len());
            let (end, most) = read(path, &text, allowed);
            if most > allowed + SLACK {
                wrong.push(format!("{path} {piece:?}: {most} bytes, {end:?}"));
            }
            match end {
                Err(ParseStop::Memory(shortage)) => {
                    assert_eq!(shortage.allowed, allowed);
                    assert!(shortage.needed > allowed, "{path} {piece:?}: {shortage:?}");
                }
                end => assert_eq!(end, Ok(()), "{path} {piece:?}"),
            }
            over += usize::from(read(path, &text, 64 << 20).1 > allowed + SLACK);
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(over > HOSTILE.len() / 2, "{over}");
    }

    #[test]
    fn the_end_of_a_text_full_of_faults_is_foreseen() {
        for (path, piece) in [("a.js", "let = ;\n"), ("a.java", "x = = ;\n"), ("a.ts", "x = = ;\n")] {
            let text = piece.repeat(3000);
            let (end, most) = read(path, &text, usize::MAX);
            assert_eq!(end, Ok(()));
            assert!(most > 100 << 20, "{path}: without the limit it takes {most} bytes");
            let (end, bounded) = read(path, &text, 64 << 20);
            assert!(
                matches!(end, Err(ParseStop::Memory(_))) && bounded < 8 << 20,
                "{path}: {end:?}, {bounded}"
            );
            // A short text of the same piece stays within the limit.
            let few = piece.repeat(300);
            assert_eq!(read(path, &few, 64 << 20).0, Ok(()), "{path}");
        }
    }

    #[test]
    fn faults_that_were_got_past_do_not_count_as_memory() {
        let text = ("a = b(1, 2);\n".repeat(3) + "let = ;\n").repeat(2000);
        assert_eq!(read("a.js", &text, allowed(&text)).0, Ok(()));
    }

    #[test]
    fn what_is_freed_is_taken_off() {
        let remaining = with_large_stack(|_| {
            let dialect = find("go").unwrap().dialects("a.go").remove(0);
            let text = "package a\n".to_owned() + &"var a = []int{1, 2}\n".repeat(2000);
            for _ in 0..3 {
                parse_within(usize::MAX, &dialect, &text, &mut || ControlFlow::Continue(())).unwrap();
            }
            (LIVE.get(), STACK_NODES.get(), peak())
        });
        let (live, nodes, most) = remaining.unwrap();
        assert!(most > 1 << 20 && live.abs() < 4096 && nodes == 0, "{live} {nodes} {most}");
    }

    #[test]
    fn a_shortage_says_what_is_needed_and_which_limit_it_is() {
        let message = Shortage { needed: 600 << 20, allowed: allowed(&"a".repeat(10 << 20)) }.to_string();
        assert_eq!(
            message,
            "its syntax tree would take about 600 MiB of memory; the limit for a text of its size is 105 MiB \
             (5 times the text and 55 MiB, less for short lines)"
        );
    }

    #[test]
    fn short_lines_are_charged_and_ordinary_ones_are_not() {
        const MIB: usize = 1 << 20;
        let limit = |line: &str| allowed(&line.repeat(8 * MIB / line.len()));
        assert_eq!(limit("sixteen bytes..\n"), 95 * MIB);
        assert_eq!(limit("a\n"), (95 - 28) * MIB);
        assert_eq!(limit("\n"), (95 - 60) * MIB);
        assert_eq!([allowed(""), allowed(&"\n".repeat(16 * MIB))], [55 * MIB, LEAST]);
    }
}
