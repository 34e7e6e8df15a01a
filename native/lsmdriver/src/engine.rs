//! What stores other than RocksDB lack, and how their options are read.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use crate::failure::{Failure, Kind};
use crate::kinds::{require, Operation};
use crate::plan::{Group, Phase, Plan, Run};
use crate::settings::{BlockCache, CacheKind, Engine, StoreKind};

/// Operations that all stores have.
const COMMON: [Operation; 5] = [
    Operation::Put,
    Operation::Get,
    Operation::Delete,
    Operation::Scan,
    Operation::ReadModifyWrite,
];

/// Check that the store can do all that the plan wants. The failure names the place in the plan.
pub fn check(plan: &Plan) -> Result<(), String> {
    if plan.engine == Engine::Rocksdb {
        return Ok(());
    }
    for (none, place) in [
        (plan.families.is_empty(), "families"),
        (plan.store == StoreKind::default(), "store"),
        (plan.row_cache_bytes.is_none(), "row_cache_bytes"),
        (plan.rate_limiter.is_none(), "rate_limiter"),
        (plan.bottom_priority_threads.is_none(), "bottom_priority_threads"),
    ] {
        require(none, &format!("{place}: only the engine rocksdb has it"))?;
    }
    match (&plan.block_cache, plan.engine) {
        (Some(_), Engine::Lmdb) => return Err("block_cache: lmdb has none".to_owned()),
        (Some(cache), _) => {
            require(is_plain(cache), "block_cache: leveldb only takes the field bytes")?;
        }
        (None, _) => {}
    }
    for (number, phase) in plan.phases.iter().enumerate() {
        match phase {
            Phase::Flush {} | Phase::Compact {} => {
                let name = phase.name();
                return Err(format!("phases[{number}]: only the engine rocksdb can {name}"));
            }
            Phase::Run(run) => {
                check_run(run).map_err(|problem| format!("phases[{number}].{problem}"))?;
            }
            Phase::Settle { .. } | Phase::Report {} => {}
        }
    }
    Ok(())
}

fn is_plain(cache: &BlockCache) -> bool {
    let ratios = [cache.high_priority_ratio, cache.low_priority_ratio];
    cache.kind == CacheKind::Lru && cache.shard_bits.is_none() && ratios == [None, None]
}

fn check_run(run: &Run) -> Result<(), String> {
    require(!run.sync, "sync: only the engine rocksdb has it")?;
    require(!run.disable_wal, "disable_wal: only the engine rocksdb has it")?;
    require(run.sample_ms.is_none(), "sample_ms: only the engine rocksdb has it")?;
    for (number, group) in run.groups.iter().enumerate() {
        check_group(group).map_err(|problem| format!("groups[{number}].{problem}"))?;
    }
    Ok(())
}

fn check_group(group: &Group) -> Result<(), String> {
    require(group.range_delete.is_none(), "range_delete: only the engine rocksdb has it")?;
    require(!group.count_blocks, "count_blocks: only the engine rocksdb has it")?;
    let other = group.mix.keys().find(|&&kind| group.does(kind) && !COMMON.contains(&kind));
    match other {
        Some(kind) => Err(format!("mix: only the engine rocksdb has the operation {kind:?}")),
        None => Ok(()),
    }
}

/// Options of a store other than RocksDB, as `key=value;key=value`.
#[derive(Debug)]
pub struct GivenOptions<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> GivenOptions<'a> {
    /// Read the options. `keys` are the options that the store has.
    pub fn read(text: &'a str, keys: &[&str]) -> Result<Self, Failure> {
        let wrong = |problem: String| Kind::Open.because(format!("options: {problem}"));
        let mut found = BTreeMap::new();
        for statement in text.split(';').filter(|statement| !statement.is_empty()) {
            let Some((key, value)) = statement.split_once('=') else {
                return Err(wrong(format!("{statement}: write key=value")));
            };
            if !keys.contains(&key) {
                return Err(wrong(format!("{key}: unknown option; known: {}", keys.join(", "))));
            }
            if found.insert(key, value).is_some() {
                return Err(wrong(format!("{key}: the option is there twice")));
            }
        }
        Ok(Self(found))
    }

    /// The value of a key, None if it is not given.
    pub fn value<T: FromStr<Err: Display>>(&self, key: &str) -> Result<Option<T>, Failure> {
        let read = |text: &&str| {
            text.parse().map_err(|error: T::Err| refused(key, text, &error.to_string()))
        };
        self.0.get(key).map(read).transpose()
    }
}

/// The failure for a value that the store does not take.
pub fn refused(key: &str, value: &str, problem: &str) -> Failure {
    Kind::Open.because(format!("options: {key} = {value}: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json, Value};

    fn problem(engine: &str, place: &str, value: Value) -> Option<String> {
        let mut plan = json!({
            "engine": engine, "library": "lib.so", "folder": "db",
            "phases": [{
                "do": "run", "name": "load", "num": 10, "key_size": 16, "value_size": 100,
                "compression_ratio": 0.5,
                "groups": [{
                    "operations": 10, "seed": 1, "keys": {"kind": "uniform"}, "mix": {"put": 1}
                }],
            }],
        });
        let (above, last) = place.rsplit_once('/').unwrap();
        plan.pointer_mut(above).unwrap()[last] = value;
        let read = from_value(plan).map_err(|error| error.to_string());
        read.and_then(|plan| check(&plan)).err()
    }

    #[test]
    fn what_only_rocksdb_has_is_refused_by_its_place() {
        for (place, value, named) in [
            ("/families", json!({"logs": ""}), "families"),
            ("/store", json!({"kind": "transaction"}), "store"),
            ("/row_cache_bytes", json!(1), "row_cache_bytes"),
            ("/block_cache", json!({"bytes": 1, "shard_bits": 2}), "block_cache"),
            ("/phases", json!([{"do": "flush"}]), "phases[0]"),
            ("/phases/0/sync", json!(true), "phases[0].sync"),
            ("/phases/0/sample_ms", json!(50), "phases[0].sample_ms"),
            ("/phases/0/groups/0/mix", json!({"merge": 1}), "groups[0].mix"),
            ("/phases/0/groups/0/mix", json!({"multi_get": 1}), "groups[0].mix"),
        ] {
            let message = problem("leveldb", place, value.clone()).unwrap();
            assert!(message.contains(named), "{message}");
            assert!(problem("lmdb", place, value).is_some());
        }
        let cache = json!({"bytes": 1});
        assert!(problem("leveldb", "/block_cache", cache.clone()).is_none());
        assert!(problem("lmdb", "/block_cache", cache).is_some());
        let mix = json!({"put": 1, "get": 1, "delete": 1, "scan": 1});
        assert!(problem("lmdb", "/phases/0/groups/0/mix", mix).is_none());
        assert!(problem("lmdb", "/phases/0/groups/0/per_second", json!(10)).is_none());
        assert!(problem("other", "/existing", json!(false)).unwrap().contains("other"));
    }

    #[test]
    fn options_are_read_and_unknown_ones_named() {
        let given = GivenOptions::read("a=12;b=no;", &["a", "b", "c"]).unwrap();
        assert_eq!(given.value("a").unwrap(), Some(12));
        assert_eq!(given.value::<u64>("c").unwrap(), None);
        let message = given.value::<u64>("b").unwrap_err().message;
        assert!(message.starts_with("options: b = no: "), "{message}");
        for (text, named) in [("d=1", "d"), ("a", "a"), ("a=1;a=2", "a")] {
            let failure = GivenOptions::read(text, &["a", "b"]).unwrap_err();
            assert_eq!(failure.kind, Kind::Open);
            assert!(failure.message.starts_with(&format!("options: {named}:")), "{failure:?}");
        }
    }
}
