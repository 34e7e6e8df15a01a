//! Objects that all families of a store share: block cache, row cache, rate limiter, threads.
//! They come in the plan because a text of options cannot share them.

use std::fmt::Write;

use crate::api::{
    c_text, BottomThreads, Freeing, Handle, HyperClock, Library, Limiting, LimitingByLoad, Opening,
    RowCaching,
};
use crate::failure::{Failure, Kind};
use crate::plan::Plan;
use crate::settings::{BlockCache, CacheKind, RateLimiter};

/// RocksDB's defaults of a rate limiter.
const REFILL_US: i64 = 100_000;
const FAIRNESS: i32 = 10;
/// A size of entries that lets the cache choose the size of its table.
const BY_ITSELF: usize = 0;

/// Make options with the shared objects of a plan. The texts of options are parsed later, with
/// these as their base.
///
/// The order matters: parsing keeps the objects, but setting a table factory later would drop the
/// parsed options of tables. The failure names what the library lacks.
pub fn shared_options(library: &Library, plan: &Plan) -> Result<Handle, Failure> {
    let opening = Opening::of(library)?;
    // SAFETY: the calls follow rocksdb/c.h. All handles live as long as the process.
    unsafe {
        let mut options = (opening.options_create)();
        if let Some(cache) = &plan.block_cache {
            options = match cache.kind {
                CacheKind::Lru => with_lru(library, options, cache)?,
                CacheKind::HyperClock => with_hyper_clock(library, options, cache)?,
            };
        }
        if let Some(bytes) = plan.row_cache_bytes {
            let caching = RowCaching::of(library)?;
            (caching.options_set_row_cache)(options, (caching.cache_create_lru)(bytes));
        }
        if let Some(limiter) = &plan.rate_limiter {
            limit(library, options, limiter)?;
        }
        if let Some(threads) = plan.bottom_priority_threads {
            let env = BottomThreads::of(library)?;
            // All stores of a process use this environment.
            let default = (env.create_default_env)();
            (env.env_set_bottom_priority_background_threads)(default, threads.into());
        }
        Ok(options)
    }
}

/// Make the cache by a text. The C API has no function for its ratios, and in 6.29 none for its
/// shards.
fn with_lru(library: &Library, base: Handle, cache: &BlockCache) -> Result<Handle, Failure> {
    let opening = Opening::of(library)?;
    let mut text = format!("block_based_table_factory={{block_cache={{capacity={}", cache.bytes);
    let mut add = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            write!(text, ";{key}={value}").expect("a text takes what is written");
        }
    };
    add("num_shard_bits", cache.shard_bits.map(|bits| bits.to_string()));
    add("high_pri_pool_ratio", cache.high_priority_ratio.map(|ratio| ratio.to_string()));
    add("low_pri_pool_ratio", cache.low_priority_ratio.map(|ratio| ratio.to_string()));
    text.push_str("}}");
    let text = c_text(text.as_bytes(), "block_cache")?;
    // SAFETY: as in `shared_options`; RocksDB reads the text only during the call.
    unsafe {
        let options = (opening.options_create)();
        Freeing::of(library)?.attempt(Kind::Library, "block_cache", |error| {
            (opening.get_options_from_string)(base, text.as_ptr(), options, error)
        })?;
        Ok(options)
    }
}

fn with_hyper_clock(
    library: &Library,
    options: Handle,
    cache: &BlockCache,
) -> Result<Handle, Failure> {
    // RocksDB 8.7 brought this function, and caches that choose the size of their table. An older
    // version would divide by the size 0.
    if !library.has("rocksdb_wait_for_compact") {
        return Err(Kind::Library.because(
            "block_cache.kind: hyper_clock needs RocksDB 8.7 or newer, and the library is older",
        ));
    }
    let clock = HyperClock::of(library)?;
    // SAFETY: as in `shared_options`.
    unsafe {
        let settings = (clock.hyper_clock_cache_options_create)(cache.bytes, BY_ITSELF);
        if let Some(bits) = cache.shard_bits {
            (clock.hyper_clock_cache_options_set_num_shard_bits)(settings, bits);
        }
        let tables = (clock.block_based_options_create)();
        let made = (clock.cache_create_hyper_clock_opts)(settings);
        (clock.block_based_options_set_block_cache)(tables, made);
        (clock.options_set_block_based_table_factory)(options, tables);
    }
    Ok(options)
}

fn limit(library: &Library, options: Handle, limiter: &RateLimiter) -> Result<(), Failure> {
    let bytes = limiter.bytes_per_second;
    // SAFETY: as in `shared_options`.
    unsafe {
        if limiter.auto_tuned {
            let limiting = LimitingByLoad::of(library)?;
            let made = (limiting.ratelimiter_create_auto_tuned)(bytes, REFILL_US, FAIRNESS);
            (limiting.options_set_ratelimiter)(options, made);
        } else {
            let limiting = Limiting::of(library)?;
            let made = (limiting.ratelimiter_create)(bytes, REFILL_US, FAIRNESS);
            (limiting.options_set_ratelimiter)(options, made);
        }
    }
    Ok(())
}
