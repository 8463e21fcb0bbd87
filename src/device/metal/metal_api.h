/* metal_api.h: the used part of Metal and the Objective-C runtime, in C and loaded at run time: no
 * Objective-C, framework or vendor header. From Apple's documentation.
 *
 * A message is objc_msgSend cast to the method's type, one cast per signature: receiver, selector,
 * arguments. */
#ifndef PARITAS_METAL_API_H
#define PARITAS_METAL_API_H

#include "device/dynamic_library.h"

#include <stddef.h>
#include <stdint.h>

typedef struct metal_object *metal_id; /* nil is NULL; messages to it return 0 */
typedef struct metal_selector *metal_selector;

/* X(return type, name, parameters) for dynamic_library.h */
#define METAL_FUNCTIONS(X)                                  \
    X(void, objc_msgSend, (void))                           \
    X(metal_selector, sel_registerName, (const char *name)) \
    X(metal_id, objc_getClass, (const char *name))          \
    X(void *, objc_autoreleasePoolPush, (void))             \
    X(void, objc_autoreleasePoolPop, (void *pool))          \
    X(metal_id, MTLCopyAllDevices,                          \
      (void)) /* an array, which the caller releases; works without a screen, too */

struct metal_api {
    METAL_FUNCTIONS(LIBRARY_MEMBER)
};

/* X(member, selector). Results of alloc, new and copy are the caller's, others a pool's. */
#define METAL_SELECTORS(X)                                                               \
    X(alloc, "alloc")                                                                    \
    X(init, "init")                                                                      \
    X(retain, "retain")                                                                  \
    X(release, "release")                                                                \
    X(respondsToSelector, "respondsToSelector:")                                         \
    X(count, "count")                                                                    \
    X(objectAtIndex, "objectAtIndex:")                                                   \
    X(initWithBytes, "initWithBytes:length:encoding:")                                   \
    X(UTF8String, "UTF8String")                                                          \
    X(processInfo, "processInfo")                                                        \
    X(operatingSystemVersionString, "operatingSystemVersionString")                      \
    X(code, "code")                                                                      \
    X(localizedDescription, "localizedDescription")                                      \
    X(name, "name")                                                                      \
    X(maxBufferLength, "maxBufferLength")                                                \
    X(recommendedMaxWorkingSetSize, "recommendedMaxWorkingSetSize")                      \
    X(newCommandQueue, "newCommandQueue")                                                \
    X(newBufferWithLength, "newBufferWithLength:options:")                               \
    X(newLibraryWithSource, "newLibraryWithSource:options:error:")                       \
    X(newComputePipelineStateWithFunction, "newComputePipelineStateWithFunction:error:") \
    X(setMathMode, "setMathMode:")                                                       \
    X(setMathFloatingPointFunctions, "setMathFloatingPointFunctions:")                   \
    X(setFastMathEnabled, "setFastMathEnabled:")                                         \
    X(newFunctionWithName, "newFunctionWithName:")                                       \
    X(maxTotalThreadsPerThreadgroup, "maxTotalThreadsPerThreadgroup")                    \
    X(contents, "contents")                                                              \
    X(commandBuffer, "commandBuffer")                                                    \
    X(computeCommandEncoder, "computeCommandEncoder")                                    \
    X(setComputePipelineState, "setComputePipelineState:")                               \
    X(setBuffer, "setBuffer:offset:atIndex:")                                            \
    X(setBytes, "setBytes:length:atIndex:")                                              \
    X(dispatchThreadgroups, "dispatchThreadgroups:threadsPerThreadgroup:")               \
    X(endEncoding, "endEncoding")                                                        \
    X(commit, "commit")                                                                  \
    X(waitUntilCompleted, "waitUntilCompleted")                                          \
    X(status, "status")                                                                  \
    X(error, "error")

struct metal_selectors {
#define X(member, selector) metal_selector member;
    METAL_SELECTORS(X)
#undef X
};

typedef uintptr_t metal_unsigned; /* NSUInteger */
typedef intptr_t metal_signed;    /* NSInteger */
struct metal_size {               /* MTLSize */
    metal_unsigned width, height, depth;
};

enum {
    METAL_UTF8 = 4,
    METAL_STORAGE_SHARED = 0,
    METAL_MATH_MODE_SAFE = 0,
    METAL_MATH_FUNCTIONS_PRECISE = 1,
    METAL_STATUS_COMPLETED = 4
};

/* Codes: below METAL_NO_BUFFER those of command buffers, then ours where Metal returns nil. */
enum {
    METAL_OK = 0,
    METAL_NO_BUFFER = 1001,
    METAL_NO_COMMAND_BUFFER = 1002,
    METAL_NO_ENCODER = 1003,
    METAL_NOT_COMPLETED = 1004
};

#endif
