//! JSON as it is written into a file that has a style of its own.

/// A value to be written; an object's properties keep their order.
#[derive(Debug, Clone)]
pub(super) enum Json {
    Text(String),
    Number(u32),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// How it is laid out.
pub(super) enum Style<'a> {
    /// All on one line.
    OneLine,
    /// A line each, where the value itself begins at `indent`.
    Lines { indent: &'a str, unit: &'a str, newline: &'a str },
}

impl Json {
    pub(super) fn text_of(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    pub(super) fn texts(texts: &[&str]) -> Self {
        Self::List(texts.iter().map(|text| Self::text_of(text)).collect())
    }

    pub(super) fn object(properties: &[(&str, Self)]) -> Self {
        Self::Object(properties.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
    }

    /// The value inside of an object for each name.
    pub(super) fn nested(names: &[&str], value: Self) -> Self {
        names.iter().rev().fold(value, |value, name| Self::object(&[(name, value)]))
    }

    /// It and the name that it goes by.
    pub(super) fn property(&self, name: &str, style: &Style<'_>) -> String {
        format!("{}: {}", quoted(name), self.text(style))
    }

    pub(super) fn text(&self, style: &Style<'_>) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::Number(number) => number.to_string(),
            // A list of plain values is short: it reads better on one line.
            Self::List(items) if items.iter().all(|item| matches!(item, Self::Text(_) | Self::Number(_))) => {
                let items: Vec<String> = items.iter().map(|item| item.text(style)).collect();
                format!("[{}]", items.join(", "))
            }
            Self::List(items) => lay_out(style, ['[', ']'], items, Self::text),
            Self::Object(properties) => {
                lay_out(style, ['{', '}'], properties, |(name, value), style| value.property(name, style))
            }
        }
    }
}

fn lay_out<T>(
    style: &Style<'_>,
    [open, close]: [char; 2],
    items: &[T],
    text: impl Fn(&T, &Style<'_>) -> String,
) -> String {
    match style {
        Style::OneLine => {
            let items: Vec<String> = items.iter().map(|item| text(item, style)).collect();
            format!("{open}{}{close}", items.join(", "))
        }
        Style::Lines { indent, unit, newline } => {
            let deeper = format!("{indent}{unit}");
            let below = Style::Lines { indent: &deeper, unit, newline };
            let items: Vec<String> =
                items.iter().map(|item| format!("{newline}{deeper}{}", text(item, &below))).collect();
            format!("{open}{}{newline}{indent}{close}", items.join(","))
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
