//! Key agreement on elliptic curves: ServerKeyExchange and ClientKeyExchange (RFC 8422, section 5.4 and 5.7; RFC 5489,
//! section 2).

use zeroize::{Zeroize, Zeroizing};

use super::certificates;
use crate::alert;
use crate::codec::{Full, Reader, Writer};
use crate::crypto::{Crypto, Group, MAX_PUBLIC, SCALAR};
use crate::features::{CERTIFICATES, Feature, If, Switch};
use crate::signature;
use crate::suite::{KeyExchange, Suite};

/// `named_curve`: the server says its group by its number (RFC 8422, section 5.4).
const NAMED_CURVE: u8 = 3;

/// Octets of the longest ServerECDHParams: kind, group, length, public key.
const PARAMETERS: usize = 4 + MAX_PUBLIC;

/// The keys of a handshake under way.
pub(crate) struct Keys {
    pub(crate) group: Group,
    /// The server's own ephemeral private key.
    private: Zeroizing<[u8; SCALAR]>,
    /// A client: the server's ephemeral public key.
    peer: [u8; MAX_PUBLIC],
    /// The public key in the peer's certificate.
    pub(crate) certified: Option<If<CERTIFICATES, [u8; MAX_PUBLIC]>>,
    /// The server has asked this client for a certificate: true if its signature can be one of this engine.
    pub(crate) request: Option<If<CERTIFICATES, bool>>,
}

/// ServerECDHParams, which the server signs.
pub(crate) struct Parameters {
    octets: [u8; PARAMETERS],
    length: usize,
}

impl Keys {
    pub(crate) fn new() -> Self {
        Self {
            group: Group::P256,
            private: Zeroizing::new([0; SCALAR]),
            peer: [0; MAX_PUBLIC],
            certified: None,
            request: None,
        }
    }

    /// Wipes the private key, if it has not been used.
    pub(crate) fn wipe(&mut self) {
        self.private.zeroize();
    }

    /// The server draws its key.
    ///
    /// # Errors
    /// The alert for the client.
    pub(crate) fn draw<C: Crypto>(&mut self, crypto: &mut C, group: Group) -> Result<Parameters, u8> {
        let mut public = [0; MAX_PUBLIC];
        let public = &mut public[..group.public()];
        self.group = group;
        *self.private = crypto.generate(group, public).map_err(|_| alert::INTERNAL_ERROR)?;
        let mut octets = [0; PARAMETERS];
        let mut writer = Writer::new(&mut octets);
        write_parameters(&mut writer, group, public).map_err(|_| alert::INTERNAL_ERROR)?;
        let length = writer.len();
        Ok(Parameters { octets, length })
    }

    /// The server: the secret that it shares with the owner of this public key. Its own private key is wiped.
    ///
    /// # Errors
    /// The alert for the client.
    pub(crate) fn agree<C: Crypto>(&mut self, crypto: &mut C, public: &[u8]) -> Result<Zeroizing<[u8; SCALAR]>, u8> {
        let secret = crypto.agree(self.group, &self.private, public);
        self.wipe();
        secret.map(Zeroizing::new).map_err(|_| alert::ILLEGAL_PARAMETER)
    }

    /// The client reads a ServerKeyExchange.
    ///
    /// # Errors
    /// The alert for the server.
    pub(crate) fn read<C: Crypto>(
        &mut self,
        crypto: &mut C,
        body: &[u8],
        suite: Suite,
        offered: &[Group],
        randoms: &[[u8; 32]; 2],
    ) -> Result<(), u8> {
        let mut reader = Reader::new(body);
        if suite.key_exchange() == KeyExchange::EcdheEcdsa {
            let parameters = self.read_parameters(&mut reader, offered)?;
            let digest = certificates::key_exchange_digest(crypto, randoms, parameters);
            let key = Feature::<CERTIFICATES>::borrow(&self.certified).ok_or(alert::INTERNAL_ERROR)?;
            return signature::verify(reader, crypto, key, &digest);
        }
        if suite.key_exchange() == KeyExchange::EcdhePsk {
            // The hint does not matter: there is one identity (RFC 4279, section 5.2).
            reader.vector(2).ok_or(alert::DECODE_ERROR)?;
        }
        self.read_parameters(&mut reader, offered)?;
        reader.is_empty().then_some(()).ok_or(alert::DECODE_ERROR)
    }

    /// Reads the server's key. Returns the parameters as the server signs them.
    fn read_parameters<'a>(&mut self, reader: &mut Reader<'a>, offered: &[Group]) -> Result<&'a [u8], u8> {
        let signed = reader.rest();
        let (kind, number) = (reader.u8(), reader.u16());
        let public = reader.vector(1).ok_or(alert::DECODE_ERROR)?;
        let group = offered.iter().copied().find(|group| Some(group.number()) == number);
        let group = group.filter(|group| kind == Some(NAMED_CURVE) && public.len() == group.public());
        self.group = group.ok_or(alert::ILLEGAL_PARAMETER)?;
        self.peer[..public.len()].copy_from_slice(public);
        Ok(&signed[..signed.len() - reader.rest().len()])
    }

    /// The client: the secret that it shares with the server. Writes its own public key into `public`, and returns its
    /// length too.
    ///
    /// # Errors
    /// The alert for the server.
    pub(crate) fn answer<C: Crypto>(
        &self,
        crypto: &mut C,
        public: &mut [u8; MAX_PUBLIC],
    ) -> Result<(Zeroizing<[u8; SCALAR]>, usize), u8> {
        let length = self.group.public();
        let private = crypto.generate(self.group, &mut public[..length]).map_err(|_| alert::INTERNAL_ERROR)?;
        let private = Zeroizing::new(private);
        let secret = crypto.agree(self.group, &private, &self.peer[..length]).map_err(|_| alert::ILLEGAL_PARAMETER)?;
        Ok((Zeroizing::new(secret), length))
    }
}

impl Parameters {
    pub(crate) fn octets(&self) -> &[u8] {
        &self.octets[..self.length]
    }
}

fn write_parameters(writer: &mut Writer<'_>, group: Group, public: &[u8]) -> Result<(), Full> {
    writer.number(NAMED_CURVE.into(), 1)?;
    writer.number(group.number().into(), 2)?;
    writer.vector(1, |writer| writer.put(public))
}
