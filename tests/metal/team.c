/* team.c: see team.h. A fiber is a stack; team_switch leaves one for another and comes back to where that one
 * left. It saves what a function must keep for its caller and leaves the modes of arithmetic alone, so a mode
 * holds for the whole team. */
#include "metal/team.h"

#include <stdint.h>
#include <stdlib.h>

/* void team_switch(void **leave, void *enter): the stack pointer goes to *leave, `enter` becomes the stack
 * pointer. */
void team_switch(void **leave, void *enter);
#if defined(__x86_64__)
__asm__(".text\n"
        ".globl team_switch\n"
        ".hidden team_switch\n"
        ".type team_switch, @function\n"
        "team_switch:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size team_switch, . - team_switch\n");
enum { SAVED = 8, ENTRY_AT = 6 }; /* words on a stack that was left; where it goes on */
#elif defined(__aarch64__)
__asm__(".text\n"
        ".globl team_switch\n"
        ".hidden team_switch\n"
        ".type team_switch, %function\n"
        "team_switch:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp]\n    stp x21, x22, [sp, #16]\n    stp x23, x24, [sp, #32]\n    stp x25, x26, "
        "[sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n    stp d10, d11, [sp, #112]\n    stp d12, d13, [sp, #128]\n    stp d14, "
        "d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp]\n    ldp x21, x22, [sp, #16]\n    ldp x23, x24, [sp, #32]\n    ldp x25, x26, "
        "[sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n    ldp d10, d11, [sp, #112]\n    ldp d12, d13, [sp, #128]\n    ldp d14, "
        "d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size team_switch, . - team_switch\n");
enum { SAVED = 20, ENTRY_AT = 11 };
#else
#error "there is no switch of fibers for this processor"
#endif

enum { STACK = 256 * 1024 };

static struct {
    unsigned char *stacks;
    unsigned stacks_of; /* workers */
    void *at[TEAM_WORKERS_MOST], *home;
    int ended[TEAM_WORKERS_MOST];
    unsigned current;
    void (*body)(void *, unsigned);
    void *user;
} team;

/* Where a fiber begins. It never returns: its last switch is not come back from. */
static void begin(void)
{
    const unsigned worker = team.current;
    team.body(team.user, worker);
    team.ended[worker] = 1;
    team_switch(&team.at[worker], team.home);
    abort();
}

void team_barrier(void)
{
    team_switch(&team.at[team.current], team.home);
}

void team_release(void)
{
    free(team.stacks);
    team.stacks = NULL;
    team.stacks_of = 0;
}

int team_run(unsigned workers, enum team_order order, void (*body)(void *user, unsigned worker), void *user)
{
    if (workers > TEAM_WORKERS_MOST) return 1;
    if (team.stacks_of < workers) {
        team_release();
        team.stacks = malloc((size_t)workers * STACK);
        if (!team.stacks) return 1;
        team.stacks_of = workers;
    }
    team.body = body;
    team.user = user;
    for (unsigned w = 0; w < workers; w++) {
        const uintptr_t top = ((uintptr_t)team.stacks + (size_t)(w + 1) * STACK) & ~(uintptr_t)63;
        uintptr_t *saved = (uintptr_t *)top - SAVED;
        for (int k = 0; k < SAVED; k++) saved[k] = 0;
        saved[ENTRY_AT] = (uintptr_t)begin;
        team.at[w] = saved;
        team.ended[w] = 0;
    }
    for (unsigned turn = 0;; turn++) {
        unsigned ended = 0;
        for (unsigned k = 0; k < workers; k++) {
            team.current = order == TEAM_ASCENDING    ? k
                           : order == TEAM_DESCENDING ? workers - 1 - k
                                                      : (k + turn) % workers;
            team_switch(&team.home, team.at[team.current]);
            ended += (unsigned)team.ended[team.current];
        }
        if (ended == workers) return 0;
        if (ended > 0) return 1;
    }
}
