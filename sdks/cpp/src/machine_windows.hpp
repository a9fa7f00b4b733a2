#pragma once

#include "files.hpp"
#include "platform.hpp"
#include "system.hpp"
#include "text.hpp"
#include "text_windows.hpp"

#ifdef _WIN32

namespace keyward::detail {

inline std::optional<std::string> readRegistry(HKEY root, const wchar_t *path, const wchar_t *name) {
  HKEY key = nullptr;
  const LSTATUS opened = RegOpenKeyExW(root, path, 0, KEY_QUERY_VALUE | KEY_WOW64_64KEY, &key);
  if (opened == ERROR_FILE_NOT_FOUND || opened == ERROR_ACCESS_DENIED) return std::nullopt;
  if (opened != ERROR_SUCCESS) throw SourceError("The registry cannot be read");
  std::array<wchar_t, 1024> value{};
  DWORD type = 0;
  auto size = static_cast<DWORD>((value.size() - 1) * sizeof(wchar_t));
  const LSTATUS read =
      RegQueryValueExW(key, name, nullptr, &type, reinterpret_cast<LPBYTE>(value.data()), &size);
  RegCloseKey(key);
  if (read == ERROR_FILE_NOT_FOUND || read == ERROR_ACCESS_DENIED) return std::nullopt;
  if (read != ERROR_SUCCESS) throw SourceError("The registry cannot be read");
  if (type != REG_SZ) return std::nullopt;
  return fromWide(std::wstring(value.data()));
}

/** The first `SerialNumber` below a key, in the order of the registry. */
inline std::optional<std::string> findSerialNumber(const std::wstring &path, int depth = 0) {
  std::optional<std::string> own = readRegistry(HKEY_LOCAL_MACHINE, path.c_str(), L"SerialNumber");
  if (own && !trim(*own).empty()) return own;
  HKEY key = nullptr;
  if (depth > 8 || RegOpenKeyExW(HKEY_LOCAL_MACHINE, path.c_str(), 0, KEY_ENUMERATE_SUB_KEYS, &key) != ERROR_SUCCESS)
    return std::nullopt;
  std::vector<std::wstring> names;
  for (DWORD index = 0; index < 256; index++) {
    std::array<wchar_t, 256> name{};
    auto size = static_cast<DWORD>(name.size());
    if (RegEnumKeyExW(key, index, name.data(), &size, nullptr, nullptr, nullptr, nullptr) != ERROR_SUCCESS) break;
    names.emplace_back(name.data(), size);
  }
  RegCloseKey(key);
  for (const std::wstring &name : names)
    if (std::optional<std::string> found = findSerialNumber(path + L"\\" + name, depth + 1)) return found;
  return std::nullopt;
}

inline std::string readProperty(const std::string &name) {
  std::optional<std::string> value;
  if (name == "machine")
    value = readRegistry(HKEY_LOCAL_MACHINE, L"SOFTWARE\\Microsoft\\Cryptography", L"MachineGuid");
  else if (name == "board")
    value = readRegistry(HKEY_LOCAL_MACHINE, L"SYSTEM\\HardwareConfig", L"LastConfig");
  else
    value = findSerialNumber(L"HARDWARE\\DEVICEMAP\\Scsi");
  if (!value) throw SourceError("The registry has no such value", true);
  return *value;
}

inline std::vector<std::string> findMacs() {
  const ULONG flags = GAA_FLAG_SKIP_ANYCAST | GAA_FLAG_SKIP_MULTICAST | GAA_FLAG_SKIP_DNS_SERVER;
  ULONG size = 32768;
  std::vector<unsigned char> buffer;
  ULONG result = ERROR_BUFFER_OVERFLOW;
  for (int attempt = 0; attempt < 4 && result == ERROR_BUFFER_OVERFLOW; attempt++) {
    buffer.resize(size);
    result = GetAdaptersAddresses(AF_UNSPEC, flags, nullptr,
                                  reinterpret_cast<PIP_ADAPTER_ADDRESSES>(buffer.data()), &size);
  }
  std::vector<std::string> macs;
  if (result != ERROR_SUCCESS) return macs;
  for (const auto *one = reinterpret_cast<const IP_ADAPTER_ADDRESSES *>(buffer.data()); one; one = one->Next) {
    if (one->OperStatus != IfOperStatusUp || !one->FirstUnicastAddress || one->IfType == IF_TYPE_SOFTWARE_LOOPBACK)
      continue;
    if (one->PhysicalAddressLength == 6) macs.push_back(toMac(one->PhysicalAddress));
  }
  return macs;
}

inline Machine thisMachine() {
  Machine machine;
  machine.platform = "win32";
  std::array<wchar_t, 256> name{};
  auto size = static_cast<DWORD>(name.size());
  if (GetComputerNameExW(ComputerNameDnsHostname, name.data(), &size))
    machine.hostname = fromWide(std::wstring_view(name.data(), size));
  try {
    machine.system = readRegistry(HKEY_LOCAL_MACHINE, L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion", L"ProductName")
                         .value_or("Windows");
  } catch (const SourceError &) {
    machine.system = "Windows";
  }
  machine.macs = findMacs();
  machine.read = readWholeFile;
  machine.property = readProperty;
  return machine;
}

}  // namespace keyward::detail

#endif
