//! Keys and values as db_bench builds them, so that tables compress equally well.

use rand_distr::{Distribution, Normal};

use crate::kinds::{Drawn, Sizes, DEVIATIONS};
use crate::random::{mixed, share, Mixing};

/// The end of the range of `Random`, 2^31 - 1.
const LIMIT: u64 = (1 << 31) - 1;
const FACTOR: u64 = 16_807;
/// The seed of db_bench's values (class RandomGenerator in tools/db_bench_tool.cc).
const SEED: u64 = 301;
const TEXT_BYTES: usize = 1 << 20;
const PIECE_BYTES: usize = 100;
/// A random byte is below this (RandomBinaryString in util/random.cc). db_bench before 8.3 draws
/// one of 95 characters instead, and zstd and zlib compress such values more. The driver writes the
/// same values to all versions.
const BYTES: u64 = 127;
const FILLER: u8 = b'0';
const NUMBER_BYTES: usize = size_of::<u64>();
/// Makes the random numbers of sizes independent of those of parts.
const OF_SIZES: u64 = 0x7369_7A65;
/// The smallest size of the kind `pareto` (MixGraph in tools/db_bench_tool.cc).
const SMALLEST_PARETO: f64 = 10.0;
const COMMA: u8 = b',';

/// RocksDB's generator of random numbers (class Random in util/random.h), that of Park and Miller.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0 * FACTOR % LIMIT;
        self.0
    }
}

/// Write the key with this number: the eight bytes of the number, the highest first, then the
/// character 0.
///
/// A shorter key has only the lowest bytes of the number (GenerateKeyFromInt in
/// tools/db_bench_tool.cc without prefixes).
pub fn write_key(number: u64, key: &mut [u8]) {
    let size = key.len().min(NUMBER_BYTES);
    key[..size].copy_from_slice(&number.to_be_bytes()[NUMBER_BYTES - size..]);
    key[size..].fill(FILLER);
}

/// The values of a store. All are parts of one text.
pub struct Values {
    text: Vec<u8>,
    sizes: Sizes,
    /// The number of parts. A value starts at the start of a part.
    parts: u64,
}

impl Values {
    /// Make values of these sizes. They compress to a share of their size (class RandomGenerator).
    pub fn new(sizes: Sizes, compression_ratio: f64) -> Self {
        let mut random = Random(SEED);
        let mut text = Vec::new();
        while text.len() < TEXT_BYTES.max(sizes.largest()) {
            let piece = compressible(&mut random, compression_ratio, PIECE_BYTES);
            text.extend(piece);
        }
        let parts = (text.len() / sizes.largest().max(1)) as u64;
        Self { text, sizes, parts }
    }

    /// The value of the key with this number.
    ///
    /// db_bench takes one part after the other. Here the part depends on the key, so that gets can
    /// check a value without knowing which client wrote it.
    pub fn of(&self, number: u64) -> &[u8] {
        let start = (mixed(number) % self.parts) as usize * self.sizes.largest();
        &self.text[start..start + self.size(number)]
    }

    fn size(&self, number: u64) -> usize {
        match self.sizes {
            Sizes::Fixed(size) => size,
            Sizes::Drawn(drawn) => drawn_size(drawn, mixed(number ^ OF_SIZES)),
        }
    }
}

/// The size for a random number.
fn drawn_size(drawn: Drawn, random: u64) -> usize {
    match drawn {
        Drawn::Uniform { low, high } => (low + random % (high - low + 1)) as usize,
        Drawn::Normal { mean, deviation } => {
            let normal = Normal::new(mean, deviation).expect("the plan has been checked");
            let most = DEVIATIONS * deviation;
            normal.sample(&mut Mixing(random)).clamp((mean - most).max(0.0), mean + most) as usize
        }
        Drawn::Pareto { theta, k, sigma, high } => {
            // The formula of ParetoCdfInversion and MixGraph. Their share is 0 at the lowest, for
            // which the formula has no value; here it is above 0.
            let upper = 1.0 - share(random);
            let drawn = match k {
                0.0 => theta - sigma * upper.ln(),
                _ => theta + sigma * (upper.powf(-k) - 1.0) / k,
            };
            let size = drawn.ceil().max(SMALLEST_PARETO) as u64;
            (if size > high { size % high } else { size }) as usize
        }
    }
}

/// Whether a value consists of copies of another one with commas between them, as the merge
/// operator stringappend writes it.
pub fn repeats(found: &[u8], written: &[u8]) -> bool {
    let step = written.len() + 1;
    (found.len() + 1) % step == 0
        && found.chunks(step).all(|part| {
            part.starts_with(written) && part.get(written.len()).is_none_or(|&byte| byte == COMMA)
        })
}

/// Random bytes that repeat (CompressibleString in test_util/testutil.cc).
fn compressible(random: &mut Random, ratio: f64, size: usize) -> impl Iterator<Item = u8> {
    let drawn = ((size as f64 * ratio) as usize).max(1);
    let bytes: Vec<u8> = (0..drawn).map(|_| (random.next() % BYTES) as u8).collect();
    bytes.into_iter().cycle().take(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{json, Value};

    #[test]
    fn random_numbers_are_those_of_park_and_miller() {
        let mut random = Random(1);
        let drawn: Vec<u64> = (0..10_000).map(|_| random.next()).collect();
        assert_eq!(drawn[..3], [16_807, 282_475_249, 1_622_650_073]);
        assert_eq!(drawn[9_999], 1_043_618_065); // Park and Miller 1988, page 1195
    }

    #[test]
    fn keys_are_those_of_db_bench() {
        let written = |number, size| {
            let mut key = vec![0; size];
            write_key(number, &mut key);
            key
        };
        assert_eq!(written(0x0102_0304, 16), b"\0\0\0\0\x01\x02\x03\x0400000000");
        assert_eq!(written(0x0102_0304, 8), b"\0\0\0\0\x01\x02\x03\x04");
        assert_eq!(written(0x0102_0304, 3), b"\x02\x03\x04");
        assert_eq!(written(5, 0), b"");
    }

    #[test]
    fn the_text_repeats_by_the_compression_ratio() {
        let values = Values::new(Sizes::Fixed(100), 0.25);
        let first = &values.text[..PIECE_BYTES];
        assert_eq!(first[..8], [116, 16, 28, 60, 76, 72, 55, 3]); // computed independently
        assert_eq!(first[..25], first[25..50]);
        assert_eq!(first[..25], first[75..]);
        assert_ne!(first[..24], first[1..25]);
        assert_ne!(first[..25], values.text[PIECE_BYTES..PIECE_BYTES + 25]);
        assert!(values.text.iter().all(|&byte| u64::from(byte) < BYTES));
    }

    #[test]
    fn a_value_depends_on_the_key_alone() {
        let new = |size| Values::new(Sizes::Fixed(size), 0.5);
        for size in [0, 1, 1024, TEXT_BYTES, 2 * TEXT_BYTES + 1] {
            let (values, others) = (new(size), new(size));
            for number in [0, 1, u64::MAX] {
                assert_eq!(values.of(number).len(), size);
                assert_eq!(values.of(number), others.of(number));
            }
        }
        let values = Values::new(Sizes::Fixed(100), 0.5);
        assert_ne!(values.of(1), values.of(2));
    }

    fn sizes(sizes: Value) -> Vec<usize> {
        let sizes: Sizes = serde_json::from_value(sizes).unwrap();
        let values = Values::new(sizes, 0.5);
        let again = Values::new(sizes, 0.5);
        let all = (0..20_000).map(|number| {
            assert_eq!(values.of(number), again.of(number));
            values.of(number).len()
        });
        let mut all: Vec<usize> = all.collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn uniform_sizes_are_equally_frequent() {
        let sizes = sizes(json!({"kind": "uniform", "low": 10, "high": 19}));
        for size in 10..20 {
            let count = sizes.iter().filter(|&&found| found == size).count();
            assert!((1800..2200).contains(&count), "{size}: {count}");
        }
    }

    #[test]
    fn normal_sizes_have_mean_and_deviation_and_bounds() {
        let sizes = sizes(json!({"kind": "normal", "mean": 1000, "deviation": 100}));
        let mean = sizes.iter().sum::<usize>() as f64 / sizes.len() as f64;
        assert!((mean - 1000.0).abs() < 5.0, "{mean}");
        let variance = sizes.iter().map(|&size| (size as f64 - mean).powi(2)).sum::<f64>();
        let deviation = (variance / sizes.len() as f64).sqrt();
        assert!((deviation - 100.0).abs() < 3.0, "{deviation}");
        assert_eq!((sizes[0], sizes[sizes.len() - 1]), (700, 1300));
    }

    #[test]
    fn pareto_sizes_are_those_of_mixgraph() {
        let (k, sigma) = (0.2615, 25.45);
        let sizes = sizes(json!({"kind": "pareto", "k": k, "sigma": sigma, "high": 1024}));
        assert_eq!(sizes[0], 10);
        assert!(sizes[sizes.len() - 1] <= 1024);
        for share in [0.5, 0.9, 0.99] {
            let expected = sigma * (f64::powf(1.0 - share, -k) - 1.0) / k;
            let found = sizes[(share * sizes.len() as f64) as usize] as f64;
            assert!((found / expected - 1.0).abs() < 0.1, "{share}: {found} {expected}");
        }
        let exponential =
            drawn_size(Drawn::Pareto { theta: 5.0, k: 0.0, sigma, high: 999 }, 1 << 63);
        assert_eq!(exponential, (5.0 + sigma * f64::ln(2.0)).ceil() as usize);
    }

    #[test]
    fn copies_with_commas_between_them_repeat_a_value() {
        for (found, written, expected) in [
            ("ab", "ab", true),
            ("ab,ab,ab", "ab", true),
            ("a,,a,", "a,", true),
            ("", "", true),
            (",,", "", true),
            ("ab,", "ab", false),
            ("ab,ac", "ab", false),
            ("abxab", "ab", false),
            ("", "ab", false),
            ("a", "", false),
        ] {
            let repeats = repeats(found.as_bytes(), written.as_bytes());
            assert_eq!(repeats, expected, "{found} {written}");
        }
    }
}
