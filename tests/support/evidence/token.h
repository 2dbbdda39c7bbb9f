/* token.h - one credential and the key it was signed with, whose private half was destroyed: any
 * other token that verifies under this key is a forgery. It is that of docs/credentials.md. */
#ifndef WRIT_TESTS_TOKEN_H
#define WRIT_TESTS_TOKEN_H

/* clang-format off */
#define WRIT_TOKEN_JWKS \
    "{\"keys\":[{\"alg\":\"ES256\",\"crv\":\"P-256\",\"kid\":\"tOyoZxdP5HK0LZlfxSGjj8OHkiynnQnwYhQphL" \
    "cWQNw\",\"kty\":\"EC\",\"use\":\"sig\",\"x\":\"Q24yNukqA_RVtmE6dhiLV2P_2c_l4Q6zir0l2x-Ntwc\",\"y" \
    "\":\"kj9MgyneVuTbceMa48x5f_pnYUErOdRFFAb10d6LWaY\"}]}"

#define WRIT_TOKEN_TEXT \
    "eyJhbGciOiJFUzI1NiIsImtpZCI6InRPeW9aeGRQNUhLMExabGZ4U0dqajhPSGtpeW5uUW53WWhRcGhMY1dRTnci" \
    "LCJ0eXAiOiJ3cml0LWNyZWRlbnRpYWwrand0In0.eyJhdWQiOiJodHRwOi8vMTI3LjAuMC4xOjkwMDAvbWNwIiwi" \
    "ZXhwIjoxNzgyMzYzNjYwLCJpYXQiOjE3ODIzNjM2MDAsImlzcyI6Imh0dHBzOi8vZ2F0ZXdheS5leGFtcGxlLmNv" \
    "bSIsImp0aSI6IjAxOTk3ZjNlLThhMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAyYSIsIm5iZiI6MTc4MjM2MzYwMCwi" \
    "c3ViIjoiYmF0Y2giLCJhdXRob3JpemF0aW9uX2RldGFpbHMiOlt7ImxvY2F0aW9ucyI6WyJodHRwOi8vMTI3LjAu" \
    "MC4xOjkwMDAvbWNwIl0sInBhcmFtc19oYXNoIjoic2hhMjU2OjUxN2YyYzZkMTg0MmQ1MTVmYmUzNjVkMWI5NGJm" \
    "N2NkODE5MzhhODc5YTM1YWI5NWU1ZTEzOTk4NmI5YTg5NGIiLCJ0b29sIjoidHJhbnNmZXIiLCJ0eXBlIjoibWNw" \
    "X3Rvb2xfY2FsbCJ9XSwiYm91bmRhcnlfaWQiOiJydW4tMTciLCJjb250aW51YXRpb25faWQiOm51bGwsImRlY2lz" \
    "aW9uX2NvbnRleHRfaGFzaCI6InNoYTI1Njo2YWQyNGNjYWI3YzY4NDA0NGY2ZDg3ZGIzNzk0NjExZDI3OTBhODcw" \
    "YjBkYzVlODQxYzU0ODFmNzIwNTkxNTMzIiwiZGVjaXNpb25faWQiOiIwMTk5N2YzZS04YTAwLTcwMDAtODAwMC0w" \
    "MDAwMDAwMDAwMmEiLCJpZGVtcG90ZW5jeV9rZXkiOiJhdXRvOnNoYTI1NjpiNTIyZWI5YTA3OWMyYjNjNWQzNDM5" \
    "Mjk2YzI2ZGZkYmM2Njc0YjYyYTU3MzdjMDdkNmMwZmY1MjkyNjRiNTVlIiwiaW50ZW50X2RpZ2VzdCI6InNoYTI1" \
    "NjozM2JlNGVhZmY0MDBiNDU2ZGU0MzljOTg1ZjM3MmJhOTMwOWQxZTZjMTE1ZWY0MTc3OGE1YzZkMWJhYzJkNGRm" \
    "IiwiaW50ZW50X3JlZiI6InNoYTI1NjpiZDM4N2Q0MDUzNDhiOTdjNmJjMjNlYjhiYjc3YWM1NTY1NjI1NzdmNmEx" \
    "MWQyZjhlMmM0Zjg0ZTE2MzZiYjY2Iiwibm9ybWFsaXplZF9zY29wZSI6InBheW1lbnRzL0VVUiIsInBhcmFtc19o" \
    "YXNoIjoic2hhMjU2OjUxN2YyYzZkMTg0MmQ1MTVmYmUzNjVkMWI5NGJmN2NkODE5MzhhODc5YTM1YWI5NWU1ZTEz" \
    "OTk4NmI5YTg5NGIiLCJwb2xpY3lfZGlnZXN0Ijoic2hhMjU2OmJmNjU0Y2ZlMTFhMzNmNjkyYTJlMzdiM2ViNTU4" \
    "ZGViYzFiYTY0YTZiYTRjODRhOThiMjBlZmVmNzE5YWNhYjUiLCJyZWNlaXB0X3JlZiI6InNoYTI1Njo3NmUwYjYx" \
    "NTMyYWIxZjFjYzAxZTZiYzliYTBkMTY0OWM0NTRjYzAwY2JkYjRmODJjYWZkYTU1MGE2MjA0MmVkIiwic2VxIjoz" \
    "LCJ0YXJnZXRfc3RhdGVfZGlnZXN0IjpudWxsLCJ0ZW5hbnQiOiJhY21lIn0.TyIaySgOaahRXgEz7I-MVgpWzg9C" \
    "RIBrAtQxuYLpxy3oLYrWhNPNV4stQs_d7YzmKc_juzc5060HQ8__I1sWOw"
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
