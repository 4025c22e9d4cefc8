//! Times of days and years.

/// The longest life: a hundred years of 365.25 days (assumed).
pub const MOST_SECONDS: f64 = 100.0 * YEAR_S;

/// The seconds of a day.
pub const DAY_S: f64 = 86_400.0;

/// The seconds of a year of 365.25 days.
pub const YEAR_S: f64 = 365.25 * DAY_S;
