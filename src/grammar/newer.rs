//! Language syntax that a grammar does not support yet.
//!
//! Invariant: a text keeps its length and its lines, so all positions stay the same.

/// Replaces type parameters of methods (Go 1.27) with spaces; `None` if there are none.
pub(super) fn without_method_type_parameters(text: &str) -> Option<String> {
    let mut hidden: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, _) in text.match_indices("func (") {
        if at > 0 && !text.get(..at).is_some_and(|before| before.ends_with('\n')) {
            continue;
        }
        hidden.extend(type_parameters(text, at + "func ".len()));
    }
    if hidden.is_empty() {
        return None;
    }
    let (mut whole, mut last) = (String::with_capacity(text.len()), 0);
    for range in hidden {
        whole.push_str(text.get(last..range.start)?);
        let keep = |c: char| if c == '\n' { "\n".to_owned() } else { " ".repeat(c.len_utf8()) };
        whole.extend(text.get(range.clone())?.chars().map(keep));
        last = range.end;
    }
    whole.push_str(text.get(last..)?);
    Some(whole)
}

/// Returns the type parameters of the method whose receiver begins at this offset.
fn type_parameters(text: &str, receiver: usize) -> Option<std::ops::Range<usize>> {
    let name = closed(text, receiver)?;
    let rest = text.get(name..)?;
    let head = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ' ')))?;
    let start = name + head;
    let is_named = rest.get(..head).is_some_and(|name| !name.trim().is_empty());
    if !is_named || !text.get(start..)?.starts_with('[') {
        return None;
    }
    Some(start..closed(text, start)?)
}

/// The maximum length in bytes of type parameters and of a receiver.
const LONGEST: usize = 2000;

/// Returns the end of the bracket that opens at this offset.
fn closed(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate().skip(open).take(LONGEST) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    const METHOD: &str =
        "package a\n\nfunc (l List[é]) Map[F any, G ~[]F](m func(é) F) (r List[F]) {\n\treturn r\n}\n";

    #[test]
    fn methods_with_type_parameters_are_read_and_the_places_stay() {
        let hidden = without_method_type_parameters(METHOD).unwrap();
        assert_eq!(hidden.len(), METHOD.len());
        let parameters = "[F any, G ~[]F]";
        assert_eq!(hidden, METHOD.replace(parameters, &" ".repeat(parameters.len())));
        assert!(!read("go", "a.go", METHOD, 1 << 20).unwrap().root_node().has_error());
        // Control: without the replacement, the grammar reports an error.
        let plain = hidden.replace(") Map      ", ") Map[F any]");
        let grammar = super::super::find("go").unwrap().dialects("a.go").remove(0);
        let tree =
            super::super::parse(&grammar, &plain, &mut || std::ops::ControlFlow::Continue(())).unwrap();
        assert!(tree.root_node().has_error());
    }

    #[test]
    fn what_is_no_type_parameter_stays() {
        for text in [
            "func (a A) f() [3]int { return x[1] }\n",
            "var f = func (a []int) []int { return a[1:] }\n",
            "func F[T any](a T) {}\n",
            "func (a A",
            "func (a A) f",
            "func ()",
        ] {
            assert_eq!(without_method_type_parameters(text), None, "{text}");
        }
    }
}
