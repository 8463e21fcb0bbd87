/* recycler.h: an allocator that keeps released blocks for the next one of similar size. Without it the
 * heap of a long run grows (330 MB instead of 190), and clearing pages takes 10 % of the time. Threads may
 * share it. */
#ifndef PARITAS_CLI_RECYCLER_H
#define PARITAS_CLI_RECYCLER_H

#include "paritas.h"
#include <pthread.h>

struct kept_block;

struct recycler {
    paritas_allocator allocator; /* for paritas_open; the recycler must not move */
    pthread_mutex_t lock;
    struct kept_block *kept; /* released, the last first */
    size_t n_kept;
};

void recycler_open(struct recycler *recycler);
/* Frees kept blocks. Nothing may be released afterwards. */
void recycler_close(struct recycler *recycler);

#endif
