/* Drives htppower.h by lines on stdin, with one line on stdout for each: see support/c_client.py. */
#include "htppower.h"
#ifndef _WIN32
#include <sys/wait.h>
#endif

#define LEASES 4

static htppower_client client;
static htppower_lease leases[LEASES];

static int hold(htppower_lease *lease, const char *rest) {
    static char profile[2048], reason[2048];
    htppower_options options;
    unsigned long window_us = 0, deadline_us = 0, core = 0;
    memset(&options, 0, sizeof options);
    (void)sscanf(rest, "%2047s %2047s %lu %lu %lu", profile, reason, &window_us, &deadline_us, &core);
    if (!window_us && !deadline_us && !core) return htppower_hold(&client, lease, profile, reason);
    options.profile = profile;
    options.reason = reason;
    options.owner = "driver \"quoted\"\\";
    options.window_us = window_us;
    options.deadline_us = deadline_us;
    options.core_ids[1] = (uint32_t)core;
    options.core_count = core ? 2 : 0;
    return htppower_hold_with(&client, lease, &options);
}

static int in_child(htppower_lease *lease) {
#ifdef _WIN32
    return htppower_begin(lease);
#else
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        const int voted = htppower_begin(lease);
        htppower_end(lease);
        htppower_release(lease);
        htppower_close(&client);
        _exit(10 + voted);
    }
    (void)waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
#endif
}

int main(int count, char **arguments) {
    static char line[8192], verb[16], rest[4096];
    const unsigned timeout_ms = count > 2 ? (unsigned)strtoul(arguments[2], NULL, 10) : HTPPOWER_TIMEOUT_MS;
    htppower_connect_to(&client, "driver", count > 1 && *arguments[1] ? arguments[1] : NULL, timeout_ms);
    while (fgets(line, sizeof line, stdin)) {
        unsigned at = 0;
        int result = 0;
        rest[0] = 0;
        (void)sscanf(line, "%15s %u %4095[^\n]", verb, &at, rest);
        htppower_lease *lease = &leases[at % LEASES];
        if (!strcmp(verb, "hold")) result = hold(lease, rest);
        if (!strcmp(verb, "begin")) result = htppower_begin(lease);
        if (!strcmp(verb, "end")) htppower_end(lease);
        if (!strcmp(verb, "use")) result = htppower_use(lease, rest);
        if (!strcmp(verb, "release")) htppower_release(lease);
        if (!strcmp(verb, "child")) result = in_child(lease);
        if (!strcmp(verb, "connected")) result = htppower_connected(&client);
        if (!strcmp(verb, "close")) htppower_close(&client);
        printf("%d %s\n", result, htppower_last_error(&client));
        (void)fflush(stdout);
    }
    htppower_close(&client);
    return 0;
}
