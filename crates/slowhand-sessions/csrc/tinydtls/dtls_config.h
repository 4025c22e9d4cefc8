/* The result of tinyDTLS's own configuration on a POSIX host, with both key exchanges. */
#ifndef SLOWHAND_TINYDTLS_CONFIG_H
#define SLOWHAND_TINYDTLS_CONFIG_H

#define DTLS_ECC 1
#define DTLS_PSK 1
#define DTLSv12 1
#define WITH_SHA256 1
#define SHA2_USE_INTTYPES_H 1
#define DTLS_CHECK_CONTENTTYPE 1

#define HAVE_ARPA_INET_H 1
#define HAVE_ASSERT_H 1
#define HAVE_FCNTL_H 1
#define HAVE_INET_NTOP 1
#define HAVE_INTTYPES_H 1
#define HAVE_MEMORY_H 1
#define HAVE_MEMSET 1
#define HAVE_NETDB_H 1
#define HAVE_NETINET_IN_H 1
#define HAVE_SELECT 1
#define HAVE_SOCKET 1
#define HAVE_STDDEF_H 1
#define HAVE_STDINT_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRING_H 1
#define HAVE_STRNLEN 1
#define HAVE_SYS_PARAM_H 1
#define HAVE_SYS_SOCKET_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_TIME_H 1
#define HAVE_UNISTD_H 1
#define HAVE_VPRINTF 1
#define STDC_HEADERS 1

#define PACKAGE_NAME "tinydtls"
#define PACKAGE_VERSION "0.8.6"
#define PACKAGE_STRING PACKAGE_NAME " " PACKAGE_VERSION

/* The changes of a build of the user. */
#ifdef SLOWHAND_USER_CONFIG
#include SLOWHAND_USER_CONFIG
#endif

#endif
