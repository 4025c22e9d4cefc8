//! A device: its current in each state, and its computing times. Each device is a TOML file. Every constant in it has a
//! source, or the reason why it is assumed.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use slowhand_sessions::{Aead, AeadMode, Cbc, Curve, Operation, Processor};

use crate::input::{Document, Files, InputError, NonNegative};

/// What a compression of SHA-512 takes, in compressions of SHA-256; see [`CryptoTimes::sha256_block_us`].
const SHA512_TO_SHA256: f64 = 4.0;

/// The devices that are built in, by name.
const BUILT_IN: [(&str, &str); 5] = [
    ("openmote-cc2538", include_str!("../../../devices/openmote-cc2538.toml")),
    ("wismote", include_str!("../../../devices/wismote.toml")),
    ("greennet", include_str!("../../../devices/greennet.toml")),
    ("opal-tpm", include_str!("../../../devices/opal-tpm.toml")),
    ("linux-host", include_str!("../../../devices/linux-host.toml")),
];

/// A device.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// A description for the reader.
    pub description: String,
    /// Supply voltage, in volts.
    pub supply_v: Constant,
    /// The current in each state.
    pub current: Currents,
    /// Its processor and memory.
    pub processor: Machine,
    /// The time of each cryptographic operation.
    pub crypto: CryptoTimes,
    /// The Trusted Platform Module that computes RSA. Without it, the processor computes RSA.
    pub tpm: Option<Tpm>,
}

/// A Trusted Platform Module. It holds the private keys, and computes all RSA operations with keys up to a maximum length.
/// The [`CryptoTimes`] have the times of these operations. The processor stays active while it waits for the module.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tpm {
    /// The module's current while it computes, in milliamperes, in addition to the processor's. At other times it sleeps.
    pub active_ma: Constant,
    /// The longest RSA key that the module supports, in bits. The processor computes with longer keys.
    pub max_rsa_bits: Constant,
}

/// Currents in milliamperes. The charge is the time in each state times the current of that state, as in Energest. The
/// currents of processor and radio are added.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Currents {
    /// The processor computes.
    pub cpu_active_ma: Constant,
    /// The processor sleeps with a timer running.
    pub cpu_sleep_ma: Constant,
    /// The radio sends.
    pub radio_tx_ma: Constant,
    /// The radio receives a frame.
    pub radio_rx_ma: Constant,
    /// The radio listens and receives nothing.
    pub radio_listen_ma: Constant,
    /// The radio is off.
    pub radio_sleep_ma: Constant,
}

/// Processor and memory.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Clock frequency in megahertz.
    pub clock_mhz: Constant,
    /// RAM in kibibytes.
    pub ram_kib: Constant,
}

/// How long cryptographic operations take.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CryptoTimes {
    /// One compression of SHA-1 (a block of 64 octets), in microseconds.
    pub sha1_block_us: Constant,
    /// One compression of SHA-256 (a block of 64 octets), in microseconds. One of SHA-512 (128 octets, SHA-384 too) is
    /// taken as four: 80 rounds against 64 (FIPS 180-4) on words of twice the length, each worth about three operations
    /// on 32 bits (assumed; too much for a processor of 64 bits, where hashing weighs nothing).
    pub sha256_block_us: Constant,
    /// One AES-128 block (16 octets) within CCM, GCM or CBC, in microseconds. AES-256 takes 14 rounds where
    /// AES-128 takes 10 (FIPS 197), so 1.4 times as long.
    pub aes_block_us: Constant,
    /// One multiplication of GCM's GHASH (16 octets), in microseconds.
    pub ghash_block_us: Constant,
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

/// How long RSA takes with keys of one length, in milliseconds.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RsaTimes {
    /// An exponentiation with the private key: a signature or a decryption.
    pub private_ms: Constant,
    /// One with the public key, 65537: the verification of a signature or an encryption.
    pub public_ms: Constant,
}

/// How long operations on a curve take, in milliseconds.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CurveTimes {
    /// A key pair for ECDH.
    pub ecdh_generate_ms: Constant,
    /// A shared secret.
    pub ecdh_agree_ms: Constant,
    /// A signature.
    pub ecdsa_sign_ms: Constant,
    /// The verification of a signature.
    pub ecdsa_verify_ms: Constant,
}

/// A number and where it comes from. Its unit is in the name of its key.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
pub struct Constant {
    /// The number, 0 or more.
    pub value: f64,
    /// Where it was published or how it was measured.
    pub source: Option<String>,
    /// If it was not published: why this number is assumed.
    pub assumed: Option<String>,
}

impl Constant {
    /// True if the number is assumed.
    pub fn is_assumed(&self) -> bool {
        self.assumed.is_some()
    }
}

impl<'de> Deserialize<'de> for Constant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Written {
            value: NonNegative,
            source: Option<String>,
            assumed: Option<String>,
        }

        let Written { value, source, assumed } = Written::deserialize(deserializer)?;
        if source.is_some() == assumed.is_some() {
            let allowed =
                "{ value, source } or { value, assumed }: a number and either where it stands or why it is assumed";
            return Err(serde::de::Error::custom(allowed));
        }
        Ok(Self { value: value.get(), source, assumed })
    }
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
        if let Some((_, text)) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name) {
            let file = format!("devices/{name}.toml");
            return Ok(Document::parse(Path::new(&file), text)?.deserialize()?);
        }
        let file = Path::new(name);
        let is_file = name.ends_with(".toml");
        if is_file && files.has(file) {
            return Ok(files.read(file)?.deserialize()?);
        }
        let names: Vec<String> = Self::names().map(|name| format!("{name:?}")).collect();
        Err(DeviceError::Unknown {
            found: if is_file {
                format!("{name:?} (there is no file {})", files.path(file).display())
            } else {
                format!("{name:?}")
            },
            allowed: format!("one of {}, or the path of a device's .toml file from the scenario on", names.join(", ")),
        })
    }

    fn curve(&self, curve: Curve) -> &CurveTimes {
        match curve {
            Curve::Secp192r1 => &self.crypto.secp192r1,
            // The only other curve that the libraries are compiled with.
            _ => &self.crypto.secp256r1,
        }
    }

    fn rsa(&self, bits: u16) -> &RsaTimes {
        match bits {
            ..=1024 => &self.crypto.rsa1024,
            1025..=2048 => &self.crypto.rsa2048,
            _ => &self.crypto.rsa3072,
        }
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

    fn cbc_us(&self, cbc: Cbc) -> f64 {
        f64::from(cbc.aes_blocks()) * rounds(cbc.key_bits) * self.crypto.aes_block_us.value
    }

    fn aead_us(&self, aead: Aead) -> f64 {
        let cipher = f64::from(aead.aes_blocks()) * rounds(aead.key_bits) * self.crypto.aes_block_us.value;
        let ghash = match aead.mode {
            AeadMode::Ccm => 0.0,
            // The blocks of additional data and of ciphertext, and one of lengths (NIST SP 800-38D, 7.1).
            AeadMode::Gcm => {
                f64::from(aead.additional.div_ceil(16) + aead.octets.div_ceil(16) + 1)
                    * self.crypto.ghash_block_us.value
            }
        };
        cipher + ghash
    }
}

/// The rounds of AES with a key of this length in those of AES-128.
fn rounds(key_bits: u16) -> f64 {
    if key_bits == 256 { 1.4 } else { 1.0 }
}

impl Processor for Device {
    fn time(&self, operation: Operation) -> Duration {
        let us = match operation {
            Operation::Sha1 { blocks } => f64::from(blocks) * self.crypto.sha1_block_us.value,
            Operation::Sha256 { blocks } => f64::from(blocks) * self.crypto.sha256_block_us.value,
            Operation::Sha512 { blocks } => f64::from(blocks) * SHA512_TO_SHA256 * self.crypto.sha256_block_us.value,
            Operation::Seal(aead) | Operation::Open(aead) => self.aead_us(aead),
            Operation::CbcEncrypt(cbc) | Operation::CbcDecrypt(cbc) => self.cbc_us(cbc),
            Operation::EcdhKeyGeneration(curve) => self.curve(curve).ecdh_generate_ms.value * 1e3,
            Operation::EcdhSharedSecret(curve) => self.curve(curve).ecdh_agree_ms.value * 1e3,
            Operation::EcdsaSign(curve) => self.curve(curve).ecdsa_sign_ms.value * 1e3,
            Operation::EcdsaVerify(curve) => self.curve(curve).ecdsa_verify_ms.value * 1e3,
            Operation::RsaSign(bits) | Operation::RsaDecrypt(bits) => self.rsa(bits).private_ms.value * 1e3,
            Operation::RsaVerify(bits) | Operation::RsaEncrypt(bits) => self.rsa(bits).public_ms.value * 1e3,
            // The enum is non-exhaustive. A test checks that every operation of today has a time.
            _ => 0.0,
        };
        Duration::from_nanos((us * 1e3).round() as u64)
    }
}

/// A device that computes this many times as long as its constants say.
pub(crate) struct Paced {
    pub(crate) device: Arc<Device>,
    pub(crate) factor: f64,
}

impl Processor for Paced {
    fn time(&self, operation: Operation) -> Duration {
        self.device.time(operation).mul_f64(self.factor)
    }
}

#[cfg(test)]
mod tests;
