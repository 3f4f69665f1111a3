/* A stand-in for the vendor's library: the same symbols and layouts, and answers from a script, for cases that need
 * a Hexagon in the real library. standin_script.h explains the script, and standin_link.h the link to the DSP. */
#define _GNU_SOURCE
#ifdef WITHOUT_PROVIDERS
#define QnnInterface_getProviders another_name
#endif
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DCVS = 1, LATENCY, POLLING, HMX_TIMEOUT, HMX, ADAPTIVE, DDR, LAST_OPTION = 10 };
enum { INVALID_INPUT = 13001, UNSUPPORTED_CONFIG = 13002, INVALID_HANDLE = 14000, INVALID_CONFIG = 14001 };
enum { LINK_LOST = 1007, LINK_DEAD = 1011, NO_BACKEND = 4000, MOST = 4096 };

typedef uint64_t Handle;
typedef void (*Callback)(const char *, uint32_t, uint64_t, va_list);
typedef struct { uint32_t major, minor, patch; } Version;
typedef struct {
  uint32_t context, set_dcvs, dcvs, mode, set_latency, latency, set_disable, disable;
  uint32_t set_bus, bus[3], set_core, core[3];
} Dcvs;
typedef struct { uint32_t pick_default, corners[3], perf_mode; } Hmx;
typedef struct { uint32_t option; union { Dcvs dcvs; Hmx hmx; uint32_t number; uint32_t words[16]; }; } Config;
typedef struct { size_t vtcm_mb; uint32_t soc; bool signed_pd, dlbc; uint32_t arch; } Chip;
typedef struct { uint32_t type; Chip chip; } Extension;
typedef struct { uint32_t version; struct { uint32_t id, type; void *extension; } v1; } Core;
typedef struct { uint32_t version; struct { uint32_t id, type, count; Core *cores; Extension *extension; } v1; } Device;
typedef struct { uint32_t version; struct { uint32_t count; Device *devices; } v1; } Platform;
typedef struct { uint32_t option; const void *custom; } DeviceConfig;
typedef struct { uint32_t type; struct { void *create, *destroy, *set, *memory; } perf; } Infrastructure;
typedef struct { uint32_t id; const char *name; Version core, backend; void *functions[72]; } Interface;

_Static_assert(sizeof(Config) == 68 && sizeof(Interface) == 616 && sizeof(Infrastructure) == 40, "layouts");
_Static_assert(sizeof(Device) == 40 && sizeof(Core) == 24 && sizeof(Platform) == 24 && sizeof(Extension) == 32, "layouts");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { bool alive, hvx; } ids[MOST];
static uint32_t last_id;
static const uint32_t first_id = 0x90000000u; /* above 2^31, as the real one's may be */
static Callback callback;
static uint32_t log_level;
static bool kept; /* the callback, although logCreate failed */

#include "standin_script.h"

static void say(uint32_t level, const char *form, ...) {
  va_list arguments;
  va_start(arguments, form);
  if (callback && level <= log_level) callback(form, level, 0, arguments);
  va_end(arguments);
}

/* Logs the script's lines for a function. */
static void say_the_lines_of(const char *function) {
  for (char *line = script; line && *line; line = strchr(line, '\n'), line += line != NULL) {
    char name[64], text[512];
    unsigned level;
    if (sscanf(line, "log %63s %u %511[^\n]", name, &level, text) == 3 && !strcmp(name, function)) say(level, "%s", text);
  }
}

#include "standin_link.h"

/* Begin a call with the lock held: wait for the script's delay, and return the script's code. */
static Handle begin(const char *function) {
  pthread_mutex_lock(&lock);
  read_script();
  look_for_a_restart();
  int place = 0;
  while (counts[place].name[0] && strcmp(counts[place].name, function)) place++;
  strcpy(counts[place].name, function), counts[place].made++;
  say_the_lines_of(function);
  for (char *line = script; line && *line; line = strchr(line, '\n'), line += line != NULL) {
    char name[64];
    long long first, last, code, delay_us;
    if (sscanf(line, "%63s %lld %lld %lld %lld", name, &first, &last, &code, &delay_us) != 5) continue;
    if (strcmp(name, function) || counts[place].made < first || counts[place].made > last) continue;
    if (delay_us) {
      struct timespec wait = {delay_us / 1000000, delay_us % 1000000 * 1000};
      pthread_mutex_unlock(&lock);
      nanosleep(&wait, NULL);
      pthread_mutex_lock(&lock);
    }
    if (code == LINK_LOST || code == LINK_DEAD)
      for (int each = 0; each < MOST; each++) ids[each].hvx = false;
    return code;
  }
  return 0;
}

static Handle end(const char *function, Handle code, const char *arguments) {
  trace(function, code, arguments);
  pthread_mutex_unlock(&lock);
  /* The code is the low 16 bits of a handle. */
  return code ? code | 0x70000 : 0;
}

static int place_of(uint32_t id) {
  return id - first_id < last_id && ids[id - first_id].alive ? (int)(id - first_id) : -1;
}

static Handle create_id(uint32_t device, uint32_t core, uint32_t *id) {
  char text[80];
  Handle code = begin("createPowerConfigId");
  if (!code && (device >= number("devices", 1) || core >= number("cores", 1))) code = INVALID_INPUT;
  *id = first_id + last_id;
  if (!code) ids[last_id].alive = true, ids[last_id].hvx = false;
  last_id = (last_id + 1) % MOST;
  snprintf(text, sizeof text, " %u %u %u", device, core, *id);
  return end("createPowerConfigId", code, text);
}

static Handle destroy_id(uint32_t id) {
  char text[80];
  Handle code = begin("destroyPowerConfigId");
  int place = place_of(id);
  if (!code && place >= 0 && is_device()) code = invoke();
  if (place >= 0) ids[place].alive = false; /* also if the call fails (measured) */
  snprintf(text, sizeof text, " %u", id);
  return end("destroyPowerConfigId", code, text);
}

static bool is_control(uint32_t option) { return option == LATENCY || option == POLLING; }

static Handle apply(int place, uint32_t id, const Config *config) {
  char word[32];
  snprintf(word, sizeof word, "option %u", config->option);
  long long refused = number(word, 0);
  if (refused) return refused;
  if (config->option < 1 || config->option > LAST_OPTION) return UNSUPPORTED_CONFIG;
  if (config->option == DCVS && config->dcvs.context != id) return INVALID_INPUT;
  if (config->option == DCVS) ids[place].hvx = true;
  if (config->option == HMX && !ids[place].hvx) return INVALID_INPUT;
  return is_device() && is_control(config->option) ? control(config->option, config->number) : 0;
}

static Handle set_config(uint32_t id, const Config **configs) {
  char text[1000];
  Handle code = begin("setPowerConfig");
  int place = place_of(id);
  int used = snprintf(text, sizeof text, " %u", id);
  bool invokes = false;
  if (!code && (place < 0 || !configs)) code = INVALID_INPUT;
  for (int each = 0; configs && configs[each]; each++) {
    const Config *config = configs[each];
    int words = config->option == DCVS ? 16 : config->option == HMX ? 5 : 1;
    used += snprintf(text + used, sizeof text - used, " %u:", config->option);
    for (int word = 0; word < words; word++)
      used += snprintf(text + used, sizeof text - used, word ? ",%u" : "%u", config->words[word]);
    if (!code) code = apply(place, id, config);
    invokes |= !is_control(config->option) && config->option != ADAPTIVE;
  }
  if (!code && invokes && is_device()) code = invoke();
  return end("setPowerConfig", code, text);
}

static Handle log_create(Callback given, uint32_t level, void **made) {
  Handle code = begin("logCreate");
  if (!code) *made = &callback;
  /* A library that finds no SoC keeps the callback all the same, and calls it at the exit (measured). */
  if (!code || code == NO_BACKEND) callback = given, log_level = level, kept = code && given;
  say(3, " <I> log of level %u, %s, %.1f and %zu\n", level, "a string", 2.5, sizeof(Config));
  say(1, " <E> an error");
  return end("logCreate", code, "");
}

__attribute__((destructor)) static void at_exit(void) {
  if (kept) say(2, "a line at the exit");
}

static Handle log_free(void *log) {
  Handle code = begin("logFree");
  if (!code) code = log == &callback && callback ? 0 : INVALID_HANDLE;
  return callback = NULL, end("logFree", code, "");
}

static Handle backend_create(void *log, const void *configs, void **made) {
  (void)log, (void)configs;
  Handle code = begin("backendCreate");
  if (!code) *made = &counts;
  return end("backendCreate", code, "");
}

static Handle backend_free(void *backend) { return (void)backend, end("backendFree", begin("backendFree"), ""); }

static Handle build_id(const char **text) {
  Handle code = begin("backendGetBuildId");
  *text = code ? NULL : "stand-in";
  return end("backendGetBuildId", code, "");
}

static Handle get_platform(void *log, const Platform **info) {
  (void)log;
  Handle code = begin("deviceGetPlatformInfo");
  long long soc = 57, arch = 75, devices = number("devices", 1), cores = number("cores", 1);
  setting("soc", &soc, &arch);
  if (!code) {
    Platform *made = calloc(1, sizeof *made);
    made->version = 1, made->v1.count = devices, made->v1.devices = calloc(devices, sizeof(Device));
    for (long long device = 0; device < devices; device++) {
      Device *each = made->v1.devices + device;
      each->version = 1, each->v1.id = device, each->v1.count = cores, each->v1.cores = calloc(cores, sizeof(Core));
      each->v1.extension = calloc(1, sizeof(Extension));
      each->v1.extension->chip = (Chip){8, soc, true, false, arch};
      for (long long core = 0; core < cores; core++) each->v1.cores[core].version = 1, each->v1.cores[core].v1.id = core;
    }
    *info = made;
  }
  return end("deviceGetPlatformInfo", code, "");
}

static Handle free_platform(void *log, const Platform *info) {
  (void)log;
  Handle code = begin("deviceFreePlatformInfo");
  for (uint32_t device = 0; device < info->v1.count; device++)
    free(info->v1.devices[device].v1.cores), free(info->v1.devices[device].v1.extension);
  free(info->v1.devices), free((void *)info);
  return end("deviceFreePlatformInfo", code, "");
}

static Handle device_create(void *log, const DeviceConfig **configs, void **made) {
  (void)log;
  char text[80] = "";
  Handle code = begin("deviceCreate");
  if (!code && configs && configs[0]) {
    uint32_t model;
    memcpy(&model, (const char *)configs[0]->custom + number("unionAt", 8), sizeof model);
    snprintf(text, sizeof text, " %u", model);
    if (!model) code = INVALID_CONFIG;
  }
  if (!code) code = open_link();
  if (!code) *made = &last_id;
  if (number("open", 0)) open("/dev/zero", O_RDONLY); /* as the device is opened, for children to inherit */
  return end("deviceCreate", code, text);
}

static Handle device_free(void *device) {
  Handle code = begin("deviceFree");
  if (!code) code = device != &last_id ? INVALID_HANDLE : answer_to_free();
  if (leave_link()) memset(ids, 0, sizeof ids);
  return end("deviceFree", code, "");
}

static Handle get_infrastructure(const Infrastructure **found) {
  static Infrastructure infrastructure;
  Handle code = begin("deviceGetInfrastructure");
  infrastructure.type = number("infraType", 0);
  infrastructure.perf.create = without("createPowerConfigId") ? NULL : create_id;
  infrastructure.perf.destroy = without("destroyPowerConfigId") ? NULL : destroy_id;
  infrastructure.perf.set = without("setPowerConfig") ? NULL : set_config;
  if (!code) *found = &infrastructure;
  return end("deviceGetInfrastructure", code, "");
}

static const struct { int place; const char *name; void *function; } table[] = {
  {1, "backendCreate", backend_create}, {4, "backendGetBuildId", build_id}, {8, "backendFree", backend_free},
  {25, "logCreate", log_create}, {27, "logFree", log_free}, {37, "deviceGetPlatformInfo", get_platform},
  {38, "deviceFreePlatformInfo", free_platform}, {39, "deviceGetInfrastructure", get_infrastructure},
  {40, "deviceCreate", device_create}, {43, "deviceFree", device_free},
};

Handle QnnInterface_getProviders(const Interface ***list, uint32_t *count) {
  static Interface interface;
  static const Interface *providers[] = {&interface};
  Handle code = begin("QnnInterface_getProviders");
  puts(" # a line on the standard output, as the vendor's library prints one");
  long long major = 2, minor = 40;
  setting("coreApi", &major, &minor);
  interface.id = number("backendId", 6);
  interface.name = "STANDIN";
  interface.core = (Version){major, minor, 0};
  interface.backend = (Version){5, 51, 0};
  for (size_t each = 0; each < sizeof table / sizeof *table; each++)
    interface.functions[table[each].place] = without(table[each].name) ? NULL : table[each].function;
  *list = providers;
  *count = number("providers", 1);
  return end("QnnInterface_getProviders", code, "");
}
