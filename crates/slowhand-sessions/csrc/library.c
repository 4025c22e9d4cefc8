#include "library.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t slowhand_take(struct slowhand_input *input, int is_datagram, void *buffer, size_t size)
{
    size_t length = input->length < size ? input->length : size;
    if (length == 0)
        return 0;
    memcpy(buffer, input->octets, length);
    input->octets += length;
    input->length -= is_datagram ? input->length : length;
    return length;
}

void slowhand_describe(struct slowhand_progress *progress, const char *format, ...)
{
    size_t length = strlen(progress->words);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(progress->words + length, sizeof progress->words - length, format, arguments);
    va_end(arguments);
}

/* AlertDescription of RFC 8446 appendix B.2, with the reserved values of earlier versions. */
const char *slowhand_alert_name(int description)
{
    static const char *const NAMES[UINT8_MAX + 1] = {
        [0] = "close_notify",
        [10] = "unexpected_message",
        [20] = "bad_record_mac",
        [21] = "decryption_failed",
        [22] = "record_overflow",
        [30] = "decompression_failure",
        [40] = "handshake_failure",
        [41] = "no_certificate",
        [42] = "bad_certificate",
        [43] = "unsupported_certificate",
        [44] = "certificate_revoked",
        [45] = "certificate_expired",
        [46] = "certificate_unknown",
        [47] = "illegal_parameter",
        [48] = "unknown_ca",
        [49] = "access_denied",
        [50] = "decode_error",
        [51] = "decrypt_error",
        [60] = "export_restriction",
        [70] = "protocol_version",
        [71] = "insufficient_security",
        [80] = "internal_error",
        [86] = "inappropriate_fallback",
        [90] = "user_canceled",
        [100] = "no_renegotiation",
        [109] = "missing_extension",
        [110] = "unsupported_extension",
        [111] = "certificate_unobtainable",
        [112] = "unrecognized_name",
        [113] = "bad_certificate_status_response",
        [114] = "bad_certificate_hash_value",
        [115] = "unknown_psk_identity",
        [116] = "certificate_required",
        [120] = "no_application_protocol",
    };
    const char *name = description >= 0 && description <= UINT8_MAX ? NAMES[description] : NULL;
    return name == NULL ? "unknown alert" : name;
}

size_t slowhand_copy_out(const void *octets, size_t length, uint8_t *output, size_t size)
{
    if (octets == NULL)
        return 0;
    if (length <= size)
        memcpy(output, octets, length);
    return length;
}

static unsigned copy_psk(const struct slowhand_options *options, unsigned char *psk, unsigned size)
{
    if (options->psk_len > size)
        return 0;
    memcpy(psk, options->psk, options->psk_len);
    return (unsigned) options->psk_len;
}

unsigned slowhand_client_psk(const struct slowhand_options *options, char *identity, unsigned identity_size, unsigned char *psk,
                             unsigned psk_size)
{
    if (options->psk_identity_len >= identity_size)
        return 0;
    memcpy(identity, options->psk_identity, options->psk_identity_len);
    identity[options->psk_identity_len] = '\0';
    return copy_psk(options, psk, psk_size);
}

unsigned slowhand_server_psk(const struct slowhand_options *options, const char *identity, unsigned char *psk, unsigned psk_size)
{
    if (strlen(identity) != options->psk_identity_len
        || memcmp(identity, options->psk_identity, options->psk_identity_len) != 0)
        return 0;
    return copy_psk(options, psk, psk_size);
}

size_t slowhand_not_resumable(void *session, uint8_t *output, size_t size)
{
    (void) session;
    (void) output;
    (void) size;
    return 0;
}

int slowhand_no_connection_id(const void *session)
{
    (void) session;
    return -1;
}
