#pragma once

#include "clock.hpp"
#include "errors.hpp"
#include "exchange.hpp"
#include "platform.hpp"
#include "signature.hpp"
#include "text_windows.hpp"
#include "version.hpp"

#ifdef _WIN32

namespace keyward::detail {

/** WinHTTP in its asynchronous mode, whose waits end at the deadline whatever the server does. */
class Http {
 public:
  /** `stopped` ends what is under way. */
  Http(std::optional<Proxy> proxy, const std::atomic<bool> &stopped) : proxy_(std::move(proxy)), stopped_(stopped) {}
  Http(const Http &) = delete;
  Http &operator=(const Http &) = delete;
  ~Http() {
    if (session_) WinHttpCloseHandle(session_);
  }

  /** Sends one request and reads the whole response, whatever its status. Does not follow redirects. */
  ReceivedAnswer exchange(const Exchange &request, std::int64_t timeoutMs) {
    const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(timeoutMs);
    // A connection that is kept open may break unnoticed, and WinHTTP then sends the request again.
    const Handle own(request.isRepeatable ? nullptr : openSession());
    const HINTERNET session = request.isRepeatable ? sharedSession() : own.get();
    if (!session) throw unreachable(request, reason(GetLastError()));
    const Parts parts = split(request.origin);
    const Handle connection(WinHttpConnect(session, toWide(parts.host).c_str(), parts.port, 0));
    if (!connection.get()) throw unreachable(request, reason(GetLastError()));
    const DWORD flags = WINHTTP_FLAG_ESCAPE_DISABLE | (parts.isSecure ? WINHTTP_FLAG_SECURE : 0u);
    const HINTERNET handle =
        WinHttpOpenRequest(connection.get(), toWide(request.method).c_str(), toWide(request.path).c_str(), nullptr,
                           WINHTTP_NO_REFERER, WINHTTP_DEFAULT_ACCEPT_TYPES, flags);
    if (!handle) throw unreachable(request, reason(GetLastError()));
    Running running(handle, request.body.value_or(""), stopped_);
    running.setOptions(timeoutMs);
    return receive(request, running, deadline);
  }

 private:
  struct Parts {
    bool isSecure;
    std::string host;
    INTERNET_PORT port;
  };

  class Handle {
   public:
    explicit Handle(HINTERNET handle) : handle_(handle) {}
    Handle(const Handle &) = delete;
    Handle &operator=(const Handle &) = delete;
    ~Handle() {
      if (handle_) WinHttpCloseHandle(handle_);
    }
    HINTERNET get() const { return handle_; }

   private:
    HINTERNET handle_;
  };

  /** What the callback of WinHTTP writes to; it lives until WinHTTP has closed the request. */
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool isDone = false;
    DWORD error = 0;
    DWORD certificate = 0;
    DWORD length = 0;
    std::string body;
    std::array<char, 16384> buffer{};
  };

  class Running {
   public:
    Running(HINTERNET handle, std::string body, const std::atomic<bool> &stopped)
        : handle_(handle), stopped_(stopped), state_(std::make_shared<State>()) {
      state_->body = std::move(body);
    }
    Running(const Running &) = delete;
    Running &operator=(const Running &) = delete;
    ~Running() { WinHttpCloseHandle(handle_); }

    HINTERNET handle() const { return handle_; }
    State &state() const { return *state_; }
    /** How long to wait for the next bytes. */
    std::chrono::milliseconds patience() const { return patience_; }

    void setOptions(std::int64_t timeoutMs) {
      const int ms = static_cast<int>(timeoutMs);
      patience_ = std::chrono::milliseconds(timeoutMs);
      WinHttpSetTimeouts(handle_, ms, ms, ms, ms);
      set(WINHTTP_OPTION_DISABLE_FEATURE, WINHTTP_DISABLE_COOKIES | WINHTTP_DISABLE_REDIRECTS);
      set(WINHTTP_OPTION_AUTOLOGON_POLICY, WINHTTP_AUTOLOGON_SECURITY_LEVEL_HIGH);
      // WinHTTP passes the context to the callback until the handle is closed, which frees it.
      auto *context = new std::shared_ptr<State>(state_);
      auto value = reinterpret_cast<DWORD_PTR>(context);
      WinHttpSetStatusCallback(handle_, &Running::onStatus,
                               WINHTTP_CALLBACK_FLAG_ALL_COMPLETIONS | WINHTTP_CALLBACK_FLAG_HANDLES |
                                   WINHTTP_CALLBACK_FLAG_SECURE_FAILURE,
                               0);
      if (!WinHttpSetOption(handle_, WINHTTP_OPTION_CONTEXT_VALUE, &value, sizeof value)) delete context;
    }

    /** Starts an operation and waits until it is done. Returns 0, an error of Windows, or ERROR_WINHTTP_TIMEOUT. */
    template <class Operation>
    DWORD run(Clock::time_point deadline, Operation operation) {
      std::unique_lock<std::mutex> lock(state_->mutex);
      state_->isDone = false;
      state_->error = 0;
      lock.unlock();
      if (!operation()) {
        const DWORD error = GetLastError();
        if (error != ERROR_IO_PENDING) return error == 0 ? static_cast<DWORD>(ERROR_WINHTTP_INTERNAL_ERROR) : error;
      }
      lock.lock();
      while (!state_->isDone) {
        const Clock::time_point now = Clock::now();
        if (now >= deadline || stopped_) return ERROR_WINHTTP_TIMEOUT;
        state_->changed.wait_until(lock, (std::min)(deadline, now + betweenLooks));
      }
      return state_->error;
    }

   private:
    void set(DWORD option, DWORD value) { WinHttpSetOption(handle_, option, &value, sizeof value); }

    /** The flags come before the error, which says no more than that the connection is not secure. */
    static DWORD toCertificateError(DWORD flags) {
      if (flags & WINHTTP_CALLBACK_STATUS_FLAG_CERT_DATE_INVALID) return ERROR_WINHTTP_SECURE_CERT_DATE_INVALID;
      if (flags & WINHTTP_CALLBACK_STATUS_FLAG_CERT_CN_INVALID) return ERROR_WINHTTP_SECURE_CERT_CN_INVALID;
      if (flags & WINHTTP_CALLBACK_STATUS_FLAG_INVALID_CA) return ERROR_WINHTTP_SECURE_INVALID_CA;
      if (flags & WINHTTP_CALLBACK_STATUS_FLAG_CERT_REVOKED) return ERROR_WINHTTP_SECURE_CERT_REVOKED;
      if (flags & WINHTTP_CALLBACK_STATUS_FLAG_CERT_REV_FAILED) return ERROR_WINHTTP_SECURE_CERT_REV_FAILED;
      if (flags & WINHTTP_CALLBACK_STATUS_FLAG_INVALID_CERT) return ERROR_WINHTTP_SECURE_INVALID_CERT;
      return ERROR_WINHTTP_SECURE_FAILURE;
    }

    static void CALLBACK onStatus(HINTERNET, DWORD_PTR value, DWORD status, LPVOID information, DWORD length) {
      auto *context = reinterpret_cast<std::shared_ptr<State> *>(value);
      if (!context) return;
      if (status == WINHTTP_CALLBACK_STATUS_HANDLE_CLOSING) {
        delete context;
        return;
      }
      State &state = **context;
      const std::lock_guard<std::mutex> lock(state.mutex);
      switch (status) {
        case WINHTTP_CALLBACK_STATUS_SECURE_FAILURE:
          state.certificate = *static_cast<DWORD *>(information);
          return;
        case WINHTTP_CALLBACK_STATUS_REQUEST_ERROR:
          state.error = static_cast<WINHTTP_ASYNC_RESULT *>(information)->dwError;
          if (state.error == ERROR_WINHTTP_SECURE_FAILURE) state.error = toCertificateError(state.certificate);
          break;
        case WINHTTP_CALLBACK_STATUS_DATA_AVAILABLE:
          state.length = *static_cast<DWORD *>(information);
          break;
        case WINHTTP_CALLBACK_STATUS_READ_COMPLETE:
          state.length = length;
          break;
        case WINHTTP_CALLBACK_STATUS_SENDREQUEST_COMPLETE:
        case WINHTTP_CALLBACK_STATUS_HEADERS_AVAILABLE:
          break;
        default:
          return;
      }
      state.isDone = true;
      state.changed.notify_all();
    }

    HINTERNET handle_;
    const std::atomic<bool> &stopped_;
    std::shared_ptr<State> state_;
    std::chrono::milliseconds patience_{0};
  };

  static Parts split(const std::string &origin) {
    Parts parts{origin.compare(0, 8, "https://") == 0, origin.substr(origin.find("://") + 3), 0};
    parts.port = parts.isSecure ? INTERNET_DEFAULT_HTTPS_PORT : INTERNET_DEFAULT_HTTP_PORT;
    const std::size_t colon = parts.host.rfind(':');
    if (colon != std::string::npos && parts.host.find(']', colon) == std::string::npos) {
      parts.port = static_cast<INTERNET_PORT>(std::atoi(parts.host.c_str() + colon + 1));
      parts.host.resize(colon);
    }
    return parts;
  }

  static std::string reason(DWORD error) { return "error " + std::to_string(error) + " of Windows"; }

  HINTERNET openSession() const {
    const std::wstring agent = toWide(sdk);
    if (proxy_) {
      const std::wstring proxy = toWide(proxy_->host + ":" + std::to_string(proxy_->port));
      return WinHttpOpen(agent.c_str(), WINHTTP_ACCESS_TYPE_NAMED_PROXY, proxy.c_str(), WINHTTP_NO_PROXY_BYPASS,
                         WINHTTP_FLAG_ASYNC);
    }
    const DWORD automaticProxy = 4;
    HINTERNET session =
        WinHttpOpen(agent.c_str(), automaticProxy, WINHTTP_NO_PROXY_NAME, WINHTTP_NO_PROXY_BYPASS, WINHTTP_FLAG_ASYNC);
    // Systems before Windows 8.1 do not know the automatic proxy.
    if (!session)
      session = WinHttpOpen(agent.c_str(), WINHTTP_ACCESS_TYPE_DEFAULT_PROXY, WINHTTP_NO_PROXY_NAME, WINHTTP_NO_PROXY_BYPASS,
                            WINHTTP_FLAG_ASYNC);
    return session;
  }

  HINTERNET sharedSession() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!session_) session_ = openSession();
    return session_;
  }

  static NetworkError toError(const Exchange &request, DWORD error);

  ReceivedAnswer receive(const Exchange &request, Running &running, Clock::time_point deadline);

  static void send(const Exchange &request, Running &running, const std::wstring &headers, Clock::time_point deadline);

  static DWORD queryStatus(HINTERNET handle);

  static std::string queryHead(HINTERNET handle);

  static ReceivedAnswer read(const Exchange &request, Running &running, int status, Clock::time_point deadline);

  std::optional<Proxy> proxy_;
  const std::atomic<bool> &stopped_;
  std::mutex mutex_;
  HINTERNET session_ = nullptr;
};

}  // namespace keyward::detail

#endif
