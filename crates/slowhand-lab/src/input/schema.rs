//! JSON Schemas of files.

use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// The JSON Schema of a file that is read as a `T`.
pub(crate) fn schema_of<T: JsonSchema>() -> Schema {
    let mut schema = schemars::schema_for!(T).to_value();
    remove_null(&mut schema);
    // It was an object before, and no object vanishes.
    Schema::try_from(schema).unwrap_or_default()
}

/// Gives a type this schema, which stands where its key stands.
macro_rules! inline_schema {
    ($type:ident, $schema:tt) => {
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        }
    };
}

pub(crate) use inline_schema;

/// TOML has no null: a key that is not there is left out. An editor that fills in a default of null would write a wrong
/// file.
fn remove_null(value: &mut Value) {
    if let Value::Array(items) = value {
        items.iter_mut().for_each(remove_null);
    }
    let Value::Object(object) = value else { return };
    object.retain(|_, value| !value.is_null());
    object.values_mut().for_each(remove_null);
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(alternatives)) = object.get_mut("anyOf") {
        alternatives.retain(|alternative| alternative.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(only)] = alternatives.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            object.extend(only);
        }
    }
}
