//! The check of plans with single deletes.
//!
//! A single delete works only for a key that was put once and has no other deletes. RocksDB does
//! not report other keys: their old values come back, or stay.

use crate::kinds::{require, Choice, Operation};
use crate::plan::{Group, Plan, Run};

/// Check a plan with single deletes. The failure says what such a plan must not have.
///
/// In an existing store, each key must have been put once. This cannot be checked here.
pub fn check(plan: &Plan) -> Result<(), String> {
    let groups = || plan.runs().flat_map(|run| run.groups.iter().map(move |group| (run, group)));
    if !groups().any(|(_, group)| group.does(Operation::SingleDelete)) {
        return Ok(());
    }
    let others = [Operation::ReadModifyWrite, Operation::Merge, Operation::Delete];
    let none = !groups().any(|(_, group)| others.iter().any(|&kind| group.does(kind)));
    require(none, "a plan with single deletes must not read-modify-write, merge or delete")?;
    let none = groups().all(|(_, group)| group.range_delete.is_none());
    require(none, "a plan with single deletes must not have range_delete")?;
    let mut puts = groups().filter(|(_, group)| group.does(Operation::Put));
    let Some((run, group)) = puts.next() else { return Ok(()) };
    let once = !plan.existing && puts.next().is_none() && puts_once(run, group);
    require(
        once,
        "a plan with single deletes must put each key once: in a new store, by one group, with \
         keys of the kind unique or sequential, and with at most num operations of all clients",
    )
}

/// Whether the group puts each key at most once.
fn puts_once(run: &Run, group: &Group) -> bool {
    let keys = group.write_keys.unwrap_or(group.keys);
    let differ = matches!(keys, Choice::Unique {} | Choice::Sequential {});
    let all = group.operations.map(|operations| operations.saturating_mul(group.clients));
    differ && all.is_some_and(|all| all <= run.num)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json, Value};
    use std::slice;

    fn group(mix: Value, kind: &str) -> Value {
        json!({"operations": 10, "seed": 1, "keys": {"kind": kind}, "mix": mix})
    }

    fn refused(groups: &[Value], existing: bool) -> bool {
        let plan = json!({
            "library": "librocksdb.so", "folder": "db", "existing": existing,
            "phases": [{
                "do": "run", "name": "load", "num": 10, "key_size": 16, "value_size": 100,
                "compression_ratio": 0.5, "groups": groups,
            }],
        });
        check(&from_value(plan).unwrap()).is_err()
    }

    #[test]
    fn keys_must_be_put_once() {
        let puts = group(json!({"put": 1}), "unique");
        let deletes = group(json!({"single_delete": 1, "get": 1}), "uniform");
        assert!(!refused(&[puts.clone(), deletes.clone()], false));
        assert!(!refused(slice::from_ref(&deletes), true));
        assert!(refused(&[puts.clone(), deletes.clone()], true));
        assert!(refused(&[puts.clone(), puts.clone(), deletes.clone()], false));
        let changed = |field: &str, value: Value| {
            let mut changed = puts.clone();
            changed[field] = value;
            changed
        };
        for wrong in [
            changed("clients", json!(2)),
            changed("operations", json!(null)),
            changed("keys", json!({"kind": "uniform"})),
            changed("write_keys", json!({"kind": "uniform"})),
            changed("range_delete", json!({"every": 1, "width": 1, "at_most": 1})),
        ] {
            assert!(!refused(&[puts.clone(), wrong.clone()], false), "{wrong}");
            assert!(refused(&[wrong.clone(), deletes.clone()], false), "{wrong}");
        }
    }

    #[test]
    fn other_writes_are_refused() {
        let deletes = group(json!({"single_delete": 1}), "uniform");
        for kind in ["merge", "delete", "read_modify_write"] {
            let other = group(json!({kind: 1}), "unique");
            assert!(refused(&[other, deletes.clone()], false), "{kind}");
        }
    }
}
