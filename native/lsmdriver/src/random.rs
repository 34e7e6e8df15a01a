//! Random numbers that depend only on another number.

use std::convert::Infallible;

use rand_core::TryRng;

/// 2^53, the number of different shares.
const STEPS: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;

/// The number of splitmix64 (Steele, Lea, Flood 2014). Numbers next to each other give independent
/// results.
pub fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// A random number as a share, at least 0 and below 1.
pub fn share(random: u64) -> f64 {
    (random >> (u64::BITS - f64::MANTISSA_DIGITS)) as f64 / STEPS
}

/// A generator of random numbers. Each operation gets a new one.
pub struct Mixing(pub u64);

impl Mixing {
    pub fn next(&mut self) -> u64 {
        self.0 = mixed(self.0);
        self.0
    }
}

impl TryRng for Mixing {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.next() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next())
    }

    fn try_fill_bytes(&mut self, target: &mut [u8]) -> Result<(), Infallible> {
        for piece in target.chunks_mut(size_of::<u64>()) {
            let bytes = self.next().to_le_bytes();
            piece.copy_from_slice(&bytes[..piece.len()]);
        }
        Ok(())
    }
}
