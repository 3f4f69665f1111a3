/* The client of `htppower serve` for C99 and C++11. The documentation has a page on it: "Clients in other languages".
 *
 *     htppower_client client;
 *     htppower_lease lease;
 *     htppower_connect(&client, "camera");
 *     htppower_hold(&client, &lease, "burst", "preview");
 *     htppower_begin(&lease);
 *     ...                              the votes are in force here, if there is a service
 *     htppower_end(&lease);
 *     htppower_release(&lease);
 *     htppower_close(&client);
 *
 * Nothing here allocates memory or raises a signal, and an answer is awaited no longer than the timeout. All functions
 * but htppower_connect and htppower_close may be called from any thread. A forked child has no connection of its own:
 * there they do nothing, and the child may connect another client. Names that end with _ are internal.
 */
#ifndef HTPPOWER_H
#define HTPPOWER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#endif

/* Gets a text if the service is lost, is reached again, or ends a lease. Define it first to have the text elsewhere. */
#ifndef HTPPOWER_LOG
#define HTPPOWER_LOG(text) (void)fprintf(stderr, "htppower: %s\n", text)
#endif

/* The pause after a lost connection; each failed try doubles it, up to 32 times this. */
#ifndef HTPPOWER_PAUSE_US
#define HTPPOWER_PAUSE_US 1000000u
#endif

#define HTPPOWER_TIMEOUT_MS 2000u
#define HTPPOWER_CORES 16u
/* The service takes at most 200 characters, each of 4 bytes or less; it refuses a text that is cut off here. */
#define HTPPOWER_TEXT_BYTES 804u
#define HTPPOWER_LINE_BYTES 4096u
#define HTPPOWER_ERROR_BYTES 512u

/* What htppower_hold_with requests. Set all of it to 0 first; only profile and reason are needed. */
typedef struct htppower_options {
    const char *profile;               /* the name of a profile that the service knows */
    const char *reason;                /* why, for the status and the logs of the service */
    const char *owner;                 /* the task; NULL: the client's name */
    uint64_t deadline_us;              /* the lease ends by itself after this time; 0: never */
    uint64_t window_us;                /* a begin keeps the votes up for this time; 0: until the end */
    uint32_t device_id;
    uint32_t core_ids[HTPPOWER_CORES]; /* the cores to vote on */
    uint32_t core_count;               /* how many cores; 0: core 0 alone */
} htppower_options;

/* A line for the service. One that is too long fills the text. */
typedef struct htppower_line_ {
    size_t length;
    char text[HTPPOWER_LINE_BYTES];
} htppower_line_;

/* An answer, read byte by byte, so that its length does not matter. */
typedef struct htppower_answer_ {
    size_t depth, length;
    int in_string, escaped, ok;
    uint64_t id, lease;
    char key[12], text[HTPPOWER_ERROR_BYTES / 2];
    char error[32], message[HTPPOWER_ERROR_BYTES / 2 - 2], hint[HTPPOWER_ERROR_BYTES / 2 - 2];
} htppower_answer_;

struct htppower_client;

/* A lease: a profile, and the votes of its inferences. Don't move or copy it, and don't use its fields. */
typedef struct htppower_lease {
    struct htppower_client *client; /* NULL: it has ended, and does nothing */
    struct htppower_lease *next;
    uint64_t number;    /* its number in the present connection; 0 without one */
    uint64_t inference; /* the inference that the service knows; 0: none */
    uint64_t window_us, renew_us;
    uint32_t in_flight;
    char profile[HTPPOWER_TEXT_BYTES];
    htppower_line_ fields; /* of its request, without the profile */
} htppower_lease;

/* A connection, and its leases. Don't move or copy it, and don't use its fields. */
typedef struct htppower_client {
#ifdef _WIN32
    HANDLE pipe, event;
    SRWLOCK lock;
#else
    int socket;
    pid_t process;
    pthread_mutex_t lock;
#endif
    htppower_lease *leases;
    uint64_t timeout_us, retry_us, pause_us, last_id;
    int connected, told;
    char name[HTPPOWER_TEXT_BYTES], path[260], error[HTPPOWER_ERROR_BYTES];
    htppower_answer_ answer;
} htppower_client;

static inline void htppower_copy_(char *to, size_t size, const char *from) {
    size_t length = from ? strlen(from) : 0;
    if (length >= size) length = size - 1;
    if (length) memcpy(to, from, length);
    to[length] = 0;
}

static inline int htppower_failed_(htppower_client *client, const char *why) {
    htppower_copy_(client->error, sizeof client->error, why);
    return -1;
}

/* ---- the system: its clock, and bytes through the socket or the pipe ---- */

#ifdef _WIN32
#define HTPPOWER_LOCK_(client) AcquireSRWLockExclusive(&(client)->lock)
#define HTPPOWER_UNLOCK_(client) ReleaseSRWLockExclusive(&(client)->lock)
#define HTPPOWER_IS_CHILD_(client) 0 /* there is no fork */

static inline uint64_t htppower_now_us_(void) {
    LARGE_INTEGER now, second;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&second);
    return (uint64_t)(now.QuadPart / second.QuadPart) * 1000000u +
           (uint64_t)(now.QuadPart % second.QuadPart) * 1000000u / (uint64_t)second.QuadPart;
}

static inline DWORD htppower_left_ms_(uint64_t deadline_us) {
    const uint64_t now_us = htppower_now_us_();
    return now_us < deadline_us ? (DWORD)((deadline_us - now_us) / 1000u + 1u) : 0;
}

static inline int htppower_system_failed_(htppower_client *client) {
    char why[32];
    (void)snprintf(why, sizeof why, "Windows error %u", (unsigned)GetLastError());
    return htppower_failed_(client, why);
}

static inline int htppower_open_(htppower_client *client, uint64_t deadline_us) {
    /* The service learns who the client is, and can't act as the client's user. */
    const DWORD flags = FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION;
    client->event = CreateEventA(NULL, TRUE, FALSE, NULL);
    for (;;) {
        client->pipe = CreateFileA(client->path, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, flags, NULL);
        if (client->pipe != INVALID_HANDLE_VALUE) return 0;
        if (GetLastError() != ERROR_PIPE_BUSY || !htppower_left_ms_(deadline_us)) return htppower_system_failed_(client);
        (void)WaitNamedPipeA(client->path, htppower_left_ms_(deadline_us) + 1u);
    }
}

/* Returns how many bytes were read or written; -1 if none. */
static inline int htppower_move_(htppower_client *client, int writing, char *data, size_t size, uint64_t deadline_us) {
    OVERLAPPED call;
    DWORD moved = 0;
    BOOL done;
    memset(&call, 0, sizeof call);
    call.hEvent = client->event;
    if (!htppower_left_ms_(deadline_us)) return htppower_failed_(client, "no answer within the timeout");
    done = writing ? WriteFile(client->pipe, data, (DWORD)size, NULL, &call)
                   : ReadFile(client->pipe, data, (DWORD)size, NULL, &call);
    if (!done && GetLastError() != ERROR_IO_PENDING) return htppower_system_failed_(client);
    if (WaitForSingleObject(call.hEvent, htppower_left_ms_(deadline_us)) != WAIT_OBJECT_0) (void)CancelIo(client->pipe);
    if (GetOverlappedResult(client->pipe, &call, &moved, TRUE) && moved) return (int)moved;
    if (GetLastError() == ERROR_OPERATION_ABORTED) return htppower_failed_(client, "no answer within the timeout");
    return htppower_system_failed_(client);
}

static inline void htppower_shut_(htppower_client *client) {
    if (client->pipe != INVALID_HANDLE_VALUE) (void)CloseHandle(client->pipe);
    if (client->event) (void)CloseHandle(client->event);
    client->pipe = INVALID_HANDLE_VALUE;
    client->event = NULL;
}
#else
#define HTPPOWER_LOCK_(client) (void)pthread_mutex_lock(&(client)->lock)
#define HTPPOWER_UNLOCK_(client) (void)pthread_mutex_unlock(&(client)->lock)
#define HTPPOWER_IS_CHILD_(client) ((client)->process != getpid())

#ifdef CLOCK_MONOTONIC
typedef struct timespec htppower_time_;
#define HTPPOWER_NOW_(now) clock_gettime(CLOCK_MONOTONIC, now)
#elif defined(__linux__)
/* -std=c99 hides the clock, unless _POSIX_C_SOURCE is defined before the first include of the file. */
typedef struct htppower_time_ {
    long tv_sec, tv_nsec;
} htppower_time_;
extern int htppower_clock_(int clock, htppower_time_ *now) __asm__("clock_gettime");
#define HTPPOWER_NOW_(now) htppower_clock_(1, now)
#else
#error "htppower.h needs clock_gettime: define _POSIX_C_SOURCE as 200809L before the first include"
#endif

static inline uint64_t htppower_now_us_(void) {
    htppower_time_ now;
    (void)HTPPOWER_NOW_(&now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

static inline int htppower_open_(htppower_client *client, uint64_t deadline_us) {
    struct sockaddr_un place;
    int flags;
    (void)deadline_us; /* connecting does not wait */
    memset(&place, 0, sizeof place);
    place.sun_family = AF_UNIX;
    if (strlen(client->path) >= sizeof place.sun_path) return htppower_failed_(client, "the path is too long");
    htppower_copy_(place.sun_path, sizeof place.sun_path, client->path);
#ifdef SOCK_CLOEXEC
    client->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
#else
    client->socket = socket(AF_UNIX, SOCK_STREAM, 0);
    (void)fcntl(client->socket, F_SETFD, FD_CLOEXEC);
#endif
    if (client->socket < 0) return htppower_failed_(client, strerror(errno));
    flags = fcntl(client->socket, F_GETFL);
    (void)fcntl(client->socket, F_SETFL, flags | O_NONBLOCK);
#ifdef SO_NOSIGPIPE
    flags = 1;
    (void)setsockopt(client->socket, SOL_SOCKET, SO_NOSIGPIPE, &flags, sizeof flags);
#endif
    if (connect(client->socket, (struct sockaddr *)&place, sizeof place) == 0) return 0;
    return htppower_failed_(client, strerror(errno));
}

/* Returns how many bytes were read or written; -1 if none. */
static inline int htppower_move_(htppower_client *client, int writing, char *data, size_t size, uint64_t deadline_us) {
#ifdef MSG_NOSIGNAL
    const int flags = MSG_NOSIGNAL;
#else
    const int flags = 0;
#endif
    int waits = !writing; /* there is nearly always room for a line, and nearly never an answer yet */
    for (;; waits = 1) {
        const uint64_t now_us = htppower_now_us_();
        struct pollfd ready;
        ssize_t moved;
        ready.fd = client->socket;
        ready.events = writing ? POLLOUT : POLLIN;
        if (now_us >= deadline_us) return htppower_failed_(client, "no answer within the timeout");
        if (waits && poll(&ready, 1, (int)((deadline_us - now_us) / 1000u + 1u)) <= 0) continue;
        moved = writing ? send(client->socket, data, size, flags) : recv(client->socket, data, size, 0);
        if (moved > 0) return (int)moved;
        if (moved == 0) return htppower_failed_(client, "the service has ended");
        if (errno != EAGAIN && errno != EINTR) return htppower_failed_(client, strerror(errno));
    }
}

static inline void htppower_shut_(htppower_client *client) {
    if (client->socket >= 0) (void)close(client->socket);
    client->socket = -1;
}
#endif

/* ---- JSON ---- */

static inline void htppower_put_(htppower_line_ *line, const char *text) {
    htppower_copy_(line->text + line->length, sizeof line->text - line->length, text);
    line->length += strlen(line->text + line->length);
}

static inline void htppower_put_number_(htppower_line_ *line, const char *before, uint64_t number) {
    char digits[21], *at = digits + sizeof digits - 1;
    *at = 0;
    do *--at = (char)('0' + number % 10u);
    while (number /= 10u);
    htppower_put_(line, before);
    htppower_put_(line, at);
}

static inline void htppower_put_text_(htppower_line_ *line, const char *before, const char *text) {
    htppower_put_(line, before);
    htppower_put_(line, "\"");
    for (; text && *text; text++) {
        const unsigned char byte = (unsigned char)*text;
        const int quoted = byte == '"' || byte == '\\';
        char escaped[7] = "\\u0000";
        if (byte < 32) {
            escaped[4] = (char)('0' + byte / 16);
            escaped[5] = "0123456789abcdef"[byte % 16];
        } else {
            escaped[quoted] = *text;
            escaped[quoted + 1] = 0;
        }
        htppower_put_(line, escaped);
    }
    htppower_put_(line, "\"");
}

static inline void htppower_take_(htppower_answer_ *answer) {
    const char *key = answer->key, *text = answer->text;
    answer->text[answer->length] = 0;
    if (!strcmp(key, "id")) answer->id = strtoull(text, NULL, 10);
    if (!strcmp(key, "lease")) answer->lease = strtoull(text, NULL, 10);
    if (!strcmp(key, "ok")) answer->ok = !strcmp(text, "true");
    if (!strcmp(key, "error")) htppower_copy_(answer->error, sizeof answer->error, text);
    if (!strcmp(key, "message")) htppower_copy_(answer->message, sizeof answer->message, text);
    if (!strcmp(key, "hint")) htppower_copy_(answer->hint, sizeof answer->hint, text);
    answer->length = 0;
    answer->key[0] = 0;
}

/* Reads a byte of an object of JSON, and returns 1 at the end of its line. Objects and arrays within it are skipped. */
static inline int htppower_scan_(htppower_answer_ *answer, char byte) {
    const int outer = answer->depth == 1, escaped = answer->escaped;
    int kept;
    if (byte == '\n') return 1;
    if (answer->in_string) {
        answer->escaped = !escaped && byte == '\\';
        answer->in_string = escaped || byte != '"';
        kept = outer && answer->in_string && !answer->escaped;
    } else {
        answer->in_string = byte == '"';
        kept = outer && !strchr("\"{}[]:, \t\r", byte);
        if (outer && byte == ':') {
            answer->text[answer->length] = 0;
            htppower_copy_(answer->key, sizeof answer->key, answer->text);
            answer->length = 0;
        }
        if (outer && (byte == ',' || byte == '}')) htppower_take_(answer);
        if (byte == '{' || byte == '[') answer->depth++;
        if ((byte == '}' || byte == ']') && answer->depth) answer->depth--;
    }
    if (kept && answer->length < sizeof answer->text - 2) {
        if (escaped && !strchr("\"\\/", byte)) answer->text[answer->length++] = '\\';
        answer->text[answer->length++] = byte < 32 ? '?' : byte;
    }
    return 0;
}

/* ---- the conversation: called with the lock ---- */

static inline void htppower_lost_(htppower_client *client) {
    char text[sizeof client->path + sizeof client->error + 80];
    htppower_lease *lease;
    htppower_shut_(client);
    memset(&client->answer, 0, sizeof client->answer);
    client->connected = 0;
    for (lease = client->leases; lease; lease = lease->next) lease->number = lease->inference = lease->renew_us = 0;
    client->retry_us = htppower_now_us_() + client->pause_us;
    client->pause_us *= client->pause_us < 30u * HTPPOWER_PAUSE_US ? 2u : 1u;
    if (client->told) return;
    client->told = 1;
    (void)snprintf(text, sizeof text, "no votes: the service at %s can't be reached: %s; tried again later",
                   client->path, client->error);
    HTPPOWER_LOG(text);
}

/* Begins a line; without a lease it says nothing about one. */
static inline void htppower_say_(htppower_line_ *line, uint64_t id, const char *verb, const htppower_lease *lease) {
    line->length = 0;
    htppower_put_(line, "{\"do\":\"");
    htppower_put_(line, verb);
    htppower_put_(line, "\"");
    if (id) htppower_put_number_(line, ",\"id\":", id);
    if (lease) htppower_put_number_(line, ",\"lease\":", lease->number);
}

/* Sends a line, and returns 0; -1 if it can't be sent. */
static inline int htppower_send_(htppower_client *client, htppower_line_ *line, uint64_t deadline_us) {
    size_t sent = 0;
    htppower_put_(line, "}\n");
    while (sent < line->length) {
        const int moved = htppower_move_(client, 1, line->text + sent, line->length - sent, deadline_us);
        if (moved < 0) return -1;
        sent += (size_t)moved;
    }
    return 0;
}

/* Sends a line that has the last id, and waits for the answer, and for the number of a lease in it, if this is wanted.
 * Returns 1 if it is done, 0 if it is refused, and -1 if the connection is lost. */
static inline int htppower_ask_(htppower_client *client, htppower_line_ *line, uint64_t *lease) {
    const uint64_t deadline_us = htppower_now_us_() + client->timeout_us;
    htppower_answer_ *answer = &client->answer;
    int found = -1;
    if (line->length + 3 > sizeof line->text) {
        (void)htppower_failed_(client, "the texts are too long");
        return 0;
    }
    /* If it can't be sent, the answer may say why: a service that refuses a connection has closed it by then. */
    (void)htppower_send_(client, line, deadline_us);
    while (found < 0) {
        char data[1024];
        int at;
        const int moved = htppower_move_(client, 0, data, sizeof data, deadline_us);
        if (moved < 0) {
            htppower_lost_(client);
            return -1;
        }
        for (at = 0; at < moved; at++) {
            int answers;
            if (!htppower_scan_(answer, data[at])) continue;
            /* A refusal has no id if the service can't read the line, or if it lets no more clients in. */
            answers = !answer->id && answer->message[0] && (!client->connected || !strcmp(answer->error, "malformed"));
            if (answers || answer->id == client->last_id) {
                found = answer->ok;
                if (lease) *lease = answer->lease;
                (void)snprintf(client->error, sizeof client->error, "%s: %s", answer->message, answer->hint);
            }
            memset(answer, 0, sizeof *answer);
        }
    }
    if (found) client->error[0] = 0;
    return found;
}

static inline void htppower_forget_(htppower_lease *lease) {
    htppower_lease **at = &lease->client->leases;
    while (*at && *at != lease) at = &(*at)->next;
    if (*at) *at = lease->next;
    lease->client = NULL;
    lease->number = lease->inference = 0;
}

/* Returns what was done; a lease that was refused has ended. */
static inline int htppower_unless_refused_(htppower_client *client, htppower_lease *lease, int done) {
    char text[HTPPOWER_ERROR_BYTES + 64];
    if (done) return done;
    (void)snprintf(text, sizeof text, "a lease has ended, so its inferences have no votes: %s", client->error);
    HTPPOWER_LOG(text);
    htppower_forget_(lease);
    return 0;
}

static inline int htppower_request_(htppower_client *client, htppower_lease *lease) {
    htppower_line_ line;
    htppower_say_(&line, ++client->last_id, "hold", NULL);
    htppower_put_text_(&line, ",\"profile\":", lease->profile);
    htppower_put_(&line, lease->fields.text);
    return htppower_ask_(client, &line, &lease->number);
}

/* Begins an inference for the service; returns 1 if its votes are in force. */
static inline int htppower_start_(htppower_client *client, htppower_lease *lease) {
    const uint64_t id = ++client->last_id;
    htppower_line_ line;
    int done;
    htppower_say_(&line, id, "begin", lease);
    htppower_put_number_(&line, ",\"inference\":", lease->window_us ? 0 : id);
    if (lease->window_us) htppower_put_number_(&line, ",\"window_us\":", lease->window_us);
    done = htppower_unless_refused_(client, lease, htppower_ask_(client, &line, NULL));
    if (done > 0) lease->inference = id;
    return done > 0;
}

/* Connects, unless there is a connection or the last try is not long ago, and returns whether there is one. The leases
 * are requested again, and begun again if an inference runs. */
static inline int htppower_reach_(htppower_client *client) {
    htppower_line_ line;
    htppower_lease *lease, *next;
    int done;
    if (client->connected || htppower_now_us_() < client->retry_us) return client->connected;
    done = htppower_open_(client, htppower_now_us_() + client->timeout_us) + 1;
    if (done) {
        htppower_say_(&line, ++client->last_id, "hello", NULL);
        htppower_put_(&line, ",\"protocol\":1");
        htppower_put_text_(&line, ",\"name\":", client->name);
        done = htppower_ask_(client, &line, NULL);
    }
    if (done == 0) htppower_lost_(client);
    client->connected = done > 0;
    for (lease = client->leases; lease && client->connected; lease = next) {
        next = lease->next;
        done = htppower_unless_refused_(client, lease, htppower_request_(client, lease));
        if (done > 0 && lease->in_flight) (void)htppower_start_(client, lease);
    }
    if (!client->connected) return 0;
    client->pause_us = HTPPOWER_PAUSE_US;
    if (client->told) HTPPOWER_LOG("the service is reached again");
    client->told = 0;
    return 1;
}

/* Locks a client, and returns 1; 0 if there is nothing to do for it. */
static inline int htppower_enter_(htppower_client *client) {
    if (!client || HTPPOWER_IS_CHILD_(client)) return 0;
    HTPPOWER_LOCK_(client);
    return 1;
}

/* ---- for hosts ---- */

/* Connects, if the service can be reached. The path NULL is that in HTPPOWER_SOCKET, or else the usual place. */
static inline void htppower_connect_to(htppower_client *client, const char *name, const char *path,
                                       unsigned timeout_ms) {
    memset(client, 0, sizeof *client);
#ifdef _WIN32
    client->pipe = INVALID_HANDLE_VALUE;
    InitializeSRWLock(&client->lock);
    if (!path && !GetEnvironmentVariableA("HTPPOWER_SOCKET", client->path, sizeof client->path))
        path = "\\\\.\\pipe\\htppower";
#else
    client->socket = -1;
    client->process = getpid();
    (void)pthread_mutex_init(&client->lock, NULL);
    if (!path) path = getenv("HTPPOWER_SOCKET");
    if (!path || !*path) path = "/run/htppower/socket";
#endif
    if (path) htppower_copy_(client->path, sizeof client->path, path);
    htppower_copy_(client->name, sizeof client->name, name);
    client->timeout_us = (uint64_t)timeout_ms * 1000u;
    client->pause_us = HTPPOWER_PAUSE_US;
    (void)htppower_reach_(client);
}

static inline void htppower_connect(htppower_client *client, const char *name) {
    htppower_connect_to(client, name, NULL, HTPPOWER_TIMEOUT_MS);
}

/* Ends a lease and its inferences: its votes are lowered. Do this before the memory of the lease has another use. */
static inline void htppower_release(htppower_lease *lease) {
    htppower_client *client = lease->client;
    htppower_line_ line;
    if (!htppower_enter_(client)) return;
    htppower_say_(&line, ++client->last_id, "release", lease);
    if (lease->number) (void)htppower_ask_(client, &line, NULL);
    htppower_forget_(lease);
    HTPPOWER_UNLOCK_(client);
}

/* Requests a lease, which raises no votes until an inference begins. Without a service it is requested as soon as there
 * is one. Returns 0; -1 if the service refuses it, and then the lease does nothing. */
static inline int htppower_hold_with(htppower_client *client, htppower_lease *lease, const htppower_options *options) {
    htppower_line_ *fields = &lease->fields;
    uint32_t at;
    htppower_lease *known = NULL;
    int done = -1;
    if (options->core_count > HTPPOWER_CORES) return -1;
    if (htppower_enter_(client)) {
        for (known = client->leases; known && known != lease; known = known->next) {}
        HTPPOWER_UNLOCK_(client);
    }
    /* The host may hold a lease again that it did not release. */
    if (known) htppower_release(lease);
    memset(lease, 0, sizeof *lease);
    if (!htppower_enter_(client)) return 0;
    lease->window_us = options->window_us;
    htppower_copy_(lease->profile, sizeof lease->profile, options->profile);
    htppower_put_text_(fields, ",\"reason\":", options->reason);
    if (options->owner) htppower_put_text_(fields, ",\"owner\":", options->owner);
    if (options->deadline_us) htppower_put_number_(fields, ",\"deadline_us\":", options->deadline_us);
    htppower_put_number_(fields, ",\"device_id\":", options->device_id);
    for (at = 0; at < options->core_count; at++)
        htppower_put_number_(fields, at ? "," : ",\"core_ids\":[", options->core_ids[at]);
    if (at) htppower_put_(fields, "]");
    if (htppower_reach_(client)) done = htppower_request_(client, lease);
    if (done) {
        lease->client = client;
        lease->next = client->leases;
        client->leases = lease;
    }
    HTPPOWER_UNLOCK_(client);
    return done ? 0 : -1;
}

static inline int htppower_hold(htppower_client *client, htppower_lease *lease, const char *profile,
                                const char *reason) {
    htppower_options options;
    memset(&options, 0, sizeof options);
    options.profile = profile;
    options.reason = reason;
    return htppower_hold_with(client, lease, &options);
}

/* Begins an inference, and returns 1 if its votes are in force, 0 if there are none. Inferences of one lease that
 * overlap are one inference for the service. */
static inline int htppower_begin(htppower_lease *lease) {
    htppower_client *client = lease->client;
    int voted;
    if (!htppower_enter_(client)) return 0;
    if (lease->window_us) {
        const uint64_t now_us = htppower_now_us_();
        voted = now_us < lease->renew_us ||
                (htppower_reach_(client) && lease->number && htppower_start_(client, lease));
        /* An inference that begins before this time has at least half the window. */
        if (voted && now_us >= lease->renew_us) lease->renew_us = now_us + lease->window_us / 2u;
    } else {
        (void)htppower_reach_(client);
        lease->in_flight++;
        voted = lease->inference || (lease->number && htppower_start_(client, lease));
    }
    HTPPOWER_UNLOCK_(client);
    return voted;
}

/* Ends an inference, and waits for nothing; with a window it does nothing. */
static inline void htppower_end(htppower_lease *lease) {
    htppower_client *client = lease->client;
    htppower_line_ line;
    if (lease->window_us || !htppower_enter_(client)) return;
    if (lease->in_flight && !--lease->in_flight && lease->inference) {
        htppower_say_(&line, 0, "end", lease);
        htppower_put_number_(&line, ",\"inference\":", lease->inference);
        lease->inference = 0;
        if (htppower_send_(client, &line, htppower_now_us_() + client->timeout_us) < 0) htppower_lost_(client);
    }
    HTPPOWER_UNLOCK_(client);
}

/* Changes the profile: at once if the votes are up. Returns 0; -1 if the service refuses it, and the profile stays. */
static inline int htppower_use(htppower_lease *lease, const char *profile) {
    htppower_client *client = lease->client;
    htppower_line_ line;
    int done = -1;
    if (!htppower_enter_(client)) return 0;
    if (htppower_reach_(client) && lease->number) {
        htppower_say_(&line, ++client->last_id, "use", lease);
        htppower_put_text_(&line, ",\"profile\":", profile);
        done = htppower_ask_(client, &line, NULL);
    }
    if (done) htppower_copy_(lease->profile, sizeof lease->profile, profile);
    HTPPOWER_UNLOCK_(client);
    return done ? 0 : -1;
}

/* Disconnects; this ends every lease. In a forked child it closes the child's copy of the connection. */
static inline void htppower_close(htppower_client *client) {
    while (client->leases) htppower_forget_(client->leases);
    htppower_shut_(client);
    client->connected = 0;
#ifndef _WIN32
    if (!HTPPOWER_IS_CHILD_(client)) (void)pthread_mutex_destroy(&client->lock);
    client->process = 0;
#endif
}

/* Returns why the last message was refused or the connection was lost; "" if the message was answered. The text is the
 * client's: the next message, from any thread, changes it. */
static inline const char *htppower_last_error(const htppower_client *client) { return client->error; }

/* Returns 1 if there was a connection at the last message, and 0 otherwise. */
static inline int htppower_connected(const htppower_client *client) { return client->connected; }

#ifdef __cplusplus
/* The same as objects, which the functions above take, too. */
namespace htppower {
struct client : htppower_client {
    explicit client(const char *called, const char *at = nullptr, unsigned timeout_ms = HTPPOWER_TIMEOUT_MS) {
        htppower_connect_to(this, called, at, timeout_ms);
    }
    client(const client &) = delete;
    client &operator=(const client &) = delete;
    ~client() { htppower_close(this); }
};

/* A lease for as long as the object lives. */
struct lease : htppower_lease {
    lease(htppower_client &of, const char *with, const char *reason)
        : held(htppower_hold(&of, this, with, reason) == 0) {}
    lease(htppower_client &of, const htppower_options &options)
        : held(htppower_hold_with(&of, this, &options) == 0) {}
    lease(const lease &) = delete;
    lease &operator=(const lease &) = delete;
    ~lease() { htppower_release(this); }
    const bool held; /* false: the service refuses it */
};

/* An inference for as long as the object lives. */
class inference {
    htppower_lease &lease_;

public:
    explicit inference(htppower_lease &of) : lease_(of), voted(htppower_begin(&of) != 0) {}
    inference(const inference &) = delete;
    inference &operator=(const inference &) = delete;
    ~inference() { htppower_end(&lease_); }
    const bool voted; /* whether its votes are in force */
};
} // namespace htppower
#endif

#endif
