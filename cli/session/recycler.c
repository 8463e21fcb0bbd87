/* recycler.c: keeps large released blocks.
 *
 *   block: │ size, next (if kept) │ piece, aligned to 16 ... */
#include "session/recycler.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_FROM ((size_t)1 << 16) /* malloc handles smaller pieces well */
#define KEPT_MOST 64

struct kept_block {
    _Alignas(16) size_t size;
    struct kept_block *next;
};
_Static_assert(sizeof(struct kept_block) % 16 == 0, "pieces are aligned");

/* The smallest kept block that fits, at most twice as large; NULL: none. */
static struct kept_block *take_kept(struct recycler *recycler, size_t size)
{
    struct kept_block **best = NULL;
    for (struct kept_block **at = &recycler->kept; *at; at = &(*at)->next)
        if ((*at)->size >= size && (*at)->size / 2 <= size && (!best || (*at)->size < (*best)->size))
            best = at;
    if (!best) return NULL;
    struct kept_block *block = *best;
    *best = block->next;
    recycler->n_kept--;
    return block;
}

static void *allocate(void *user, size_t size)
{
    struct recycler *recycler = user;
    struct kept_block *block = NULL;
    if (size > SIZE_MAX - sizeof *block) return NULL;
    if (size >= KEPT_FROM) {
        pthread_mutex_lock(&recycler->lock);
        block = take_kept(recycler, size);
        pthread_mutex_unlock(&recycler->lock);
    }
    if (!block) {
        block = malloc(sizeof *block + size);
        if (!block) return NULL;
        block->size = size;
    }
    return block + 1;
}

static void release(void *user, void *memory)
{
    struct recycler *recycler = user;
    if (!memory) return;
    struct kept_block *block = (struct kept_block *)memory - 1, *dropped = block;
    if (block->size >= KEPT_FROM) {
        pthread_mutex_lock(&recycler->lock);
        block->next = recycler->kept;
        recycler->kept = block;
        dropped = NULL;
        if (++recycler->n_kept > KEPT_MOST) { /* the oldest */
            struct kept_block **last = &recycler->kept;
            while ((*last)->next) last = &(*last)->next;
            dropped = *last;
            *last = NULL;
            recycler->n_kept--;
        }
        pthread_mutex_unlock(&recycler->lock);
    }
    free(dropped);
}

static void *reallocate(void *user, void *memory, size_t size)
{
    if (!memory) return allocate(user, size);
    struct kept_block *block = (struct kept_block *)memory - 1;
    if (size <= block->size && block->size >= KEPT_FROM) return memory;
    if (block->size < KEPT_FROM && size < KEPT_FROM) {
        struct kept_block *moved = realloc(block, sizeof *block + size);
        if (!moved) return NULL;
        moved->size = size;
        return moved + 1;
    }
    void *larger = allocate(user, size);
    if (!larger) return NULL;
    memcpy(larger, memory, block->size < size ? block->size : size);
    release(user, memory);
    return larger;
}

void recycler_open(struct recycler *recycler)
{
    *recycler = (struct recycler){.allocator = {allocate, reallocate, release, recycler}};
    pthread_mutex_init(&recycler->lock, NULL);
}

void recycler_close(struct recycler *recycler)
{
    while (recycler->kept) {
        struct kept_block *block = recycler->kept;
        recycler->kept = block->next;
        free(block);
    }
    pthread_mutex_destroy(&recycler->lock);
}
