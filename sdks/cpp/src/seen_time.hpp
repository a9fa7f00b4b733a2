#pragma once

#include "clock.hpp"
#include "files.hpp"
#include "json.hpp"
#include "platform.hpp"
#include "system.hpp"
#include "text.hpp"

namespace keyward::detail {

/** A run of the system, and how long it lasts already, in seconds. */
struct Boot {
  std::string id;
  double uptime = 0;
};

/** Nothing on systems other than Linux, and where it cannot be read. */
inline std::optional<Boot> thisBoot() {
#ifdef __linux__
  try {
    static const std::string &id = *new std::string(trim(readWholeFile("/proc/sys/kernel/random/boot_id")) + "/" +
                                                    linkTarget("/proc/self/ns/time").value_or("-"));
    return Boot{id, std::strtod(readWholeFile("/proc/uptime").c_str(), nullptr)};
  } catch (const SourceError &) {
  }
#endif
  return std::nullopt;
}

/** The clock of the machine, and how far it must have come: a clock that stands still or goes back gains no time. */
class SeenTime {
 public:
  SeenTime(Now now, Now elapsed) : now_(std::move(now)), elapsed_(std::move(elapsed)) {}

  double now() const { return now_(); }

  /** Where the clock must be at least, by what is stored and by this run of the program. */
  double floor(const Json &kept) const {
    const Json &stored = kept["boot"];
    const std::optional<Boot> boot = stored.isObject() ? thisBoot() : std::nullopt;
    const bool isSame = boot && boot->id == stored["id"].string();
    return (std::max)({kept["latest"].number(), inRun(), isSame ? stored["startedAt"].number() + boot->uptime : 0});
  }

  /** Notes that the clock was believed at `now`. Returns whether what is kept changed. */
  bool note(Json &kept, double now) {
    const double latest = std::floor((std::max)(now, inRun()));
    if (now >= inRun()) anchor_ = Anchor{now, elapsed_()};
    const bool isLater = latest > kept["latest"].number();
    if (isLater) kept.set("latest", latest);
    return noteBoot(kept, now) || isLater;
  }

  bool noteBoot(Json &kept, double now) const {
    const std::optional<Boot> boot = thisBoot();
    if (!boot) return false;
    const Json &stored = kept["boot"];
    const double startedAt = std::floor(now - boot->uptime);
    if (stored["id"].string() == boot->id && stored["startedAt"].number() >= startedAt) return false;
    kept.set("boot", Json::object().set("id", boot->id).set("startedAt", startedAt));
    return true;
  }

  /** Believes nothing of what this run has seen. */
  void forget() { anchor_.reset(); }

 private:
  struct Anchor {
    double wall;
    double elapsed;
  };

  double inRun() const { return anchor_ ? anchor_->wall + elapsed_() - anchor_->elapsed : 0; }

  Now now_;
  Now elapsed_;
  std::optional<Anchor> anchor_;
};

}  // namespace keyward::detail
