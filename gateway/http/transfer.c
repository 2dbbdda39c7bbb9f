/* transfer.c - libcurl is prepared once for the process. */
#include "gateway/http/transfer.h"

#include "base/text.h"

#include <pthread.h>

#define OCTET_MAX 255

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool ready;

static void
init_library(void)
{
    ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

CURL *
writ_transfer_new(void)
{
    (void)pthread_once(&once, init_library);
    return ready ? curl_easy_init() : NULL;
}

void
writ_transfer_freep(CURL **easy)
{
    curl_easy_cleanup(*easy);
}

void
writ_transfer_url_freep(CURLU **url)
{
    curl_url_cleanup(*url);
}

void
writ_transfer_text_freep(char **text)
{
    curl_free(*text);
}

void
writ_transfer_list_freep(struct curl_slist **list)
{
    curl_slist_free_all(*list);
}

bool
writ_transfer_append(struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(*list, line);

    *list = longer != NULL ? longer : *list;
    return longer != NULL;
}

/* 127.0.0.0/8 in four decimal parts. */
static bool
is_loopback_v4(struct writ_view host)
{
    for (int i = 0; i < 4; i++) {
        size_t dot = writ_view_find(host, '.');
        uint64_t octet;

        if ((dot == host.len) != (i == 3) ||
            !writ_is_ok(writ_text_u64(writ_view_sub(host, 0, dot), 0, OCTET_MAX, &octet)) ||
            (i == 0 && octet != 127)) {
            return false;
        }
        host = writ_view_sub(host, dot + 1, host.len);
    }
    return true;
}

/* libcurl resolves localhost to loopback by itself, without DNS. */
bool
writ_transfer_is_loopback(const char *host)
{
    struct writ_view name = writ_view_str(host);
    return writ_view_is(name, "localhost") || writ_view_is(name, "[::1]") || is_loopback_v4(name);
}

static int
watch_stop(void *arg, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up_now)
{
    const atomic_bool *stop = arg;

    (void)total;
    (void)now;
    (void)up_total;
    (void)up_now;
    return stop != NULL && atomic_load(stop) ? 1 : 0;
}

bool
writ_transfer_set(CURL *easy, const struct writ_transfer *transfer)
{
    return curl_easy_setopt(easy, CURLOPT_URL, transfer->url) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, transfer->protocols) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK && /* not even the environment's */
           curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)transfer->timeout_ms) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, watch_stop) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_XFERINFODATA, transfer->stop) == CURLE_OK &&
           (transfer->ca_file == NULL ||
               curl_easy_setopt(easy, CURLOPT_CAINFO, transfer->ca_file) == CURLE_OK);
}
