/* Prints the time of a begin and its end through a service: of the quickest batch and the median batch, in us.
 * Arguments: batches, pairs in each, window in us. */
#include "htppower.h"

static int by_size(const void *one, const void *other) {
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

int main(int count, char **arguments) {
    static double times_us[100000];
    static htppower_client client;
    static htppower_lease lease;
    htppower_options options;
    long batches, pairs, batch, pair;
    if (count < 4) return 2;
    batches = strtol(arguments[1], NULL, 10);
    pairs = strtol(arguments[2], NULL, 10);
    memset(&options, 0, sizeof options);
    options.profile = "burst";
    options.reason = "benchmark";
    options.window_us = strtoul(arguments[3], NULL, 10);
    htppower_connect(&client, "benchmark");
    if (htppower_hold_with(&client, &lease, &options) || !htppower_begin(&lease)) return 1;
    htppower_end(&lease);
    for (batch = 0; batch < batches; batch++) {
        const uint64_t begun_us = htppower_now_us_();
        for (pair = 0; pair < pairs; pair++) {
            (void)htppower_begin(&lease);
            htppower_end(&lease);
        }
        times_us[batch] = (double)(htppower_now_us_() - begun_us) / (double)pairs;
    }
    qsort(times_us, (size_t)batches, sizeof *times_us, by_size);
    printf("%f %f\n", times_us[0], times_us[batches / 2]);
    htppower_release(&lease);
    htppower_close(&client);
    return 0;
}
