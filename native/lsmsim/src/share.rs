//! Cores shared fairly among who wants some.

/// What each gets of `cores` that wants so many: no more than it wants, and what it leaves goes to
/// the others alike.
pub fn fair_shares(cores: f64, wanted: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut shares = vec![0.0; wanted.len()];
    let (mut left, mut waiting) = (cores, wanted.len());
    for place in order {
        shares[place] = wanted[place].min(left / waiting as f64);
        left -= shares[place];
        waiting -= 1;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::fair_shares;

    #[test]
    fn what_one_leaves_goes_to_the_others() {
        assert_eq!(fair_shares(2.0, &[0.2, 1.0, 1.0]), [0.2, 0.9, 0.9]);
        assert_eq!(fair_shares(3.0, &[1.5, 1.5, 2.0]), [1.0; 3]);
        assert_eq!(fair_shares(8.0, &[1.0, 0.0]), [1.0, 0.0]);
    }
}
