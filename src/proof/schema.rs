//! JSON schemas of the types that are printed as a text of one form, or as one of a few names.

/// Describes a type by the pattern that its text has. Types of one name and pattern are described once.
macro_rules! text_schema {
    ($($type:ident)*: $name:literal, $pattern:literal) => {$(
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "pattern": $pattern })
            }
        }
    )*};
}

/// Describes a type by the names that its values have.
macro_rules! name_schema {
    ($type:ident) => {
        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "enum": $type::ALL })
            }
        }
    };
}

pub(super) use {name_schema, text_schema};
