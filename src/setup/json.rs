//! JSON, with or without comments, edited by insertion and deletion only: every byte that is not ours stays what it is
//! and where it is, and taking out what was put in gives the file that was there before.
//!
//! An object or array that is written on one line stays on one line, and one that was empty, `{}`, gets its first item
//! between two spaces, `{ … }`: by that it is known again as one that was there before us. An empty one that has white space
//! in it is the exception: it comes back without that, or goes with our entry.

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::layout::{comma, is_in_line_comment, last_comment_end, line_indent, rest_of_line, splice, unit};
use super::render::{Json, Style};

/// Why a text cannot be edited.
pub(super) type Problem = String;

/// How much of an element is ours.
pub(super) enum Part {
    /// All of it.
    Whole,
    /// One item of an array in it.
    Item(usize),
}

/// An object or an array: where its brackets are, and what is between them.
struct Container {
    open: usize,
    close: usize,
    items: Vec<(usize, usize)>,
}

impl Container {
    fn object(object: &Object<'_>) -> Self {
        let items = object.properties.iter().map(|property| (property.range.start, property.range.end)).collect();
        Self { open: object.range.start, close: object.range.end - 1, items }
    }

    fn array(array: &Array<'_>) -> Self {
        use jsonc_parser::common::Ranged as _;
        let items = array.elements.iter().map(|element| (element.start(), element.end())).collect();
        Self { open: array.range.start, close: array.range.end - 1, items }
    }

    fn inside<'a>(&self, text: &'a str) -> &'a str {
        &text[self.open + 1..self.close]
    }

    /// Whether its only item has the two spaces of one that was empty before.
    fn is_padded(&self, text: &str) -> bool {
        let [(start, end)] = self.items[..] else { return false };
        &text[self.open + 1..start] == " " && &text[end..self.close] == " "
    }

    /// Whether nothing but its only item is in it, and the comma of somebody's formatter: then it came with the item.
    fn came_with_its_item(&self, text: &str) -> bool {
        let [(start, end)] = self.items[..] else { return false };
        let around = [&text[self.open + 1..start], &text[end..self.close]];
        around.iter().all(|part| part.replace(',', "").trim().is_empty()) && !self.is_padded(text)
    }
}

/// Adds a property to the object at a path, making the path where it is not there. A property of that name stays.
pub(super) fn add_property(text: &str, path: &[&str], name: &str, value: &Json) -> Result<String, Problem> {
    let root = parse(text)?;
    let (object, missing) = descend(&root, path)?;
    let (name, value) = match missing {
        [] if object.properties.iter().any(|property| property.name.as_str() == name) => return Ok(text.to_owned()),
        [] => (name, value.clone()),
        [first, rest @ ..] => (*first, Json::nested(rest, Json::object(&[(name, value.clone())]))),
    };
    Ok(insert(text, &Container::object(object), &root, |style| value.property(name, style)))
}

/// Adds an element to the array `name` of the object at a path, unless `is_ours` finds it there.
pub(super) fn add_element(
    text: &str,
    path: &[&str],
    name: &str,
    element: &Json,
    is_ours: impl Fn(&Value<'_>) -> bool,
) -> Result<String, Problem> {
    let root = parse(text)?;
    let (object, missing) = descend(&root, path)?;
    let list = Json::List(vec![element.clone()]);
    let (name, value) = match missing {
        [] => match object.properties.iter().rfind(|property| property.name.as_str() == name) {
            Some(property) => {
                let Value::Array(array) = &property.value else { return Err(format!("{name:?} is not an array")) };
                if array.elements.iter().any(is_ours) {
                    return Ok(text.to_owned());
                }
                return Ok(insert(text, &Container::array(array), &root, |style| element.text(style)));
            }
            None => (name, list),
        },
        [first, rest @ ..] => (*first, Json::nested(rest, Json::object(&[(name, list)]))),
    };
    Ok(insert(text, &Container::object(object), &root, |style| value.property(name, style)))
}

/// Takes a property out, and the objects that came with it, if `is_ours` knows its value.
pub(super) fn remove_property(
    text: &str,
    path: &[&str],
    name: &str,
    is_ours: impl Fn(&Value<'_>) -> bool,
) -> Result<String, Problem> {
    let root = parse(text)?;
    let Some((mut chain, object)) = follow(&root, path)? else { return Ok(text.to_owned()) };
    match object.properties.iter().rposition(|property| property.name.as_str() == name) {
        Some(index) if is_ours(&object.properties[index].value) => {
            chain.push((Container::object(object), index));
            Ok(remove(text, &chain))
        }
        _ => Ok(text.to_owned()),
    }
}

/// Takes the first element out of the array `name` of which `find` knows a part as ours: all of it, or one item of its
/// array `inner`.
pub(super) fn remove_element(
    text: &str,
    path: &[&str],
    name: &str,
    inner: &str,
    find: impl Fn(&Value<'_>) -> Option<Part>,
) -> Result<String, Problem> {
    let root = parse(text)?;
    let Some((mut chain, object)) = follow(&root, path)? else { return Ok(text.to_owned()) };
    let Some(index) = object.properties.iter().rposition(|property| property.name.as_str() == name) else {
        return Ok(text.to_owned());
    };
    let Value::Array(array) = &object.properties[index].value else { return Ok(text.to_owned()) };
    chain.push((Container::object(object), index));
    for (index, element) in array.elements.iter().enumerate() {
        let Some(part) = find(element) else { continue };
        chain.push((Container::array(array), index));
        if let (Part::Item(item), Value::Object(group)) = (part, element)
            && let Some(property) = group.properties.iter().rposition(|property| property.name.as_str() == inner)
            && let Value::Array(items) = &group.properties[property].value
        {
            chain.push((Container::object(group), property));
            chain.push((Container::array(items), item));
        }
        return Ok(remove(text, &chain));
    }
    Ok(text.to_owned())
}

/// The object that the text is.
pub(super) fn parse(text: &str) -> Result<Object<'_>, Problem> {
    let strict = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &strict).map_err(|error| error.to_string())?;
    match parsed.value {
        Some(Value::Object(object)) => Ok(object),
        _ => Err("it does not hold a JSON object".to_owned()),
    }
}

/// As far down a path as there is something, and what is missing of it.
fn descend<'a, 't, 'p>(root: &'a Object<'t>, path: &'p [&'p str]) -> Result<(&'a Object<'t>, &'p [&'p str]), Problem> {
    let mut object = root;
    for (depth, name) in path.iter().enumerate() {
        match object.properties.iter().rfind(|property| property.name.as_str() == *name) {
            None => return Ok((object, &path[depth..])),
            Some(property) => match &property.value {
                Value::Object(next) => object = next,
                _ => return Err(format!("{name:?} is not an object")),
            },
        }
    }
    Ok((object, &[]))
}

/// Each object on the way down a path with the item that is taken, and the object at its end.
type Way<'a, 't> = Option<(Vec<(Container, usize)>, &'a Object<'t>)>;

fn follow<'a, 't>(root: &'a Object<'t>, path: &[&str]) -> Result<Way<'a, 't>, Problem> {
    let (end, missing) = descend(root, path)?;
    if !missing.is_empty() {
        return Ok(None);
    }
    let (mut object, mut chain) = (root, Vec::new());
    for name in path {
        let index = object.properties.iter().rposition(|property| property.name.as_str() == *name);
        let Some(index) = index else { return Ok(None) };
        chain.push((Container::object(object), index));
        if let Value::Object(next) = &object.properties[index].value {
            object = next;
        }
    }
    Ok(Some((chain, end)))
}

fn insert(text: &str, into: &Container, root: &Object<'_>, item: impl Fn(&Style<'_>) -> String) -> String {
    if !into.inside(text).contains('\n') {
        let item = item(&Style::OneLine);
        return match into.items.last() {
            Some((_, end)) => splice(text, &[(*end, &format!(", {item}"))]),
            None if into.inside(text).is_empty() => splice(text, &[(into.close, &format!(" {item} "))]),
            None => splice(text, &[(into.close, &item)]),
        };
    }
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let unit = unit(text, root);
    let outer = line_indent(text, into.close).0;
    let beside = into.items.last().map(|(start, _)| line_indent(text, *start)).filter(|(_, first)| *first);
    let indent = beside.map_or_else(|| format!("{outer}{unit}"), |(indent, _)| indent.to_owned());
    let item = item(&Style::Lines { indent: &indent, unit, newline });
    let line = format!("{newline}{indent}{item}");
    match into.items.last() {
        None => splice(text, &[(last_comment_end(text, into.open + 1, into.close), &line)]),
        Some((_, end)) => match comma(text, *end, into.close) {
            // The file ends its lists with a comma: so do we.
            Some(comma) => splice(text, &[(rest_of_line(text, comma + 1, into.close), &format!("{line},"))]),
            // A comment behind the last item stays behind it.
            None => splice(text, &[(*end, ","), (rest_of_line(text, *end, into.close), &line)]),
        },
    }
}

/// The start of the white space that is removed together with an item. It excludes the end of a comment, a newline that
/// a comment needs, and the space between a comment and an only item on the same line, because these were there before.
fn space_before(text: &str, container: &Container, index: usize) -> usize {
    let (start, end) = container.items[index];
    let gap = index.checked_sub(1).map_or(container.open + 1, |previous| container.items[previous].1);
    let trimmed = text[..start].trim_end_matches([' ', '\t', '\r', '\n']).len();
    let before = trimmed.max(last_comment_end(text, gap, start));
    let is_needed = is_in_line_comment(text, gap, before)
        && !text[end..].trim_start_matches([' ', '\t', ',']).starts_with(['\r', '\n']);
    let is_alone = container.items.len() == 1 && before > gap && !text[before..start].contains('\n');
    if is_needed || is_alone { start } else { before }
}

/// Takes out the item at the end of the chain, or the first container above it that came with it.
fn remove(text: &str, chain: &[(Container, usize)]) -> String {
    // Somebody's comment between a name and its value did not come with us.
    let is_plain =
        |(above, index): &(Container, usize), below: &Container| !text[above.items[*index].0..below.open].contains('/');
    let above = |depth: usize| {
        depth > 0 && chain[depth].0.came_with_its_item(text) && is_plain(&chain[depth - 1], &chain[depth].0)
    };
    let mut depth = chain.len() - 1;
    while above(depth) {
        depth -= 1;
    }
    let (container, index) = &chain[depth];
    let (start, end) = container.items[*index];
    if container.is_padded(text) {
        return format!("{}{}", &text[..=container.open], &text[container.close..]);
    }
    let before = space_before(text, container, *index);
    let next = container.items.get(index + 1).map_or(container.close, |(start, _)| *start);
    let mut out = text.to_owned();
    if let Some(comma) = comma(text, end, next) {
        out.replace_range(comma..=comma, "");
        out.replace_range(before..end, "");
    } else {
        out.replace_range(before..end, "");
        if let Some(previous) = index.checked_sub(1)
            && let Some(comma) = comma(text, container.items[previous].1, start)
        {
            out.replace_range(comma..=comma, "");
        }
    }
    out
}
