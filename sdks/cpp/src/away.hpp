#pragma once

#include "clock.hpp"
#include "errors.hpp"
#include "platform.hpp"

namespace keyward::detail {

/** Whether the server is away, so that calls need not wait for it, and the thread that asks it meanwhile. */
class Away {
 public:
  explicit Away(Now elapsed) : elapsed_(std::move(elapsed)) {}
  Away(const Away &) = delete;
  Away &operator=(const Away &) = delete;
  ~Away() {
    if (prober_.get_id() == std::this_thread::get_id()) prober_.detach();
    if (prober_.joinable()) prober_.join();
  }

  /** The code of the last network error while the server is away. */
  std::optional<std::string> code() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return elapsed_() < until_ ? std::optional<std::string>(code_) : std::nullopt;
  }

  void note(const NetworkError &error) {
    const std::lock_guard<std::mutex> lock(mutex_);
    code_ = error.code;
    until_ = elapsed_() + awayS;
  }

  void end() {
    const std::lock_guard<std::mutex> lock(mutex_);
    until_ = 0;
    ends_++;
  }

  /** Asks the server in the background, unless that is done already or was just tried. */
  void probe(std::function<void()> ask) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (isProbing_ || elapsed_() < nextProbeAt_) return;
    // It has ended, but for a few instructions.
    if (prober_.joinable()) prober_.join();
    try {
      prober_ = std::thread([this, ends = ends_.load(), ask = std::move(ask)] { run(ask, ends); });
      isProbing_ = true;
    } catch (const std::system_error &) {
      // Without a thread there is no probe now.
    }
  }

 private:
  static constexpr double awayS = 60;
  static constexpr double betweenProbesS = 5;

  void run(const std::function<void()> &ask, int ends) {
    try {
      ask();
      end();
    } catch (const NetworkError &error) {
      // The server may have answered another call since.
      if (ends == ends_) note(error);
    } catch (...) {
      // The next call learns from the server what is wrong.
      end();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    isProbing_ = false;
    nextProbeAt_ = elapsed_() + betweenProbesS;
  }

  Now elapsed_;
  mutable std::mutex mutex_;
  double until_ = 0;
  std::atomic<int> ends_{0};
  std::string code_;
  double nextProbeAt_ = 0;
  bool isProbing_ = false;
  std::thread prober_;
};

}  // namespace keyward::detail
