//! Batteries, and how long one lasts.
//!
//! A battery is a TOML file, like a device, in which every constant has a source or the reason why it is assumed. How long it
//! lasts counts charge: what the device draws, and what the battery loses by itself. It is assumed that
//!
//! - the device draws the same current from the battery as at its own supply voltage: it has no converter, or a linear
//!   regulator that takes nothing itself. If the battery has less than that voltage, a step-up converter without losses
//!   lies between the two;
//! - the battery gives its whole capacity until the cut-off voltage, whatever the current, at the temperature of its file;
//! - its self-discharge is the same share of the first capacity in each year.

use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use crate::calendar::{DAY_S, YEAR_S};
use crate::device::{Constant, Device};
use crate::input::{Blame, Files, InputError, schema_of};
use crate::life::{Life, Purposes};

/// The batteries that are built in, by name.
const BUILT_IN: [(&str, &str); 4] = [
    ("cr2032", include_str!("../../../batteries/cr2032.toml")),
    ("l91-pair", include_str!("../../../batteries/l91-pair.toml")),
    ("ls14250", include_str!("../../../batteries/ls14250.toml")),
    ("eneloop-pair", include_str!("../../../batteries/eneloop-pair.toml")),
];

/// A battery.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Battery {
    /// A description for the reader.
    pub description: String,
    /// The charge that it gives until the cut-off voltage, in milliampere-hours.
    pub capacity_mah: Constant<1_000_000_000>,
    /// Its voltage, in volts.
    pub nominal_v: Constant<1_000>,
    /// Its voltage when it counts as empty, in volts.
    pub cut_off_v: Constant<1_000>,
    /// The charge that it loses in a year by itself, in percent of its capacity.
    pub self_discharge_percent: Constant<100>,
    /// The temperature at which that is so, in degrees Celsius. Default: not known.
    pub at_c: Option<Constant<200>>,
    /// The longest time that it is kept, in years. A life beyond it is told with a warning. Default: not known.
    pub shelf_life_years: Option<Constant<200>>,
    /// The name of its file in messages.
    #[serde(skip)]
    pub file: PathBuf,
    /// The keys of the constants that are assumed.
    #[serde(skip)]
    pub assumed: Vec<String>,
}

/// A battery that cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.blame())]
pub enum BatteryError {
    /// There is no such battery.
    Unknown {
        /// The name.
        found: String,
        /// The names of the batteries.
        allowed: String,
    },
    /// The battery's file is wrong.
    Invalid(#[from] InputError),
    /// The client has no supply voltage: it runs on mains power.
    Mains {
        /// The device.
        device: String,
    },
}

impl BatteryError {
    /// The error as data.
    pub fn blame(&self) -> Blame {
        match self {
            Self::Invalid(error) => error.blame(),
            Self::Mains { device } => {
                let allowed = "a device with a supply_v above 0: `slowhand devices` lists all";
                let reason = format!("found one that runs on mains power ({device}), allowed: {allowed}");
                Blame { place: None, key: "client.device".to_owned(), reason, together: true }
            }
            Self::Unknown { found, allowed } => {
                let reason = format!("found {found}, allowed: {allowed}, or the path of a file that ends in .toml");
                Blame { place: None, key: "battery".to_owned(), reason, together: true }
            }
        }
    }
}

/// The life of a battery.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BatteryLife {
    /// Its length in years.
    pub years: f64,
    /// The 95 % confidence interval of that, from the one of the energy a day. `None`: there is none.
    pub years_ci95: Option<[f64; 2]>,
    /// The charge that the device takes from it in a day, in milliampere-hours.
    pub charge_a_day_mah: f64,
    /// The charge that it loses in a day by itself, in milliampere-hours.
    pub self_discharge_a_day_mah: f64,
    /// True if the battery has less than the voltage of the device, so that a step-up converter is assumed.
    pub needs_step_up: bool,
    /// Its shelf life in years, if this life is longer.
    pub past_shelf_life_years: Option<f64>,
    /// The share of its capacity that each purpose takes until it is empty, in the order of [`Purposes`]: idle, handshakes,
    /// requests, keep-alives, closing; and last the share of the self-discharge. They add up to 1.
    pub shares: [f64; 6],
}

/// The JSON Schema of a battery file.
pub fn schema() -> Schema {
    schema_of::<Battery>()
}

impl Battery {
    /// The names of the batteries that are built in.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The battery of this name. A name that ends in `.toml` is the path of a file, relative to `directory`.
    ///
    /// # Errors
    /// There is no such battery, or its file is wrong.
    pub fn load(name: &str, directory: &Path) -> Result<Self, BatteryError> {
        let mut files = Files::in_directory(directory);
        let document = match BUILT_IN.iter().find(|(known, _)| *known == name) {
            Some((name, text)) => files.parse(Path::new(&format!("batteries/{name}.toml")), (*text).to_owned())?,
            None if name.ends_with(".toml") => files.read(Path::new(name))?,
            None => {
                let allowed = Self::names().collect::<Vec<_>>().join(", ");
                return Err(BatteryError::Unknown { found: name.to_owned(), allowed });
            }
        };
        let battery: Self = document.deserialize()?;
        for (key, value) in [("capacity_mah", battery.capacity_mah.value), ("nominal_v", battery.nominal_v.value)] {
            if value == 0.0 {
                return Err(document
                    .blame(key, "0".to_owned(), "a number above 0: a battery that gives something")
                    .into());
            }
        }
        if battery.cut_off_v.value >= battery.nominal_v.value {
            let allowed = format!("less than nominal_v ({})", battery.nominal_v.value);
            return Err(document.blame("cut_off_v", battery.cut_off_v.value.to_string(), allowed).into());
        }
        let assumed = document.paths_to("assumed");
        Ok(Self { file: document.file().to_owned(), assumed, ..battery })
    }

    /// Checks that a device runs from a battery.
    ///
    /// # Errors
    /// It has no supply voltage.
    pub fn check(device: &Device) -> Result<(), BatteryError> {
        let is_fed = device.supply_v.value > 0.0;
        is_fed.then_some(()).ok_or_else(|| BatteryError::Mains { device: device.description.clone() })
    }

    /// The charge that a device takes from it in a day in which it uses so many millijoules at so many volts, and the charge
    /// that the battery loses in that day by itself, in milliampere-hours.
    pub fn charge_a_day_mah(&self, mj: f64, supply_v: f64) -> [f64; 2] {
        // A millijoule is a milliampere for a second at one volt.
        let taken = mj / supply_v.min(self.nominal_v.value) / 3600.0;
        [taken, self.capacity_mah.value * self.self_discharge_percent.value / 100.0 / DAYS_A_YEAR]
    }

    /// The life of the battery in a device with this life. `None` if the life has used nothing and the battery loses nothing.
    pub fn life(&self, life: &Life) -> Option<BatteryLife> {
        let charge = |mj_a_day: f64| self.charge_a_day_mah(mj_a_day, life.supply_v);
        let years = |mj_a_day: f64| {
            let a_day = charge(mj_a_day).iter().sum::<f64>();
            (a_day > 0.0).then(|| self.capacity_mah.value / a_day / DAYS_A_YEAR)
        };
        let [charge_a_day_mah, self_discharge] = charge(life.energy_a_day_mj);
        let all = charge_a_day_mah + self_discharge;
        let Purposes { idle_mj, handshakes_mj, requests_mj, keep_alives_mj, closing_mj } = life.purposes;
        let total_mj = life.energy.total_mj();
        let share = |mj: f64| if total_mj > 0.0 { mj / total_mj * charge_a_day_mah / all } else { 0.0 };
        let [idle, handshakes, requests, keep_alives, closing] =
            [idle_mj, handshakes_mj, requests_mj, keep_alives_mj, closing_mj].map(share);
        let lasts = years(life.energy_a_day_mj)?;
        let shelf_life = self.shelf_life_years.as_ref().map(|constant| constant.value);
        Some(BatteryLife {
            years: lasts,
            // The more energy, the fewer years.
            years_ci95: life.energy_a_day_ci95.and_then(|[low, high]| Some([years(high)?, years(low)?])),
            charge_a_day_mah,
            self_discharge_a_day_mah: self_discharge,
            needs_step_up: self.nominal_v.value < life.supply_v,
            past_shelf_life_years: shelf_life.filter(|&years| lasts > years),
            shares: [idle, handshakes, requests, keep_alives, closing, self_discharge / all],
        })
    }
}

/// The days of a year.
const DAYS_A_YEAR: f64 = YEAR_S / DAY_S;
