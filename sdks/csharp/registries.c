// Functions of Windows and macOS with a small registry, for the test of what Keyward.cs asks them.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint16_t wide;

static const struct { const char *path, *name, *value; int type; } values[] = {
    {"SOFTWARE\\Microsoft\\Cryptography", "MachineGuid", "5F0C2A7B-E1D9-4836-8F21-0A1B2C3D4E5F", 1},
    {"SYSTEM\\HardwareConfig", "LastConfig", "{11111111-2222-3333-4444-555555555555}", 1},
    {"HARDWARE\\DEVICEMAP\\Scsi\\Scsi Port 0", "SerialNumber", "7", 4},
    {"HARDWARE\\DEVICEMAP\\Scsi\\Scsi Port 1\\Target Id 0", "SerialNumber", "  S4EWNX0 R12  ", 1},
};
static const char *const keys[] = {
    "SOFTWARE\\Microsoft\\Cryptography",
    "SYSTEM\\HardwareConfig",
    "HARDWARE\\DEVICEMAP\\Scsi",
    "HARDWARE\\DEVICEMAP\\Scsi\\Scsi Port 0",
    "HARDWARE\\DEVICEMAP\\Scsi\\Scsi Port 1",
    "HARDWARE\\DEVICEMAP\\Scsi\\Scsi Port 1\\Target Id 0",
};

static int isEqual(const wide *text, const char *other) {
  while (*other && *text == (unsigned char)*other) text++, other++;
  return *text == 0 && *other == 0;
}

static int copy(const char *text, wide *out) {
  int length = 0;
  while ((out[length] = (unsigned char)text[length])) length++;
  return length;
}

static int failure(void) { return getenv("REGISTRY_FAILURE") ? atoi(getenv("REGISTRY_FAILURE")) : 0; }

int RegOpenKeyExW(intptr_t parent, const wide *path, int options, int access, intptr_t *key) {
  if (parent != (intptr_t)(int)0x80000002 || options != 0 || !(access & 0x100)) return 87;
  if (failure()) return failure();
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (isEqual(path, keys[i])) return *key = (intptr_t)i + 1, 0;
  return 2;
}

int RegQueryValueExW(intptr_t key, const wide *name, void *reserved, int *type, wide *value, int *bytes) {
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    if (strcmp(values[i].path, keys[key - 1]) != 0 || !isEqual(name, values[i].name)) continue;
    if (reserved || *bytes < 2 * (int)strlen(values[i].value) + 2) return 234;
    *type = values[i].type;
    *bytes = 2 * copy(values[i].value, value) + 2;
    return 0;
  }
  return 2;
}

int RegEnumKeyExW(intptr_t key, int index, wide *name, int *length) {
  const size_t size = strlen(keys[key - 1]);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    if (strncmp(keys[i], keys[key - 1], size) != 0 || keys[i][size] != '\\' || strchr(keys[i] + size + 1, '\\')) continue;
    if (index-- > 0) continue;
    if (*length <= (int)strlen(keys[i] + size + 1)) return 234;
    *length = copy(keys[i] + size + 1, name);
    return 0;
  }
  return 259;
}

int RegCloseKey(intptr_t key) { return key > 0 ? 0 : 6; }

// The registry of macOS: a class is its name, a text is one of C, and the first disk has no serial number.
static uint32_t last;
static uint32_t count;

const void *IOServiceMatching(const char *name) { return strdup(name); }
int IOServiceGetMatchingServices(uint32_t port, const char *name, uint32_t *services) {
  last = 0;
  count = strcmp(name, "IONVMeController") == 0 ? 2 : strcmp(name, "IOPlatformExpertDevice") == 0 ? 1 : 0;
  *services = 100;
  return port == 0 ? failure() : 1;
}
uint32_t IOIteratorNext(uint32_t services) {
  return services == 100 && last < count ? ++last : 0;
}
const void *IORegistryEntryCreateCFProperty(uint32_t service, const char *key, void *allocator, uint32_t options) {
  if (allocator || options) return 0;
  if (strcmp(key, "IOPlatformUUID") == 0) return "5F0C2A7B-E1D9-4836-8F21-0A1B2C3D4E5F";
  if (strcmp(key, "IOPlatformSerialNumber") == 0) return "C02XK0AAJHD2";
  return service == 2 && strcmp(key, "Serial Number") == 0 ? "S4EWNX0R12" : 0;
}
int IOObjectRelease(uint32_t object) { return object == 0; }
const void *CFStringCreateWithCString(void *allocator, const char *text, uint32_t encoding) {
  return allocator || encoding != 0x08000100 ? 0 : strdup(text);
}
unsigned char CFStringGetCString(const char *text, char *buffer, long size, uint32_t encoding) {
  if (encoding != 0x08000100 || (long)strlen(text) >= size) return 0;
  strcpy(buffer, text);
  return 1;
}
unsigned long CFStringGetTypeID(void) { return 7; }
unsigned long CFGetTypeID(const void *value) { return value ? 7 : 0; }
void CFRelease(const void *value) { (void)value; }
