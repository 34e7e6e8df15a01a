//! Random differences between equal jobs and reads.

use fastrand::Rng;

/// A random factor. Its logarithm has the mean 0 and the deviation `spread`. It is nearly normal,
/// as the sum of three uniform numbers.
pub fn jitter(rng: &mut Rng, spread: f64) -> f64 {
    let normal = 2.0 * (0..3).map(|_| rng.f64() - 0.5).sum::<f64>();
    (spread * normal).exp()
}
