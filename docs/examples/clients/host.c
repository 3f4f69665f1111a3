/* A host in C whose inferences have votes, sent by `htppower serve`: host [INFERENCES] */
#include "htppower.h"

static void infer(void) {
    /* run the graph */
}

int main(int count, char **arguments) {
    const long inferences = count > 1 ? strtol(arguments[1], NULL, 10) : 30;
    long done, voted = 0;
    htppower_client client;
    htppower_lease lease;

    htppower_connect(&client, "host.c");
    if (htppower_hold(&client, &lease, "burst", "preview") != 0)
        fprintf(stderr, "no lease: %s\n", htppower_last_error(&client));
    for (done = 0; done < inferences; done++) {
        voted += htppower_begin(&lease);
        infer();
        htppower_end(&lease);
    }
    printf("%ld inferences, %ld with votes\n", inferences, voted);
    htppower_release(&lease);
    htppower_close(&client);
    return 0;
}
