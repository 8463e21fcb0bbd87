/* team.h: the workers of a team as fibers of one thread, which change at barriers alone: always in the same
 * way for the same order, so that what goes wrong does so again. For kernels in the dialects of GPUs, built
 * as native code. */
#ifndef PARITAS_TESTS_METAL_TEAM_H
#define PARITAS_TESTS_METAL_TEAM_H

#if defined(__cplusplus)
extern "C" {
#endif

#define TEAM_WORKERS_MOST 256

/* In which order workers take their turns between two barriers. A result that depends on it is a data
 * race. */
enum team_order { TEAM_ASCENDING, TEAM_DESCENDING, TEAM_TURNING, TEAM_ORDERS };

/* Runs body(user, worker) for worker = 0 .. workers-1 until all have returned. 0: well; 1: some wait at a
 * barrier that others never reach, or there is no memory for their stacks. */
int team_run(unsigned workers, enum team_order order, void (*body)(void *user, unsigned worker), void *user);
/* Waits for the others; called by body. */
void team_barrier(void);
/* Gives back the stacks, which are kept between runs. */
void team_release(void);

#if defined(__cplusplus)
}
#endif
#endif
