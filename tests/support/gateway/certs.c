/* Makes a CA and certificates with OpenSSL at every run. Nothing of them outlives the test. */
#include "support/gateway/certs.h"

#include <check.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void
add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509_EXTENSION *extension;

    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    extension = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    ck_assert_ptr_nonnull(extension);
    ck_assert_int_eq(X509_add_ext(cert, extension, -1), 1);
    X509_EXTENSION_free(extension);
}

/* a certificate for `key`, signed by the issuer, or by itself without one */
static X509 *
make_cert(const char *name, EVP_PKEY *key, X509 *issuer, EVP_PKEY *issuer_key, const char *san)
{
    static long serial = 1;
    X509 *cert = X509_new();
    X509_NAME *subject = X509_get_subject_name(cert);

    ck_assert_int_eq(X509_set_version(cert, 2), 1);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), serial++);
    X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
    X509_gmtime_adj(X509_getm_notAfter(cert), 86400);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0);
    X509_set_issuer_name(cert, issuer != NULL ? X509_get_subject_name(issuer) : subject);
    X509_set_pubkey(cert, key);
    add_extension(cert, issuer != NULL ? issuer : cert, NID_basic_constraints,
        issuer != NULL ? "critical,CA:FALSE" : "critical,CA:TRUE");
    if (san != NULL) {
        add_extension(cert, issuer, NID_subject_alt_name, san);
    }
    ck_assert_int_gt(X509_sign(cert, issuer_key, EVP_sha256()), 0);
    return cert;
}

static void
save(const char *path, X509 *cert, EVP_PKEY *key)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    if (cert != NULL) {
        ck_assert_int_eq(PEM_write_X509(file, cert), 1);
    }
    if (key != NULL) {
        ck_assert_int_eq(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL), 1);
    }
    (void)fclose(file);
}

static void
path(char *ret, const struct certs *certs, const char *name)
{
    (void)snprintf(ret, CERTS_PATH, "%.40s/%s", certs->dir, name);
}

void
certs_make(struct certs *ret, const char *names)
{
    EVP_PKEY *ca_key = EVP_EC_gen("P-256"), *key = EVP_EC_gen("P-256");
    EVP_PKEY *client_key = EVP_EC_gen("P-256");
    X509 *ca = make_cert("test CA", ca_key, NULL, ca_key, NULL);
    X509 *cert = make_cert("test server", key, ca, ca_key, names);
    X509 *client = make_cert("test client", client_key, ca, ca_key, "DNS:client");

    (void)snprintf(ret->dir, sizeof ret->dir, "/tmp/writ-certs-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(ret->dir));
    path(ret->ca, ret, "ca.pem");
    path(ret->cert, ret, "cert.pem");
    path(ret->key, ret, "key.pem");
    path(ret->client_cert, ret, "client.pem");
    path(ret->client_key, ret, "client-key.pem");
    save(ret->ca, ca, NULL);
    save(ret->cert, cert, NULL);
    save(ret->key, NULL, key);
    save(ret->client_cert, client, NULL);
    save(ret->client_key, NULL, client_key);
    X509_free(ca);
    X509_free(cert);
    X509_free(client);
    EVP_PKEY_free(ca_key);
    EVP_PKEY_free(key);
    EVP_PKEY_free(client_key);
}

void
certs_remove(const struct certs *certs)
{
    (void)unlink(certs->ca);
    (void)unlink(certs->cert);
    (void)unlink(certs->key);
    (void)unlink(certs->client_cert);
    (void)unlink(certs->client_key);
    (void)rmdir(certs->dir);
}
