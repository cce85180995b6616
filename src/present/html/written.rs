//! The page as one text, from which its script can tell that nothing of it was changed.
//!
//! The browser gives a script its elements, attributes and texts, but not the bytes of the file. So both sides write down
//! the elements: here from the markup that was made, in `shown.js` from what the browser made of it. The hash of that text is
//! in the head of the page. A person who changes the page on purpose can change the hash as well; it finds what was changed
//! in one place only.

/// Begins an element, an attribute, the inside of an element, and ends it. None of these is in a text of the page.
const ELEMENT: char = '\u{1}';
const ATTRIBUTE: char = '\u{2}';
const INSIDE: char = '\u{3}';
const END: char = '\u{4}';

/// Elements that have no end tag.
const VOID: [&str; 2] = ["br", "input"];

/// Writes down markup that this program made: every attribute is quoted or bare, there are no comments, and text has no
/// entities but those of [`super::text`].
pub(super) fn written(markup: &str) -> String {
    let mut text = String::with_capacity(markup.len());
    let mut rest = markup;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(&decoded(before));
        let Some((tag, after)) = tag.split_once('>') else { break };
        rest = after;
        if tag.starts_with('/') {
            text.push(END);
            continue;
        }
        let (tag, closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        text.push(ELEMENT);
        text.push_str(name);
        self::attributes(attributes, &mut text);
        text.push(INSIDE);
        if closed || VOID.contains(&name) {
            text.push(END);
        } else if name == "script"
            && let Some((inside, after)) = rest.split_once("</script>")
        {
            // Not markup: nothing is decoded in it.
            text.push_str(inside);
            text.push(END);
            rest = after;
        }
    }
    text.push_str(&decoded(rest));
    text.trim_end().to_owned()
}

fn attributes(mut attributes: &str, text: &mut String) {
    loop {
        attributes = attributes.trim_start();
        if attributes.is_empty() {
            return;
        }
        let end = attributes.find([' ', '=']).unwrap_or(attributes.len());
        let (name, after) = attributes.split_at(end);
        text.push(ATTRIBUTE);
        text.push_str(name);
        text.push('=');
        attributes = after;
        if let Some((value, after)) = after.strip_prefix("=\"").and_then(|after| after.split_once('"')) {
            text.push_str(&decoded(value));
            attributes = after;
        }
    }
}

fn decoded(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    text.replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_attributes_and_texts_are_written_down() {
        let (e, a, i, z) = (ELEMENT, ATTRIBUTE, INSIDE, END);
        assert_eq!(
            written("\n<p id=\"a b\" hidden>x &lt;b&gt; &amp;lt; &#39;<br><b>y</b></p>\n<g><rect x=\"1\"/></g>\n"),
            format!("\n{e}p{a}id=a b{a}hidden={i}x <b> &lt; '{e}br{i}{z}{e}b{i}y{z}{z}\n{e}g{i}{e}rect{a}x=1{i}{z}{z}")
        );
    }

    #[test]
    fn what_is_in_a_script_is_not_markup() {
        let (e, a, i, z) = (ELEMENT, ATTRIBUTE, INSIDE, END);
        assert_eq!(
            written("<script id=\"data\">[\"&lt;\"]</script><script>1 < 2 && f(\"<p>\")</script>\n\n"),
            format!("{e}script{a}id=data{i}[\"&lt;\"]{z}{e}script{i}1 < 2 && f(\"<p>\"){z}")
        );
    }
}
