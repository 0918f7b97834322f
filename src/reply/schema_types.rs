//! Schemas of our model types. They are strings on the wire, and the schema says of which form.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::model::{AgentName, RunId, TaskId, TerminalId, Timestamp};

macro_rules! string {
    ($type:ty, $name:literal, $schema:expr) => {
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

string!(Timestamp, "Timestamp", json_schema!({ "type": "string", "format": "date-time" }));
string!(TaskId, "TaskId", json_schema!({ "type": "string", "pattern": "^T-(local|cloud)-[0-9a-z]{12}$" }));
string!(TerminalId, "TerminalId", json_schema!({ "type": "string", "pattern": "^term-[0-9a-z]{12}$" }));
string!(
    RunId,
    "RunId",
    json_schema!({ "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}_[0-9]{9}_[0-9a-f]{12}$" })
);
string!(AgentName, "AgentName", json_schema!({ "type": "string", "enum": AgentName::NAMES }));
