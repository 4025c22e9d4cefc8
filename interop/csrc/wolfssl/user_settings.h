/* What wolfSSL is compiled with, and the platform that peer.c gives it. */
#pragma once

/* A library without files, sockets and a clock of its own. */
#define WOLFSSL_LIB
#define WOLFSSL_PTHREADS
#define NO_FILESYSTEM
#define NO_WRITEV
#define WOLFSSL_NO_SOCK
#define WOLFSSL_USER_IO
#include <time.h>
extern time_t interop_wolfssl_time(time_t *);
#define XTIME interop_wolfssl_time
#define USER_TICKS
extern int interop_wolfssl_random(unsigned char *, unsigned int);
#define CUSTOM_RAND_GENERATE_BLOCK interop_wolfssl_random

/* DTLS 1.2 and 1.3 */
#define WOLFSSL_DTLS
#define WOLFSSL_DTLS13
#define WOLFSSL_TLS13
#define WOLFSSL_SEND_HRR_COOKIE
#define WOLFSSL_DTLS_MTU
#define WOLFSSL_DTLS_CID
#define WOLFSSL_DTLS_CH_FRAG
#define HAVE_TLS_EXTENSIONS
#define HAVE_SUPPORTED_CURVES
#define HAVE_MAX_FRAGMENT
#define HAVE_SESSION_TICKET
#define HAVE_EXTENDED_MASTER
#define HAVE_RPK
#define HAVE_SERVER_RENEGOTIATION_INFO
#define NO_OLD_TLS

/* Cryptography */
#define WOLFSSL_STATIC_PSK
#define HAVE_HKDF
#define HAVE_AESGCM
#define HAVE_AESCCM
#define WOLFSSL_AES_DIRECT
#define HAVE_ECC
#define HAVE_CURVE25519
#define ECC_TIMING_RESISTANT
#define WOLFSSL_SP_MATH_ALL
#define WOLFSSL_SHA384
#define WOLFSSL_SHA512
#define WOLFSSL_ALT_CERT_CHAINS
#define NO_RSA
#define NO_DH
#define NO_DSA
#define NO_MD4
#define NO_MD5
#define NO_DES3
#define NO_RC4
#define NO_PWDBASED
