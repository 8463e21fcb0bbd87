/* stand_in.h: the libraries that stand in for NVIDIA's (cuda_fake.h), where a program finds them first. */
#ifndef PARITAS_TESTS_CUDA_STAND_IN_H
#define PARITAS_TESTS_CUDA_STAND_IN_H

#include "common.h"
#include "cuda/cuda_fake.h"
#include "base/dynamic_library.h"

/* NULL: another driver comes first, or there is none. */
static inline struct fake_cuda *stand_in_find(void)
{
    void *library = library_open("libcuda.so.1");
    fake_cuda_function function;
    if (!library || !library_find(library, "fake_cuda", &function, sizeof function)) return NULL;
    return function();
}

static inline void stand_in_reset(struct fake_cuda *fake)
{
    *fake = (struct fake_cuda)FAKE_CUDA_AT_FIRST;
}

/* Everything was given back, and nothing was done that a driver leaves undefined. */
static inline void stand_in_look_back(const struct fake_cuda *fake)
{
    if (fake->fault[0]) fail_msg("%s", fake->fault);
    assert_int_equal(fake->in_use, 0);
    assert_null(fake->current);
}

#endif
