/* stamp.h - a time stamp over a checkpoint, by an authority whose only certificate was valid for an
 * hour around it, made with `openssl ca` and `openssl ts`. The corpus of fuzz_timestamp begins with
 * this response. */
#ifndef WRIT_TESTS_STAMP_H
#define WRIT_TESTS_STAMP_H

#define WRIT_STAMP_CHECKPOINT                                                                      \
    "writ-ledger/time-stamped\n"                                                                   \
    "10\n"                                                                                         \
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"                                               \
    "\n"                                                                                           \
    "\xe2\x80\x94 writ-ledger/time-stamped "                                                       \
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=" \
    "\n"

#define WRIT_STAMP_CA                                                                              \
    "-----BEGIN CERTIFICATE-----\n"                                                                \
    "MIIBbjCCARWgAwIBAgIUFzV97Zt0q2FfeMiZXBIPyZTaUfgwCgYIKoZIzj0EAwIw\n"                           \
    "GjEYMBYGA1UEAwwPU3RhbXBzIG9mIHRlc3RzMB4XDTI2MTEyMjA4NTQyM1oXDTI2\n"                           \
    "MTEyMjA5NTQ1M1owGjEYMBYGA1UEAwwPU3RhbXBzIG9mIHRlc3RzMFkwEwYHKoZI\n"                           \
    "zj0CAQYIKoZIzj0DAQcDQgAE8za2WVZAB2yyu/IDDdvcwlcwJQ/imC1Aj7D9xepn\n"                           \
    "uEQfVfjTlPBTX7otQrWi1XMTo/zr/CB7o54j5jEXTcjDHqM5MDcwFgYDVR0lAQH/\n"                           \
    "BAwwCgYIKwYBBQUHAwgwHQYDVR0OBBYEFLapDoO5a1EVn0VbuTEJbEIudL7EMAoG\n"                           \
    "CCqGSM49BAMCA0cAMEQCIDaAbz017jMhX0bkC/L2lRUvLrU2EIR2W7g7gKPICeYY\n"                           \
    "AiBMMOuR0/ZijcuCBXhwDqvqt7BBbC0vOEhZRt2hkXBoZw==\n"                                           \
    "-----END CERTIFICATE-----\n"

#define WRIT_STAMP_RESPONSE                                                                        \
    "MIIDSTADAgEAMIIDQAYJKoZIhvcNAQcCoIIDMTCCAy0CAQMxDzANBglghkgBZQMEAgEFADBj"                     \
    "BgsqhkiG9w0BCRABBKBUBFIwUAIBAQYEKgMEATAxMA0GCWCGSAFlAwQCAQUABCCXS/GEJMhY"                     \
    "ICqsgLTFc+TcAAeBPaIzeyhHDxC1PHf3dAIBAhgPMjAyNjExMjIwOTU0MjNaoIIBcjCCAW4w"                     \
    "ggEVoAMCAQICFBc1fe2bdKthX3jImVwSD8mU2lH4MAoGCCqGSM49BAMCMBoxGDAWBgNVBAMM"                     \
    "D1N0YW1wcyBvZiB0ZXN0czAeFw0yNjExMjIwODU0MjNaFw0yNjExMjIwOTU0NTNaMBoxGDAW"                     \
    "BgNVBAMMD1N0YW1wcyBvZiB0ZXN0czBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPM2tllW"                     \
    "QAdssrvyAw3b3MJXMCUP4pgtQI+w/cXqZ7hEH1X405TwU1+6LUK1otVzE6P86/wge6OeI+Yx"                     \
    "F03Iwx6jOTA3MBYGA1UdJQEB/wQMMAoGCCsGAQUFBwMIMB0GA1UdDgQWBBS2qQ6DuWtRFZ9F"                     \
    "W7kxCWxCLnS+xDAKBggqhkjOPQQDAgNHADBEAiA2gG89Ne4zIV9G5Avy9pUVLy61NhCEdlu4"                     \
    "O4CjyAnmGAIgTDDrkdP2Yo3LggV4cA6r6rewQWwtLzhIWUbdoZFwaGcxggE6MIIBNgIBATAy"                     \
    "MBoxGDAWBgNVBAMMD1N0YW1wcyBvZiB0ZXN0cwIUFzV97Zt0q2FfeMiZXBIPyZTaUfgwDQYJ"                     \
    "YIZIAWUDBAIBBQCggZgwGgYJKoZIhvcNAQkDMQ0GCyqGSIb3DQEJEAEEMBwGCSqGSIb3DQEJ"                     \
    "BTEPFw0yNjExMjIwOTU0MjNaMCsGCyqGSIb3DQEJEAIMMRwwGjAYMBYEFApVqIM9l2IBXhrT"                     \
    "R+4xhM1iS4UkMC8GCSqGSIb3DQEJBDEiBCD36Kr6G7+kmoqfF4gMULLphSxyTC27y3OcigDP"                     \
    "EqsgADAKBggqhkjOPQQDAgRHMEUCIQDzyIidEf/qGQMf8f+SOYUsi1CjkcsJcYfe42OW9HrI"                     \
    "ZAIgQN+EAr7jFo0fuKIhCno4cvqBglRil1rxQZQ/jecl6Kg="

#define WRIT_STAMP_TIME "2026-11-22T09:54:23.000000Z"

#endif
