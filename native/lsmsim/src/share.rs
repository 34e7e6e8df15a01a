//! Fair shares of cores.

/// Share `cores` among those that want the numbers in `wanted`. Nobody gets more than it wants;
/// the others share the rest equally.
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
    fn unused_shares_go_to_the_others() {
        assert_eq!(fair_shares(2.0, &[0.2, 1.0, 1.0]), [0.2, 0.9, 0.9]);
        assert_eq!(fair_shares(3.0, &[1.5, 1.5, 2.0]), [1.0; 3]);
        assert_eq!(fair_shares(8.0, &[1.0, 0.0]), [1.0, 0.0]);
    }
}
