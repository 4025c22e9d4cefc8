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
    switch (description) {
    case 0:
        return "close_notify";
    case 10:
        return "unexpected_message";
    case 20:
        return "bad_record_mac";
    case 21:
        return "decryption_failed";
    case 22:
        return "record_overflow";
    case 30:
        return "decompression_failure";
    case 40:
        return "handshake_failure";
    case 41:
        return "no_certificate";
    case 42:
        return "bad_certificate";
    case 43:
        return "unsupported_certificate";
    case 44:
        return "certificate_revoked";
    case 45:
        return "certificate_expired";
    case 46:
        return "certificate_unknown";
    case 47:
        return "illegal_parameter";
    case 48:
        return "unknown_ca";
    case 49:
        return "access_denied";
    case 50:
        return "decode_error";
    case 51:
        return "decrypt_error";
    case 60:
        return "export_restriction";
    case 70:
        return "protocol_version";
    case 71:
        return "insufficient_security";
    case 80:
        return "internal_error";
    case 86:
        return "inappropriate_fallback";
    case 90:
        return "user_canceled";
    case 100:
        return "no_renegotiation";
    case 109:
        return "missing_extension";
    case 110:
        return "unsupported_extension";
    case 111:
        return "certificate_unobtainable";
    case 112:
        return "unrecognized_name";
    case 113:
        return "bad_certificate_status_response";
    case 114:
        return "bad_certificate_hash_value";
    case 115:
        return "unknown_psk_identity";
    case 116:
        return "certificate_required";
    case 120:
        return "no_application_protocol";
    default:
        return "unknown alert";
    }
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
