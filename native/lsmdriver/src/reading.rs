//! Reading a plan, and checking all of it.

use crate::engine;
use crate::failure::{Failure, Kind};
use crate::kinds::{require, Operation};
use crate::plan::{Group, Phase, Plan, DEFAULT_FAMILY};
use crate::settings::StoreKind;
use crate::single_deletes;

/// Read a plan. The failure names the place of the mistake.
pub fn read(text: &str) -> Result<Plan, Failure> {
    let plan: Plan =
        serde_json::from_str(text).map_err(|error| Kind::Plan.because(error.to_string()))?;
    check(&plan).map_err(|problem| Kind::Plan.because(problem))?;
    Ok(plan)
}

fn check(plan: &Plan) -> Result<(), String> {
    for (number, phase) in plan.phases.iter().enumerate() {
        phase.check().map_err(|problem| format!("phases[{number}].{problem}"))?;
    }
    engine::check(plan)?;
    check_store(plan)?;
    single_deletes::check(plan)
}

/// Check that RocksDB has such a store, and that the store has all operations of the plan. The
/// failure names the place in the plan.
fn check_store(plan: &Plan) -> Result<(), String> {
    if let Some(cache) = &plan.block_cache {
        cache.check().map_err(|problem| format!("block_cache.{problem}"))?;
    }
    if let Some(limiter) = &plan.rate_limiter {
        let sound = limiter.bytes_per_second >= 1;
        require(sound, "rate_limiter.bytes_per_second: must be at least 1")?;
    }
    if let StoreKind::Ttl { seconds } = plan.store {
        require(seconds >= 1, "store.seconds: must be at least 1")?;
    }
    let named = !plan.families.contains_key(DEFAULT_FAMILY);
    require(named, "families: the options of the family default are those of the plan")?;
    for (phase, run) in plan.phases.iter().enumerate() {
        let Phase::Run(run) = run else { continue };
        for (number, group) in run.groups.iter().enumerate() {
            check_group(plan, group)
                .map_err(|problem| format!("phases[{phase}].groups[{number}].{problem}"))?;
        }
    }
    Ok(())
}

fn check_group(plan: &Plan, group: &Group) -> Result<(), String> {
    let family = &group.family;
    let known = family == DEFAULT_FAMILY || plan.families.contains_key(family);
    require(known, &format!("family: the plan has no family {family}"))?;
    let possible =
        !plan.store.lacks(Operation::SingleDelete) || !group.does(Operation::SingleDelete);
    require(possible, "mix.single_delete: not possible in a store with a time to live")?;
    let possible = !plan.store.lacks(Operation::RangeDelete) || group.range_delete.is_none();
    require(possible, "range_delete: not possible in a store with transactions")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{json, Value};

    fn usual() -> Value {
        json!({
            "library": "librocksdb.so", "folder": "db",
            "phases": [{
                "do": "run", "name": "load", "num": 10, "key_size": 16, "value_size": 100,
                "compression_ratio": 0.5,
                "groups": [{
                    "operations": 10, "seed": 1, "keys": {"kind": "uniform"}, "mix": {"put": 1}
                }],
            }],
        })
    }

    fn problem(place: &str, value: Value) -> String {
        let mut plan = usual();
        match place.rsplit_once('/') {
            Some((above, last)) => plan.pointer_mut(above).unwrap()[last] = value,
            None => plan[place] = value,
        }
        let failure = read(&plan.to_string()).unwrap_err();
        assert_eq!(failure.kind, Kind::Plan);
        failure.message
    }

    #[test]
    fn a_plan_has_defaults() {
        let plan = read(&usual().to_string()).unwrap();
        assert!(!plan.existing && plan.options.is_empty() && plan.block_cache.is_none());
        let Phase::Run(run) = &plan.phases[0] else { panic!("the phase is a run") };
        assert_eq!((run.groups[0].clients, run.groups[0].check_every), (1, 1000));
    }

    fn ranges(every: u64, width: u64) -> Value {
        json!({"every": every, "width": width, "at_most": 1})
    }

    #[test]
    fn a_wrong_plan_is_named_by_its_place() {
        for (place, value, named) in [
            ("extra", json!(1), "extra"),
            ("block_cache", json!({"kind": "lru"}), "bytes"),
            ("block_cache", json!({"bytes": 1, "kind": "fifo"}), "fifo"),
            ("block_cache", json!({"bytes": 1, "shard_bits": 20}), "block_cache.shard_bits"),
            ("block_cache", json!({"bytes": 1, "high_priority_ratio": 2}), "high_priority_ratio"),
            ("block_cache", json!({"bytes": 1, "low_priority_ratio": 0.6}), "low_priority_ratio"),
            (
                "block_cache",
                json!({"bytes": 1, "kind": "hyper_clock", "low_priority_ratio": 0}),
                "block_cache.kind",
            ),
            ("rate_limiter", json!({"bytes_per_second": 0}), "rate_limiter.bytes_per_second"),
            ("bottom_priority_threads", json!(-1), "-1"),
            ("/phases/0/extra", json!(1), "extra"),
            ("/phases/0/do", json!("dance"), "dance"),
            ("/phases/0/num", json!(0), "phases[0].num"),
            ("/phases/0/num", json!(-1), "-1"),
            ("/phases/0/key_size", json!(0), "phases[0].key_size"),
            ("/phases/0/key_size", json!(1 << 17), "phases[0].key_size"),
            ("/phases/0/compression_ratio", json!(1.5), "phases[0].compression_ratio"),
            ("/phases/0/seconds", json!(-1), "phases[0].seconds"),
            ("/phases/0/groups", json!([]), "phases[0].groups"),
            ("families", json!({"default": ""}), "families"),
            ("/phases/0/groups/0/family", json!("other"), "groups[0].family"),
            ("store", json!({"kind": "ttl"}), "seconds"),
            ("store", json!({"kind": "ttl", "seconds": 0}), "store.seconds"),
            ("store", json!({"kind": "plain", "seconds": 1}), "seconds"),
            ("/phases/0/groups/0/operations", json!(1_u64 << 41), "groups[0].operations"),
            ("/phases/0/groups/0/clients", json!(0), "groups[0].clients"),
            ("/phases/0/groups/0/mix", json!({"put": 0}), "groups[0].mix"),
            ("/phases/0/groups/0/mix", json!({"dance": 1}), "dance"),
            ("/phases/0/groups/0/mix", json!({"range_delete": 1}), "mix.range_delete"),
            ("/phases/0/groups/0/keys", json!({"kind": "exponential", "range": 0}), "keys.range"),
            ("/phases/0/groups/0/batch", json!(0), "groups[0].batch"),
            ("/phases/0/groups/0/bytes_per_second", json!(0), "groups[0].bytes_per_second"),
            ("/phases/0/groups/0/missing", json!(true), "groups[0].missing"),
            ("/phases/0/groups/0/mix", json!({"get_missing": 1}), "get_missing"),
            ("/phases/0/groups/0/per_second", json!(0), "groups[0].per_second"),
            ("/phases/0/groups/0/per_second", json!(1e10), "groups[0].per_second"),
            ("/phases/0/groups/0/count_blocks", json!(true), "groups[0].count_blocks"),
            ("/phases/0/sample_ms", json!(0), "phases[0].sample_ms"),
            ("/phases/0/groups/0/range_delete", ranges(0, 1), "range_delete.every"),
            ("/phases/0/groups/0/range_delete", ranges(1, 0), "range_delete.width"),
            ("/phases/0/value_size", json!("big"), "a number of bytes, or an object"),
            ("/phases/0/value_size", json!((1_u64 << 30) + 1), "phases[0].value_size"),
            ("/phases/0/value_size", json!({"kind": "uniform", "low": 2, "high": 1}), "low"),
            ("/phases/0/value_size", json!({"kind": "uniform", "low": 2}), "high"),
            (
                "/phases/0/value_size",
                json!({"kind": "normal", "mean": 1e12, "deviation": 1}),
                "2^30",
            ),
            ("/phases/0/value_size", json!({"kind": "zipf"}), "zipf"),
            ("/phases/0/groups/0/keys", json!({"kind": "zipfian", "exponent": 0}), "exponent"),
            ("/phases/0/groups/0/keys", json!({"kind": "uniform", "exponent": 1}), "exponent"),
            ("/phases/0/groups/0/write_keys", json!({"kind": "latest"}), "groups[0].write_keys"),
            ("phases", json!([{"do": "settle", "quiet_s": -1, "limit_s": 1}]), "quiet_s"),
            ("phases", json!([{"do": "flush", "wait": true}]), "wait"),
        ] {
            assert!(problem(place, value.clone()).contains(named), "{place} {value}");
        }
    }

    #[test]
    fn a_group_has_one_limit_and_one_kind_of_reads() {
        let check = |fields: Value| {
            let mut plan = usual();
            let group = plan["phases"][0]["groups"][0].as_object_mut().unwrap();
            group.extend(fields.as_object().unwrap().clone());
            read(&plan.to_string()).map_err(|failure| failure.message)
        };
        let both = check(json!({"per_second": 1.5, "bytes_per_second": 1}));
        assert!(both.unwrap_err().contains("groups[0].per_second"));
        for (mix, sound) in [
            (json!({"get": 1}), true),
            (json!({"get": 1, "put": 1, "scan": 0}), true),
            (json!({"get": 1, "scan": 1}), false),
            (json!({"get": 1, "read_modify_write": 1}), false),
        ] {
            let checked = check(json!({"count_blocks": true, "mix": mix}));
            assert_eq!(checked.is_ok(), sound, "{mix}");
        }
    }

    #[test]
    fn keys_must_have_room_for_their_numbers() {
        let mut plan = usual();
        plan["phases"][0]["key_size"] = json!(2);
        plan["phases"][0]["num"] = json!(1 << 16);
        assert!(read(&plan.to_string()).is_ok());
        plan["phases"][0]["num"] = json!((1 << 16) + 1);
        assert!(read(&plan.to_string()).unwrap_err().message.contains("phases[0].num"));
    }

    #[test]
    fn hot_ranges_leave_other_keys() {
        let mut plan = usual();
        for (ranges, share, keys, named) in [
            (0, 0.5, 0.5, "keys.ranges"),
            (6, 0.5, 0.5, "keys.ranges"),
            (5, 1.5, 0.5, "keys.hot_share"),
            (5, 0.5, 0.0, "keys.hot_keys"),
            (5, 0.5, 1.0, "keys.hot_keys"),
        ] {
            plan["phases"][0]["groups"][0]["keys"] = json!({
                "kind": "hot_ranges", "ranges": ranges, "hot_share": share, "hot_keys": keys
            });
            let message = read(&plan.to_string()).unwrap_err().message;
            assert!(message.contains(named), "{message}");
        }
    }
}
