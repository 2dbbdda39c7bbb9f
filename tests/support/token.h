/* token.h - one credential and the key it was signed with, whose private half nobody has any more:
 * whatever else verifies under this key is a forgery. It is that of docs/credentials.md. */
#ifndef WRIT_TESTS_TOKEN_H
#define WRIT_TESTS_TOKEN_H

/* clang-format off */
#define WRIT_TOKEN_JWKS \
    "{\"keys\":[{\"alg\":\"ES256\",\"crv\":\"P-256\",\"kid\":\"26oBCIxlJqLwH7s7ECE7WAjIYZVSiqf6DkxUiuqP7lc" \
    "\",\"kty\":\"EC\",\"use\":\"sig\",\"x\":\"kD0UCIL8qsM7WVYYHXcR-k-Xm8oIDPKO6uWbTPADzec\",\"y\":\"D2T9BhoQ" \
    "7hf9egsd44teACjOyqXXiQNmHRKSdrYUmAo\"}]}"

#define WRIT_TOKEN_TEXT \
    "eyJhbGciOiJFUzI1NiIsImtpZCI6IjI2b0JDSXhsSnFMd0g3czdFQ0U3V0FqSVlaVlNpcWY2RGt4VWl1cVA3bGMi" \
    "LCJ0eXAiOiJKV1QifQ.eyJhdWQiOiJodHRwOi8vMTI3LjAuMC4xOjkwMDAvbWNwIiwiZXhwIjoxNzgyMzYzNjYwL" \
    "CJpYXQiOjE3ODIzNjM2MDAsImlzcyI6Imh0dHBzOi8vZ2F0ZXdheS5leGFtcGxlLmNvbSIsImp0aSI6IjAxOTk3Z" \
    "jNlLThhMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAyYSIsIm5iZiI6MTc4MjM2MzYwMCwic3ViIjoiYmF0Y2giLCJhd" \
    "XRob3JpemF0aW9uX2RldGFpbHMiOlt7ImxvY2F0aW9ucyI6WyJodHRwOi8vMTI3LjAuMC4xOjkwMDAvbWNwIl0sI" \
    "nBhcmFtc19oYXNoIjoic2hhMjU2OjUxN2YyYzZkMTg0MmQ1MTVmYmUzNjVkMWI5NGJmN2NkODE5MzhhODc5YTM1Y" \
    "WI5NWU1ZTEzOTk4NmI5YTg5NGIiLCJ0b29sIjoidHJhbnNmZXIiLCJ0eXBlIjoibWNwX3Rvb2xfY2FsbCJ9XSwiY" \
    "m91bmRhcnlfaWQiOiJydW4tMTciLCJjb250aW51YXRpb25faWQiOm51bGwsImRlY2lzaW9uX2NvbnRleHRfaGFza" \
    "CI6InNoYTI1Njo2YWQyNGNjYWI3YzY4NDA0NGY2ZDg3ZGIzNzk0NjExZDI3OTBhODcwYjBkYzVlODQxYzU0ODFmN" \
    "zIwNTkxNTMzIiwiZGVjaXNpb25faWQiOiIwMTk5N2YzZS04YTAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMmEiLCJpZ" \
    "GVtcG90ZW5jeV9rZXkiOiJhdXRvOnNoYTI1NjpiNTIyZWI5YTA3OWMyYjNjNWQzNDM5Mjk2YzI2ZGZkYmM2Njc0Y" \
    "jYyYTU3MzdjMDdkNmMwZmY1MjkyNjRiNTVlIiwiaW50ZW50X2RpZ2VzdCI6InNoYTI1NjozM2JlNGVhZmY0MDBiN" \
    "DU2ZGU0MzljOTg1ZjM3MmJhOTMwOWQxZTZjMTE1ZWY0MTc3OGE1YzZkMWJhYzJkNGRmIiwiaW50ZW50X3JlZiI6I" \
    "nNoYTI1NjpiZDM4N2Q0MDUzNDhiOTdjNmJjMjNlYjhiYjc3YWM1NTY1NjI1NzdmNmExMWQyZjhlMmM0Zjg0ZTE2M" \
    "zZiYjY2Iiwibm9ybWFsaXplZF9zY29wZSI6InBheW1lbnRzL0VVUiIsInBhcmFtc19oYXNoIjoic2hhMjU2OjUxN" \
    "2YyYzZkMTg0MmQ1MTVmYmUzNjVkMWI5NGJmN2NkODE5MzhhODc5YTM1YWI5NWU1ZTEzOTk4NmI5YTg5NGIiLCJwb" \
    "2xpY3lfZGlnZXN0Ijoic2hhMjU2OmJmNjU0Y2ZlMTFhMzNmNjkyYTJlMzdiM2ViNTU4ZGViYzFiYTY0YTZiYTRjO" \
    "DRhOThiMjBlZmVmNzE5YWNhYjUiLCJyZWNlaXB0X3JlZiI6InNoYTI1Njo3NmUwYjYxNTMyYWIxZjFjYzAxZTZiY" \
    "zliYTBkMTY0OWM0NTRjYzAwY2JkYjRmODJjYWZkYTU1MGE2MjA0MmVkIiwic2VxIjozLCJ0YXJnZXRfc3RhdGVfZ" \
    "GlnZXN0IjpudWxsLCJ0ZW5hbnQiOiJhY21lIn0.6ZpryZU8mlnEwCumGTe5AGJV6n6WCJpt4vD4gjQV0tP-sQx76" \
    "KH7Y2qMmsDTjzfcSpdkajDvXKYNNPyfSOKSKA"
/* clang-format on */

#define WRIT_TOKEN_ISS    "https://gateway.example.com"
#define WRIT_TOKEN_AUD    "http://127.0.0.1:9000/mcp"
#define WRIT_TOKEN_TOOL   "transfer"
#define WRIT_TOKEN_AGENT  "batch"
#define WRIT_TOKEN_TENANT "acme"
#define WRIT_TOKEN_JTI    "01997f3e-8a00-7000-8000-00000000002a"
#define WRIT_TOKEN_HASH   "sha256:517f2c6d1842d515fbe365d1b94bf7cd81938a879a35ab95e5e139986b9a894b"
#define WRIT_TOKEN_NOW_S  1782363630

#endif
