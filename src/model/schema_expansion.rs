//! Limits how much work an output schema can cause for a single value, without validating anything.
//!
//! `allOf`, `anyOf`, `$ref` and similar keywords apply further schemas to the *same* value, so a
//! few kilobytes can demand 2^40 checks, or endless ones. Counted here is how many subschemas one
//! value can meet. Work that depends on the size of the value is limited where answers are checked
//! (`schema_check`).

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Far more than realistic schemas need.
const MOST: u64 = 10_000;
/// Maximum number of schemas that apply one another in a row.
const LONGEST_CHAIN: u64 = 200;
/// Assumed cost of a schema outside the document, such as a meta-schema.
const FOREIGN: u64 = 100;

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum SchemaExpansion {
    #[error("the output schema applies itself recursively to the same value, through `{0}`")]
    Endless(String),
    #[error("the output schema checks one value against {} subschemas; the limit is {MOST}", shown(*.0))]
    Wide(u64),
    #[error(
        "the output schema has a chain of more than {LONGEST_CHAIN} subschemas that refer to one another"
    )]
    Long,
}

fn shown(count: u64) -> String {
    if count == u64::MAX { "countless".to_owned() } else { count.to_string() }
}

/// Checks that no value can meet too many subschemas of `schema`.
pub(crate) fn check(schema: &Value) -> Result<(), SchemaExpansion> {
    let mut document = Document { weight: 1, ..Document::default() };
    document.collect(schema, schema);
    let mut costs = Costs { document: &document, known: HashMap::new() };
    for subschema in &document.subschemas {
        let Cost { count, .. } = costs.of(subschema, 0)?;
        if count > MOST {
            return Err(SchemaExpansion::Wide(count));
        }
    }
    Ok(())
}

/// Resolves references. Everything that looks like a schema counts as one, even inside values, so
/// that too much is counted rather than too little.
#[derive(Default)]
struct Document<'a> {
    subschemas: Vec<&'a Value>,
    /// The enclosing schema with an `$id`, or the document, for each subschema.
    resources: HashMap<*const Value, &'a Value>,
    by_id: HashMap<&'a str, Vec<&'a Value>>,
    by_anchor: HashMap<&'a str, Vec<&'a Value>>,
    /// Factor for `unevaluatedProperties` and `unevaluatedItems`, for which validators process
    /// subschemas again.
    weight: u64,
}

impl<'a> Document<'a> {
    fn collect(&mut self, value: &'a Value, resource: &'a Value) {
        let Value::Object(fields) = value else {
            value.as_array().into_iter().flatten().for_each(|item| self.collect(item, resource));
            return;
        };
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let mut resource = resource;
        for id in [text("$id"), text("id")].into_iter().flatten() {
            match id.split_once('#') {
                Some(("", anchor)) => self.by_anchor.entry(anchor).or_default().push(value),
                _ => {
                    self.by_id.entry(last_segment(id)).or_default().push(value);
                    resource = value;
                }
            }
        }
        for anchor in [text("$anchor"), text("$dynamicAnchor")].into_iter().flatten() {
            self.by_anchor.entry(anchor).or_default().push(value);
        }
        if fields.contains_key("unevaluatedProperties") || fields.contains_key("unevaluatedItems") {
            self.weight = 3;
        }
        self.subschemas.push(value);
        self.resources.insert(value, resource);
        fields.values().for_each(|field| self.collect(field, resource));
    }

    /// All possible targets of `reference` in `schema`; `None` if outside the document.
    fn targets(&self, schema: &'a Value, reference: &str) -> Option<Vec<&'a Value>> {
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resources = match base {
            "" => self.resources.get(&std::ptr::from_ref(schema)).copied().into_iter().collect(),
            _ => self.by_id.get(last_segment(base))?.clone(),
        };
        let fragment = percent_encoding::percent_decode_str(fragment).decode_utf8_lossy();
        if fragment.is_empty() || fragment.starts_with('/') {
            return Some(resources.into_iter().filter_map(|resource| resource.pointer(&fragment)).collect());
        }
        Some(self.by_anchor.get(fragment.as_ref()).cloned().unwrap_or_default())
    }
}

/// The part of an id that distinguishes the schemas of one document, however ids are written.
fn last_segment(id: &str) -> &str {
    id.trim_end_matches('#').rsplit(['/', ':']).next().unwrap_or_default()
}

#[derive(Debug, Clone, Copy)]
struct Cost {
    /// Number of subschemas that one value meets.
    count: u64,
    /// Length of the longest chain of schemas that apply one another.
    chain: u64,
}

struct Costs<'d, 'a> {
    document: &'d Document<'a>,
    /// `None` while it is being computed.
    known: HashMap<*const Value, Option<Cost>>,
}

impl<'a> Costs<'_, 'a> {
    fn of(&mut self, schema: &'a Value, depth: u64) -> Result<Cost, SchemaExpansion> {
        let Value::Object(fields) = schema else { return Ok(Cost { count: 1, chain: 1 }) };
        match self.known.get(&std::ptr::from_ref(schema)) {
            Some(Some(cost)) => return Ok(*cost),
            Some(None) => return Err(SchemaExpansion::Endless(keyword_of(fields).to_owned())),
            None if depth > LONGEST_CHAIN => return Err(SchemaExpansion::Long),
            None => drop(self.known.insert(schema, None)),
        }
        let mut cost = Cost { count: 1, chain: 1 };
        let (applied, foreign) = self.applied(schema, fields);
        cost.count += foreign * FOREIGN;
        for applied in applied {
            let Cost { count, chain } = self.of(applied, depth + 1)?;
            cost.count = cost.count.saturating_add(count.saturating_mul(self.document.weight));
            cost.chain = cost.chain.max(chain + 1);
        }
        if cost.chain > LONGEST_CHAIN {
            return Err(SchemaExpansion::Long);
        }
        self.known.insert(schema, Some(cost));
        Ok(cost)
    }

    /// The subschemas that `schema` applies to the same value, and the number of foreign ones.
    fn applied(&self, schema: &'a Value, fields: &'a Map<String, Value>) -> (Vec<&'a Value>, u64) {
        let (mut applied, mut foreign): (Vec<&Value>, u64) = (Vec::new(), 0);
        for (name, value) in fields {
            match (name.as_str(), value) {
                ("allOf" | "anyOf" | "oneOf", Value::Array(all)) => applied.extend(all),
                ("not" | "if" | "then" | "else", Value::Object(_)) => applied.push(value),
                ("dependentSchemas" | "dependencies", Value::Object(all)) => {
                    applied.extend(all.values().filter(|one| one.is_object()));
                }
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                    match self.document.targets(schema, reference) {
                        Some(targets) => applied.extend(targets),
                        None => foreign += 1,
                    }
                }
                _ => {}
            }
        }
        (applied, foreign)
    }
}

/// The keyword by which a schema applies another one.
fn keyword_of(fields: &Map<String, Value>) -> &str {
    let applies = |name: &&String| name.starts_with('$') && name.ends_with("ef");
    fields.keys().find(applies).or(fields.keys().next()).map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::text::test_rows;

    /// Definitions d0, d1, … each made by `next` from the following one.
    fn row(length: usize, next: impl Fn(Value) -> Value) -> Value {
        let reference = |n: usize| json!({ "$ref": format!("#/$defs/d{n}") });
        let mut all: Map<String, Value> =
            (0..length).map(|n| (format!("d{n}"), next(reference(n + 1)))).collect();
        all.insert(format!("d{length}"), json!({ "type": "object" }));
        json!({ "$ref": "#/$defs/d0", "$defs": all })
    }

    fn twice(schema: Value) -> Value {
        json!({ "allOf": [schema, schema] })
    }

    #[test]
    fn what_doubles_with_each_definition_is_refused_however_often() {
        assert_eq!(check(&row(10, twice)), Ok(()));
        assert!(matches!(check(&row(13, twice)), Err(SchemaExpansion::Wide(16_000..50_000))));
        let thrice = |next: Value| json!({ "allOf": [next, next, next] });
        assert_eq!(check(&row(60, thrice)), Err(SchemaExpansion::Wide(u64::MAX)));
        let told = check(&row(60, thrice)).unwrap_err().to_string();
        assert!(told.contains("countless"), "{told}");
    }

    #[test]
    fn every_keyword_that_applies_a_schema_to_the_same_value_counts() {
        let ways: [fn(Value) -> Value; 7] = [
            |next| json!({ "anyOf": [next, next] }),
            |next| json!({ "oneOf": [next, next] }),
            |next| json!({ "if": next, "then": next, "else": next }),
            |next| json!({ "not": { "allOf": [next, next] } }),
            |next| json!({ "dependentSchemas": { "a": next, "b": next } }),
            |next| json!({ "dependencies": { "a": next, "b": next, "c": ["a"] } }),
            |next| json!({ "$ref": next["$ref"], "$dynamicRef": next["$ref"] }),
        ];
        for way in ways {
            let schema = row(40, way);
            assert!(matches!(check(&schema), Err(SchemaExpansion::Wide(_))), "{schema}");
        }
    }

    #[test]
    fn what_goes_into_the_value_does_not_count() {
        for way in [
            |next| json!({ "properties": { "a": next, "b": next } }),
            |next| json!({ "items": next, "additionalProperties": next }),
            |next| json!({ "prefixItems": [next, next], "contains": next }),
        ] {
            assert_eq!(check(&row(40, way)), Ok(()));
        }
        assert_eq!(
            check(&json!({ "properties": { "child": { "$ref": "#" } }, "items": { "$ref": "#" } })),
            Ok(())
        );
    }

    #[test]
    fn a_schema_that_applies_itself_to_the_same_value_is_refused() {
        for [schema] in test_rows::<[Value; 1]>(include_str!("../../tests/data/endless_schemas.jsonl")) {
            assert!(matches!(check(&schema), Err(SchemaExpansion::Endless(_))), "{schema}");
        }
    }

    #[test]
    fn a_reference_inside_of_a_schema_with_an_id_starts_there() {
        let inner = json!({ "$id": "urn:inner", "$defs": { "n": { "type": "null" } }, "$ref": "#/$defs/n" });
        assert_eq!(check(&json!({ "$defs": { "n": { "$ref": "urn:inner" }, "inner": inner } })), Ok(()));
        assert_eq!(check(&json!({ "$ref": "http://json-schema.org/draft-07/schema#" })), Ok(()));
    }

    #[test]
    fn a_long_row_is_refused_whichever_end_is_seen_first() {
        let one = |next: Value| json!({ "$ref": next["$ref"] });
        assert_eq!(check(&row(150, one)), Ok(()));
        assert_eq!(check(&row(8000, one)), Err(SchemaExpansion::Long));
        let backwards: Map<String, Value> = (0..8000_usize)
            .map(|n| (format!("d{n:05}"), json!({ "$ref": format!("#/$defs/d{:05}", n.saturating_sub(1)) })))
            .skip(1)
            .chain([("d00000".to_owned(), json!(true))])
            .collect();
        assert_eq!(check(&json!({ "$defs": backwards })), Err(SchemaExpansion::Long));
    }

    #[test]
    fn what_is_gone_through_again_counts_again() {
        let once = |next: Value| json!({ "allOf": [next] });
        assert_eq!(check(&row(20, once)), Ok(()));
        let again = |next: Value| json!({ "allOf": [next], "unevaluatedProperties": false });
        assert!(matches!(check(&row(20, again)), Err(SchemaExpansion::Wide(_))));
    }
}
