//! Which operation a client does, and with which key: a pure function of seed, client and number.

use std::convert::Infallible;

use rand_core::TryRng;
use rand_distr::{Distribution, Zipf};

use crate::plan::{Choice, Group, Operation, OPERATION_BITS};
use crate::records::mixed;

/// Keeps the draws of operations apart from those of keys.
const OF_OPERATIONS: u64 = 0x6F70_6572_6174_696F;
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// The sequence of operations of a group.
pub struct Sequence {
    num: u64,
    seed: u64,
    clients: u64,
    choice: Choice,
    zipf: Option<Zipf<f64>>,
    stride: u64,
    /// Kinds of operations with the sum of the weights up to each.
    steps: Vec<(Operation, u64)>,
}

impl Sequence {
    /// The sequence of a group. `num` is the number of different keys.
    pub fn new(group: &Group, num: u64) -> Self {
        let zipf = match group.keys {
            Choice::Zipfian { exponent } => {
                Some(Zipf::new(num as f64, exponent).expect("the plan has been checked"))
            }
            _ => None,
        };
        let mut sum = 0;
        let steps = group.mix.iter().filter(|(_, &weight)| weight > 0).map(|(&kind, &weight)| {
            sum += u64::from(weight);
            (kind, sum)
        });
        Self {
            num,
            seed: group.seed,
            clients: group.clients,
            choice: group.keys,
            zipf,
            stride: stride(num),
            steps: steps.collect(),
        }
    }

    /// The kinds of operations that occur.
    pub fn kinds(&self) -> impl Iterator<Item = Operation> + '_ {
        self.steps.iter().map(|&(kind, _)| kind)
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

    /// The number of its key, below `num`.
    pub fn key(&self, client: u64, operation: u64) -> u64 {
        match self.choice {
            Choice::Uniform {} => self.draw(self.seed, client, operation) % self.num,
            Choice::Sequential {} => {
                let number = u128::from(operation) * u128::from(self.clients) + u128::from(client);
                (number % u128::from(self.num)) as u64
            }
            Choice::Zipfian { .. } => {
                let zipf = self.zipf.as_ref().expect("it is made with the choice");
                let mut random = Mixing(self.draw(self.seed, client, operation));
                let rank = (zipf.sample(&mut random) as u64).clamp(1, self.num) - 1;
                (u128::from(rank) * u128::from(self.stride) % u128::from(self.num)) as u64
            }
        }
    }

    fn draw(&self, seed: u64, client: u64, operation: u64) -> u64 {
        mixed(mixed(seed).wrapping_add((client << OPERATION_BITS).wrapping_add(operation)))
    }
}

/// A step that visits all numbers below `num`, and soon those far from each other: frequent keys
/// are then not neighbours.
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

/// A generator of random numbers. Each operation gets a new one.
struct Mixing(u64);

impl TryRng for Mixing {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.try_next_u64()? >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0 = mixed(self.0);
        Ok(self.0)
    }

    fn try_fill_bytes(&mut self, target: &mut [u8]) -> Result<(), Infallible> {
        for piece in target.chunks_mut(size_of::<u64>()) {
            let bytes = self.try_next_u64()?.to_le_bytes();
            piece.copy_from_slice(&bytes[..piece.len()]);
        }
        Ok(())
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

    #[test]
    fn examples_stay_as_they_are() {
        let first = |sequence: Sequence| -> Vec<u64> {
            [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)].map(|(c, n)| sequence.key(c, n)).to_vec()
        };
        assert_eq!(first(puts(json!({"kind": "sequential"}), 3)), [0, 2, 1, 1, 0]);
        assert_eq!(first(puts(json!({"kind": "uniform"}), 1000)), [293, 898, 574, 822, 63]);
        let zipfian = json!({"kind": "zipfian", "exponent": 0.99});
        assert_eq!(first(puts(zipfian, 1000)), [708, 952, 476, 680, 100]);
    }

    #[test]
    fn uniform_keys_are_drawn_from_all() {
        let sequence = puts(json!({"kind": "uniform"}), 100);
        let mut counts = [0; 100];
        (0..100_000).for_each(|n| counts[sequence.key(n % 2, n / 2) as usize] += 1);
        assert!(counts.iter().all(|count| (800..1200).contains(count)), "{counts:?}");
    }

    #[test]
    fn zipfian_keys_are_as_frequent_as_their_rank_says() {
        let sequence = puts(json!({"kind": "zipfian", "exponent": 1.0}), 1000);
        let mut counts = HashMap::new();
        (0..100_000).for_each(|n| *counts.entry(sequence.key(0, n)).or_insert(0) += 1);
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
