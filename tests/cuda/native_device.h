/* native_device.h: a device whose kernels are the CUDA text as native code (cuda_native.h), for any module of
 * the library and the tests' own models. native_workers and native_settings say how a team runs. */
#ifndef PARITAS_CUDA_NATIVE_DEVICE_H
#define PARITAS_CUDA_NATIVE_DEVICE_H

#include "base/context.h"
#include "cuda/cuda_native.h"

/* From here on the devices of an opened context, which are the CPU's, run that text. Every team works in a
 * slab of its own that holds no numbers: what it reads it must have written. */
void use_native_device(paritas_context *context);

/* Teams to compare: how many workers, and in which order they take their turns. */
struct native_team {
    unsigned workers;
    enum native_order order;
    const char *name;
};
#define NATIVE_TEAMS 4
extern const struct native_team native_teams[NATIVE_TEAMS];
/* What runs next is this team's; `seed` of a shuffled order. Forgets the last fault. */
void use_native_team(const struct native_team *team, uint64_t seed);

/* The first thing that went wrong in the runs of a team: threads that wait at different barriers. */
extern char native_fault[256];

#endif
