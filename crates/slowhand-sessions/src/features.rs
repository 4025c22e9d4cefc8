//! Describes the capabilities of a library in words, for the list of libraries.

use crate::capabilities::{Capabilities, MaximumTimeout, TlsVersion};
use crate::config::Protocol;
use crate::operation::Curve;
use crate::tls::Resumption;

impl Capabilities {
    /// The features that a configuration can choose, in words.
    pub fn features(&self) -> Vec<String> {
        let tls = &self.tls;
        let mut features = Vec::new();
        for curve in tls.versions.iter().flat_map(|version| version.curves).map(ToString::to_string) {
            if !features.contains(&curve) {
                features.push(curve);
            }
        }
        features.extend(self.rsa());
        if self.credentials.iter().any(|kind| kind.is_asymmetric()) {
            features.push("server or mutual authentication".to_owned());
        }
        features.extend(self.datagram_features());
        let has = |is_in: fn(&TlsVersion) -> bool| tls.versions.iter().any(is_in);
        features.extend(chosen([
            (has(|version| !version.fragment_lengths.is_empty()), "max_fragment_length"),
            (tls.record_size_limit, "record_size_limit"),
            (tls.takes_any_chain, "pre_validation"),
            (tls.false_start, "false_start"),
            (has(|version| !version.certificate_compressions.is_empty()), "certificate_compression"),
        ]));
        features.extend(self.resumption());
        features.push("application data".to_owned());
        if !self.weightless.is_empty() {
            let credentials: Vec<_> = self.weightless.iter().map(ToString::to_string).collect();
            features.push(format!("weightless cryptography with {}", credentials.join(" or ")));
        }
        features.extend(self.remarks.iter().copied().map(str::to_owned));
        features
    }

    /// Whose arithmetic is replaced by default (`arithmetic.rs`): that of secp256r1 and of RSA, as far as the library has them.
    pub(crate) fn replaced(&self) -> Vec<&'static str> {
        let has_curve = self.tls.versions.iter().any(|version| version.curves.contains(&Curve::Secp256r1));
        let all = [(has_curve, "secp256r1"), (!self.tls.rsa_bits.is_empty(), "RSA")];
        all.into_iter().filter(|(has, _)| *has).map(|(_, name)| name).collect()
    }

    fn rsa(&self) -> Option<String> {
        let names: Vec<_> = self.tls.rsa_bits.iter().map(|bits| format!("RSA-{bits}")).collect();
        let (last, others) = names.split_last()?;
        Some(if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) })
    }

    fn datagram_features(&self) -> Vec<String> {
        let Some(datagrams) = &self.datagrams else { return Vec::new() };
        let timeouts = match datagrams.timer.maximum {
            MaximumTimeout::Chosen(_) => "first and maximum timeout",
            MaximumTimeout::TimesFirst(_) => "first timeout",
        };
        let chosen = chosen([
            (self.tls.without_cookie && !self.tls.cookieless, "cookie on or off"),
            (self.tls.cookieless, "no cookie"),
            (datagrams.fragments, "mtu"),
            (datagrams.without_packing, "datagram_packing"),
            (true, timeouts),
            (datagrams.timer.measures, "timeout floor"),
            (datagrams.timer.backs_off, "backoff"),
            (self.tls.connection_id.is_some(), "connection_id"),
            (self.tls.lean, "lean profile"),
        ]);
        chosen.collect()
    }

    /// The kinds of resumption. Names the version of TLS if not all versions support a kind.
    fn resumption(&self) -> Option<String> {
        let kinds = [(Resumption::Id, "identifier"), (Resumption::Ticket, "ticket")];
        let words: Vec<_> = kinds.into_iter().filter_map(|(kind, word)| self.resumption_by(kind, word)).collect();
        (!words.is_empty()).then(|| format!("resumption by {}", words.join(" or ")))
    }

    fn resumption_by(&self, kind: Resumption, word: &str) -> Option<String> {
        let versions = self.tls.versions;
        let having: Vec<_> = versions.iter().filter(|version| version.resumptions.contains(&kind)).collect();
        let numbers = match (having.len(), having.iter().any(|version| version.protocol == Protocol::Tls13)) {
            (0, _) => return None,
            (count, _) if count == versions.len() => return Some(word.to_owned()),
            (1, true) => "1.3",
            (_, true) => return Some(word.to_owned()),
            (_, false) => "1.2",
        };
        Some(format!("{word} ({numbers})"))
    }
}

/// The features that a library has.
fn chosen<const N: usize>(all: [(bool, &str); N]) -> impl Iterator<Item = String> {
    all.into_iter().filter(|(can, _)| *can).map(|(_, feature)| feature.to_owned())
}
