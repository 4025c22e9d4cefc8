/* The keys of the two ends, which the settings of tinyDTLS for raw public keys know as constants. This program is either end. */
#include <string.h>

#include "tinydtls.h"

#include "dtls.h"

#include "keys.h" /* client and server: the private number, x and y */

static const unsigned char KEYS[2][3][32] = RAW_KEYS;
dtls_ecdsa_key_t own_key;
unsigned char peer_x[32], peer_y[32];

void load_keys(int server)
{
    own_key = (dtls_ecdsa_key_t) {.curve = DTLS_ECDH_CURVE_SECP256R1,
                                  .priv_key = KEYS[server][0],
                                  .pub_key_x = KEYS[server][1],
                                  .pub_key_y = KEYS[server][2]};
    memcpy(peer_x, KEYS[!server][1], sizeof peer_x);
    memcpy(peer_y, KEYS[!server][2], sizeof peer_y);
}
