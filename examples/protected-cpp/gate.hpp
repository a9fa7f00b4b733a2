// Everything in Tally that knows about licenses.
#pragma once

#include <iostream>
#include <stdexcept>
#include <string>

#include "keyward.hpp"
#include "next_step.hpp"
#include "vendor.hpp"

/** The server rejected this copy: the vendor's text, what to do about it, and the reference of the refusal. */
class RefusedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/** What a granted check says about the work that is allowed. */
struct Permit {
  std::string username;
  bool mayEstimate = false;
};

class Gate {
 public:
  Gate() : client_(vendorOptions()) {}

  /** Signs in with a license key. The first use binds the key to this machine. */
  void open(const std::string &key) { granted(client_.license(key)); }

  /** Call it before every piece of work: it throws once the license is no longer valid. */
  Permit check() {
    const keyward::Result<keyward::UserData> result = client_.session();
    if (!result.ok && result.code == "sessionUnauthed")
      throw RefusedError("Tally needs a license. Start it once with --key YOUR-LICENSE-KEY.");
    granted(result);
    if (result.offline && result.offline->inGrace && !hasWarned_) {
      hasWarned_ = true;
      std::cerr << "Go online before " << momentOf(result.offline->graceUntil.value_or("")) << ", or Tally stops.\n";
    }
    return {result.user.username, client_.has("reading-time")};
  }

  keyward::Client &client() { return client_; }

 private:
  static void granted(const keyward::Result<keyward::UserData> &result) {
    if (result.ok) return;
    const std::string reference = result.reference.empty() ? "" : "\nReference: " + result.reference;
    const auto &links = result.offers.links;
    const std::string renew = links && links->renew ? "\nRenew: " + *links->renew : "";
    throw RefusedError(result.message + "\n" + nextStep(result.code, result.details) + renew + reference);
  }

  keyward::Client client_;
  bool hasWarned_ = false;
};
