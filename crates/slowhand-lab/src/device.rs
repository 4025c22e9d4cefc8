//! A device: its current in each state, and its computing times. Each device is a TOML file. Every constant in it has a
//! source, or the reason why it is assumed.

mod constant;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::{Value, json};
use slowhand_net::clock;
use slowhand_sessions::{Aead, AeadMode, Cbc, Curve, Operation, Processor};

use crate::input::{Document, Files, InputError, schema_of};
pub use constant::{Amount, Constant, Origin, Time};

/// The time for a compression of SHA-512, in compressions of SHA-256; see [`CryptoTimes::sha256_block_us`].
const SHA512_TO_SHA256: f64 = 4.0;

/// The devices that are built in, by name.
const BUILT_IN: [(&str, &str); 18] = [
    ("openmote-cc2538", include_str!("../../../devices/openmote-cc2538.toml")),
    ("wismote", include_str!("../../../devices/wismote.toml")),
    ("greennet", include_str!("../../../devices/greennet.toml")),
    ("opal-tpm", include_str!("../../../devices/opal-tpm.toml")),
    ("nrf52840", include_str!("../../../devices/nrf52840.toml")),
    ("nrf52833", include_str!("../../../devices/nrf52833.toml")),
    ("nrf5340", include_str!("../../../devices/nrf5340.toml")),
    ("nrf54l15", include_str!("../../../devices/nrf54l15.toml")),
    ("cc1352r", include_str!("../../../devices/cc1352r.toml")),
    ("efr32mg24", include_str!("../../../devices/efr32mg24.toml")),
    ("stm32wb55", include_str!("../../../devices/stm32wb55.toml")),
    ("stm32wba", include_str!("../../../devices/stm32wba.toml")),
    ("esp32-c6", include_str!("../../../devices/esp32-c6.toml")),
    ("esp32-h2", include_str!("../../../devices/esp32-h2.toml")),
    ("iotlab-m3", include_str!("../../../devices/iotlab-m3.toml")),
    ("telosb", include_str!("../../../devices/telosb.toml")),
    ("atmega128rfa1", include_str!("../../../devices/atmega128rfa1.toml")),
    ("linux-host", include_str!("../../../devices/linux-host.toml")),
];

/// A device. It needs only what its scenarios use: what is missing is refused when a scenario needs it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// The device that has every value that this file does not have: the name of one that is built in, or the path of a
    /// device file from this file on. Default: none.
    pub base: Option<String>,
    /// A description for the reader.
    pub description: String,
    /// Supply voltage, in volts.
    pub supply_v: Volts,
    /// The current in each state.
    pub current: Currents,
    /// The needs of its radio between sleep, listening and sending.
    #[serde(default)]
    pub radio: Radio,
    /// Its processor and memory.
    #[serde(default)]
    pub processor: Machine,
    /// The time of each cryptographic operation.
    #[serde(default)]
    pub crypto: CryptoTimes,
    /// The Trusted Platform Module that computes RSA. Without it, the processor computes RSA.
    pub tpm: Option<Tpm>,
    /// The name of its file in messages.
    #[serde(skip)]
    pub file: PathBuf,
    /// The keys of the constants that are assumed, without the section where the key alone says what it is.
    #[serde(skip)]
    pub assumed: Vec<String>,
}

// The bounds are assumed: no device reaches them, and all that is computed from them is finite. They are 1,000 V,
// 100 A, 100 GHz, 1 TiB (rounded), and 1,000 s for an operation. The length of a key has 16 bits.
type Volts = Constant<1_000>;
pub(crate) type Milliamperes = Constant<100_000>;
type Megahertz = Constant<100_000>;
type Kibibytes = Constant<1_000_000_000>;
type KeyBits = Constant<65_535>;
type Microseconds = Time<1_000_000_000>;
type Milliseconds = Time<1_000_000>;

/// A Trusted Platform Module. It holds the private keys, and computes all RSA operations with keys up to a maximum
/// length. The [`CryptoTimes`] have the times of these operations. The processor stays active while it waits for the
/// module.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tpm {
    /// The module's current while it computes, in milliamperes, in addition to the processor's. At other times it
    /// sleeps.
    pub active_ma: Milliamperes,
    /// The longest RSA key that the module supports, in bits. The processor computes with longer keys.
    pub max_rsa_bits: KeyBits,
}

/// Currents in milliamperes. The charge is the time in each state times the current of that state, as in Energest. The
/// currents of processor and radio are added.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Currents {
    /// The processor computes.
    pub cpu_active_ma: Milliamperes,
    /// The processor sleeps with a timer running.
    pub cpu_sleep_ma: Milliamperes,
    /// The radio sends.
    pub radio_tx_ma: Milliamperes,
    /// The radio receives a frame.
    pub radio_rx_ma: Milliamperes,
    /// The radio listens and receives nothing.
    pub radio_listen_ma: Milliamperes,
    /// The radio is off.
    pub radio_sleep_ma: Milliamperes,
    /// The radio starts: from sleep until its oscillator runs (`radio.startup_us`). Default: none, the time counts as sleep.
    pub radio_startup_ma: Option<Milliamperes>,
    /// The radio is ready: its oscillator runs, and it neither listens nor sends, as in a back-off (the state is called idle, or
    /// `TRX_OFF`). Default: none, the time counts as sleep.
    pub radio_idle_ma: Option<Milliamperes>,
    /// The receiver or the transmitter ramps up (`radio.rampup_us`). Default: none, the time counts as sleep.
    pub radio_rampup_ma: Option<Milliamperes>,
}

/// The needs of a radio between its states. These times are energy only: nothing waits for them.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Radio {
    /// From sleep until its oscillator runs and it is ready, in microseconds. Default: none, which takes no time.
    pub startup_us: Option<Microseconds>,
    /// From ready until it listens or sends, in microseconds. Default: none, which takes no time.
    pub rampup_us: Option<Microseconds>,
}

/// Processor and memory.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Machine {
    /// Clock frequency in megahertz. Times that are given in cycles follow from it.
    pub clock_mhz: Option<Megahertz>,
    /// RAM in kibibytes, for `slowhand capacity`.
    pub ram_kib: Option<Kibibytes>,
    /// The time for which the processor is active for each frame that the node receives or sends, in microseconds: timers,
    /// back-off, copying, security. It counts in the energy of each frame, also where frames take no time of the network.
    /// `network.frame_handling_ms = "device"` lets data frames take this time. Acknowledgements that radios send by
    /// themselves do not count. Default: none, which takes no time.
    pub frame_handling_us: Option<Microseconds>,
    /// From sleep until the processor runs, in microseconds. It counts in the energy of every frame and of every start of the radio,
    /// with the current of the active processor. Default: none, which takes no time.
    pub wakeup_us: Option<Microseconds>,
}

/// The times that cryptographic operations take.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CryptoTimes {
    /// One compression of SHA-1 (a block of 64 octets), in microseconds.
    pub sha1_block_us: Option<Microseconds>,
    /// One compression of SHA-256 (a block of 64 octets), in microseconds. One of SHA-512 (128 octets, SHA-384 too) is
    /// taken as four: 80 rounds against 64 (FIPS 180-4) on words of twice the length, each worth about three operations
    /// on 32 bits (assumed; too much for a processor of 64 bits, where hashing weighs nothing).
    pub sha256_block_us: Option<Microseconds>,
    /// One AES-128 block (16 octets) within CCM, GCM or CBC, in microseconds. AES-256 takes 14 rounds where
    /// AES-128 takes 10 (FIPS 197), so 1.4 times as long.
    pub aes_block_us: Option<Microseconds>,
    /// One multiplication of GCM's GHASH (16 octets), in microseconds.
    pub ghash_block_us: Option<Microseconds>,
    /// Operations on NIST P-192.
    pub secp192r1: CurveTimes,
    /// Operations on NIST P-256.
    pub secp256r1: CurveTimes,
    /// Operations with keys of 1024 bits.
    pub rsa1024: RsaTimes,
    /// Operations with keys of 2048 bits.
    pub rsa2048: RsaTimes,
    /// Operations with keys of 3072 bits.
    pub rsa3072: RsaTimes,
}

/// The times that RSA takes with keys of one length, in milliseconds.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RsaTimes {
    /// An exponentiation with the private key: a signature or a decryption.
    pub private_ms: Option<Milliseconds>,
    /// One with the public key, 65537: the verification of a signature or an encryption.
    pub public_ms: Option<Milliseconds>,
}

/// The times that operations on a curve take, in milliseconds.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CurveTimes {
    /// A key pair for ECDH.
    pub ecdh_generate_ms: Option<Milliseconds>,
    /// A shared secret.
    pub ecdh_agree_ms: Option<Milliseconds>,
    /// A signature.
    pub ecdsa_sign_ms: Option<Milliseconds>,
    /// The verification of a signature.
    pub ecdsa_verify_ms: Option<Milliseconds>,
}

/// The key of a time that a device does not have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Missing(pub(crate) String);

/// The JSON Schema of a device file.
pub fn schema() -> Schema {
    let mut schema = schema_of::<Device>();
    // A file with a base may leave out every key.
    let mut take = |pointer: &str| {
        let section = if pointer.is_empty() {
            Some(schema.ensure_object())
        } else {
            schema.pointer_mut(pointer).and_then(Value::as_object_mut)
        };
        section.and_then(|section| section.remove("required")).unwrap_or_default()
    };
    let (device, currents, tpm) = (take(""), take("/$defs/Currents"), take("/$defs/Tpm"));
    let complete = json!({
        "required": device,
        "properties": { "current": { "required": currents }, "tpm": { "required": tpm } },
    });
    schema.insert("anyOf".to_owned(), json!([{ "required": ["base"] }, complete]));
    schema
}

/// A device that cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// There is no such device or file.
    #[error("found {found}, allowed: {allowed}")]
    Unknown {
        /// The name, and the file that does not exist.
        found: String,
        /// The names of the devices.
        allowed: String,
    },
    /// The device's file is wrong.
    #[error(transparent)]
    Invalid(#[from] InputError),
}

impl Device {
    /// The names of the devices that are built in.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The device of this name. A name that ends in `.toml` is the path of a file, relative to `directory`.
    ///
    /// # Errors
    /// There is no such device, or its file is wrong.
    pub fn load(name: &str, directory: &Path) -> Result<Self, DeviceError> {
        Self::read(name, &mut Files::in_directory(directory))
    }

    /// The device of this name. A name that ends in `.toml` is that of one of `files`.
    pub(crate) fn read(name: &str, files: &mut Files<'_>) -> Result<Self, DeviceError> {
        let document = document(name, files, 0)?;
        let device: Self = document.deserialize()?;
        if let Some(place) = document.paths_to("cycles").first()
            && device.processor.clock_mhz.as_ref().is_none_or(|clock| clock.value == 0.0)
        {
            let allowed = "a time, or cycles together with processor.clock_mhz above 0";
            return Err(document
                .blame(&format!("{place}.cycles"), "cycles of a clock without frequency", allowed)
                .into());
        }
        let shorter = |key: &str| {
            let sections = ["current.", "processor.", "crypto."];
            sections.iter().find_map(|section| key.strip_prefix(section)).unwrap_or(key).to_owned()
        };
        let assumed = document.paths_to("assumed").iter().map(|key| shorter(key)).collect();
        Ok(Self { file: document.file().to_owned(), assumed, ..device })
    }

    /// True if the device has a time for every operation.
    pub(crate) fn is_complete(&self) -> bool {
        // A new key is added here, or this does not compile.
        let CryptoTimes {
            sha1_block_us,
            sha256_block_us,
            aes_block_us,
            ghash_block_us,
            secp192r1,
            secp256r1,
            rsa1024,
            rsa2048,
            rsa3072,
        } = &self.crypto;
        [sha1_block_us, sha256_block_us, aes_block_us, ghash_block_us].into_iter().all(Option::is_some)
            && [secp192r1, secp256r1].into_iter().all(|curve| {
                let CurveTimes { ecdh_generate_ms, ecdh_agree_ms, ecdsa_sign_ms, ecdsa_verify_ms } = curve;
                [ecdh_generate_ms, ecdh_agree_ms, ecdsa_sign_ms, ecdsa_verify_ms].into_iter().all(Option::is_some)
            })
            && [rsa1024, rsa2048, rsa3072]
                .into_iter()
                .all(|RsaTimes { private_ms, public_ms }| [private_ms, public_ms].into_iter().all(Option::is_some))
    }

    /// The time that it takes for a frame. `None` if the device does not say.
    pub(crate) fn frame_handling(&self) -> Option<clock::Duration> {
        let us = self.us(self.processor.frame_handling_us.as_ref(), "frame_handling_us").ok()?;
        Some(clock::Duration::from_secs_f64(us / 1e6))
    }

    /// So many times one of its optional times, in seconds. 0 if the device does not say it.
    pub(crate) fn seconds_of(&self, count: u64, time: &Option<Microseconds>) -> f64 {
        // `read` has refused cycles without a clock.
        count as f64 * self.us(time.as_ref(), "").unwrap_or_default() / 1e6
    }

    /// The time that an operation takes.
    ///
    /// # Errors
    /// The device has no time for it.
    pub(crate) fn duration(&self, operation: Operation) -> Result<Duration, Missing> {
        let us = match operation {
            Operation::Sha1 { blocks } => f64::from(blocks) * self.sha1_us()?,
            Operation::Sha256 { blocks } => f64::from(blocks) * self.sha256_us()?,
            Operation::Sha512 { blocks } => f64::from(blocks) * SHA512_TO_SHA256 * self.sha256_us()?,
            Operation::Seal(aead) | Operation::Open(aead) => self.aead_us(aead)?,
            Operation::CbcEncrypt(cbc) | Operation::CbcDecrypt(cbc) => self.cbc_us(cbc)?,
            Operation::EcdhKeyGeneration(curve) => self.curve_us(curve, "ecdh_generate_ms", |c| &c.ecdh_generate_ms)?,
            Operation::EcdhSharedSecret(curve) => self.curve_us(curve, "ecdh_agree_ms", |c| &c.ecdh_agree_ms)?,
            Operation::EcdsaSign(curve) => self.curve_us(curve, "ecdsa_sign_ms", |c| &c.ecdsa_sign_ms)?,
            Operation::EcdsaVerify(curve) => self.curve_us(curve, "ecdsa_verify_ms", |c| &c.ecdsa_verify_ms)?,
            Operation::RsaSign(bits) | Operation::RsaDecrypt(bits) => {
                self.rsa_us(bits, "private_ms", |times| &times.private_ms)?
            }
            Operation::RsaVerify(bits) | Operation::RsaEncrypt(bits) => {
                self.rsa_us(bits, "public_ms", |times| &times.public_ms)?
            }
            // The enum is non-exhaustive. A test checks that every operation of today has a time.
            _ => 0.0,
        };
        Ok(Duration::from_nanos((us * 1e3).round() as u64))
    }

    /// The time with this key, in microseconds.
    fn us<const MAX: u32>(&self, time: Option<&Time<MAX>>, key: &str) -> Result<f64, Missing> {
        let unit = if key.ends_with("_ms") { 1e3 } else { 1.0 };
        match (time.map(|time| time.amount), &self.processor.clock_mhz) {
            (Some(Amount::Value(value)), _) => Ok(value * unit),
            // `read` has refused a clock that stands still.
            (Some(Amount::Cycles(cycles)), Some(clock)) => Ok(cycles / clock.value),
            (Some(Amount::Cycles(_)), None) => Err(Missing("processor.clock_mhz".to_owned())),
            (None, _) => Err(Missing(format!("crypto.{key}"))),
        }
    }

    fn sha1_us(&self) -> Result<f64, Missing> {
        self.us(self.crypto.sha1_block_us.as_ref(), "sha1_block_us")
    }

    fn sha256_us(&self) -> Result<f64, Missing> {
        self.us(self.crypto.sha256_block_us.as_ref(), "sha256_block_us")
    }

    fn aes_us(&self) -> Result<f64, Missing> {
        self.us(self.crypto.aes_block_us.as_ref(), "aes_block_us")
    }

    fn curve_us(
        &self,
        curve: Curve,
        key: &str,
        time: impl Fn(&CurveTimes) -> &Option<Milliseconds>,
    ) -> Result<f64, Missing> {
        let (name, times) = match curve {
            Curve::Secp192r1 => ("secp192r1", &self.crypto.secp192r1),
            // The only other curve that the libraries are compiled with.
            _ => ("secp256r1", &self.crypto.secp256r1),
        };
        self.us(time(times).as_ref(), &format!("{name}.{key}"))
    }

    fn rsa_us(&self, bits: u16, key: &str, time: impl Fn(&RsaTimes) -> &Option<Milliseconds>) -> Result<f64, Missing> {
        let (name, times) = match bits {
            ..=1024 => ("rsa1024", &self.crypto.rsa1024),
            1025..=2048 => ("rsa2048", &self.crypto.rsa2048),
            _ => ("rsa3072", &self.crypto.rsa3072),
        };
        self.us(time(times).as_ref(), &format!("{name}.{key}"))
    }

    fn cbc_us(&self, cbc: Cbc) -> Result<f64, Missing> {
        Ok(f64::from(cbc.aes_blocks()) * rounds(cbc.key_bits) * self.aes_us()?)
    }

    fn aead_us(&self, aead: Aead) -> Result<f64, Missing> {
        let cipher = f64::from(aead.aes_blocks()) * rounds(aead.key_bits) * self.aes_us()?;
        let ghash = match aead.mode {
            AeadMode::Ccm => 0.0,
            // The blocks of additional data and of ciphertext, and one of lengths (NIST SP 800-38D, 7.1).
            AeadMode::Gcm => {
                f64::from(aead.additional.div_ceil(16) + aead.octets.div_ceil(16) + 1)
                    * self.us(self.crypto.ghash_block_us.as_ref(), "ghash_block_us")?
            }
        };
        Ok(cipher + ghash)
    }

    /// True if the TPM does this operation, not the processor.
    pub fn is_for_tpm(&self, operation: Operation) -> bool {
        match operation {
            Operation::RsaSign(bits)
            | Operation::RsaVerify(bits)
            | Operation::RsaEncrypt(bits)
            | Operation::RsaDecrypt(bits) => {
                self.tpm.as_ref().is_some_and(|tpm| f64::from(bits) <= tpm.max_rsa_bits.value)
            }
            _ => false,
        }
    }
}

/// The most devices that may stand between a device and the one that has no base.
const MAX_BASES: usize = 8;

/// The document of a device, filled up with those of its bases.
fn document(name: &str, files: &mut Files<'_>, bases: usize) -> Result<Document, DeviceError> {
    let from = if bases == 0 { "the scenario" } else { "this file" };
    let mut document = own_document(name, files, from)?;
    let Some(base) = document.text("base")? else { return Ok(document) };
    if bases == MAX_BASES {
        let found = format!("a base of a base, {MAX_BASES} times");
        return Err(document.blame("base", found, "a device that is not based on this one").into());
    }
    let directory = Path::new(name).parent().unwrap_or(Path::new(""));
    let base = if base.ends_with(".toml") { directory.join(base).to_string_lossy().into_owned() } else { base };
    let rest = self::document(&base, files, bases + 1).map_err(|error| match error {
        DeviceError::Unknown { found, allowed } => document.blame("base", found, allowed).into(),
        DeviceError::Invalid(error) => DeviceError::Invalid(error),
    })?;
    document.fill_up(rest);
    Ok(document)
}

/// The content of a device's file, without its base. An error says from where on its path is.
fn own_document(name: &str, files: &mut Files<'_>, from: &str) -> Result<Document, DeviceError> {
    if let Some((_, text)) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name) {
        let file = format!("devices/{name}.toml");
        return Ok(Document::parse(Path::new(&file), text)?);
    }
    let file = Path::new(name);
    let is_file = name.ends_with(".toml");
    if is_file && files.has(file) {
        return Ok(files.read(file)?);
    }
    let names: Vec<String> = Device::names().map(|name| format!("{name:?}")).collect();
    Err(DeviceError::Unknown {
        found: match is_file {
            true => format!("{name:?} (there is no file {})", files.path(file).display()),
            false => format!("{name:?}"),
        },
        allowed: format!("one of {}, or the path of a device's .toml file from {from} on", names.join(", ")),
    })
}

/// The rounds of AES with a key of this length in those of AES-128.
fn rounds(key_bits: u16) -> f64 {
    if key_bits == 256 { 1.4 } else { 1.0 }
}

/// A device that computes this many times as long as its constants say.
pub(crate) struct Paced {
    pub(crate) device: Arc<Device>,
    pub(crate) factor: f64,
}

/// The longest time of an operation, which is also the longest that is waited for a handshake (`session.give_up_s`).
/// The clock of a device stops at 584 years, which is the sum of 18,000 of them.
const LONGEST_OPERATION_S: f64 = 1e6;

impl Paced {
    /// True if nothing takes time on it. Then it needs no constant of the device.
    pub(crate) fn takes_no_time(&self) -> bool {
        self.factor == 0.0
    }

    /// The time that an operation takes.
    ///
    /// # Errors
    /// The device has no time for it.
    pub(crate) fn duration(&self, operation: Operation) -> Result<Duration, Missing> {
        if self.takes_no_time() {
            return Ok(Duration::ZERO);
        }
        let seconds = self.factor * self.device.duration(operation)?.as_secs_f64();
        Ok(Duration::from_secs_f64(seconds.min(LONGEST_OPERATION_S)))
    }
}

impl Processor for Paced {
    fn time(&self, operation: Operation) -> Duration {
        self.duration(operation).unwrap_or_else(|missing| self.device.lacks(operation, &missing))
    }
}

impl Processor for Device {
    fn time(&self, operation: Operation) -> Duration {
        self.duration(operation).unwrap_or_else(|missing| self.lacks(operation, &missing))
    }
}

impl Device {
    /// Says what is missing, in a panic: [`Plan::new`](crate::plan::Plan::new) should have refused the scenario. A run
    /// reports that the world panicked; with a time of 0 its results would be wrong.
    fn lacks(&self, operation: Operation, Missing(key): &Missing) -> ! {
        panic!("{}: {key}: found nothing, but {operation:?} needs it", self.file.display())
    }
}

#[cfg(test)]
mod tests;
