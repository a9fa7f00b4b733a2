#pragma once

#include "clock.hpp"
#include "errors.hpp"
#include "platform.hpp"

namespace keyward::detail {

/** Runs a function once for concurrent callers, who share its result, but wait for it no longer than until their own end. */
template <class Value>
class Shared {
 public:
  template <class Function>
  Value run(Clock::time_point until, Function function) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (running_) {
      const std::shared_future<Value> future = *running_;
      lock.unlock();
      if (future.wait_until(until) != std::future_status::ready) throw NetworkError("timed_out", "No answer in time", false);
      return future.get();
    }
    std::promise<Value> promise;
    running_ = promise.get_future().share();
    lock.unlock();
    const auto finish = [&] {
      const std::lock_guard<std::mutex> again(mutex_);
      running_.reset();
    };
    try {
      Value value = function();
      finish();
      promise.set_value(value);
      return value;
    } catch (...) {
      finish();
      promise.set_exception(std::current_exception());
      throw;
    }
  }

 private:
  std::mutex mutex_;
  std::optional<std::shared_future<Value>> running_;
};

}  // namespace keyward::detail
