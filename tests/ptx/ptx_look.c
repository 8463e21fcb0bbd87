/* ptx_look.c: looks at each access of a kernel to memory:
 *   - it is within one memory, at a multiple of its size
 *   - a write is to the answers or the slabs, and ld.global.nc, which may read an old number, to neither
 *   - what another thread wrote is read, and what it touched is written, behind a barrier of the block; of
 *     another block's never in the same launch
 */
#include "ptx/ptx_look.h"

#include <stdlib.h>

enum { OUT = 4, SLABS = 5, MANY = 0xffff };

/* Who touched four bytes last. A time is a number that grows with launches, blocks and barriers. */
struct word {
    uint64_t written, read;
    uint16_t writer, reader; /* threads; MANY: several read */
};

static struct written {
    uintptr_t begin;
    size_t bytes;
    struct word *words;
} written[2];
static uint64_t launch_begin = 1, block_begin = 1, newest;
static unsigned long launch;
static uint32_t block;

struct fake_cuda *fake_cuda(void);

/* The memory of an argument; what is known of another is forgotten. */
static void take(struct written *w, uintptr_t address)
{
    size_t bytes;
    const uintptr_t begin = fake_memory(address, &bytes);
    if (begin == w->begin && bytes == w->bytes) return;
    free(w->words);
    *w = (struct written){begin, bytes, calloc(bytes / 4 + 1, sizeof *w->words)};
    if (!w->words) fake_fault(0, "no memory to look at accesses");
}

void ptx_look_begin(const struct ptx_thread *thread, void **arguments)
{
    const int another_launch = launch != fake_cuda()->ran;
    if (!another_launch && block == thread->block) return;
    launch = fake_cuda()->ran;
    block = thread->block;
    block_begin = newest + 1;
    if (!another_launch) return;
    launch_begin = block_begin;
    take(&written[0], *(const uintptr_t *)arguments[OUT]);
    take(&written[1], *(const uintptr_t *)arguments[SLABS]);
}

static int is_in(const struct ptx_memory *memory, uint64_t address, unsigned bytes)
{
    const uint64_t begin = (uintptr_t)memory->begin;
    return address >= begin && bytes <= memory->bytes && address - begin <= memory->bytes - bytes;
}

/* False: neither the thread's own nor one of the kernel's tables. */
static int is_of_kernel(const struct ptx_thread *thread, uint64_t address, unsigned bytes,
                        enum ptx_access access)
{
    for (const struct ptx_memory *m = thread->privates; m; m = m->outer)
        if (is_in(m, address, bytes)) return access != PTX_READS_CONSTANT;
    for (const struct ptx_memory *m = thread->library->tables; m->begin; m++)
        if (is_in(m, address, bytes)) return access != PTX_WRITES;
    return 0;
}

/* Whether an access at `time` by `who` was by another thread, with no barrier since. */
static int is_open(uint64_t time, uint16_t who, const struct ptx_thread *thread)
{
    if (time < launch_begin) return 0;
    return time < block_begin || (time == newest && who != thread->thread);
}

static void touch(struct word *word, const struct ptx_thread *thread, enum ptx_access access, unsigned place)
{
    const int writes = access == PTX_WRITES;
    if (is_open(word->written, word->writer, thread))
        fake_fault(0, "race: thread %u of block %u %s at place %u what thread %u wrote", thread->thread,
                   thread->block, writes ? "writes" : "reads", place, word->writer);
    if (writes && is_open(word->read, word->reader, thread))
        fake_fault(0, "race: thread %u of block %u writes at place %u what thread %u read", thread->thread,
                   thread->block, place, word->reader);
    if (writes) {
        word->written = newest;
        word->writer = (uint16_t)thread->thread;
    } else {
        word->reader =
            word->read == newest && word->reader != thread->thread ? MANY : (uint16_t)thread->thread;
        word->read = newest;
    }
}

void ptx_look(const struct ptx_thread *thread, uint64_t address, unsigned bytes, enum ptx_access access,
              unsigned place)
{
    size_t room;
    newest = block_begin + thread->barriers; /* threads between two barriers have one time */
    if (address % bytes) fake_fault(0, "%u bytes at place %u are not aligned", bytes, place);
    for (int k = 0; k < 2; k++) {
        const struct written *w = &written[k];
        if (!w->words || address < w->begin || address - w->begin >= w->bytes) continue;
        if (bytes > w->bytes - (address - w->begin)) break;
        if (access == PTX_READS_CONSTANT)
            fake_fault(0, "ld.global.nc at place %u reads what the kernel may write", place);
        for (uint64_t i = (address - w->begin) / 4; i <= (address - w->begin + bytes - 1) / 4; i++)
            touch(&w->words[i], thread, access, place);
        return;
    }
    const uintptr_t begin = fake_memory(address, &room);
    if (begin && access != PTX_WRITES && bytes <= room - (address - begin)) return;
    if (!is_of_kernel(thread, address, bytes, access))
        fake_fault(0, "thread %u of block %u %s %u bytes at place %u outside of its memory", thread->thread,
                   thread->block, access == PTX_WRITES ? "writes" : "reads", bytes, place);
}
