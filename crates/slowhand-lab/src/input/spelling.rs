//! "Did you mean": the known word that is nearest to an unknown one.

/// The candidate nearest to `word`, if `word` may be a typing error or have another unit.
pub(super) fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    candidates
        .iter()
        .filter(|candidate| same_stem(word, candidate))
        .chain(candidates.iter().filter(|candidate| distance(word, candidate) <= word.chars().count().max(3) / 3))
        .min_by_key(|candidate| distance(word, candidate))
        .copied()
}

/// `timeout_ms`, `timeout` and `timeout_s` differ in nothing but the unit.
fn same_stem(word: &str, candidate: &str) -> bool {
    const UNITS: [&str; 5] = ["_s", "_ms", "_us", "_ma", "_v"];
    let stem = |text: &str| {
        let unit = UNITS.iter().find(|unit| text.ends_with(**unit));
        text[..text.len() - unit.map_or(0, |unit| unit.len())].to_owned()
    };
    stem(word) == stem(candidate)
}

/// The number of letters to insert, delete or replace (Levenshtein), one row of the table at a time.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_and_wrong_units_are_recognised() {
        let keys = ["link_pdr", "ack_pdr", "timeout_s", "max_timeout_s"];
        assert_eq!(nearest("link_prd", &keys), Some("link_pdr"));
        assert_eq!(nearest("timeout_ms", &keys), Some("timeout_s"));
        assert_eq!(nearest("colour", &keys), None);
    }

    #[test]
    fn the_distance_is_levenshteins() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("flaw", "lawn"), 2);
    }
}
