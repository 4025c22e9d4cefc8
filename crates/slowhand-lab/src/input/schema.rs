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
