//! The shape of documents: types of values, names of members, lengths of arrays. Many documents have one
//! shape: what they share.

use std::fmt::Write;

use crate::inspect::json_scanner::{At, Kind, Reader, unescaped};
use crate::text::plain;

/// Deeper levels are not described.
const DEEPEST: usize = 4;
const MOST_MEMBERS: usize = 40;
/// How many nodes are described in total.
const MOST_NODES: usize = 400;
const LONGEST_NAME: usize = 60;

/// The shape of what was read so far.
#[derive(Debug)]
pub(super) struct Shape {
    nodes: Vec<Node>,
    open: Vec<Open>,
    name: String,
}

/// An open value.
#[derive(Debug)]
struct Open {
    /// `None` if it is not described.
    node: Option<usize>,
    kind: Kind,
    length: u64,
}

/// All values at the same place.
#[derive(Debug, Default)]
struct Node {
    /// How many there were of each type.
    kinds: [u64; KINDS.len()],
    members: Vec<(String, usize)>,
    /// Whether there are members that are not described.
    more: bool,
    item: Option<usize>,
    /// The smallest and the largest length.
    lengths: Option<(u64, u64)>,
}

const KINDS: [Kind; 6] = [Kind::Object, Kind::Array, Kind::String, Kind::Number, Kind::Bool, Kind::Null];

/// The index of a type's counter.
fn place(kind: Kind) -> usize {
    KINDS.iter().position(|known| *known == kind).unwrap_or(0)
}

impl Shape {
    pub(super) fn new() -> Self {
        Self { nodes: vec![Node::default()], open: Vec::new(), name: String::new() }
    }

    /// Gives up a document that turned out to be invalid. What was seen of it stays, except an invalid number
    /// or word.
    pub(super) fn abandon(&mut self) {
        if let Some(Open {
            node: Some(node), kind: kind @ (Kind::Number | Kind::Bool | Kind::Null), ..
        }) = self.open.last()
        {
            let count = &mut self.nodes[*node].kinds[place(*kind)];
            *count = count.saturating_sub(1);
        }
        self.open.clear();
    }

    /// `{id: number, tags?: [0..3 × string], …}`
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        self.write(0, &mut text);
        text
    }

    fn write(&self, at: usize, text: &mut String) {
        let node = &self.nodes[at];
        let mut several = "";
        for (kind, _) in KINDS.iter().zip(node.kinds).filter(|(_, count)| *count > 0) {
            text.push_str(several);
            several = " | ";
            match kind {
                Kind::Object if node.members.is_empty() && !node.more => text.push_str("{}"),
                Kind::Object => self.write_object(node, text),
                Kind::Array => self.write_array(node, text),
                Kind::String | Kind::Number | Kind::Bool | Kind::Null => {
                    let _ = write!(text, "{kind}");
                }
            }
        }
        if several.is_empty() {
            text.push('…');
        }
    }

    fn write_object(&self, node: &Node, text: &mut String) {
        text.push('{');
        let seen = |member: usize| self.nodes[member].kinds.iter().sum::<u64>();
        let members = node.members.iter().filter(|(_, member)| seen(*member) > 0);
        for (number, (name, member)) in members.enumerate() {
            let is_always = seen(*member) >= node.kinds[0];
            let _ = write!(
                text,
                "{}{name}{}: ",
                if number > 0 { ", " } else { "" },
                if is_always { "" } else { "?" }
            );
            self.write(*member, text);
        }
        let dots = if node.members.is_empty() { "…" } else { ", …" };
        text.push_str(if node.more { dots } else { "" });
        text.push('}');
    }

    fn write_array(&self, node: &Node, text: &mut String) {
        let _ = match node.lengths {
            None => write!(text, "[… × "),
            Some((least, most)) if least == most => write!(text, "[{least} × "),
            Some((least, most)) => write!(text, "[{least}..{most} × "),
        };
        match (node.item, node.lengths) {
            (_, Some((_, 0))) => {
                text.truncate(text.len() - " × ".len());
            }
            (Some(item), _) => self.write(item, text),
            (None, _) => text.push('…'),
        }
        text.push(']');
    }

    fn new_node(&mut self) -> Option<usize> {
        (self.nodes.len() < MOST_NODES).then(|| {
            self.nodes.push(Node::default());
            self.nodes.len() - 1
        })
    }

    fn member(&mut self, parent: usize) -> Option<usize> {
        let node = &self.nodes[parent];
        if let Some((_, at)) = node.members.iter().find(|(name, _)| *name == self.name) {
            return Some(*at);
        }
        let fits = node.members.len() < MOST_MEMBERS;
        let made = if fits { self.new_node() } else { None };
        let node = &mut self.nodes[parent];
        match made {
            Some(at) => node.members.push((self.name.clone(), at)),
            None => node.more = true,
        }
        made
    }

    fn item(&mut self, parent: usize) -> Option<usize> {
        if self.nodes[parent].item.is_none() {
            self.nodes[parent].item = self.new_node();
        }
        self.nodes[parent].item
    }
}

impl Reader for Shape {
    fn name(&mut self, name: &[u8]) {
        if self.open.last().is_some_and(|open| open.node.is_some()) {
            self.name = plain::line(&unescaped(name), LONGEST_NAME);
        }
    }

    fn begin(&mut self, kind: Kind, _: At) {
        let depth = self.open.len();
        let node = match self.open.last_mut() {
            None => Some(0),
            Some(Open { node, kind, length }) => {
                *length += 1;
                match (*node, *kind) {
                    (Some(_), _) if depth > DEEPEST => None,
                    (Some(parent), Kind::Array) => self.item(parent),
                    (Some(parent), _) => self.member(parent),
                    (None, _) => None,
                }
            }
        };
        if let Some(node) = node {
            self.nodes[node].kinds[place(kind)] += 1;
        }
        self.open.push(Open { node, kind, length: 0 });
    }

    fn end(&mut self) {
        let Some(Open { node: Some(node), kind: Kind::Array, length }) = self.open.pop() else { return };
        let lengths = &mut self.nodes[node].lengths;
        let (least, most) = lengths.unwrap_or((length, length));
        *lengths = Some((least.min(length), most.max(length)));
    }

    fn bytes(&mut self, _: &[u8]) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::json_scanner::Scanner;

    #[track_caller]
    fn check(documents: &[&str], expected: &str) {
        let mut shape = Shape::new();
        for document in documents {
            let mut scanner = Scanner::new();
            if scanner
                .feed(document.as_bytes(), &mut shape)
                .and_then(|()| scanner.finish(&mut shape))
                .is_err()
            {
                shape.abandon();
            }
        }
        assert_eq!(shape.text(), expected);
    }

    #[test]
    fn a_shape_names_types_members_and_lengths() {
        check(&["1"], "number");
        check(&["{}"], "{}");
        check(&["[]"], "[0]");
        check(
            &[r#"{"a": 1, "b": {"c": [true, false, true]}, "d": null}"#],
            "{a: number, b: {c: [3 × boolean]}, d: null}",
        );
        check(&[r#"[[1, 2], [], ["x"]]"#], "[3 × [0..2 × string | number]]");
    }

    #[test]
    fn what_only_some_documents_have_is_marked() {
        check(&[r#"{"a": 1}"#, "spoiled", r#"{"a": "x", "b": 1}"#], "{a: string | number, b?: number}");
        check(&[r#"{"a": 1}"#, "not json", "-", r#"{"a": 1, "b": nope}"#], "{a: number}");
        check(&["[1, null]", "[2, nil"], "[2 × number | null]");
    }

    #[test]
    fn what_is_deep_or_many_is_left_out() {
        check(&["[[[[[[1]]]]]]"], "[1 × [1 × [1 × [1 × [1 × …]]]]]");
        let members: Vec<String> = (0..50).map(|n| format!("\"m{n}\":1")).collect();
        let mut shape = Shape::new();
        Scanner::new().feed(format!("{{{}}}", members.join(",")).as_bytes(), &mut shape).unwrap();
        assert!(shape.text().ends_with("m39: number, …}"));
    }
}
