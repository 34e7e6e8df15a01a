//! Keys and values as db_bench builds them, so that tables compress alike.

/// The end of the range of `Random`, 2^31 - 1.
const LIMIT: u64 = (1 << 31) - 1;
const FACTOR: u64 = 16_807;
/// The seed of db_bench's values (class RandomGenerator in tools/db_bench_tool.cc).
const SEED: u64 = 301;
const TEXT_BYTES: usize = 1 << 20;
const PIECE_BYTES: usize = 100;
/// A random byte is below this (RandomBinaryString in util/random.cc). db_bench before 8.3 draws from
/// 95 characters instead, so zstd and zlib compress its values more. All versions get the same here.
const BYTES: u64 = 127;
const FILLER: u8 = b'0';
const NUMBER_BYTES: usize = size_of::<u64>();

/// RocksDB's generator of random numbers (class Random in util/random.h), that of Park and Miller.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0 * FACTOR % LIMIT;
        self.0
    }
}

/// The numbers of splitmix64 (Steele, Lea, Flood 2014): neighbours give independent ones.
pub fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// Write the key with this number: the number with the highest byte first, then zeros of ASCII.
///
/// A key of fewer than eight bytes has the lowest of the number (GenerateKeyFromInt in
/// tools/db_bench_tool.cc without prefixes).
pub fn write_key(number: u64, key: &mut [u8]) {
    let size = key.len().min(NUMBER_BYTES);
    key[..size].copy_from_slice(&number.to_be_bytes()[NUMBER_BYTES - size..]);
    key[size..].fill(FILLER);
}

/// The values of a store. All are parts of one text, made once.
pub struct Values {
    text: Vec<u8>,
    size: usize,
}

impl Values {
    /// Values of this many bytes that compress to this share (class RandomGenerator).
    pub fn new(size: usize, compression_ratio: f64) -> Self {
        let mut random = Random(SEED);
        let mut text = Vec::new();
        while text.len() < TEXT_BYTES.max(size) {
            let piece = compressible(&mut random, compression_ratio, PIECE_BYTES);
            text.extend(piece);
        }
        Self { text, size }
    }

    /// The value of the key with this number.
    ///
    /// db_bench takes the parts in the order of the writes. Here the key chooses, so that a value
    /// that is read can be checked, whoever wrote it.
    pub fn of(&self, number: u64) -> &[u8] {
        let parts = (self.text.len() / self.size.max(1)) as u64;
        let start = (mixed(number) % parts) as usize * self.size;
        &self.text[start..start + self.size]
    }
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
    fn the_text_repeats_as_much_as_it_shall_compress() {
        let values = Values::new(100, 0.25);
        let first = &values.text[..PIECE_BYTES];
        assert_eq!(first[..8], [116, 16, 28, 60, 76, 72, 55, 3]); // computed apart
        assert_eq!(first[..25], first[25..50]);
        assert_eq!(first[..25], first[75..]);
        assert_ne!(first[..24], first[1..25]);
        assert_ne!(first[..25], values.text[PIECE_BYTES..PIECE_BYTES + 25]);
        assert!(values.text.iter().all(|&byte| u64::from(byte) < BYTES));
    }

    #[test]
    fn a_value_depends_on_the_key_alone() {
        for size in [0, 1, 1024, TEXT_BYTES, 2 * TEXT_BYTES + 1] {
            let (values, others) = (Values::new(size, 0.5), Values::new(size, 0.5));
            for number in [0, 1, u64::MAX] {
                assert_eq!(values.of(number).len(), size);
                assert_eq!(values.of(number), others.of(number));
            }
        }
        let values = Values::new(100, 0.5);
        assert_ne!(values.of(1), values.of(2));
    }
}
