//! Random patterns, templates and texts: every construct of Python's syntax, whole and broken.

use super::Case;
use crate::suite::random::Random;

pub(super) fn generate(seed: u64, cases: usize) -> Vec<Case> {
    let mut dice = Random(seed);
    (0..cases).map(|_| Grammar::default().case(&mut dice)).collect()
}

/// Sets and classes against every character of the blocks where case and classes are odd.
pub(super) fn sets() -> Vec<Case> {
    let blocks =
        [0..=0x24FF, 0x2C00..=0x2D2F, 0xA640..=0xA7FF, 0xAB30..=0xABBF, 0xFB00..=0xFB06, 0xFF10..=0xFF5A];
    let far = [0x10400..=0x1044F, 0x1D7C0..=0x1D7FF, 0x1E900..=0x1E943];
    let text: String = blocks.into_iter().chain(far).flatten().filter_map(char::from_u32).collect();
    let patterns = SETS.split_ascii_whitespace();
    let cases = patterns.flat_map(|pattern| [0, 2, 256, 258].map(|flags| (pattern.to_owned(), flags)));
    let case = |(pattern, flags)| Case { pattern, flags, text: text.clone(), ..Case::default() };
    cases.map(case).collect()
}

impl Random {
    /// One of the words of a list, where signs stand for white space and numbers for characters.
    fn word(&mut self, list: &str) -> String {
        let words: Vec<&str> = list.split_ascii_whitespace().collect();
        let word =
            self.pick(&words).replace('␠', " ").replace('␤', "\n").replace('␉', "\t").replace('␍', "\r");
        match word.strip_prefix('⟨').and_then(|rest| rest.strip_suffix('⟩')) {
            Some(number) => char::from_u32(u32::from_str_radix(number, 16).unwrap()).unwrap().to_string(),
            None => word,
        }
    }
}

/// What has been written of a pattern so far.
#[derive(Default)]
struct Grammar {
    groups: usize,
    closed: Vec<usize>,
    /// Names of groups that are closed.
    names: Vec<String>,
    taken: Vec<String>,
}

const LETTERS: &str = r##"
    a b c a b A B x 1 _ ␠ - ␤
"##;
const ODD: &str = r##"
    é É ſ s S K k K İ i I ı ß ẞ µ μ Σ ς σ 𐐀 𐐨 ᲀ в ⟨345⟩ ι ⟨1c⟩ ⟨85⟩ ⟨a0⟩ ⟨301⟩ ² ٣ ½ 𝟘 ␍ ␉ ǅ ǆ Ǆ Ω Ω 😀 ﬅ ﬆ Ɤ ɤ ] & ~ | [
    { } # $ \
"##;
const ATOMS: &str = r##"
    a b c ab ba A x 1 ␠ . . [ab] [^a] [a-c] \w \d \s \W \S \D [abx] (?:)
"##;
const ODD_ATOMS: &str = r##"
    \x61 \u0062 \U00000063 \141 \0 \07 \n \t \. \- \␠ []a] [^]a] [a-] [\w-] [^\W\d] [a&&b] [[ab] [a+--b]
    [a||b~~] [\s\S] [é-ſ] [A-z] [\]\\] [\b] [\x41-\u005a] [^\n] [𐐀] [𐐀x] [ſa] [K-L] [A-𐐀] [^𐐀-𐐐] [İı] é
    ſ K İ ı ß Σ 𐐀 { } {, {a} x{ ] # / ⟨301⟩ [\d_] \ud800 [\ud800-\udfff] (?#c) ␤ ⟨345⟩ ᲀ µ [^ſ] [^k] ǅ Ɤ ɤ []]
    [^^] [a^] [-a] [a-c-e] [\d-]
"##;
const SCOPED: &str = r##"
    (?i: (?s: (?m: (?-i: (?i-s: (?a: (?u: (?x: (?ai: (?-x: (?i: (?i:
"##;
const SETS: &str = r##"
    \w \W \d \D \s \S \b. [\w-] [^\W_] [^\d\s] s ſ K i İ ı µ Σ ß 𐐀 𐐨 [^s] [^K] [s-t] [^i-j] [ſx] [𐐀x] [A-𐐀]
    [𐐀-𐐧] [^𐐀-𐐧] [à-þ] [Ͱ-Ͽ] [А-Я] [^Ѐ-ӿ] [\WA-Z] [^\dk] [ᲀᲈ] [ﬅǅ] [Ꭰ-Ᏽ] [ꭰ-ꮿ] [\u0000-\U0010ffff] [\ud800-\ue000a]
"##;
const BAD_ATOMS: &str = r##"
    \q \x1 \u12 \U00110000 \8 \999 \N{DASH} \N{EM␠DASH} \Nx [ [a ( ) * +? a** a+* a{2}{3} a{3,2}
    (?P<1>a) (?P<n (?P=n) (?P=zz) (?Px) (?<a) (?! (?z) (?i (?i- (?-i (?a-i:b) (?ii-i:b) (?au:b) (?L)
    (?-a:b) (?(9)a) (?(zz)a) (?(0)a) (?(1)a|b|c) (?(-1)a) (?(+1)a) (?(1_0)a) [b-a] [\d-a] [a-\d] ^* \b+
    (?<=a*) [a--b] (?<=a|bb) \777 [\777] (?# (?i) (?P<é>a) (?> a{99999999999} $* (?<=(a)\1) \400 [\q]
    (?t) (?x (?P<a␠b>c) (?i-:a) (?-:a) (? (?P (?P> (?< [\x1] [a- (?ix-s:a) \18 (?<=\1)
"##;

impl Grammar {
    fn case(mut self, dice: &mut Random) -> Case {
        let mut pattern = self.global_flags(dice);
        pattern.push_str(&self.alternatives(dice, 0));
        if dice.one_in(9) {
            pattern = mutilated(&pattern, dice);
        }
        let template = self.template(dice);
        let flags = self.flags(dice);
        let text = text(dice);
        let count = if dice.one_in(4) { dice.below(4) } else { 0 };
        let (before, after) =
            if dice.one_in(3) { (text_of(dice, 4), text_of(dice, 4)) } else { Default::default() };
        Case { pattern, template, flags, text, before, after, count }
    }

    fn global_flags(&mut self, dice: &mut Random) -> String {
        if dice.one_in(10) {
            dice.pick(&["(?i)", "(?s)", "(?m)", "(?x)", "(?a)", "(?u)", "(?imsx)"]).to_owned()
        } else {
            String::new()
        }
    }

    fn flags(&mut self, dice: &mut Random) -> i64 {
        let mut flags = 0;
        for (bit, rarity) in [(2, 3), (8, 5), (16, 6), (64, 12), (256, 7), (32, 40), (4, 150)] {
            if dice.one_in(rarity) {
                flags |= bit;
            }
        }
        flags
    }

    fn alternatives(&mut self, dice: &mut Random, depth: usize) -> String {
        let rows = if dice.one_in(4) { 2 + dice.below(2) } else { 1 };
        (0..rows).map(|_| self.row(dice, depth)).collect::<Vec<_>>().join("|")
    }

    fn row(&mut self, dice: &mut Random, depth: usize) -> String {
        let pieces = dice.below(if depth == 0 { 4 } else { 3 }) + usize::from(!dice.one_in(8));
        (0..pieces).map(|_| self.piece(dice, depth)).collect()
    }

    fn piece(&mut self, dice: &mut Random, depth: usize) -> String {
        if dice.one_in(120) {
            return dice.word(BAD_ATOMS);
        }
        if dice.one_in(16) {
            return dice.pick(&["^", "$", r"\b", r"\B", r"\A", r"\Z", "^", "$", r"\b"]).to_owned();
        }
        let mut atom = match dice.below(10) {
            0..=3 => dice.word(ATOMS),
            4 => dice.word(ODD_ATOMS),
            5 if !self.closed.is_empty() || dice.one_in(50) => self.reference(dice),
            6..=8 if depth < 3 => self.group(dice, depth),
            _ => dice.word(ATOMS),
        };
        if dice.one_in(3) {
            let signs =
                ["*", "+", "?", "{2}", "{1,2}", "{,2}", "{1,}", "{0}", "*", "+", "?", "{0,1}", "{3}", "{,}"];
            atom.push_str(dice.pick(&signs));
            atom.push_str(dice.pick(&["", "", "", "?", "?", "+"]));
        }
        atom
    }

    fn reference(&mut self, dice: &mut Random) -> String {
        if !self.names.is_empty() && dice.one_in(3) {
            let name = &self.names[dice.below(self.names.len())];
            return format!("(?P={name})");
        }
        if self.closed.is_empty() || dice.one_in(100) {
            return format!("\\{}", 1 + dice.below(self.groups + 1));
        }
        format!("\\{}", self.closed[dice.below(self.closed.len())])
    }

    fn group(&mut self, dice: &mut Random, depth: usize) -> String {
        let open = match dice.below(18) {
            0..=5 => return self.capture(dice, depth, None),
            6 => {
                let name = dice.pick(&["n", "m", "_x1"]);
                return self.capture(dice, depth, Some(name));
            }
            7..=9 => "(?:".to_owned(),
            10 => "(?=".to_owned(),
            11 => "(?!".to_owned(),
            12 => return self.look_behind(dice),
            13 => "(?>".to_owned(),
            14 => dice.word(SCOPED),
            15 | 16 if self.groups > 0 => return self.condition(dice, depth),
            _ => return self.capture(dice, depth, None),
        };
        format!("{open}{})", self.alternatives(dice, depth + 1))
    }

    fn condition(&mut self, dice: &mut Random, depth: usize) -> String {
        let open = match !self.names.is_empty() && dice.one_in(2) {
            true => format!("(?({})", self.names[dice.below(self.names.len())]),
            false => {
                let unknown = usize::from(dice.one_in(20));
                format!("(?({})", 1 + dice.below(self.groups + unknown))
            }
        };
        let yes = self.row(dice, depth + 1);
        let no = if dice.one_in(2) { format!("|{}", self.row(dice, depth + 1)) } else { String::new() };
        format!("{open}{yes}{no})")
    }

    fn capture(&mut self, dice: &mut Random, depth: usize, name: Option<&str>) -> String {
        self.groups += 1;
        let group = self.groups;
        let name = name.filter(|name| dice.one_in(40) || !self.taken.iter().any(|known| known == name));
        self.taken.extend(name.map(str::to_owned));
        let open = name.map_or("(".to_owned(), |name| format!("(?P<{name}>"));
        let body = self.alternatives(dice, depth + 1);
        self.closed.push(group);
        self.names.extend(name.map(str::to_owned));
        format!("{open}{body})")
    }

    fn look_behind(&mut self, dice: &mut Random) -> String {
        let open = dice.pick(&["(?<=", "(?<!"]);
        let body = match dice.below(6) {
            0 if dice.one_in(4) => self.alternatives(dice, 3),
            1 => {
                self.groups += 1;
                self.closed.push(self.groups);
                format!("({})", dice.pick(&["a", "[ab]", r"\w"]))
            }
            2 => format!("{}|{}", dice.pick(&["a", "[ab]", r"\w"]), dice.pick(&["b", "é", r"\d"])),
            3 => dice.pick(&["^", r"\b", "a{2}", "(?:ab){2}", "$", ""]).to_owned(),
            _ => format!("{}{}", dice.word(ATOMS), dice.word(ATOMS)),
        };
        format!("{open}{body})")
    }

    fn template(&mut self, dice: &mut Random) -> String {
        let mut out = String::new();
        for _ in 0..dice.below(4) {
            let group = if dice.one_in(40) { self.groups + 1 } else { dice.below(self.groups + 1) };
            match dice.below(8) {
                0..=2 if group > 0 => out.push_str(&format!("\\{group}")),
                0..=3 => out.push_str(&format!("<\\g<{group}>>")),
                4 if !self.names.is_empty() => {
                    let name = &self.names[dice.below(self.names.len())];
                    out.push_str(&format!("\\g<{name}>"));
                }
                5 => {
                    out.push_str(dice.pick(&[
                        r"\n", r"\t", r"\\", r"\0", r"\101", r"\.", "$1", "$", "&", r"\07", r"\b", "é",
                    ]))
                }
                6 if dice.one_in(12) => out.push_str(dice.pick(&[
                    r"\q", r"\g", r"\g<", r"\g<>", r"\g<zz>", r"\g<-1>", r"\g<1a>", "\\", r"\777", r"\g<+0>",
                    r"\g< 0 >", r"\9", r"\99", r"\g<0_0>",
                ])),
                _ => out.push_str(dice.pick(&["-", "X", "[", "]", "", "yy"])),
            }
        }
        out
    }
}

fn text(dice: &mut Random) -> String {
    let length = dice.below(18);
    let mut text = text_of(dice, length);
    if dice.one_in(5) {
        text.push('\n');
    }
    text
}

fn text_of(dice: &mut Random, length: usize) -> String {
    (0..length).map(|_| if dice.one_in(7) { dice.word(ODD) } else { dice.word(LETTERS) }).collect()
}

/// The pattern with a character lost, doubled, or put in.
fn mutilated(pattern: &str, dice: &mut Random) -> String {
    let mut chars: Vec<char> = pattern.chars().collect();
    for _ in 0..1 + dice.below(2) {
        let at = dice.below(chars.len() + 1);
        match dice.below(3) {
            0 if at < chars.len() => drop(chars.remove(at)),
            1 if at < chars.len() => chars.insert(at, chars[at]),
            _ => chars.insert(
                at,
                dice.pick(&["(", ")", "[", "]", "*", "?", "\\", "{", "|", "-", "+", ":"])
                    .chars()
                    .next()
                    .unwrap(),
            ),
        }
    }
    chars.into_iter().collect()
}
