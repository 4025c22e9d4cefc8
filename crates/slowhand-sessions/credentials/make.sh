#!/bin/sh
# Makes the test credentials anew with the openssl command (see README.md).
# ECDSA signatures vary in length by an octet or two, so the script issues each certificate again until it has the right length.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
DAYS=7300 # 20 years: the validity ends before 2050, so both dates are UTCTime (RFC 5280 section 4.1.2.5.1)

authority() { # curve
    openssl ecparam -name "$1" -genkey -noout -out "$work/$1-authority.pem"
    openssl req -x509 -new -key "$work/$1-authority.pem" -sha256 -days $DAYS -subj /CN=a -set_serial 1 \
        -addext basicConstraints=CA:TRUE -outform DER -out "$1-authority.der"
}

end() { # curve name subject serial length extension
    openssl ecparam -name "$1" -genkey -noout -out "$work/$2.pem"
    openssl ec -in "$work/$2.pem" -outform DER -out "$1-$2-key.der" 2>/dev/null
    openssl req -new -key "$work/$2.pem" -subj "/CN=$3" -out "$work/$2.csr"
    printf '%s\n' "$6" >"$work/extensions"
    openssl x509 -inform DER -in "$1-authority.der" -out "$work/$1-authority.crt"
    for try in $(seq 200); do
        openssl x509 -req -in "$work/$2.csr" -CA "$work/$1-authority.crt" -CAkey "$work/$1-authority.pem" \
            -set_serial "$4" -days $DAYS -sha256 -extfile "$work/extensions" -outform DER -out "$1-$2.der" 2>/dev/null
        [ "$(wc -c <"$1-$2.der")" = "$5" ] && return
    done
    echo "$1-$2: $(wc -c <"$1-$2.der") octets, never $5" >&2
    exit 1
}

# The program issues certificates with this key at run time, so the key is kept.
issuer() { # name, command that writes the key, arguments of the command that makes the key
    name=$1 write=$2
    shift 2
    openssl genpkey "$@" -out "$work/issuer.pem" 2>/dev/null
    # shellcheck disable=SC2086
    openssl $write -in "$work/issuer.pem" -outform DER -out "$name-issuer-key.der" 2>/dev/null
    openssl req -x509 -new -key "$work/issuer.pem" -sha256 -days $DAYS -subj /CN=i -set_serial 1 \
        -addext basicConstraints=CA:TRUE -outform DER -out "$name-issuer.der"
}

# RSA signatures have a fixed length, so the script issues each certificate once. All keys have the same length.
rsa() { # bits
    for name in authority server client; do
        openssl genrsa -out "$work/rsa-$name.pem" "$1" 2>/dev/null
    done
    openssl req -x509 -new -key "$work/rsa-authority.pem" -sha256 -days $DAYS -subj /CN=a -set_serial 1 \
        -addext basicConstraints=CA:TRUE -outform DER -out "rsa$1-authority.der"
    openssl x509 -inform DER -in "rsa$1-authority.der" -out "$work/rsa-authority.crt"
    for end in "server s 2" "client c 3"; do
        # shellcheck disable=SC2086
        set -- "$1" $end
        openssl rsa -in "$work/rsa-$2.pem" -traditional -outform DER -out "rsa$1-$2-key.der" 2>/dev/null
        openssl req -new -key "$work/rsa-$2.pem" -subj "/CN=$3" -out "$work/rsa.csr"
        printf '%s\n' "$RSA" >"$work/extensions"
        openssl x509 -req -in "$work/rsa.csr" -CA "$work/rsa-authority.crt" -CAkey "$work/rsa-authority.pem" \
            -set_serial "$4" -days $DAYS -sha256 -extfile "$work/extensions" -outform DER -out "rsa$1-$2.der" 2>/dev/null
    done
}

P256='basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
subjectKeyIdentifier=none
authorityKeyIdentifier=keyid'
P192='basicConstraints=CA:FALSE
subjectKeyIdentifier=none
authorityKeyIdentifier=none'
# keyEncipherment: a server's key decrypts the premaster secret (RFC 5246 section 7.4.2).
RSA='basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature,keyEncipherment
subjectKeyIdentifier=none
authorityKeyIdentifier=keyid'

authority prime256v1
authority prime192v1
end prime256v1 server s 2 332 "$P256"
end prime256v1 client c 3 332 "$P256"
end prime192v1 server s 2 246 "$P192"
end prime192v1 client c 3 246 "$P192"
for file in prime*.der; do
    case $file in
    prime256v1*) mv "$file" "secp256r1${file#prime256v1}" ;;
    prime192v1*) mv "$file" "secp192r1${file#prime192v1}" ;;
    esac
done
for bits in 1024 2048 3072; do
    rsa $bits
    issuer "rsa$bits" "rsa -traditional" -algorithm RSA -pkeyopt "rsa_keygen_bits:$bits"
done
for curve in secp192r1:prime192v1 secp256r1:prime256v1; do
    issuer "${curve%:*}" ec -algorithm EC -pkeyopt "ec_paramgen_curve:${curve#*:}" -pkeyopt ec_param_enc:named_curve
done
