#ifndef SLOWHAND_TINYDTLS_OPERATIONS_H
#define SLOWHAND_TINYDTLS_OPERATIONS_H

#include <stddef.h>

/* Implemented in session.c: the session that is running on this thread keeps its secrets. */
void slowhand_tinydtls_learn_secrets(const unsigned char *master_secret, size_t master_secret_len,
                                     const unsigned char *client_random, size_t client_random_len);

#endif
