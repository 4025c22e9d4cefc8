/* Another library with the names of OpenSSL, mbedTLS and tinyDTLS; see symbols.rs. */

static int calls;

void *SSL_new(void *context)
{
    calls++;
    return context;
}

int RAND_bytes(unsigned char *octets, int length)
{
    (void) octets;
    calls++;
    return length;
}

void mbedtls_ssl_init(void *session)
{
    (void) session;
    calls++;
}

void *dtls_new_context(void *data)
{
    calls++;
    return data;
}

int slowhand_decoy_calls(void)
{
    return calls;
}
