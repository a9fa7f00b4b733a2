#pragma once

#include "clock.hpp"
#include "errors.hpp"
#include "exchange.hpp"
#include "http_windows.hpp"
#include "platform.hpp"
#include "signature.hpp"
#include "version.hpp"

#ifndef _WIN32

namespace keyward::detail {

/** While it lives, a connection that the server closes does not send SIGPIPE to the thread, which would end the program. */
class NoBrokenPipe {
 public:
  NoBrokenPipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    wasPending_ = isPending();
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoBrokenPipe(const NoBrokenPipe &) = delete;
  NoBrokenPipe &operator=(const NoBrokenPipe &) = delete;
  ~NoBrokenPipe() {
    if (!wasPending_ && isPending()) {
#ifdef __APPLE__
      int taken = 0;
      sigwait(&pipe_, &taken);
#else
      const timespec atOnce{0, 0};
      sigtimedwait(&pipe_, nullptr, &atOnce);
#endif
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  static bool isPending() {
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1;
  }

  sigset_t pipe_;
  sigset_t before_;
  bool wasPending_ = false;
};

/** libcurl, with a handle for each concurrent call, so that connections stay open between calls. */
class Http {
 public:
  /** `stopped` ends what is under way. */
  Http(std::optional<Proxy> proxy, const std::atomic<bool> &stopped) : proxy_(std::move(proxy)), stopped_(stopped) {
    static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (started != CURLE_OK) throw UsageError("crypto_unavailable", "libcurl does not start on this system");
  }
  Http(const Http &) = delete;
  Http &operator=(const Http &) = delete;
  ~Http() {
    const NoBrokenPipe guard;
    for (CURL *each : idle_) curl_easy_cleanup(each);
  }

  /** Sends one request and reads the whole response, whatever its status. Does not follow redirects. */
  ReceivedAnswer exchange(const Exchange &request, std::int64_t timeoutMs) {
    Running running(request, timeoutMs, stopped_);
    const std::unique_ptr<CURL, std::function<void(CURL *)>> curl(take(), [this](CURL *used) { release(used); });
    if (!curl) throw unreachable(request, "out of memory");
    const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(toList(request), &curl_slist_free_all);
    running.curl = curl.get();
    setOptions(curl.get(), request, timeoutMs, headers.get(), running);
    const CURLcode code = perform(curl.get());
    long status = 0;
    curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
    running.answer.status = static_cast<int>(status);
    long connectStatus = 0;
    curl_easy_getinfo(curl.get(), CURLINFO_HTTP_CONNECTCODE, &connectStatus);
    if (code == CURLE_OK || running.isEnough) {
      if (proxy_ && status == 407) throw proxyRefused(407);
      return std::move(running.answer);
    }
    const char *text = curl_easy_strerror(code);
    if (connectStatus >= 300) throw proxyRefused(static_cast<int>(connectStatus));
    if (code == CURLE_OPERATION_TIMEDOUT || running.isLate) throw timedOut(request);
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_ISSUER_ERROR)
      throw certificateError(request, running.problem[0] != '\0' ? running.problem.data() : text);
    if (isNeverSent(code, running)) throw unreachable(request, text);
    throw connectionLost(request, text);
  }

 private:
  struct Running {
    Running(const Exchange &theRequest, std::int64_t timeoutMs, const std::atomic<bool> &isStopped)
        : request(theRequest), patience(timeoutMs), lastBytes(Clock::now()), stopped(isStopped) {}

    const Exchange &request;
    const std::chrono::milliseconds patience;
    Clock::time_point lastBytes;
    const std::atomic<bool> &stopped;
    /** Whether the next bytes of a file did not come in time. */
    bool isLate = false;
    ReceivedAnswer answer;
    HeadReader head;
    std::array<char, CURL_ERROR_SIZE> problem{};
    /** Whether no more of the body is needed. */
    bool isEnough = false;
    CURL *curl = nullptr;
    int connections = 0;
  };

  /** At least once a second. */
  static int onProgress(void *user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    auto &running = *static_cast<Running *>(user);
    running.isLate = running.request.sink && Clock::now() > running.lastBytes + running.patience;
    return running.stopped || running.isLate ? 1 : 0;
  }

#if LIBCURL_VERSION_NUM >= 0x075000
  static constexpr bool knowsConnections = true;
#else
  static constexpr bool knowsConnections = false;
#endif

  /** Whether the server cannot have received the request. */
  static bool isNeverSent(CURLcode code, const Running &running) {
    if (knowsConnections) return running.connections == 0;
    switch (code) {
      case CURLE_COULDNT_RESOLVE_HOST:
      case CURLE_COULDNT_RESOLVE_PROXY:
      case CURLE_COULDNT_CONNECT:
      case CURLE_SSL_CONNECT_ERROR:
      case CURLE_PEER_FAILED_VERIFICATION:
      case CURLE_SSL_CERTPROBLEM:
      case CURLE_SSL_CIPHER:
      case CURLE_SSL_CACERT_BADFILE:
      case CURLE_SSL_ISSUER_ERROR:
      case CURLE_URL_MALFORMAT:
      case CURLE_UNSUPPORTED_PROTOCOL:
        return true;
      default:
        return false;
    }
  }

  static CURLcode perform(CURL *curl) {
    const NoBrokenPipe guard;
    return curl_easy_perform(curl);
  }

  CURL *take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.empty()) return curl_easy_init();
    CURL *found = idle_.back();
    idle_.pop_back();
    return found;
  }

  void release(CURL *used) {
    if (!used) return;
    const NoBrokenPipe guard;
    curl_easy_reset(used);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.size() < 4)
      idle_.push_back(used);
    else
      curl_easy_cleanup(used);
  }

  static curl_slist *toList(const Exchange &request) {
    curl_slist *list = nullptr;
    const auto add = [&](const std::string &line) {
      if (curl_slist *longer = curl_slist_append(list, line.c_str())) list = longer;
    };
    for (const auto &[name, value] : request.headers) add(name + ": " + value);
    add("Expect:");
    if (!request.body) add("Content-Type:");
    return list;
  }

  static std::size_t onHeader(char *data, std::size_t size, std::size_t count, void *user) {
    auto &running = *static_cast<Running *>(user);
    return running.head.add(std::string_view(data, size * count), running.answer) ? size * count : 0;
  }

  static std::size_t onBody(char *data, std::size_t size, std::size_t count, void *user) {
    auto &running = *static_cast<Running *>(user);
    if (running.request.sink) {
      running.lastBytes = Clock::now();
      long status = 0;
      curl_easy_getinfo(running.curl, CURLINFO_RESPONSE_CODE, &status);
      running.answer.status = static_cast<int>(status);
      running.isEnough = !running.request.sink(running.answer, std::string_view(data, size * count));
    } else {
      running.answer.body.append(data, size * count);
      running.isEnough = running.answer.body.size() > maxAnswerBytes;
    }
    return running.isEnough ? 0 : size * count;
  }

#if LIBCURL_VERSION_NUM >= 0x075000
  /** libcurl repeats a request by itself if a connection that was kept open breaks. The SDK decides about that. */
  static int onConnected(void *user, char *, char *, int, int) {
    auto &running = *static_cast<Running *>(user);
    running.connections++;
    return running.connections == 1 ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
  }
#endif

  void setOptions(CURL *curl, const Exchange &request, std::int64_t timeoutMs, curl_slist *headers,
                  Running &running) const {
    const auto set = [&](CURLoption option, auto value) { curl_easy_setopt(curl, option, value); };
    const std::string url = request.origin + request.path;
    set(CURLOPT_URL, url.c_str());
#if LIBCURL_VERSION_NUM >= 0x075500
    set(CURLOPT_PROTOCOLS_STR, "http,https");
#else
    set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    set(CURLOPT_PATH_AS_IS, 1L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    if (request.sink) {
      set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(timeoutMs));
    } else {
      set(CURLOPT_TIMEOUT_MS, static_cast<long>(timeoutMs));
    }
#if LIBCURL_VERSION_NUM >= 0x075700
    // Without it the end of the time waits for a name server that does not answer.
    set(CURLOPT_QUICK_EXIT, 1L);
#endif
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    set(CURLOPT_ERRORBUFFER, running.problem.data());
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &Http::onProgress);
    set(CURLOPT_XFERINFODATA, static_cast<void *>(&running));
    set(CURLOPT_HTTPHEADER, headers);
    set(CURLOPT_USERAGENT, sdk);
    set(CURLOPT_HEADERFUNCTION, &Http::onHeader);
    set(CURLOPT_HEADERDATA, static_cast<void *>(&running));
    set(CURLOPT_WRITEFUNCTION, &Http::onBody);
    set(CURLOPT_WRITEDATA, static_cast<void *>(&running));
#if LIBCURL_VERSION_NUM >= 0x075000
    set(CURLOPT_PREREQFUNCTION, &Http::onConnected);
    set(CURLOPT_PREREQDATA, static_cast<void *>(&running));
#else
    set(CURLOPT_FRESH_CONNECT, 1L);
#endif
    if (!request.isRepeatable) set(CURLOPT_FRESH_CONNECT, 1L);
    if (request.method == "POST") {
      set(CURLOPT_POST, 1L);
      set(CURLOPT_POSTFIELDS, request.body ? request.body->c_str() : "");
      set(CURLOPT_POSTFIELDSIZE, static_cast<long>(request.body ? request.body->size() : 0));
    } else if (request.method != "GET") {
      set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
    if (!proxy_) return;
    set(CURLOPT_PROXY, proxy_->host.c_str());
    set(CURLOPT_PROXYPORT, static_cast<long>(proxy_->port));
    set(CURLOPT_PROXYTYPE, static_cast<long>(CURLPROXY_HTTP));
    set(CURLOPT_NOPROXY, "");
    if (proxy_->user.empty() && proxy_->password.empty()) return;
    set(CURLOPT_PROXYAUTH, static_cast<long>(CURLAUTH_BASIC));
    set(CURLOPT_PROXYUSERNAME, proxy_->user.c_str());
    set(CURLOPT_PROXYPASSWORD, proxy_->password.c_str());
  }

  std::optional<Proxy> proxy_;
  const std::atomic<bool> &stopped_;
  std::mutex mutex_;
  std::vector<CURL *> idle_;
};

}  // namespace keyward::detail

#endif
