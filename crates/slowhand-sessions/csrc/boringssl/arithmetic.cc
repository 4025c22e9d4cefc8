/* Gives BoringSSL the fast arithmetic of secp256r1.
 *
 * The library calls the arithmetic of a curve through a table. The functions below take the places of its products. If the host has
 * no result, they call the library's own. Its products draw no random numbers, so both give the same octets. */
#include "boringssl/sessions.h"

#include <openssl/mem.h>

#include "crypto/fipsmodule/ec/internal.h"

namespace {

constexpr size_t NUMBER = 32; /* octets of a number */
constexpr size_t POINT = 2 * NUMBER;

const EC_METHOD *own;

void write_scalar(const EC_GROUP *group, const bssl::EC_SCALAR *scalar, uint8_t octets[NUMBER])
{
    size_t length;
    bssl::ec_scalar_to_bytes(group, octets, &length, scalar);
}

bool write_point(const EC_GROUP *group, const bssl::EC_JACOBIAN *point, uint8_t octets[POINT])
{
    bssl::EC_AFFINE affine;
    size_t length;
    if (!own->point_get_affine_coordinates(group, point, &affine.X, &affine.Y))
        return false; /* the point at infinity */
    bssl::ec_felem_to_bytes(group, octets, &length, &affine.X);
    bssl::ec_felem_to_bytes(group, octets + NUMBER, &length, &affine.Y);
    return true;
}

bool read_point(const EC_GROUP *group, bssl::EC_JACOBIAN *point, const uint8_t octets[POINT])
{
    point->Z = *bssl::ec_felem_one(group);
    return bssl::ec_felem_from_bytes(group, &point->X, octets, NUMBER)
        && bssl::ec_felem_from_bytes(group, &point->Y, octets + NUMBER, NUMBER);
}

/* scalar * point, or scalar * generator if the point is NULL. False if the library has to compute. */
bool is_multiplied(const EC_GROUP *group, bssl::EC_JACOBIAN *result, const bssl::EC_JACOBIAN *point,
                   const bssl::EC_SCALAR *scalar)
{
    uint8_t number[NUMBER], octets[POINT], product[POINT];
    write_scalar(group, scalar, number);
    bool is_found = (point == nullptr || write_point(group, point, octets))
        && slowhand_host->p256_multiply(product, number, point == nullptr ? nullptr : octets)
        && read_point(group, result, product);
    OPENSSL_cleanse(number, sizeof number);
    return is_found;
}

void multiply(const EC_GROUP *group, bssl::EC_JACOBIAN *result, const bssl::EC_JACOBIAN *point,
              const bssl::EC_SCALAR *scalar)
{
    if (!is_multiplied(group, result, point, scalar))
        own->mul(group, result, point, scalar);
}

void multiply_generator(const EC_GROUP *group, bssl::EC_JACOBIAN *result, const bssl::EC_SCALAR *scalar)
{
    if (!is_multiplied(group, result, nullptr, scalar))
        own->mul_base(group, result, scalar);
}

void multiply_and_add(const EC_GROUP *group, bssl::EC_JACOBIAN *result, const bssl::EC_SCALAR *of_generator,
                      const bssl::EC_JACOBIAN *point, const bssl::EC_SCALAR *of_point)
{
    uint8_t numbers[2][NUMBER], octets[POINT], sum[POINT];
    write_scalar(group, of_generator, numbers[0]);
    write_scalar(group, of_point, numbers[1]);
    if (!write_point(group, point, octets) || !slowhand_host->p256_multiply_add(sum, numbers[0], numbers[1], octets)
        || !read_point(group, result, sum))
        own->mul_public(group, result, of_generator, point, of_point);
}

} // namespace

void slowhand_boringssl::use_fast_arithmetic()
{
    static EC_METHOD fast;
    /* The library fills this group when it is first asked for it: it is in writable memory. */
    EC_GROUP *group = const_cast<EC_GROUP *>(EC_group_p256());
    own = group->meth;
    fast = *own;
    fast.mul = multiply;
    fast.mul_base = multiply_generator;
    fast.mul_public = multiply_and_add;
    group->meth = &fast;
}
