#define _GNU_SOURCE
#include "CSigning.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

// Every function that is called, by its name: the types are those of the headers.
#define FUNCTIONS(X)                                                                                                  \
  X(OPENSSL_init_crypto)                                                                                              \
  X(OPENSSL_cleanse)                                                                                                  \
  X(CRYPTO_free)                                                                                                      \
  X(CRYPTO_clear_free)                                                                                                \
  X(ERR_clear_error)                                                                                                  \
  X(d2i_PrivateKey)                                                                                                   \
  X(d2i_PKCS8_PRIV_KEY_INFO)                                                                                          \
  X(PKCS8_pkey_get0)                                                                                                  \
  X(OBJ_obj2nid)                                                                                                      \
  X(EVP_PKCS82PKEY)                                                                                                   \
  X(EVP_PKEY2PKCS8)                                                                                                   \
  X(i2d_PKCS8_PRIV_KEY_INFO)                                                                                          \
  X(PKCS8_PRIV_KEY_INFO_free)                                                                                         \
  X(EVP_PKEY_free)                                                                                                    \
  X(EVP_PKEY_is_a)                                                                                                    \
  X(EVP_PKEY_get_bits)                                                                                                \
  X(EVP_PKEY_get_group_name)                                                                                          \
  X(EVP_PKEY_get_bn_param)                                                                                            \
  X(EVP_PKEY_get1_encoded_public_key)                                                                                 \
  X(EVP_PKEY_get_raw_public_key)                                                                                      \
  X(EVP_PKEY_Q_keygen)                                                                                                \
  X(EVP_PKEY_CTX_set_rsa_padding)                                                                                     \
  X(EVP_PKEY_CTX_set_rsa_pss_saltlen)                                                                                 \
  X(EVP_MD_CTX_new)                                                                                                   \
  X(EVP_MD_CTX_free)                                                                                                  \
  X(EVP_DigestSignInit_ex)                                                                                            \
  X(EVP_DigestSign)                                                                                                   \
  X(EVP_DigestVerifyInit_ex)                                                                                          \
  X(EVP_DigestVerify)                                                                                                 \
  X(BN_bn2binpad)                                                                                                     \
  X(BN_num_bits)                                                                                                      \
  X(BN_free)                                                                                                          \
  X(d2i_ECDSA_SIG)                                                                                                    \
  X(ECDSA_SIG_free)                                                                                                   \
  X(ECDSA_SIG_get0_r)                                                                                                 \
  X(ECDSA_SIG_get0_s)                                                                                                 \
  X(EVP_sha256)                                                                                                       \
  X(EVP_sha384)                                                                                                       \
  X(ASN1_INTEGER_set_uint64)                                                                                          \
  X(ASN1_TIME_set)                                                                                                    \
  X(ASN1_TIME_to_tm)                                                                                                  \
  X(X509_new)                                                                                                         \
  X(X509_free)                                                                                                        \
  X(d2i_X509)                                                                                                         \
  X(i2d_X509)                                                                                                         \
  X(X509_set_version)                                                                                                 \
  X(X509_get_serialNumber)                                                                                            \
  X(X509_getm_notBefore)                                                                                              \
  X(X509_getm_notAfter)                                                                                               \
  X(X509_get0_notAfter)                                                                                               \
  X(X509_set_pubkey)                                                                                                  \
  X(X509_get_subject_name)                                                                                            \
  X(X509_NAME_add_entry_by_txt)                                                                                       \
  X(X509_set_issuer_name)                                                                                             \
  X(X509_check_private_key)                                                                                           \
  X(X509_sign)

static struct {
#define DECLARE(name) __typeof__(&name) name##_;
  FUNCTIONS(DECLARE)
#undef DECLARE
} lib;

static int loaded;

static void load(void) {
  void *handle = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) return;
#define FIND(name)                                                                                                    \
  if ((lib.name##_ = (__typeof__(&name))dlsym(handle, #name)) == NULL) {                                              \
    dlclose(handle);                                                                                                  \
    return;                                                                                                           \
  }
  FUNCTIONS(FIND)
#undef FIND
  // No openssl.cnf: what it loads is no business of the process that holds keys. Nothing is torn down at exit, where other
  // threads may still run.
  loaded = lib.OPENSSL_init_crypto_(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, NULL) == 1;
}

static int is_loaded(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return loaded;
}

// A public exponent below 3 or an even one makes no signature (RFC 8017 §3.1).
static int has_sound_exponent(EVP_PKEY *key) {
  BIGNUM *exponent = NULL;
  if (lib.EVP_PKEY_get_bn_param_(key, "e", &exponent) != 1) return 0;
  uint8_t last = 0;
  int bits = lib.BN_num_bits_(exponent), sound = 0;
  if (bits >= 2 && bits <= 64) {
    uint8_t bytes[8];
    sound = lib.BN_bn2binpad_(exponent, bytes, sizeof bytes) == sizeof bytes;
    last = bytes[7];
  }
  lib.BN_free_(exponent);
  return sound && (last & 1);
}

static int kind_of(EVP_PKEY *key) {
  if (lib.EVP_PKEY_is_a_(key, "RSA")) {
    int bits = lib.EVP_PKEY_get_bits_(key);
    // A signature by 4096 bits takes some milliseconds, one by 8192 fifty.
    return bits >= 2048 && bits <= 4096 && has_sound_exponent(key) ? CSIGNING_RSA : 0;
  }
  if (lib.EVP_PKEY_is_a_(key, "ED25519")) return CSIGNING_ED25519;
  if (!lib.EVP_PKEY_is_a_(key, "EC")) return 0;
  char group[64];
  size_t length = 0;
  if (lib.EVP_PKEY_get_group_name_(key, group, sizeof group, &length) != 1) return 0;
  if (strcmp(group, "prime256v1") == 0) return CSIGNING_P256;
  if (strcmp(group, "secp384r1") == 0) return CSIGNING_P384;
  return 0;
}

static const char *digest_of(int kind) {
  switch (kind) {
    case CSIGNING_ED25519: return NULL;
    case CSIGNING_P384: return "SHA384";
    default: return "SHA256";
  }
}

// The algorithm is looked at before a number is: for DSA and its like libcrypto computes the public half of whatever it reads,
// which takes minutes where the numbers are large.
static EVP_PKEY *key_from_pkcs8(PKCS8_PRIV_KEY_INFO *info) {
  const ASN1_OBJECT *algorithm = NULL;
  if (lib.PKCS8_pkey_get0_(&algorithm, NULL, NULL, NULL, info) != 1) return NULL;
  switch (lib.OBJ_obj2nid_(algorithm)) {
    case NID_rsaEncryption:
    case NID_X9_62_id_ecPublicKey:
    case NID_ED25519: return lib.EVP_PKCS82PKEY_(info);
    default: return NULL;
  }
}

// PKCS #8, else PKCS #1 or SEC 1. `other_kind` is set for a key of a kind that is not read.
static EVP_PKEY *key_from(const uint8_t *der, size_t bytes, int *other_kind) {
  *other_kind = 0;
  if (bytes == 0 || bytes > CSIGNING_DER_BYTES) return NULL;
  const uint8_t *at = der;
  EVP_PKEY *key = NULL;
  PKCS8_PRIV_KEY_INFO *info = lib.d2i_PKCS8_PRIV_KEY_INFO_(NULL, &at, (long)bytes);
  if (info != NULL) {
    key = key_from_pkcs8(info);
    *other_kind = key == NULL;
    lib.PKCS8_PRIV_KEY_INFO_free_(info);
  } else {
    at = der;
    key = lib.d2i_PrivateKey_(EVP_PKEY_RSA, NULL, &at, (long)bytes);
    if (key == NULL) {
      at = der;
      key = lib.d2i_PrivateKey_(EVP_PKEY_EC, NULL, &at, (long)bytes);
    }
  }
  // Nothing may stand behind it.
  if (key != NULL && at != der + bytes) {
    lib.EVP_PKEY_free_(key);
    key = NULL;
  }
  return key;
}

static int write_key(EVP_PKEY *key, uint8_t *der, size_t *der_bytes) {
  PKCS8_PRIV_KEY_INFO *info = lib.EVP_PKEY2PKCS8_(key);
  if (info == NULL) return CSIGNING_FAILED;
  uint8_t *made = NULL;
  int length = lib.i2d_PKCS8_PRIV_KEY_INFO_(info, &made);
  lib.PKCS8_PRIV_KEY_INFO_free_(info);
  if (length <= 0) return CSIGNING_FAILED;
  int result = length <= CSIGNING_DER_BYTES ? CSIGNING_OK : CSIGNING_OTHER_KIND;
  if (result == CSIGNING_OK) {
    memcpy(der, made, (size_t)length);
    *der_bytes = (size_t)length;
  }
  lib.CRYPTO_clear_free_(made, (size_t)length, __FILE__, __LINE__);
  return result;
}

static int write_number(EVP_PKEY *key, const char *name, uint8_t *out, size_t *bytes) {
  BIGNUM *number = NULL;
  if (lib.EVP_PKEY_get_bn_param_(key, name, &number) != 1) return 0;
  int length = (lib.BN_num_bits_(number) + 7) / 8;
  int fits = length > 0 && length <= CSIGNING_NUMBER_BYTES && lib.BN_bn2binpad_(number, out, length) == length;
  *bytes = (size_t)length;
  lib.BN_free_(number);
  return fits;
}

static int write_public(EVP_PKEY *key, int kind, struct csigning_public *out) {
  memset(out, 0, sizeof *out);
  out->kind = kind;
  if (kind == CSIGNING_RSA)
    return write_number(key, "n", out->first, &out->first_bytes) && write_number(key, "e", out->second, &out->second_bytes);
  if (kind == CSIGNING_ED25519) {
    out->first_bytes = 32;
    return lib.EVP_PKEY_get_raw_public_key_(key, out->first, &out->first_bytes) == 1 && out->first_bytes == 32;
  }
  uint8_t *point = NULL;
  size_t length = lib.EVP_PKEY_get1_encoded_public_key_(key, &point);
  size_t half = kind == CSIGNING_P256 ? 32 : 48;
  // Uncompressed (SEC 1 §2.3.3).
  int fits = length == 1 + 2 * half && point[0] == 4;
  if (fits) {
    memcpy(out->first, point + 1, half);
    memcpy(out->second, point + 1 + half, half);
    out->first_bytes = out->second_bytes = half;
  }
  lib.CRYPTO_free_(point, __FILE__, __LINE__);
  return fits;
}

// The signature as libcrypto makes it.
static int sign_raw(EVP_PKEY *key, int kind, int pss, const uint8_t *message, size_t message_bytes, uint8_t *out,
                    size_t *bytes) {
  EVP_MD_CTX *context = lib.EVP_MD_CTX_new_();
  if (context == NULL) return 0;
  EVP_PKEY_CTX *parameters = NULL;
  int done = lib.EVP_DigestSignInit_ex_(context, &parameters, digest_of(kind), NULL, NULL, key, NULL) == 1;
  if (done && kind == CSIGNING_RSA && pss)
    done = lib.EVP_PKEY_CTX_set_rsa_padding_(parameters, RSA_PKCS1_PSS_PADDING) == 1 &&
           lib.EVP_PKEY_CTX_set_rsa_pss_saltlen_(parameters, RSA_PSS_SALTLEN_DIGEST) == 1;
  *bytes = CSIGNING_SIGNATURE_BYTES;
  done = done && lib.EVP_DigestSign_(context, out, bytes, message, message_bytes) == 1;
  lib.EVP_MD_CTX_free_(context);
  return done;
}

// Whether the two halves belong together: what one signs, the other accepts. An RSA key with wrong primes or CRT exponents is
// taken all the same: libcrypto compares each result with n and e, computes it anew from n and d where they differ, and never
// gives the wrong one, which would tell the primes. It costs time alone.
static int belongs_together(EVP_PKEY *key, int kind) {
  static const uint8_t message[] = "oauthctl";
  uint8_t signature[CSIGNING_SIGNATURE_BYTES];
  size_t bytes = 0;
  if (!sign_raw(key, kind, 0, message, sizeof message, signature, &bytes)) return 0;
  EVP_MD_CTX *context = lib.EVP_MD_CTX_new_();
  if (context == NULL) return 0;
  int done = lib.EVP_DigestVerifyInit_ex_(context, NULL, digest_of(kind), NULL, NULL, key, NULL) == 1 &&
             lib.EVP_DigestVerify_(context, signature, bytes, message, sizeof message) == 1;
  lib.EVP_MD_CTX_free_(context);
  return done;
}

int csigning_generate(int kind, uint8_t *der, size_t *der_bytes) {
  if (!is_loaded()) return CSIGNING_NO_LIBRARY;
  EVP_PKEY *key = NULL;
  switch (kind) {
    case CSIGNING_P256: key = lib.EVP_PKEY_Q_keygen_(NULL, NULL, "EC", "P-256"); break;
    case CSIGNING_P384: key = lib.EVP_PKEY_Q_keygen_(NULL, NULL, "EC", "P-384"); break;
    case CSIGNING_ED25519: key = lib.EVP_PKEY_Q_keygen_(NULL, NULL, "ED25519"); break;
    case CSIGNING_RSA: key = lib.EVP_PKEY_Q_keygen_(NULL, NULL, "RSA", (size_t)3072); break;
    default: return CSIGNING_OTHER_KIND;
  }
  int result = key == NULL ? CSIGNING_FAILED : write_key(key, der, der_bytes);
  lib.EVP_PKEY_free_(key);
  lib.ERR_clear_error_();
  return result;
}

int csigning_read(const uint8_t *given, size_t given_bytes, int is_foreign, uint8_t *der, size_t *der_bytes,
                  struct csigning_public *out) {
  if (!is_loaded()) return CSIGNING_NO_LIBRARY;
  int other_kind = 0;
  EVP_PKEY *key = key_from(given, given_bytes, &other_kind);
  int result = other_kind ? CSIGNING_OTHER_KIND : CSIGNING_NO_KEY;
  if (key != NULL) {
    int kind = kind_of(key);
    if (kind == 0) {
      result = CSIGNING_OTHER_KIND;
    } else if ((!is_foreign || belongs_together(key, kind)) && write_public(key, kind, out)) {
      result = write_key(key, der, der_bytes);
    }
    lib.EVP_PKEY_free_(key);
  }
  lib.ERR_clear_error_();
  return result;
}

int csigning_sign(const uint8_t *der, size_t der_bytes, int pss, const uint8_t *message, size_t message_bytes,
                  uint8_t *signature, size_t *signature_bytes) {
  if (!is_loaded()) return CSIGNING_NO_LIBRARY;
  int other_kind = 0;
  EVP_PKEY *key = key_from(der, der_bytes, &other_kind);
  if (key == NULL) {
    lib.ERR_clear_error_();
    return CSIGNING_NO_KEY;
  }
  int kind = kind_of(key);
  int result = kind == 0 ? CSIGNING_OTHER_KIND : CSIGNING_FAILED;
  if (kind != 0 && sign_raw(key, kind, pss, message, message_bytes, signature, signature_bytes)) result = CSIGNING_OK;
  lib.EVP_PKEY_free_(key);
  if (result == CSIGNING_OK && (kind == CSIGNING_P256 || kind == CSIGNING_P384)) {
    // JWS wants the two numbers side by side, libcrypto writes them as DER.
    const uint8_t *at = signature;
    ECDSA_SIG *pair = lib.d2i_ECDSA_SIG_(NULL, &at, (long)*signature_bytes);
    int half = kind == CSIGNING_P256 ? 32 : 48;
    uint8_t plain[96];
    if (pair == NULL || lib.BN_bn2binpad_(lib.ECDSA_SIG_get0_r_(pair), plain, half) != half ||
        lib.BN_bn2binpad_(lib.ECDSA_SIG_get0_s_(pair), plain + half, half) != half) {
      result = CSIGNING_FAILED;
    } else {
      memcpy(signature, plain, (size_t)(2 * half));
      *signature_bytes = (size_t)(2 * half);
    }
    lib.ECDSA_SIG_free_(pair);
  }
  lib.ERR_clear_error_();
  return result;
}

// A certificate that `key` signs for itself.
static X509 *self_signed(EVP_PKEY *key, int kind, const char *name, uint64_t serial, int64_t begins, int64_t ends) {
  X509 *made = lib.X509_new_();
  if (made == NULL) return NULL;
  const EVP_MD *digest = kind == CSIGNING_ED25519 ? NULL : kind == CSIGNING_P384 ? lib.EVP_sha384_() : lib.EVP_sha256_();
  X509_NAME *subject = lib.X509_get_subject_name_(made);
  int done = lib.X509_set_version_(made, X509_VERSION_3) == 1 &&
             lib.ASN1_INTEGER_set_uint64_(lib.X509_get_serialNumber_(made), serial) == 1 &&
             lib.ASN1_TIME_set_(lib.X509_getm_notBefore_(made), (time_t)begins) != NULL &&
             lib.ASN1_TIME_set_(lib.X509_getm_notAfter_(made), (time_t)ends) != NULL &&
             lib.X509_NAME_add_entry_by_txt_(subject, "CN", MBSTRING_UTF8, (const unsigned char *)name, -1, -1, 0) == 1 &&
             lib.X509_set_issuer_name_(made, subject) == 1 && lib.X509_set_pubkey_(made, key) == 1 &&
             lib.X509_sign_(made, key, digest) > 0;
  if (done) return made;
  lib.X509_free_(made);
  return NULL;
}

int csigning_certify(const uint8_t *der, size_t der_bytes, const char *name, uint64_t serial, int64_t begins, int64_t ends,
                     uint8_t *certificate, size_t *certificate_bytes) {
  if (!is_loaded()) return CSIGNING_NO_LIBRARY;
  int other_kind = 0, result = CSIGNING_NO_KEY;
  EVP_PKEY *key = key_from(der, der_bytes, &other_kind);
  if (key != NULL) {
    X509 *made = self_signed(key, kind_of(key), name, serial, begins, ends);
    int length = made == NULL ? 0 : lib.i2d_X509_(made, NULL);
    result = length > 0 && length <= CSIGNING_DER_BYTES ? CSIGNING_OK : CSIGNING_FAILED;
    if (result == CSIGNING_OK) *certificate_bytes = (size_t)lib.i2d_X509_(made, &certificate);
    lib.X509_free_(made);
    lib.EVP_PKEY_free_(key);
  }
  lib.ERR_clear_error_();
  return result;
}

int csigning_read_certificate(const uint8_t *certificate, size_t certificate_bytes, const uint8_t *der, size_t der_bytes,
                              int64_t *ends) {
  if (!is_loaded()) return CSIGNING_NO_LIBRARY;
  int result = CSIGNING_NO_CERTIFICATE;
  const uint8_t *at = certificate;
  X509 *read = lib.d2i_X509_(NULL, &at, (long)certificate_bytes);
  struct tm end;
  if (read != NULL && at == certificate + certificate_bytes && lib.ASN1_TIME_to_tm_(lib.X509_get0_notAfter_(read), &end) == 1) {
    *ends = (int64_t)timegm(&end);
    result = CSIGNING_OK;
    if (der != NULL) {
      int other_kind = 0;
      EVP_PKEY *key = key_from(der, der_bytes, &other_kind);
      if (key == NULL || lib.X509_check_private_key_(read, key) != 1) result = CSIGNING_OTHER_KEY;
      lib.EVP_PKEY_free_(key);
    }
  }
  lib.X509_free_(read);
  lib.ERR_clear_error_();
  return result;
}
