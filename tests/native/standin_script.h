/* The script and the trace of the stand-in.
 *
 * STANDIN_SCRIPT names a file that is read before every call; counts restart when its text changes. Its lines:
 *   FUNCTION FIRST LAST CODE DELAY_US   calls FIRST to LAST of a function (counted from 1) are delayed and return CODE
 *   option NUMBER CODE                  setPowerConfig returns CODE for this option
 *   coreApi MAJOR MINOR | backendId N | providers N | infraType N | devices N | cores N | soc MODEL ARCH | unionAt N
 *   log FUNCTION LEVEL TEXT              a call of the function logs TEXT
 *   without FUNCTION | open 1            the function is missing | a descriptor is opened
 * and the lines of standin_link.h.
 * STANDIN_TRACE names a file that gets a line for every call: time in ns, function, code, arguments. */

static char script[8192];
static struct { char name[64]; long long made; } counts[32];

#ifdef _WIN32
/* getenv has a copy of the variables from when the library was loaded, and tests change them later. Output goes through
 * the C library of Python, as that of the vendor's library does: its descriptors are redirected. */
#define FROM_SYSTEM __declspec(dllimport)
FROM_SYSTEM unsigned long __stdcall GetEnvironmentVariableA(const char *, char *, unsigned long);
FROM_SYSTEM void *__stdcall GetModuleHandleA(const char *);
FROM_SYSTEM void *__stdcall GetProcAddress(void *, const char *);
#define getenv variable
#define puts ((int (*)(const char *))GetProcAddress(GetModuleHandleA("ucrtbase.dll"), "puts"))
static char *variable(const char *name) {
  static char value[1024];
  unsigned long size = GetEnvironmentVariableA(name, value, sizeof value);
  return size && size < sizeof value ? value : NULL;
}
#endif

static void read_script(void) {
  char now[sizeof script] = "";
  const char *path = getenv("STANDIN_SCRIPT");
  FILE *file = path ? fopen(path, "r") : NULL;
  if (file) now[fread(now, 1, sizeof now - 1, file)] = 0, fclose(file);
  if (strcmp(now, script)) strcpy(script, now), memset(counts, 0, sizeof counts);
}

/* Reads the numbers after a word at the beginning of a line, and returns their count. */
static int setting(const char *word, long long *a, long long *b) {
  char form[80];
  snprintf(form, sizeof form, "%s %%lld %%lld", word);
  for (char *line = script; line; line = strchr(line, '\n'), line += line != NULL) {
    int found = sscanf(line, form, a, b);
    if (found > 0) return found;
  }
  return 0;
}

static long long number(const char *word, long long otherwise) {
  long long a, b;
  return setting(word, &a, &b) ? a : otherwise;
}

static bool without(const char *function) {
  char line[80];
  return snprintf(line, sizeof line, "without %s\n", function) && strstr(script, line);
}

static void trace(const char *function, Handle code, const char *arguments) {
  const char *path = getenv("STANDIN_TRACE");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (!file) return;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  fprintf(file, "%lld %s %d%s\n", now.tv_sec * 1000000000LL + now.tv_nsec, function, (int)code, arguments);
  fclose(file);
}
