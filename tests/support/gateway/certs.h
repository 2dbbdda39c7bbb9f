/* certs.h - a CA and certificates for one test, in a directory that the test removes. */
#ifndef WRIT_TESTS_CERTS_H
#define WRIT_TESTS_CERTS_H

#define CERTS_PATH 64

struct certs {
    char dir[CERTS_PATH];
    char ca[CERTS_PATH], cert[CERTS_PATH], key[CERTS_PATH]; /* of a server */
    char client_cert[CERTS_PATH], client_key[CERTS_PATH];   /* of a client */
};

/** Makes a CA, a server certificate for `names` (in the syntax of openssl's subjectAltName, such as
 * "DNS:localhost,IP:127.0.0.1") and a client certificate, all valid for a day. */
void certs_make(struct certs *ret, const char *names);
void certs_remove(const struct certs *certs);

#endif
