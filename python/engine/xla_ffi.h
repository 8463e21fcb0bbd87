/* xla_ffi.h: what a function that XLA calls (JAX's foreign functions) sees of its call: arguments, results,
 * attributes, and how it tells of an error.
 *
 * The layouts are those of version 0 of XLA's C interface (xla/ffi/api/c_api.h), which grows at the ends of
 * its structures only; of the structures here no more is declared than is read. Declared here so that the
 * package is built without JAX. */
#ifndef PARITAS_XLA_FFI_H
#define PARITAS_XLA_FFI_H

#include <stddef.h>
#include <stdint.h>

enum { XLA_F32 = 11, XLA_F64 = 12, XLA_S32 = 4 }; /* types of numbers */
enum { XLA_INVALID_ARGUMENT = 3 };                /* error codes */
enum { XLA_METADATA = 1 };                        /* types of extensions */

struct xla_extension {
    size_t size;
    int type;
    struct xla_extension *next;
};

struct xla_version {
    size_t size;
    struct xla_extension *extension;
    int major, minor;
};

/* Asked for once, when the function is registered. */
struct xla_metadata {
    size_t size;
    struct xla_version version;
    uint32_t traits;
};
struct xla_metadata_extension {
    struct xla_extension base;
    struct xla_metadata *metadata;
};

struct xla_error_arguments {
    size_t size;
    struct xla_extension *extension;
    const char *message;
    int code;
};

struct xla_api {
    size_t size;
    struct xla_extension *extension;
    struct xla_version version;
    const void *internal;
    void *(*make_error)(struct xla_error_arguments *arguments);
};

struct xla_buffer {
    size_t size;
    struct xla_extension *extension;
    int type;
    void *data;
    int64_t rank;
    int64_t *dimensions;
};

struct xla_buffers { /* arguments, results */
    size_t size;
    struct xla_extension *extension;
    int64_t count;
    int *types;
    struct xla_buffer **at;
};

struct xla_scalar {
    int type;
    void *value;
};

struct xla_attributes {
    size_t size;
    struct xla_extension *extension;
    int64_t count;
    int *types;
    void **names;
    struct xla_scalar **at;
};

struct xla_call {
    size_t size;
    struct xla_extension *extension;
    const struct xla_api *api;
    void *context;
    int stage;
    struct xla_buffers arguments, results;
    struct xla_attributes attributes;
};

#endif
