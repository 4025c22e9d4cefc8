#define MBEDTLS_ALLOW_PRIVATE_ACCESS
#include "certificate.h"

#include <string.h>

#include "mbedtls/asn1.h"
#include "mbedtls/asn1write.h"
#include "mbedtls/oid.h"
#include "mbedtls/x509_crt.h"

/* Netscape certificate comment, 2.16.840.1.113730.1.13: text without meaning. */
#define OID_COMMENT "\x60\x86\x48\x01\x86\xF8\x42\x01\x0D"
#define MAX_COMMENT 8192
#define MAX_NAME 64

/* YYYYMMDDhhmmss */
static void write_time(char text[16], const mbedtls_x509_time *time)
{
    const int fields[] = { time->year / 100, time->year % 100, time->mon, time->day, time->hour, time->min, time->sec };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        *text++ = (char) ('0' + fields[i] / 10);
        *text++ = (char) ('0' + fields[i] % 10);
    }
    *text = '\0';
}

static int copy_names_and_validity(mbedtls_x509write_cert *certificate, const mbedtls_x509_crt *like,
                                   const mbedtls_x509_crt *issuer)
{
    char name[MAX_NAME], not_before[16], not_after[16];
    int ret;
    if ((ret = mbedtls_x509_dn_gets(name, sizeof name, &like->subject)) < 0
        || (ret = mbedtls_x509write_crt_set_subject_name(certificate, name)) != 0
        || (ret = mbedtls_x509_dn_gets(name, sizeof name, &issuer->subject)) < 0
        || (ret = mbedtls_x509write_crt_set_issuer_name(certificate, name)) != 0)
        return ret;
    write_time(not_before, &like->valid_from);
    write_time(not_after, &like->valid_to);
    return mbedtls_x509write_crt_set_validity(certificate, not_before, not_after);
}

/* Extension ::= SEQUENCE { extnID, critical BOOLEAN DEFAULT FALSE, extnValue OCTET STRING } (RFC 5280 section 4.1) */
static int copy_extension(mbedtls_x509write_cert *certificate, unsigned char **p, const unsigned char *end)
{
    mbedtls_asn1_buf id;
    size_t len;
    int ret, critical = 0;
    if ((ret = mbedtls_asn1_get_tag(p, end, &id.len, MBEDTLS_ASN1_OID)) != 0)
        return ret;
    id.p = *p;
    *p += id.len;
    if ((ret = mbedtls_asn1_get_bool(p, end, &critical)) != 0 && ret != MBEDTLS_ERR_ASN1_UNEXPECTED_TAG)
        return ret;
    if ((ret = mbedtls_asn1_get_tag(p, end, &len, MBEDTLS_ASN1_OCTET_STRING)) != 0)
        return ret;
    const unsigned char *value = *p;
    *p += len;
    /* The only extension that depends on the issuer. */
    if (MBEDTLS_OID_CMP(MBEDTLS_OID_AUTHORITY_KEY_IDENTIFIER, &id) == 0)
        return mbedtls_x509write_crt_set_authority_key_identifier(certificate);
    return mbedtls_x509write_crt_set_extension(certificate, (const char *) id.p, id.len, critical, value, len);
}

static int copy_extensions(mbedtls_x509write_cert *certificate, const mbedtls_x509_crt *like)
{
    unsigned char *p = like->v3_ext.p;
    const unsigned char *end = p + like->v3_ext.len;
    const int sequence = MBEDTLS_ASN1_CONSTRUCTED | MBEDTLS_ASN1_SEQUENCE;
    size_t len;
    int ret = mbedtls_asn1_get_tag(&p, end, &len, sequence);
    while (ret == 0 && p < end) {
        if ((ret = mbedtls_asn1_get_tag(&p, end, &len, sequence)) == 0)
            ret = copy_extension(certificate, &p, p + len);
    }
    return ret;
}

static int add_comment(mbedtls_x509write_cert *certificate, const uint8_t *comment, size_t length)
{
    unsigned char value[MAX_COMMENT + 4], *p = value + sizeof value;
    int ret = mbedtls_asn1_write_ia5_string(&p, value, (const char *) comment, length);
    if (ret < 0)
        return ret;
    return mbedtls_x509write_crt_set_extension(certificate, OID_COMMENT, MBEDTLS_OID_SIZE(OID_COMMENT), 0, p,
                                               (size_t) ret);
}

int slowhand_mbedtls_issue(const struct slowhand_mbedtls_certificate *wanted, uint8_t *buffer, size_t size)
{
    mbedtls_x509_crt like, issuer;
    mbedtls_pk_context issuer_key;
    mbedtls_x509write_cert certificate;
    int ret;
    slowhand_mbedtls_initialise();
    mbedtls_x509_crt_init(&like);
    mbedtls_x509_crt_init(&issuer);
    mbedtls_pk_init(&issuer_key);
    mbedtls_x509write_crt_init(&certificate);
    mbedtls_x509write_crt_set_md_alg(&certificate, MBEDTLS_MD_SHA256);
    mbedtls_x509write_crt_set_subject_key(&certificate, &like.pk);
    mbedtls_x509write_crt_set_issuer_key(&certificate, &issuer_key);
    if ((ret = mbedtls_x509_crt_parse_der(&like, wanted->like, wanted->like_len)) == 0
        && (ret = mbedtls_x509_crt_parse_der(&issuer, wanted->issuer, wanted->issuer_len)) == 0
        && (ret = mbedtls_pk_parse_key(&issuer_key, wanted->issuer_key, wanted->issuer_key_len, NULL, 0,
                                       slowhand_mbedtls_random, NULL)) == 0
        && (ret = mbedtls_x509write_crt_set_serial_raw(&certificate, (unsigned char *) wanted->serial,
                                                       wanted->serial_len)) == 0
        && (ret = copy_names_and_validity(&certificate, &like, &issuer)) == 0
        && (ret = copy_extensions(&certificate, &like)) == 0
        && (wanted->comment == NULL
            || (ret = add_comment(&certificate, wanted->comment, wanted->comment_len)) == 0))
        ret = mbedtls_x509write_crt_der(&certificate, buffer, size, slowhand_mbedtls_random, NULL);
    mbedtls_x509write_crt_free(&certificate);
    mbedtls_pk_free(&issuer_key);
    mbedtls_x509_crt_free(&issuer);
    mbedtls_x509_crt_free(&like);
    return ret;
}
