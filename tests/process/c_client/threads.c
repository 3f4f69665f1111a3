/* Threads that share a client: each infers 200 times on a shared lease and on its own; prints how many had votes. */
#include "htppower.h"

#define THREADS 4
#define TIMES 200

static htppower_client client;
static htppower_lease shared;

static void *infer(void *voted) {
    htppower_lease own;
    int time;
    htppower_hold(&client, &own, "balanced", "own");
    for (time = 0; time < TIMES; time++) {
        *(int *)voted += htppower_begin(&shared) + htppower_begin(&own);
        htppower_end(&own);
        htppower_end(&shared);
    }
    htppower_release(&own);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int voted[THREADS] = {0}, sum = 0, at;
    htppower_connect(&client, "threads");
    htppower_hold(&client, &shared, "burst", "shared");
    for (at = 0; at < THREADS; at++) (void)pthread_create(&threads[at], NULL, infer, &voted[at]);
    for (at = 0; at < THREADS; at++) {
        (void)pthread_join(threads[at], NULL);
        sum += voted[at];
    }
    printf("%d\n", sum);
    htppower_release(&shared);
    htppower_close(&client);
    return 0;
}
