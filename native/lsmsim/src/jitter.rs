//! By how much alike things differ.

use fastrand::Rng;

/// A factor by chance, whose logarithm is spread so widely around nothing: nearly normally, as the
/// sum of three even draws.
pub fn jitter(rng: &mut Rng, spread: f64) -> f64 {
    let normal = 2.0 * (0..3).map(|_| rng.f64() - 0.5).sum::<f64>();
    (spread * normal).exp()
}
