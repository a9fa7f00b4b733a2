// Tally: counts the words of texts, with a license.
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "gate.hpp"

namespace {

constexpr const char *usage = R"(Usage: tally [--key KEY] [FILE...]
       tally --offline-request KEY
       tally --activate FILE
       tally --deactivate

Counts the words of your texts; without FILE it reads the names of files line by line.

  --key KEY               sign in with this license key
  --offline-request KEY   print the request of a machine that is never online
  --activate FILE         accept the vendor's file for that request
  --deactivate            end that activation and print the code for the vendor
)";

/** Wrong use of the program. */
class UsageMistake : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageMistake("Cannot read " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/** One piece of work. The check comes first and decides what the work includes. */
void tally(Gate &gate, const std::string &path) {
  const Permit permit = gate.check();
  std::istringstream words(readText(path));
  const auto count = std::distance(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
  std::cout << path << ": " << count << " words";
  if (permit.mayEstimate) std::cout << ", " << (count + 229) / 230 << " min";
  std::cout << std::endl;
}

int run(const std::vector<std::string> &args) {
  const auto argument = [&](std::size_t at) {
    if (at >= args.size()) throw UsageMistake(usage);
    return args[at];
  };
  Gate gate;
  std::size_t at = 0;
  if (!args.empty() && args[0] == "--offline-request") {
    std::cout << gate.client().offlineRequest(argument(1)) << std::endl;
    return 0;
  }
  if (!args.empty() && args[0] == "--activate") {
    std::cout << "Activated for " << gate.client().activateOffline(readText(argument(1))).user.username << std::endl;
    return 0;
  }
  if (!args.empty() && args[0] == "--deactivate") {
    std::cout << gate.client().deactivateOffline() << std::endl;
    return 0;
  }
  if (!args.empty() && args[0] == "--key") {
    gate.open(argument(1));
    at = 2;
  }
  if (at < args.size()) {
    for (; at < args.size(); at++) tally(gate, args[at]);
  } else {
    for (std::string path; std::getline(std::cin, path);) tally(gate, path);
  }
  return 0;
}

}  // namespace

int main(int argc, char **argv) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const keyward::NetworkError &error) {
    // No verdict: say so, and let the user try again.
    std::cerr << "The license server cannot be reached. " << nextStep(error) << "\n" << error.what() << "\n";
    return 2;
  } catch (const RefusedError &error) {
    std::cerr << error.what() << "\n";
    return 3;
  } catch (const keyward::SignatureError &error) {
    std::cerr << "The response is not from the license server. Tally stops.\n" << error.what() << "\n";
    return 4;
  } catch (const std::exception &error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
