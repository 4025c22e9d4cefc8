//! Reads what a library in C says of itself: `struct slowhand_capabilities`.

use std::ffi::{CStr, c_char, c_int};
use std::time::Duration;

use crate::capabilities::{Capabilities, Datagrams, MaximumTimeout, Timer, TlsCapabilities, TlsVersion};
use crate::config::{CredentialKind, Protocol, Stack};
use crate::credentials::RSA_BITS;
use crate::interface::*;
use crate::operation::Curve;
use crate::tls::{FRAGMENT_LENGTHS, PskMode, Resumption, Suite};

/// A statement of a library that slowhand does not know. Its text names the field, what was found and what is allowed.
pub(crate) type Unknown = String;

/// The capabilities of a library, whose texts and lists stay as long as the program.
///
/// # Errors
/// A value that slowhand does not know.
///
/// # Safety
/// The pointers in `declared`, and in what they point to, are NULL or as the header says. The library is never unloaded.
pub(crate) unsafe fn read(
    stack: Stack,
    declared: &slowhand_capabilities,
    library: Option<&slowhand_library>,
) -> Result<Capabilities, Unknown> {
    // SAFETY: the caller's duty, for all pointers of the two tables.
    let (version, protocols, credentials, suites, rsa_bits, licence, reason, remark) = unsafe {
        (
            library.map(|library| text((library.version)())),
            list(declared.protocols, |one| one.protocol == SLOWHAND_NO_PROTOCOL),
            list(declared.credentials, |one| one.credential == SLOWHAND_NO_CREDENTIAL),
            numbers(declared.suites),
            numbers(declared.rsa_bits),
            text(declared.licence),
            text(declared.minimum_mtu_reason),
            text(declared.remark),
        )
    };
    let version = version.unwrap_or(Some("not in this build"));
    let version = version.ok_or("library.version: found NULL, allowed: a text")?;
    // SAFETY: the caller's duty.
    let versions: Vec<_> = protocols.map(|one| unsafe { protocol(one) }).collect::<Result<_, _>>()?;
    let credentials = credentials.map(|one| Ok((credential(one.credential)?, one.minimum_mtu)));
    let credentials: Vec<_> = credentials.collect::<Result<_, Unknown>>()?;
    let suite =
        |number| Suite::from_iana(number).ok_or_else(|| unknown("suites", &format!("0x{number:04X}"), Suite::ALL));
    let suites: Vec<_> = suites.map(suite).collect::<Result<_, _>>()?;
    for (field, is_empty) in
        [("protocols", versions.is_empty()), ("credentials", credentials.is_empty()), ("suites", suites.is_empty())]
    {
        if is_empty {
            return Err(format!("{field}: found none, allowed: at least one"));
        }
    }
    let has_datagrams = versions.iter().any(|version| !version.protocol.is_stream());
    let reason = reason.unwrap_or("the library's own limit");
    let modes = [(SLOWHAND_PSK_KE, PskMode::PskKe), (SLOWHAND_PSK_DHE_KE, PskMode::PskDheKe)];
    let psk_modes = chosen("psk_modes", declared.psk_modes, modes)?;
    let kinds: Vec<_> = credentials.iter().map(|(kind, _)| *kind).collect();
    Ok(Capabilities {
        stack,
        is_built: library.is_some(),
        version,
        licence: licence.unwrap_or("not named"),
        credentials: kinds.leak(),
        datagrams: if has_datagrams { Some(datagrams(declared, credentials.leak(), reason)?) } else { None },
        weightless: &[],
        tls: TlsCapabilities {
            suites: suites.leak(),
            versions: versions.leak(),
            rsa_bits: known("rsa_bits", rsa_bits, RSA_BITS)?,
            // -1: none. An octet has its length (RFC 9146 section 3).
            connection_id: u8::try_from(declared.connection_id).ok(),
            lean: false,
            without_cookie: declared.without_cookie != 0,
            // No adapter in C has a server of this kind.
            needs_cookie_for_public_keys: false,
            cookieless: declared.cookieless != 0,
            identity_with_nul: declared.identity_with_nul != 0,
            longest_psk: declared.longest_psk,
            psk_modes: psk_modes.leak(),
            imports_psk: declared.imports_psk != 0,
            record_size_limit: declared.record_size_limit != 0,
            takes_any_chain: declared.takes_any_chain != 0,
            // No adapter in C has it: with BoringSSL and GnuTLS, which do, it is for TLS alone.
            false_start: false,
            forgets_flight_on_data: declared.forgets_flight_on_data != 0,
        },
        remarks: remark.map_or(&[], |remark| vec![remark].leak()),
    })
}

fn datagrams(
    declared: &slowhand_capabilities,
    minimum_mtu: &'static [(CredentialKind, u16)],
    minimum_mtu_reason: &'static str,
) -> Result<Datagrams, Unknown> {
    let [first, maximum, least, most] =
        [declared.first_timeout_ns, declared.maximum_timeout_ns, declared.least_timeout_ns, declared.most_timeout_ns]
            .map(Duration::from_nanos);
    if least.is_zero() || first < least || most < first {
        let allowed = "0 < least_timeout_ns <= first_timeout_ns <= most_timeout_ns";
        return Err(format!("first_timeout_ns: found {}, allowed: {allowed}", declared.first_timeout_ns));
    }
    let maximum = match declared.maximum_times_first {
        0 => MaximumTimeout::Chosen(maximum),
        times => MaximumTimeout::TimesFirst(times),
    };
    let timer = Timer { first, maximum, least, most, measures: false, backs_off: false };
    let fragments = declared.fragments != 0;
    Ok(Datagrams { minimum_mtu, minimum_mtu_reason, fragments, without_packing: false, timer })
}

/// # Safety
/// Its lists are NULL, or end with 0.
unsafe fn protocol(declared: &slowhand_protocol) -> Result<TlsVersion, Unknown> {
    let protocol = match declared.protocol {
        SLOWHAND_DTLS12 => Protocol::Dtls12,
        SLOWHAND_DTLS13 => Protocol::Dtls13,
        SLOWHAND_TLS12 => Protocol::Tls12,
        SLOWHAND_TLS13 => Protocol::Tls13,
        other => return Err(unknown("protocols", &other, &["enum slowhand_protocol_name"])),
    };
    // SAFETY: the caller's duty.
    let (curves, lengths) = unsafe { (numbers(declared.curves), numbers(declared.fragment_lengths)) };
    let curves = curves
        .map(|number| {
            Curve::from_named_group(number)
                .ok_or_else(|| unknown("curves", &number, &["19 (secp192r1)", "23 (secp256r1)"]))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let fragment_lengths = known("fragment_lengths", lengths, FRAGMENT_LENGTHS)?;
    let resumptions = [(SLOWHAND_RESUMPTION_ID, Resumption::Id), (SLOWHAND_RESUMPTION_TICKET, Resumption::Ticket)];
    let resumptions = chosen("resumptions", declared.resumptions & !(1 << SLOWHAND_RESUMPTION_NONE), resumptions)?;
    Ok(TlsVersion {
        protocol,
        curves: curves.leak(),
        fragment_lengths,
        resumptions: resumptions.leak(),
        certificate_compressions: &[],
    })
}

fn credential(declared: c_int) -> Result<CredentialKind, Unknown> {
    match declared {
        SLOWHAND_PSK => Ok(CredentialKind::Psk),
        SLOWHAND_ECJPAKE => Ok(CredentialKind::Ecjpake),
        SLOWHAND_RAW_PUBLIC_KEY => Ok(CredentialKind::RawPublicKey),
        SLOWHAND_CERTIFICATE => Ok(CredentialKind::Certificate),
        other => Err(unknown("credentials", &other, &["enum slowhand_credential_name"])),
    }
}

/// Numbers that slowhand knows.
fn known(field: &str, found: impl Iterator<Item = u16>, allowed: &[u16]) -> Result<&'static [u16], Unknown> {
    let check = |number| {
        if allowed.contains(&number) { Ok(number) } else { Err(unknown(field, &number, allowed)) }
    };
    Ok(found.map(check).collect::<Result<Vec<_>, _>>()?.leak())
}

/// The meanings of the bits of a number. Each value has its bit.
fn chosen<T, const N: usize>(field: &str, found: u32, values: [(c_int, T); N]) -> Result<Vec<T>, Unknown> {
    let allowed = values.iter().fold(0, |bits, (bit, _)| bits | 1 << bit);
    if found & !allowed != 0 {
        return Err(format!("{field}: found 0x{found:X}, allowed: bits of 0x{allowed:X}"));
    }
    Ok(values.into_iter().filter(|(bit, _)| found & (1 << bit) != 0).map(|(_, value)| value).collect())
}

fn unknown<T: ToString>(field: &str, found: &dyn std::fmt::Display, allowed: &[T]) -> Unknown {
    let allowed: Vec<_> = allowed.iter().map(T::to_string).collect();
    format!("{field}: found {found}, allowed: {}", allowed.join(", "))
}

/// The numbers of a list; none if there is no list.
///
/// # Safety
/// The list is NULL, or ends with 0.
unsafe fn numbers(list_of: *const u16) -> impl Iterator<Item = u16> {
    // SAFETY: the caller's duty.
    unsafe { list(list_of, |number| *number == 0) }.copied()
}

/// The elements of a list before its end; none if there is no list.
///
/// # Safety
/// The list is NULL, or has an element that is its end.
unsafe fn list<T: 'static>(first: *const T, is_end: impl Fn(&T) -> bool) -> impl Iterator<Item = &'static T> {
    // SAFETY: the caller's duty: the list goes on until its end, which is the last that is looked at.
    let element = move |at| unsafe { first.add(at).as_ref() };
    (0..).map_while(element).take_while(move |element| !is_end(element))
}

/// # Safety
/// The text is NULL, or ends with 0 and stays as long as the program.
unsafe fn text(text: *const c_char) -> Option<&'static str> {
    // SAFETY: the caller's duty.
    let octets = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })?;
    Some(octets.to_str().unwrap_or("(not UTF-8)"))
}
