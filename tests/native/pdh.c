/* A stand-in for pdh.dll: one counter, \Energy Meter(NSP)\Power, of 2310.5 mW from the second collection on. */
#include <stdint.h>
#include <stddef.h>
#include <wchar.h>

enum { NO_INSTANCE = 0xC0000BB8u, NO_DATA = 0x800007D5u, INVALID = 0xC0000BBDu };

static int query, counter, collected, opened;

uint32_t PdhOpenQueryW(const wchar_t *source, uintptr_t user, void **made) {
  if (source || user) return INVALID;
  *made = &query, collected = 0, opened++;
  return 0;
}

uint32_t PdhAddEnglishCounterW(void *of, const wchar_t *path, uintptr_t user, void **made) {
  if (of != &query || user) return INVALID;
  if (wcscmp(path, L"\\Energy Meter(NSP)\\Power")) return NO_INSTANCE;
  *made = &counter;
  return 0;
}

uint32_t PdhCollectQueryData(void *of) {
  if (of != &query || !opened) return INVALID;
  collected++;
  return 0;
}

typedef struct { uint32_t status; double number; } Value;

uint32_t PdhGetFormattedCounterValue(void *of, uint32_t form, uint32_t *type, Value *value) {
  if (of != &counter || form != 0x200 || type) return INVALID;
  if (collected < 2) return NO_DATA;
  value->status = 0, value->number = 2310.5;
  return 0;
}

uint32_t PdhCloseQuery(void *of) {
  if (of != &query) return INVALID;
  opened--;
  return 0;
}

int still_open(void) { return opened; }
