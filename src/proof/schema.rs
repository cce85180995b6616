//! Types that are printed as one of a few names, or as a text of one form, with their JSON schemas.

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

/// Declares an enum whose values have names: each is written once, and printed, read back and serialized by it.
macro_rules! names {
    ($(#[$meta:meta])* $pub:vis enum $type:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        $pub enum $type {
            $($(#[$doc])* $variant,)*
        }

        #[allow(dead_code)] // not every enum needs all of them
        impl $type {
            /// All of them, in their order.
            $pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// The name.
            $pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Reads a name.
            $pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str() == name)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

/// Describes an enum of `names!` by the names that its values have.
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

pub(crate) use names;
pub(super) use {name_schema, text_schema};
