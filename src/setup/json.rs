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
    let way = descend(&root, path)?;
    if way.missing.is_empty() && find(way.object, name).is_some() {
        return Ok(text.to_owned());
    }
    Ok(insert_property(text, &root, &way, name, value.clone()))
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
    let way = descend(&root, path)?;
    match find(way.object, name).filter(|_| way.missing.is_empty()) {
        None => Ok(insert_property(text, &root, &way, name, Json::List(vec![element.clone()]))),
        Some((_, Value::Array(array))) if array.elements.iter().any(is_ours) => Ok(text.to_owned()),
        Some((_, Value::Array(array))) => {
            Ok(insert(text, &Container::array(array), &root, |style| element.text(style)))
        }
        Some(_) => Err(format!("{name:?} is not an array")),
    }
}

/// Takes a property out, and the objects that came with it, if `is_ours` knows its value.
pub(super) fn remove_property(
    text: &str,
    path: &[&str],
    name: &str,
    is_ours: impl Fn(&Value<'_>) -> bool,
) -> Result<String, Problem> {
    let root = parse(text)?;
    let Way { mut chain, object, missing } = descend(&root, path)?;
    match find(object, name) {
        Some((index, value)) if missing.is_empty() && is_ours(value) => {
            chain.push((Container::object(object), index));
            Ok(remove(text, &chain))
        }
        _ => Ok(text.to_owned()),
    }
}

/// Takes the first element out of the array `name` of which `ours` knows a part as ours: all of it, or one item of its
/// array `inner`.
pub(super) fn remove_element(
    text: &str,
    path: &[&str],
    name: &str,
    inner: &str,
    ours: impl Fn(&Value<'_>) -> Option<Part>,
) -> Result<String, Problem> {
    let root = parse(text)?;
    let Way { mut chain, object, missing } = descend(&root, path)?;
    let found = find(object, name).filter(|_| missing.is_empty());
    let Some((index, Value::Array(array))) = found else { return Ok(text.to_owned()) };
    chain.push((Container::object(object), index));
    for (index, element) in array.elements.iter().enumerate() {
        let Some(part) = ours(element) else { continue };
        chain.push((Container::array(array), index));
        if let (Part::Item(item), Value::Object(group)) = (part, element)
            && let Some((property, Value::Array(items))) = find(group, inner)
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

/// The way down a path, as far as there is something.
struct Way<'a, 't, 'p> {
    /// Each object on the way with the item that is taken.
    chain: Vec<(Container, usize)>,
    /// The object at the end of the way.
    object: &'a Object<'t>,
    /// The names of the path below it.
    missing: &'p [&'p str],
}

fn descend<'a, 't, 'p>(root: &'a Object<'t>, path: &'p [&'p str]) -> Result<Way<'a, 't, 'p>, Problem> {
    let (mut chain, mut object) = (Vec::new(), root);
    for (depth, name) in path.iter().enumerate() {
        let Some((index, value)) = find(object, name) else {
            return Ok(Way { chain, object, missing: &path[depth..] });
        };
        let Value::Object(next) = value else { return Err(format!("{name:?} is not an object")) };
        chain.push((Container::object(object), index));
        object = next;
    }
    Ok(Way { chain, object, missing: &[] })
}

/// The last property of a name, and its place: readers take the last one.
pub(super) fn find<'a, 't>(object: &'a Object<'t>, name: &str) -> Option<(usize, &'a Value<'t>)> {
    let index = object.properties.iter().rposition(|property| property.name.as_str() == name)?;
    Some((index, &object.properties[index].value))
}

fn insert_property(text: &str, root: &Object<'_>, way: &Way<'_, '_, '_>, name: &str, value: Json) -> String {
    let (name, value) = match way.missing {
        [] => (name, value),
        [first, rest @ ..] => (*first, Json::nested(rest, Json::object(&[(name, value)]))),
    };
    insert(text, &Container::object(way.object), root, |style| value.property(name, style))
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
