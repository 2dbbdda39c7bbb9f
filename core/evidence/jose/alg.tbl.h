/* alg.tbl.h - the signature algorithms that Writ signs and verifies with. The table leaves out
 * "none" and every MAC, so neither can be chosen.
 *
 * WRIT_ALG_ROW(NAME, "JOSE name", "kty", signature bytes, or 0 where the key says) */
WRIT_ALG_ROW(ES256, "ES256", "EC", 64)  /* RFC 7518 3.4, P-256 */
WRIT_ALG_ROW(RS256, "RS256", "RSA", 0)  /* RFC 7518 3.3, 2048 bits and more */
WRIT_ALG_ROW(EDDSA, "EdDSA", "OKP", 64) /* RFC 8037, Ed25519 */
