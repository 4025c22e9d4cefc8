/* The settings that wolfSSL is compiled with, and the platform that session.c gives it. A header of the user comes at the end and
 * changes this by #define and #undef. */
#pragma once

/* A library without files, sockets and a clock of its own. */
#define WOLFSSL_LIB
#define WOLFSSL_PTHREADS
#define NO_FILESYSTEM
#define NO_WRITEV
#define WOLFSSL_NO_SOCK
#define WOLFSSL_USER_IO
#include <time.h>
extern time_t slowhand_wolfssl_time(time_t *);
#define XTIME slowhand_wolfssl_time
#define HAVE_GMTIME_R
#define USER_TICKS
extern int slowhand_wolfssl_random(unsigned char *, unsigned int);
#define CUSTOM_RAND_GENERATE_BLOCK slowhand_wolfssl_random

/* Versions and extensions */
#define WOLFSSL_TLS13
#define WOLFSSL_DTLS
#define WOLFSSL_DTLS13
#define WOLFSSL_SEND_HRR_COOKIE
#define WOLFSSL_DTLS_MTU
#define WOLFSSL_DTLS_CID
#define DTLS_CID_MAX_SIZE 32 /* as long as those of mbedTLS */
#define WOLFSSL_DTLS_CH_FRAG
#define HAVE_TLS_EXTENSIONS
#define HAVE_SUPPORTED_CURVES
#define HAVE_MAX_FRAGMENT
#define HAVE_SESSION_TICKET
#define HAVE_EXTENDED_MASTER
#define HAVE_RPK
#define HAVE_SERVER_RENEGOTIATION_INFO
#define HAVE_SECRET_CALLBACK /* for the key log */
#define NO_OLD_TLS

/* A cache of sessions that is not one for the whole process: session.c keeps them. */
#define HAVE_EXT_CACHE
#define MICRO_SESSION_CACHE
#define NO_CLIENT_CACHE
#define NO_SESSION_CACHE_REF

/* Tickets last for a day, as those of mbedTLS, and their keys longer than twice that. */
#define SESSION_TICKET_HINT_DEFAULT 86400
#define WOLFSSL_TICKET_KEY_LIFETIME (3 * SESSION_TICKET_HINT_DEFAULT)

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
#define WOLFSSL_HAVE_SP_ECC /* secp256r1 has functions of its own, which arithmetic.c stands before */
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

#ifdef SLOWHAND_WOLFSSL_CONFIG
#include SLOWHAND_WOLFSSL_CONFIG
#endif
