use super::*;
use proptest::prelude::*;

/// The 97.5 % quantiles of Student's t, to 12 digits. The first four digits are those of published tables (NIST
/// Engineering Statistics Handbook, section 1.3.6.7.2); the others come from SciPy (`scipy.stats.t.ppf(0.975, n)`) and
/// from a bisection with 45 decimal digits.
const QUANTILES: [(u64, f64); 16] = [
    (1, 12.706_204_736_17),
    (2, 4.302_652_729_75),
    (3, 3.182_446_305_28),
    (4, 2.776_445_105_20),
    (5, 2.570_581_835_64),
    (9, 2.262_157_162_80),
    (10, 2.228_138_851_99),
    (19, 2.093_024_054_41),
    (30, 2.042_272_456_30),
    (49, 2.009_575_237_13),
    (99, 1.984_216_951_59),
    (100, 1.983_971_518_52),
    (499, 1.964_729_390_99),
    (999, 1.962_341_461_13),
    (1_999, 1.961_151_420_17),
    (9_999, 1.960_201_263_62),
];

fn moments_of(values: &[f64], clusters: &[u64]) -> Moments {
    let mut moments = Moments::default();
    values.iter().zip(clusters).for_each(|(&value, &cluster)| moments.add(value, cluster));
    moments
}

fn close(ours: f64, expected: f64, relative: f64) {
    assert!((ours / expected - 1.0).abs() < relative, "{ours}, expected {expected}");
}

#[test]
fn quantiles_of_student_t_are_exact() {
    for (degrees, expected) in QUANTILES {
        close(student_t_975(degrees), expected, 1e-11);
    }
    // With many degrees of freedom the first terms of the expansion in 1/n are enough (Abramowitz and Stegun, 26.7.5):
    // z + (z^3 + z) / 4n + (5 z^5 + 16 z^3 + 3 z) / 96 n^2, with z = 1.959964 the quantile of the normal distribution.
    let million = 1.959_963_984_540 + 2.372_271e-6 + 2.82e-12;
    close(student_t_975_by_sum(1_000_000), million, 1e-9);
    close(student_t_975(1_000_000), million, 1e-9);
    // Where one method takes over from the other they agree.
    for degrees in [9_999, 10_000, 10_001] {
        close(student_t_975_by_expansion(degrees), student_t_975_by_sum(degrees), 1e-11);
        close(student_t_975(degrees), student_t_975_by_sum(degrees), 1e-11);
    }
}

#[test]
fn the_mean_of_independent_values() {
    // 1..9: variance 7.5, so the error of the mean is sqrt(7.5 / 9); t for 8 degrees of freedom is 2.306004135204.
    let nine = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]).unwrap();
    assert_eq!(nine.mean, 5.0);
    close(nine.half, 2.306_004_135_204 * (7.5_f64 / 9.0).sqrt(), 1e-12);
    assert_eq!(nine.ci95(), [5.0 - nine.half, 5.0 + nine.half]);
    assert_eq!(Estimate::of(&[2.0]), Some(Estimate::exact(2.0)));
    assert_eq!(Estimate::of(&[]), None);
    // Equal values have no interval, even where their sum is rounded.
    assert_eq!(Estimate::of(&[0.1; 7]).unwrap().half, 0.0);
    // A sum without compensation is 0.
    assert_eq!(Estimate::of(&[1e100, 1.0, -1e100, 1.0]).unwrap().mean, 0.5);
}

#[test]
fn the_mean_of_values_in_clusters() {
    // The values of a cluster are alike: as many observations as clusters, twice 1 and twice 3 are as 1 and 3.
    let alike = Estimate::of_clusters(&[1.0, 1.0, 3.0, 3.0], &[7, 7, 8, 8]).unwrap();
    assert_eq!(alike, Estimate::of(&[1.0, 3.0]).unwrap());
    // Each value a cluster: the values are independent.
    assert_eq!(Estimate::of_clusters(&[1.0, 2.0, 4.0], &[1, 2, 3]), Estimate::of(&[1.0, 2.0, 4.0]));
    // Unequal sizes: the mean of 1, 2, 6 is 3; the deviations add up to -3 in one cluster and to 3 in the other, the
    // variance is (9 + 9) / 3^2 * 2 / 1 = 4, and t for 1 degree of freedom is 12.70620473617.
    let unequal = Estimate::of_clusters(&[1.0, 2.0, 6.0], &[1, 1, 2]).unwrap();
    assert_eq!(unequal.mean, 3.0);
    close(unequal.half, 2.0 * 12.706_204_736_17, 1e-11);
    let moments = moments_of(&[1.0, 2.0, 6.0], &[1, 1, 2]).estimate().unwrap();
    assert_eq!(moments.mean, 3.0);
    close(moments.half, 2.0 * 12.706_204_736_17, 1e-11);
    // One cluster is one observation.
    assert_eq!(Estimate::of_clusters(&[1.0, 3.0], &[5, 5]), Some(Estimate::exact(2.0)));
    assert_eq!(moments_of(&[1.0, 3.0], &[5, 5]).estimate(), Some(Estimate::exact(2.0)));
    assert_eq!(Estimate::of_clusters(&[], &[]), None);
}

#[test]
fn arithmetic_of_independent_means() {
    let [ten, five, four] = [(10.0, 0.3), (5.0, 0.2), (4.0, 0.4)].map(|(mean, half)| Estimate { mean, half });
    // 0.3 and 0.4 make 0.5; relative errors of 3 % and 4 % make 5 %.
    assert_eq!(ten - four, Estimate { mean: 6.0, half: 0.5 });
    assert_eq!((ten / five).mean, 2.0);
    close((ten / five).half, 0.1, 1e-12);
    // A ratio of 0: the error of the numerator is all there is.
    assert_eq!(Estimate { mean: 0.0, half: 0.1 } / five, Estimate { mean: 0.0, half: 0.02 });
    assert_eq!(Estimate::mean_of(&[ten - four, four]).unwrap().mean, 5.0);
    let mean = Estimate::mean_of(&[Estimate { mean: 1.0, half: 0.3 }, Estimate { mean: 3.0, half: 0.4 }]);
    assert_eq!(mean, Some(Estimate { mean: 2.0, half: 0.25 }));
    assert_eq!(Estimate::mean_of(&[]), None);
}

#[test]
fn percentiles_lie_between_neighbours() {
    let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
    // numpy.percentile(range(1, 101), [0, 50, 95, 99, 100]) is 1, 50.5, 95.05, 99.01, 100.
    for (share, expected) in [(0.0, 1.0), (0.5, 50.5), (0.95, 95.05), (0.99, 99.01), (1.0, 100.0)] {
        close(percentile(&hundred, share).unwrap(), expected, 1e-12);
    }
    assert_eq!(percentile(&[3.0], 0.99), Some(3.0));
    assert_eq!(percentile(&[], 0.5), None);
}

proptest! {
    #[test]
    fn moments_give_the_estimate_of_values_that_are_kept(
        sizes in prop::collection::vec(1usize..6, 1..80),
        deviations in prop::collection::vec(-1.0f64..1.0, 400),
        offset in prop::sample::select(vec![0.0, 3.0, -1e6, 1e9]),
    ) {
        let clusters: Vec<u64> =
            sizes.iter().enumerate().flat_map(|(cluster, &size)| vec![cluster as u64; size]).collect();
        let values: Vec<f64> = deviations[..clusters.len()].iter().map(|deviation| offset + deviation).collect();
        let moments = moments_of(&values, &clusters);
        let (ours, exact) = (moments.estimate().unwrap(), Estimate::of_clusters(&values, &clusters).unwrap());
        prop_assert_eq!(moments.clusters() as usize, sizes.len());
        prop_assert_eq!(ours.mean, exact.mean);
        prop_assert!((ours.half - exact.half).abs() <= 1e-9 * exact.half.max(1e-3), "{} {}", ours.half, exact.half);
    }
}

#[test]
fn moments_of_no_value_have_no_estimate() {
    assert_eq!(Moments::default().estimate(), None);
}
