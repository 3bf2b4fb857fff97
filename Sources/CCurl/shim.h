// Swift cannot call C's variadic functions: these are curl_easy_setopt and curl_easy_getinfo with one type each.
#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H

#include <curl/curl.h>

typedef size_t (*ccurl_data_callback)(char *bytes, size_t size, size_t count, void *context);
typedef int (*ccurl_progress_callback)(
    void *context, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up);
typedef int (*ccurl_prerequest_callback)(
    void *context, char *primary_ip, char *local_ip, int primary_port, int local_port);

static inline CURLcode ccurl_set_long(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(handle, option, value);
}

/// NULL takes the option's default away.
static inline CURLcode ccurl_set_text(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}

/// CURLOPT_CAINFO_BLOB and its like; libcurl keeps a copy.
static inline CURLcode ccurl_set_blob(CURL *handle, CURLoption option, const void *bytes, size_t count) {
  struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
  return curl_easy_setopt(handle, option, &blob);
}

static inline CURLcode ccurl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(handle, option, value);
}

/// CURLOPT_READFUNCTION, CURLOPT_WRITEFUNCTION, CURLOPT_HEADERFUNCTION.
static inline CURLcode ccurl_set_data_callback(CURL *handle, CURLoption option, ccurl_data_callback callback) {
  return curl_easy_setopt(handle, option, callback);
}

static inline CURLcode ccurl_set_progress_callback(CURL *handle, ccurl_progress_callback callback) {
  return curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, callback);
}

static inline CURLcode ccurl_set_prerequest_callback(CURL *handle, ccurl_prerequest_callback callback) {
  return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, callback);
}

/// CURLOPT_OPENSOCKETFUNCTION
static inline CURLcode ccurl_set_socket_callback(CURL *handle, curl_opensocket_callback callback) {
  return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, callback);
}

/// Where libcurl is about to connect to: `addrlen` bytes of it.
static inline const struct sockaddr *ccurl_socket_address(const struct curl_sockaddr *address) {
  return &address->addr;
}

/// The long `info`, or -1.
static inline long ccurl_get_long(CURL *handle, CURLINFO info) {
  long value = -1;
  return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : -1;
}

#endif
