// A host in C++ whose inferences have votes, sent by `htppower serve`: host [INFERENCES]
#include <cstdlib>
#include <iostream>

#include "htppower.h"

static void infer() {
    // run the graph
}

int main(int count, char **arguments) {
    const long inferences = count > 1 ? std::strtol(arguments[1], nullptr, 10) : 30;
    long voted = 0;
    htppower::client client("host.cpp");
    htppower::lease lease(client, "burst", "preview");
    if (!lease.held) std::cerr << "no lease: " << htppower_last_error(&client) << "\n";
    for (long done = 0; done < inferences; done++) {
        htppower::inference scope(lease);
        voted += scope.voted;
        infer();
    }
    std::cout << inferences << " inferences, " << voted << " with votes\n";
}
