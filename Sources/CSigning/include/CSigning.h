// libcrypto (OpenSSL 3), the system's, for signatures with a private key. It is loaded by the first of these calls: who has
// no account with such a key does not pay for it. Private keys go in and out as DER, and every copy made here is wiped.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define CSIGNING_DER_BYTES 8192
#define CSIGNING_NUMBER_BYTES 1024
#define CSIGNING_SIGNATURE_BYTES 1024

enum csigning_kind {
  CSIGNING_P256 = 1,
  CSIGNING_P384 = 2,
  CSIGNING_ED25519 = 3,
  CSIGNING_RSA = 4,
};

enum csigning_result {
  CSIGNING_OK = 0,
  // libcrypto.so.3 is not there, or lacks what is needed.
  CSIGNING_NO_LIBRARY = 1,
  // It is no unencrypted private key that libcrypto reads, or its parts do not belong together.
  CSIGNING_NO_KEY = 2,
  // A key of a kind or size that is not used here.
  CSIGNING_OTHER_KIND = 3,
  CSIGNING_FAILED = 4,
  // It is no X.509 certificate, or something stands behind it.
  CSIGNING_NO_CERTIFICATE = 5,
  // The certificate is for another key.
  CSIGNING_OTHER_KEY = 6,
};

// The public half. EC: first is x, second y. RSA: first is n, second e. Ed25519: first alone.
struct csigning_public {
  int kind;
  size_t first_bytes, second_bytes;
  uint8_t first[CSIGNING_NUMBER_BYTES], second[CSIGNING_NUMBER_BYTES];
};

// A new key of `kind`, RSA with 3072 bits, as PKCS #8. `der` has room for CSIGNING_DER_BYTES.
int csigning_generate(int kind, uint8_t *der, size_t *der_bytes);

// Reads a private key (PKCS #8, PKCS #1 or SEC 1) and writes it as PKCS #8, with its public half. Whether the halves of one
// that is foreign belong together is tried by a signature; one that was read before needs none.
int csigning_read(const uint8_t *given, size_t given_bytes, int is_foreign, uint8_t *der, size_t *der_bytes,
                  struct csigning_public *out);

// Signs as JWS wants it (RFC 7518 §3, RFC 8037 §3.1): EC as r and s of fixed length, RSA by PKCS #1 v1.5 with SHA-256, or
// by PSS where `pss` is set. `signature` has room for CSIGNING_SIGNATURE_BYTES.
int csigning_sign(const uint8_t *der, size_t der_bytes, int pss, const uint8_t *message, size_t message_bytes,
                  uint8_t *signature, size_t *signature_bytes);

// A certificate of the key `der`, signed by itself: `name` is its common name (at most 64 bytes, UTF-8), `begins` and `ends`
// are Unix seconds. `certificate` has room for CSIGNING_DER_BYTES.
int csigning_certify(const uint8_t *der, size_t der_bytes, const char *name, uint64_t serial, int64_t begins, int64_t ends,
                     uint8_t *certificate, size_t *certificate_bytes);

// Reads one X.509 certificate, DER, and tells when it ends, Unix seconds. With `der` it has to be for that private key.
int csigning_read_certificate(const uint8_t *certificate, size_t certificate_bytes, const uint8_t *der, size_t der_bytes,
                              int64_t *ends);
