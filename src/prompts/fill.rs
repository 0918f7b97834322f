//! Puts values into a template.

/// The template with each `{name}` replaced by its value. Values are not searched for names, and braces without a
/// known name stay.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template.trim_end();
    while let Some(at) = rest.find('{') {
        text.push_str(&rest[..at]);
        let inside = &rest[at + 1..];
        let known = values
            .iter()
            .find_map(|(name, value)| Some((value, inside.strip_prefix(name)?.strip_prefix('}')?)));
        rest = match known {
            Some((value, after)) => {
                text.push_str(value);
                after
            }
            None => {
                text.push('{');
                inside
            }
        };
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_in_once() {
        let values = [("a", "{b}"), ("b", "two")];
        assert_eq!(fill("{a} and {b}, {\"c\"} {c} {", &values), "{b} and two, {\"c\"} {c} {");
        assert_eq!(fill("text\n", &values), "text");
    }
}
