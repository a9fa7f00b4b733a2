#pragma once

#include "clock.hpp"
#include "errors.hpp"
#include "exchange.hpp"
#include "http_windows.hpp"
#include "platform.hpp"
#include "signature.hpp"
#include "text_windows.hpp"

#ifdef _WIN32

namespace keyward::detail {

inline NetworkError Http::toError(const Exchange &request, DWORD error) {
  switch (error) {
    case ERROR_WINHTTP_TIMEOUT:
      return timedOut(request);
    case ERROR_WINHTTP_SECURE_CERT_DATE_INVALID:
      // Windows does not say at which end, but before this version was made, in November 2026, no clock was right.
      return systemNow() < 1793491200 ? clockBehind(request, reason(error)) : certificateExpired(request, reason(error));
    case ERROR_WINHTTP_SECURE_CERT_CN_INVALID:
    case ERROR_WINHTTP_SECURE_INVALID_CA:
    case ERROR_WINHTTP_SECURE_CERT_REV_FAILED:
    case ERROR_WINHTTP_SECURE_CERT_REVOKED:
    case ERROR_WINHTTP_SECURE_CERT_WRONG_USAGE:
    case ERROR_WINHTTP_SECURE_INVALID_CERT:
      return certificateRejected(request, reason(error));
    case ERROR_WINHTTP_CANNOT_CONNECT:
    case ERROR_WINHTTP_NAME_NOT_RESOLVED:
    case ERROR_WINHTTP_SECURE_FAILURE:
    case ERROR_WINHTTP_INVALID_URL:
    case ERROR_WINHTTP_UNRECOGNIZED_SCHEME:
    case ERROR_WINHTTP_CLIENT_AUTH_CERT_NEEDED:
      return unreachable(request, reason(error));
    default:
      return connectionLost(request, reason(error));
  }
}

inline ReceivedAnswer Http::receive(const Exchange &request, Running &running, Clock::time_point deadline) {
  std::wstring headers;
  for (const auto &[name, value] : request.headers) headers += toWide(name + ": " + value + "\r\n");
  for (bool hasAuthorized = false;;) {
    send(request, running, headers, deadline);
    const DWORD status = queryStatus(running.handle());
    if (status != 407 || !proxy_) return read(request, running, static_cast<int>(status), deadline);
    if (hasAuthorized || proxy_->user.empty()) throw proxyRefused(407);
    hasAuthorized = true;
    // Nothing reached the server: the proxy asks for its password first.
    WinHttpSetCredentials(running.handle(), WINHTTP_AUTH_TARGET_PROXY, WINHTTP_AUTH_SCHEME_BASIC,
                          toWide(proxy_->user).c_str(), toWide(proxy_->password).c_str(), nullptr);
  }
}

inline void Http::send(const Exchange &request, Running &running, const std::wstring &headers, Clock::time_point deadline) {
  std::string &body = running.state().body;
  const auto size = static_cast<DWORD>(body.size());
  const DWORD failed = running.run(deadline, [&] {
    return WinHttpSendRequest(running.handle(), headers.c_str(), static_cast<DWORD>(headers.size()),
                              size > 0 ? body.data() : WINHTTP_NO_REQUEST_DATA, size, size, 0) != FALSE;
  });
  if (failed != 0) throw toError(request, failed);
  const DWORD lost =
      running.run(deadline, [&] { return WinHttpReceiveResponse(running.handle(), nullptr) != FALSE; });
  if (lost != 0) throw toError(request, lost);
}

inline DWORD Http::queryStatus(HINTERNET handle) {
  DWORD status = 0;
  DWORD size = sizeof status;
  WinHttpQueryHeaders(handle, WINHTTP_QUERY_STATUS_CODE | WINHTTP_QUERY_FLAG_NUMBER, WINHTTP_HEADER_NAME_BY_INDEX,
                      &status, &size, WINHTTP_NO_HEADER_INDEX);
  return status;
}

inline std::string Http::queryHead(HINTERNET handle) {
  DWORD size = 0;
  WinHttpQueryHeaders(handle, WINHTTP_QUERY_RAW_HEADERS_CRLF, WINHTTP_HEADER_NAME_BY_INDEX, WINHTTP_NO_OUTPUT_BUFFER,
                      &size, WINHTTP_NO_HEADER_INDEX);
  std::wstring wide(size / sizeof(wchar_t) + 1, L'\0');
  size = static_cast<DWORD>(wide.size() * sizeof(wchar_t));
  if (!WinHttpQueryHeaders(handle, WINHTTP_QUERY_RAW_HEADERS_CRLF, WINHTTP_HEADER_NAME_BY_INDEX, wide.data(), &size,
                           WINHTTP_NO_HEADER_INDEX))
    return {};
  wide.resize(size / sizeof(wchar_t));
  std::string head;
  for (const wchar_t c : wide) head += c > 0 && c < 256 ? static_cast<char>(static_cast<unsigned char>(c)) : '?';
  return head;
}

inline ReceivedAnswer Http::read(const Exchange &request, Running &running, int status, Clock::time_point deadline) {
  ReceivedAnswer answer;
  answer.status = status;
  const std::string head = queryHead(running.handle());
  HeadReader reader;
  for (std::size_t at = 0; at < head.size();) {
    const std::size_t end = head.find("\r\n", at);
    const std::size_t stop = end == std::string::npos ? head.size() : end;
    if (!reader.add(std::string_view(head).substr(at, stop - at), answer))
      throw connectionLost(request, "the head of the answer is too large");
    at = stop + 2;
  }
  std::uint64_t received = 0;
  for (;;) {
    State &state = running.state();
    if (request.sink) deadline = Clock::now() + running.patience();
    // Reading more than there is could wait for the rest, beyond the deadline.
    const DWORD lost =
        running.run(deadline, [&] { return WinHttpQueryDataAvailable(running.handle(), nullptr) != FALSE; });
    if (lost != 0) throw toError(request, lost);
    if (state.length == 0) break;
    const DWORD size = (std::min)(state.length, static_cast<DWORD>(state.buffer.size()));
    const DWORD failed = running.run(
        deadline, [&] { return WinHttpReadData(running.handle(), state.buffer.data(), size, nullptr) != FALSE; });
    if (failed != 0) throw toError(request, failed);
    if (state.length == 0) break;
    received += state.length;
    if (request.sink) {
      if (!request.sink(answer, std::string_view(state.buffer.data(), state.length))) return answer;
      continue;
    }
    answer.body.append(state.buffer.data(), state.length);
    if (answer.body.size() > maxAnswerBytes) return answer;
  }
  const std::string declared = answer.header("content-length");
  if (!declared.empty() && std::strtoull(declared.c_str(), nullptr, 10) > received)
    throw connectionLost(request, "the answer is incomplete");
  return answer;
}

}  // namespace keyward::detail

#endif
