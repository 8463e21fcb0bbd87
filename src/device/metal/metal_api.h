/* metal_api.h: the used part of Metal and the Objective-C runtime, in C and loaded at run time: no
 * Objective-C, framework or vendor header. From Apple's documentation.
 *
 * A message is a call of objc_msgSend as if it were the method: receiver, selector, arguments. */
#pragma once

#include "base/dynamic_library.h"

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

typedef uintptr_t metal_unsigned; /* NSUInteger */
typedef intptr_t metal_signed;    /* NSInteger */
struct metal_size {               /* MTLSize */
    metal_unsigned width, height, depth;
};

/* PLAIN(result, selector); X(result, method, selector, parameters). Results of alloc, new and copy are the
 * caller's, others a pool's. */
#define METAL_METHODS(PLAIN, X)                                                                            \
    PLAIN(metal_id, alloc)                                                                                 \
    PLAIN(metal_id, init)                                                                                  \
    PLAIN(metal_id, retain)                                                                                \
    PLAIN(void, release)                                                                                   \
    X(unsigned char, respondsToSelector, "respondsToSelector:", metal_selector)                            \
    PLAIN(metal_unsigned, count)                                                                           \
    X(metal_id, objectAtIndex, "objectAtIndex:", metal_unsigned index)                                     \
    X(metal_id, initWithBytes, "initWithBytes:length:encoding:", const void *bytes, metal_unsigned length, \
      metal_unsigned encoding)                                                                             \
    PLAIN(const char *, UTF8String)                                                                        \
    PLAIN(metal_id, processInfo)                                                                           \
    PLAIN(metal_id, operatingSystemVersionString)                                                          \
    PLAIN(metal_signed, code)                                                                              \
    PLAIN(metal_id, localizedDescription)                                                                  \
    PLAIN(metal_id, name)                                                                                  \
    PLAIN(metal_unsigned, maxBufferLength)                                                                 \
    PLAIN(uint64_t, recommendedMaxWorkingSetSize)                                                          \
    PLAIN(metal_id, newCommandQueue)                                                                       \
    X(metal_id, newBufferWithLength, "newBufferWithLength:options:", metal_unsigned length,                \
      metal_unsigned options)                                                                              \
    X(metal_id, newLibraryWithSource, "newLibraryWithSource:options:error:", metal_id source,              \
      metal_id options, metal_id *error)                                                                   \
    X(metal_id, newComputePipelineStateWithFunction,                                                       \
      "newComputePipelineStateWithFunction:error:", metal_id function, metal_id *error)                    \
    X(void, setMathMode, "setMathMode:", metal_signed)                                                     \
    X(void, setMathFloatingPointFunctions, "setMathFloatingPointFunctions:", metal_signed)                 \
    X(void, setFastMathEnabled, "setFastMathEnabled:", unsigned char)                                      \
    X(metal_id, newFunctionWithName, "newFunctionWithName:", metal_id name)                                \
    PLAIN(metal_unsigned, maxTotalThreadsPerThreadgroup)                                                   \
    PLAIN(void *, contents)                                                                                \
    PLAIN(metal_id, commandBuffer)                                                                         \
    PLAIN(metal_id, computeCommandEncoder)                                                                 \
    X(void, setComputePipelineState, "setComputePipelineState:", metal_id)                                 \
    X(void, setBuffer, "setBuffer:offset:atIndex:", metal_id buffer, metal_unsigned offset,                \
      metal_unsigned index)                                                                                \
    X(void, setBytes, "setBytes:length:atIndex:", const void *bytes, metal_unsigned length,                \
      metal_unsigned index)                                                                                \
    X(void, dispatchThreadgroups, "dispatchThreadgroups:threadsPerThreadgroup:", struct metal_size groups, \
      struct metal_size threads)                                                                           \
    PLAIN(void, endEncoding)                                                                               \
    PLAIN(void, commit)                                                                                    \
    PLAIN(void, waitUntilCompleted)                                                                        \
    PLAIN(metal_unsigned, status)                                                                          \
    PLAIN(metal_id, error)

/* objc_msgSend as each method's function, and the selector to call it with. */
struct metal_methods {
#define METHOD(result, method, selector_text, ...)             \
    struct {                                                   \
        metal_selector selector;                               \
        result (*send)(metal_id, metal_selector, __VA_ARGS__); \
    } method;
#define PLAIN(result, method)                     \
    struct {                                      \
        metal_selector selector;                  \
        result (*send)(metal_id, metal_selector); \
    } method;
    METAL_METHODS(PLAIN, METHOD)
#undef METHOD
#undef PLAIN
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
