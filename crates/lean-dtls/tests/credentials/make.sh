#!/bin/sh
# Makes the certificates of the tests anew with the openssl command (3.0.19). The keys are public: never use them for a device.
#
# authority -> issuer -> server (for the name sensors.example) and client; other: an authority of its own.
# All are valid from the day of the script for 20 years, but `expired`: the tests say what time it is.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

key() { # name
    openssl ecparam -name prime256v1 -genkey -noout -out "$work/$1.pem"
    # ECPrivateKey (RFC 5915): the scalar comes after 7 octets.
    openssl ec -in "$work/$1.pem" -outform DER 2>/dev/null | dd bs=1 skip=7 count=32 of="$1.key" 2>/dev/null
}

authority() { # name
    key "$1"
    openssl req -x509 -new -key "$work/$1.pem" -sha256 -days 7300 -subj "/CN=$1" -addext basicConstraints=critical,CA:TRUE \
        -outform PEM -out "$work/$1.crt"
    openssl x509 -in "$work/$1.crt" -outform DER -out "$1.der"
}

issued() { # name issuer days extensions
    key "$1"
    openssl req -new -key "$work/$1.pem" -subj "/CN=$1" -out "$work/$1.csr"
    printf '%s\n' "$4" >"$work/extensions"
    openssl x509 -req -in "$work/$1.csr" -CA "$work/$2.crt" -CAkey "$work/$2.pem" -set_serial "$5" -days "$3" -sha256 \
        -extfile "$work/extensions" -out "$work/$1.crt" 2>/dev/null
    openssl x509 -in "$work/$1.crt" -outform DER -out "$1.der"
}

authority authority
authority other
issued issuer authority 7300 'basicConstraints=critical,CA:TRUE,pathlen:0' 2
issued server issuer 7300 'basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
extendedKeyUsage=serverAuth
subjectAltName=DNS:sensors.example,IP:2001:db8::1' 3
issued client issuer 7300 'basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
extendedKeyUsage=clientAuth' 4
issued expired issuer 1 'basicConstraints=critical,CA:FALSE
extendedKeyUsage=clientAuth' 5
# The keys of the authorities are not needed any more.
rm authority.key other.key issuer.key
