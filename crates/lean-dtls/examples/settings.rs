//! Either end of a session that is configured by what `slowhand settings` prints. `tests/test_settings_live.py` of the project
//! runs it: `settings NAME server ADDRESS:PORT` and `settings NAME client ADDRESS:PORT` in a folder with the keys. NAME is one of
//! the modules of `tests/settings`.

mod echo;
#[path = "echo/host.rs"]
#[allow(dead_code)] // the configuration of the other examples
mod host;
#[path = "../tests/settings"]
mod printed {
    pub mod agreement;
    pub mod agreement13;
    pub mod certificate;
    pub mod certificate13;
    pub mod lean;
    pub mod psk;
    pub mod psk13;
    pub mod raw_public_key;
    pub mod resumed;
}

use std::error::Error;
use std::net::SocketAddr;
use std::time::SystemTime;

use lean_dtls::{
    Certificate, CertifiedKey, Config, ConfigError, Credentials, EcdsaP256Sha256, RawPublicKey, Status, X509, spki,
};

/// The key of the laboratory's scenarios.
const PSK: &[u8] = b"slowhand-testkey";

/// Octets of the buffers of a connection: enough for two certificates of the laboratory.
const BUFFER: usize = 2048;

/// The end of a session.
struct End {
    is_server: bool,
    address: String,
}

impl End {
    /// Serves for ever, or connects, sends a word, and prints the answer.
    fn run(&self, config: Result<Config<impl Credentials>, ConfigError>) -> Result<(), Box<dyn Error>> {
        let config = config.map_err(|error| format!("{error:?}"))?;
        if self.is_server {
            let mut network = host::Host::new(&self.address)?;
            println!("ready");
            echo::serve::<BUFFER, _>(&mut network, config)
        }
        let mut network = host::Host::new("127.0.0.1:0")?;
        let server: SocketAddr = self.address.parse()?;
        let mut print = |data: &[u8]| println!("data: {}", String::from_utf8_lossy(data));
        let ended = echo::client::<BUFFER, _>(&mut network, config, server.into(), b"22.5 C", &mut print);
        let is_well = matches!(ended, Status::Closing | Status::Closed);
        if is_well { Ok(()) } else { Err(format!("{ended:?}").into()) }
    }

    /// The file of this end, or of its peer.
    fn read(&self, is_own: bool, suffix: &str) -> std::io::Result<Vec<u8>> {
        let name = if self.is_server == is_own { "server" } else { "client" };
        std::fs::read(format!("{name}{suffix}.der"))
    }

    /// The number of this end's private key: behind the version of an ECPrivateKey (RFC 5915).
    fn private_key(&self) -> Result<[u8; 32], Box<dyn Error>> {
        Ok(self.read(true, "_key")?.get(7..39).ok_or("too short")?.try_into()?)
    }

    /// The point of a public key: the last octets of a SubjectPublicKeyInfo (RFC 5480).
    fn public_key(&self, is_own: bool) -> Result<[u8; 65], Box<dyn Error>> {
        Ok(*self.read(is_own, "_public")?.last_chunk().ok_or("too short")?)
    }
}

fn unix_time() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, name, role, address] = &arguments[..] else { return Err("usage: settings NAME ROLE ADDRESS:PORT".into()) };
    let end = End { is_server: role == "server", address: address.clone() };
    match name.as_str() {
        "agreement" => end.run(printed::agreement::configure(PSK)),
        "agreement13" => end.run(printed::agreement13::configure(PSK)),
        "lean" => end.run(printed::lean::configure(PSK)),
        "psk" => end.run(printed::psk::configure(PSK)),
        "psk13" => end.run(printed::psk13::configure(PSK)),
        "resumed" => end.run(printed::resumed::configure(PSK)),
        "raw_public_key" => {
            let (own, private_key) = (spki(&end.public_key(true)?), end.private_key()?);
            let trusted = [end.public_key(false)?];
            end.run(printed::raw_public_key::configure(RawPublicKey {
                own: Some((&own, &private_key)),
                trusted: &trusted,
            }))
        }
        "certificate" | "certificate13" => {
            let (own, private_key, authority) = (end.read(true, "")?, end.private_key()?, std::fs::read("ca.der")?);
            let credentials = X509 {
                own: Some(CertifiedKey { certificate: Certificate::X509(&[&own]), private_key: &private_key }),
                authorities: &[&authority],
                server_name: None,
                unix_time,
                algorithms: EcdsaP256Sha256::ONLY,
            };
            match name.as_str() {
                "certificate" => end.run(printed::certificate::configure(credentials)),
                _ => end.run(printed::certificate13::configure(credentials)),
            }
        }
        _ => Err(format!("no module {name}").into()),
    }
}
