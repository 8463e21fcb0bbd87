/* ptx_look.h: what a kernel may do with memory. */
#ifndef PARITAS_TESTS_PTX_LOOK_H
#define PARITAS_TESTS_PTX_LOOK_H

#include "cuda/cuda_fake.h"
#include "ptx/ptx_thread.h"

/* A thread begins: of which launch and block, and what its kernel may write. */
void ptx_look_begin(const struct ptx_thread *thread, void **arguments);
/* One access; what is wrong with it is a fault of the driver's stand-in. */
void ptx_look(const struct ptx_thread *thread, uint64_t address, unsigned bytes, enum ptx_access access,
              unsigned place);

#endif
