//! The kinds and keys of operations. They depend only on the seed, the client and the number of
//! the operation.

use rand_distr::{Distribution, Zipf};

use crate::kinds::{Choice, Operation};
use crate::plan::{Group, OPERATION_BITS};
use crate::random::{mixed, share, Mixing};

/// Makes the random numbers of kinds of operations independent of those of keys.
const OF_OPERATIONS: u64 = 0x6F70_6572_6174_696F;
const GOLDEN: f64 = 0.618_033_988_749_894_9;
/// The exponent of YCSB's distribution "latest" (ZipfianGenerator.ZIPFIAN_CONSTANT).
const LATEST_EXPONENT: f64 = 0.99;
/// Spreads keys of the kind `exponential` (kBigPrime in GetRandomKey of tools/db_bench_tool.cc).
const PRIME: u64 = 0x5BD1_E995;
/// With four rounds, the order looks random (Luby and Rackoff 1988).
const ROUNDS: u64 = 4;

/// The sequence of operations of a group.
pub struct Sequence {
    num: u64,
    seed: u64,
    clients: u64,
    keys: Chosen,
    /// The keys of operations that write or delete, if they differ.
    write_keys: Option<Chosen>,
    stride: u64,
    /// Kinds of operations. Each has the sum of its weight and of all weights before it.
    steps: Vec<(Operation, u64)>,
    deletes_ranges: bool,
}

/// A choice of keys, with the distribution of its ranks.
struct Chosen {
    choice: Choice,
    zipf: Option<Zipf<f64>>,
}

impl Chosen {
    fn new(choice: Choice, num: u64) -> Self {
        let exponent = match choice {
            Choice::Zipfian { exponent } => Some(exponent),
            Choice::Latest {} => Some(LATEST_EXPONENT),
            _ => None,
        };
        let zipf = exponent
            .map(|exponent| Zipf::new(num as f64, exponent).expect("the plan has been checked"));
        Self { choice, zipf }
    }
}

impl Sequence {
    /// The sequence of a group. `num` is the number of different keys.
    pub fn new(group: &Group, num: u64) -> Self {
        let mut sum = 0;
        let steps = group.mix.iter().filter(|(_, &weight)| weight > 0).map(|(&kind, &weight)| {
            sum += u64::from(weight);
            (kind, sum)
        });
        Self {
            num,
            seed: group.seed,
            clients: group.clients,
            keys: Chosen::new(group.keys, num),
            write_keys: group.write_keys.map(|keys| Chosen::new(keys, num)),
            stride: stride(num),
            steps: steps.collect(),
            deletes_ranges: group.range_delete.is_some(),
        }
    }

    /// The kinds of operations that occur.
    pub fn kinds(&self) -> impl Iterator<Item = Operation> + '_ {
        let of_mix = self.steps.iter().map(|&(kind, _)| kind);
        of_mix.chain(self.deletes_ranges.then_some(Operation::RangeDelete))
    }

    /// The kind of an operation. Clients of a group have numbers from 0.
    pub fn kind(&self, client: u64, operation: u64) -> Operation {
        if let [(kind, _)] = self.steps[..] {
            return kind;
        }
        let all = self.steps[self.steps.len() - 1].1;
        let drawn = self.draw(self.seed ^ OF_OPERATIONS, client, operation) % all;
        let step = self.steps.iter().find(|&&(_, sum)| drawn < sum);
        step.expect("the last sum is that of all weights").0
    }

    /// The number of the key that a client draws, below `num`. Draws have numbers from 0.
    ///
    /// `puts` is the number of puts that the client has done. Only the kind `latest` uses it: puts
    /// write one key after the other, and other operations use keys near that of the last put.
    pub fn key(&self, client: u64, draw: u64, puts: u64, kind: Operation) -> u64 {
        let own = if kind.reads() { None } else { self.write_keys.as_ref() };
        let chosen = own.unwrap_or(&self.keys);
        match chosen.choice {
            Choice::Uniform {} => self.draw(self.seed, client, draw) % self.num,
            Choice::Sequential {} => self.place(client, draw),
            Choice::Unique {} => shuffled(self.place(client, draw), self.num, self.seed),
            Choice::Zipfian { .. } => self.spread(self.rank(chosen, client, draw)),
            Choice::Exponential { range } => {
                let scale = (-share(self.draw(self.seed, client, draw)) * range).exp();
                ((scale * self.num as f64) as u64).wrapping_mul(PRIME) % self.num
            }
            Choice::Latest {} => {
                // The next put writes the oldest key, which comes after the newest.
                let next = self.place(client, puts);
                match kind {
                    Operation::Put => self.spread(next),
                    _ => self.spread(self.back(next, self.rank(chosen, client, draw) + 1)),
                }
            }
            Choice::HotRanges { ranges, hot_share, hot_keys } => {
                let mut random = Mixing(self.draw(self.seed, client, draw));
                let start = |range: u64| part(self.num, range, ranges);
                let range = random.next() % ranges;
                let size = start(range + 1) - start(range);
                let hot = ((size as f64 * hot_keys).round() as u64).clamp(1, size - 1);
                if share(random.next()) < hot_share {
                    start(range) + random.next() % hot
                } else {
                    start(range) + hot + random.next() % (size - hot)
                }
            }
        }
    }

    fn draw(&self, seed: u64, client: u64, draw: u64) -> u64 {
        mixed(mixed(seed).wrapping_add((client << OPERATION_BITS).wrapping_add(draw)))
    }

    /// The place of a draw among the draws of all clients of the group, which take turns.
    fn place(&self, client: u64, draw: u64) -> u64 {
        let place = u128::from(draw) * u128::from(self.clients) + u128::from(client);
        (place % u128::from(self.num)) as u64
    }

    /// The place `steps` before another one. The last place comes before the first.
    fn back(&self, place: u64, steps: u64) -> u64 {
        let place = u128::from(place) + u128::from(self.num) - u128::from(steps);
        (place % u128::from(self.num)) as u64
    }

    /// Draw a rank by Zipf's law, from 0.
    fn rank(&self, chosen: &Chosen, client: u64, draw: u64) -> u64 {
        let zipf = chosen.zipf.as_ref().expect("it is made with the choice");
        let mut random = Mixing(self.draw(self.seed, client, draw));
        (zipf.sample(&mut random) as u64).clamp(1, self.num) - 1
    }

    /// The key with this rank. Neighbouring ranks have keys that are far from each other.
    fn spread(&self, rank: u64) -> u64 {
        (u128::from(rank) * u128::from(self.stride) % u128::from(self.num)) as u64
    }
}

/// The place of a number below `num` in a random order of all numbers below `num`.
///
/// The number is written as two digits. Each round changes one digit by the other (a Feistel
/// network). Each round can be reversed, so no two numbers get the same place. If the result is
/// not below `num`, it goes through the rounds again (Black and Rogaway 2002, "cycle walking").
fn shuffled(number: u64, num: u64, seed: u64) -> u64 {
    let base = num.isqrt().max(1);
    let digits = num.div_ceil(base);
    let mut number = number;
    loop {
        let (mut high, mut low) = (number / base, number % base);
        for round in 0..ROUNDS {
            let random = |digit| mixed(mixed(seed.wrapping_add(round)).wrapping_add(digit));
            if round % 2 == 0 {
                low = (low + random(high) % base) % base;
            } else {
                high = (high + random(low) % digits) % digits;
            }
        }
        number = high * base + low;
        if number < num {
            return number;
        }
    }
}

/// The start of the n-th of equal parts of a whole.
fn part(whole: u64, n: u64, parts: u64) -> u64 {
    (u128::from(whole) * u128::from(n) / u128::from(parts)) as u64
}

/// A step with which multiples visit all numbers below `num`. Frequent keys are then far from each
/// other.
fn stride(num: u64) -> u64 {
    let mut stride = ((num as f64 * GOLDEN) as u64).max(1);
    while common_divisor(stride, num) != 1 {
        stride += 1;
    }
    stride
}

fn common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 {
        one
    } else {
        common_divisor(other, one % other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{json, Value};
    use std::collections::HashMap;

    fn sequence(keys: Value, mix: Value, clients: u64, num: u64) -> Sequence {
        let group = json!({"clients": clients, "seed": 7, "keys": keys, "mix": mix});
        Sequence::new(&serde_json::from_value(group).unwrap(), num)
    }

    fn puts(keys: Value, num: u64) -> Sequence {
        sequence(keys, json!({"put": 1}), 2, num)
    }

    fn put(sequence: &Sequence, client: u64, draw: u64) -> u64 {
        sequence.key(client, draw, draw, Operation::Put)
    }

    fn counts(sequence: &Sequence) -> Vec<u64> {
        let mut counts = vec![0; sequence.num as usize];
        (0..100_000).for_each(|n| counts[put(sequence, 0, n) as usize] += 1);
        counts
    }

    #[test]
    fn examples_stay_as_they_are() {
        let first = |sequence: Sequence| -> Vec<u64> {
            let clients = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)];
            clients.map(|(client, draw)| put(&sequence, client, draw)).to_vec()
        };
        assert_eq!(first(puts(json!({"kind": "sequential"}), 3)), [0, 2, 1, 1, 0]);
        assert_eq!(first(puts(json!({"kind": "uniform"}), 1000)), [293, 898, 574, 822, 63]);
        let zipfian = json!({"kind": "zipfian", "exponent": 0.99});
        assert_eq!(first(puts(zipfian, 1000)), [708, 952, 476, 680, 100]);
        assert_eq!(first(puts(json!({"kind": "unique"}), 1000)), [891, 538, 319, 749, 199]);
    }

    #[test]
    fn uniform_keys_are_drawn_from_all() {
        let sequence = puts(json!({"kind": "uniform"}), 100);
        let counts = counts(&sequence);
        assert!(counts.iter().all(|count| (800..1200).contains(count)), "{counts:?}");
    }

    #[test]
    fn zipfian_keys_are_as_frequent_as_their_rank_says() {
        let sequence = puts(json!({"kind": "zipfian", "exponent": 1.0}), 1000);
        let mut counts = HashMap::new();
        (0..100_000).for_each(|n| *counts.entry(put(&sequence, 0, n)).or_insert(0) += 1);
        let mut sorted: Vec<(i32, u64)> = counts.iter().map(|(&key, &n)| (n, key)).collect();
        sorted.sort_unstable_by(|one, other| other.cmp(one));
        let all: f64 = (1..=1000).map(|rank| 1.0 / f64::from(rank)).sum();
        for (rank, (count, _)) in sorted.iter().take(5).enumerate() {
            let expected = 100_000.0 / all / (rank as f64 + 1.0);
            assert!((f64::from(*count) / expected - 1.0).abs() < 0.1, "{rank}: {count}");
        }
        assert!(sorted[0].1.abs_diff(sorted[1].1) > 100, "frequent keys are apart");
    }

    #[test]
    fn unique_keys_are_all_there_once_in_another_order_for_each_seed() {
        for num in [1, 2, 3, 5, 16, 17, 99, 1000, 4095, 4096] {
            let mut orders = Vec::new();
            for seed in [1, 2] {
                let order: Vec<u64> = (0..num).map(|n| shuffled(n, num, seed)).collect();
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert!(sorted.into_iter().eq(0..num), "{num}");
                orders.push(order);
            }
            assert!(num < 16 || orders[0] != orders[1], "{num}");
        }
    }

    #[test]
    fn clients_share_unique_keys() {
        let sequence = sequence(json!({"kind": "unique"}), json!({"put": 1}), 3, 300);
        let mut keys: Vec<u64> = (0..300).map(|n| put(&sequence, n % 3, n / 3)).collect();
        keys.sort_unstable();
        assert!(keys.into_iter().eq(0..300));
    }

    #[test]
    fn unique_keys_come_in_random_order() {
        let num = 100_000;
        let order: Vec<u64> = (0..num).map(|n| shuffled(n, num, 7)).collect();
        let part = |keys: &[u64]| keys.iter().filter(|&&key| key < num / 10).count();
        for keys in order.chunks(10_000) {
            assert!((900..1100).contains(&part(keys)), "{}", part(keys));
        }
        let rises = order.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((49_000..51_000).contains(&rises), "{rises}");
        let near = order.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) < num / 100).count();
        assert!((1_700..2_300).contains(&near), "{near}");
    }

    #[test]
    fn exponential_keys_are_those_of_db_bench() {
        let (num, range) = (1000, 5.0);
        let sequence = puts(json!({"kind": "exponential", "range": range}), num);
        let counts = counts(&sequence);
        let keys_of = |numbers: std::ops::Range<u64>| -> u64 {
            numbers.map(|number| counts[(number * 0x5BD1_E995 % num) as usize]).sum()
        };
        // num * exp(-r) is below a share s of num where r is above -ln(s).
        for share in [0.02, 0.1, 0.5] {
            let expected = 100_000.0 * (1.0 + f64::ln(share) / range);
            let found = keys_of(0..(share * num as f64) as u64) as f64;
            assert!((found / expected - 1.0).abs() < 0.05, "{share}: {found} {expected}");
        }
    }

    #[test]
    fn latest_keys_are_near_the_last_put() {
        let num = 1000;
        let sequence = sequence(json!({"kind": "latest"}), json!({"put": 1, "get": 1}), 2, num);
        // The clients have put the first places, and then, from the first on, all again.
        for puts in [0, 1, 10, 499, 500, 777] {
            let last = match puts {
                0 => sequence.spread(num - 1),
                _ => put(&sequence, 1, puts - 1),
            };
            let mut counts = HashMap::new();
            for draw in 0..20_000 {
                *counts.entry(sequence.key(0, draw, puts, Operation::Get)).or_insert(0) += 1;
            }
            let all: f64 = (1..=1000).map(|rank| f64::from(rank).powf(-0.99)).sum();
            let expected = 20_000.0 / all;
            let found = f64::from(counts[&last]);
            assert!((found / expected - 1.0).abs() < 0.1, "{puts}: {found} {expected}");
            assert_eq!(counts.values().max(), counts.get(&last));
        }
        let mut keys: Vec<u64> = (0..num).map(|n| put(&sequence, n % 2, n / 2)).collect();
        keys.sort_unstable();
        assert!(keys.into_iter().eq(0..num), "puts go through all keys");
    }

    #[test]
    fn hot_ranges_get_their_share() {
        let keys = json!({"kind": "hot_ranges", "ranges": 4, "hot_share": 0.8, "hot_keys": 0.1});
        let counts = counts(&puts(keys, 1003));
        let mean = 80_000 / 100;
        let hot: Vec<usize> = (0..counts.len()).filter(|&key| counts[key] > mean / 2).collect();
        let begins = hot.iter().filter(|&&key| key == 0 || !hot.contains(&(key - 1)));
        assert_eq!(begins.copied().collect::<Vec<_>>(), [0, 250, 501, 752]);
        assert!((97..=103).contains(&hot.len()), "{}", hot.len());
        let share: u64 = hot.iter().map(|&key| counts[key]).sum();
        assert!((79_000..81_000).contains(&share), "{share}");
        assert!(counts.iter().all(|&count| count > 0), "the other keys are used too");
    }

    #[test]
    fn writes_have_keys_of_their_own() {
        let num = 1000;
        let group = json!({
            "clients": 1, "seed": 7, "keys": {"kind": "uniform"},
            "write_keys": {"kind": "exponential", "range": 5.0}, "mix": {"put": 1, "get": 1},
        });
        let both = Sequence::new(&serde_json::from_value(group).unwrap(), num);
        let uniform = puts(json!({"kind": "uniform"}), num);
        let skewed = puts(json!({"kind": "exponential", "range": 5.0}), num);
        let writes = [Operation::Put, Operation::ReadModifyWrite, Operation::Delete];
        for draw in 0..100 {
            for kind in [Operation::Get, Operation::MultiGet, Operation::Scan] {
                assert_eq!(both.key(0, draw, draw, kind), put(&uniform, 0, draw));
            }
            for kind in writes {
                assert_eq!(both.key(0, draw, draw, kind), put(&skewed, 0, draw));
            }
        }
    }

    #[test]
    fn a_stride_visits_all_keys() {
        for num in [1, 2, 3, 1000, 1 << 20] {
            assert_eq!(common_divisor(stride(num), num), 1);
        }
    }

    #[test]
    fn operations_are_mixed_by_weight() {
        let mix = json!({"put": 1, "get": 3, "scan": 0});
        let sequence = sequence(json!({"kind": "uniform"}), mix, 1, 10);
        let gets = (0..10_000).filter(|&n| sequence.kind(0, n) == Operation::Get).count();
        assert!((7_200..7_800).contains(&gets), "{gets}");
        assert_eq!(sequence.kinds().collect::<Vec<_>>(), [Operation::Put, Operation::Get]);
    }
}
