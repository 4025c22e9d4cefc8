use super::*;
use slowhand_net::random::{Stream, Streams};

fn stream() -> Stream {
    Streams::new(1).stream("distribution", 0)
}

/// A number from 0 to 1.
fn share(stream: &mut Stream) -> f64 {
    stream.below(1 << 50) as f64 / (1u64 << 50) as f64
}

/// Three values for each world; some of them are 0.
fn values(count: usize, value: impl Fn(f64) -> f64) -> Vec<(f64, u64)> {
    let mut stream = stream();
    (0..count).map(|number| (value(share(&mut stream)), number as u64 / 3)).collect()
}

/// Two metrics of these values: exact, and sketched after some of them.
fn both(values: &[(f64, u64)], is_whole: bool) -> [Metric; 2] {
    let mut distribution = Distribution::new(is_whole);
    for (number, &(value, world)) in values.iter().enumerate() {
        if number == values.len() / 10 {
            distribution.sketch();
        }
        distribution.add(value, world);
    }
    let (numbers, worlds): (Vec<f64>, Vec<u64>) = values.iter().copied().unzip();
    [Metric::of_worlds(numbers, &worlds).unwrap(), distribution.metric().unwrap()]
}

fn close(ours: f64, expected: f64, relative: f64) -> bool {
    (ours - expected).abs() <= relative * expected.abs()
}

#[test]
fn a_sketch_is_as_exact_as_it_says() {
    // Of seconds, of microjoules, of twelve orders of magnitude, and of values half of which are 0.
    let shapes: [fn(f64) -> f64; 4] =
        [|x| 2.0 + x, |x| 1e-3 * x.powi(4), |x| 10f64.powf(24.0 * x - 12.0), |x| (x - 0.5).max(0.0)];
    for (number, shape) in shapes.into_iter().enumerate() {
        let [exact, sketched] = both(&values(20_000, shape), false);
        assert_eq!((sketched.mean, sketched.min, sketched.max), (exact.mean, exact.min, exact.max), "shape {number}");
        let [ours, expected] = [sketched, exact].map(|metric| metric.ci95.unwrap()[1] - metric.mean);
        assert!(close(ours, expected, 1e-9), "shape {number}: {ours}, expected {expected}");
        for (ours, expected) in [(sketched.p50, exact.p50), (sketched.p95, exact.p95), (sketched.p99, exact.p99)] {
            assert!(close(ours, expected, RELATIVE_ERROR), "shape {number}: {ours}, expected {expected}");
        }
    }
}

#[test]
fn whole_numbers_stay_whole() {
    for greatest in [5.0, 900.0, 1e6] {
        let [exact, sketched] = both(&values(20_001, |x| (x * greatest).round()), true);
        for (ours, expected) in [(sketched.p50, exact.p50), (sketched.p95, exact.p95), (sketched.p99, exact.p99)] {
            if greatest < 1000.0 {
                assert_eq!(ours, expected, "up to {greatest}");
            }
            assert!(close(ours, expected, RELATIVE_ERROR), "up to {greatest}: {ours}, expected {expected}");
        }
    }
}

/// The deviations are a part in 10^12 of the values: their squares have no digit in common with those of the values.
#[test]
fn large_numbers_that_differ_little_keep_their_interval_also_if_none_came_before_the_sketch() {
    let values = values(1_000, |x| 1e9 + x / 1e3);
    let mut sketched = Distribution::new(false);
    sketched.sketch();
    values.iter().for_each(|&(value, world)| sketched.add(value, world));
    let (numbers, worlds): (Vec<f64>, Vec<u64>) = values.iter().copied().unzip();
    let [ours, expected] =
        [sketched.metric().unwrap(), Metric::of_worlds(numbers, &worlds).unwrap()].map(|metric| metric.half.unwrap());
    assert!(close(ours, expected, 1e-4), "{ours}, expected {expected}");
}

#[test]
fn few_values_and_equal_ones() {
    let mut none = Distribution::new(false);
    assert_eq!(none.metric(), None);
    none.sketch();
    assert_eq!(none.metric(), None);

    // Seven times 0.1: the mean of equal values may be rounded.
    let equal: Vec<(f64, u64)> = (0..7).map(|world| (0.1, world)).collect();
    for metric in both(&equal, false) {
        assert_eq!((metric.mean, metric.ci95), (0.1, Some([0.1, 0.1])));
        assert_eq!([metric.min, metric.p50, metric.p95, metric.p99, metric.max], [0.1; 5]);
    }

    let of_one_world: Vec<(f64, u64)> = (0..50).map(|value| (f64::from(value), 7)).collect();
    for metric in both(&of_one_world, true) {
        assert_eq!((metric.mean, metric.ci95, metric.p50), (24.5, None, 24.5), "one world has no interval");
    }
}

#[test]
fn distribution_of_known_values() {
    let metric = Metric::of((1..=100).rev().map(f64::from).collect()).unwrap();
    assert_eq!((metric.mean, metric.min, metric.max, metric.p50), (50.5, 1.0, 100.0, 50.5));
    // numpy.percentile(range(1, 101), [95, 99]) is 95.05, 99.01.
    assert!((metric.p95 - 95.05).abs() < 1e-9 && (metric.p99 - 99.01).abs() < 1e-9);
    // The standard deviation of 1..100 is 29.0115; t for 99 degrees of freedom 1.9842: 5.7564.
    assert!((metric.ci95.unwrap()[1] - 50.5 - 5.7564).abs() < 1e-3);
    assert_eq!(Metric::of(Vec::new()), None);
    assert_eq!(Metric::of(vec![2.0]).unwrap().ci95, None);
    // The handshakes of each world are alike: as many observations as worlds, twice 1 and twice 3 are as 1 and 3.
    let two = Metric::of(vec![1.0, 3.0]).unwrap();
    assert_eq!(Metric::of_worlds(vec![1.0, 1.0, 3.0, 3.0], &[7, 7, 8, 8]).unwrap().ci95, two.ci95);
}
