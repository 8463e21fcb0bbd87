/* root_key.h: how objects are found and read; for those who know a class. */
#pragma once

#include "root/root_bytes.h"

#include "base/context.h"

struct root_file;

#define ROOT_REWRITE "rewrite the file by `hadd -f101 new.root old.root`" /* by zlib, by ROOT */

struct root_key {
    const char *name, *class_name;
    uint32_t header, bytes;     /* of the record: its header; all of it */
    uint32_t length;            /* of the object, inflated */
    uint64_t at;                /* of the record in the file */
    struct root_folder *folder; /* NULL: none, or not read */
};

/* Finds the object of this path: root_file.h has the rules. */
paritas_status root_find(paritas_context *context, struct root_file *file, const char *name,
                         const struct root_key **key);
/* The object's bytes, as long as the file is open. `memory` is for paritas_release, and NULL after a failure
 * or where the file's own bytes are the object's. */
paritas_status root_read(paritas_context *context, struct root_file *file, const char *name,
                         const struct root_key *key, unsigned char **memory, struct root_bytes *object);
/* Fails with INVALID_INPUT, "FILE: NAME: " and the reason. NAME "": the file itself. */
paritas_status root_refuse(paritas_context *context, const struct root_file *file, const char *name,
                           const char *format, ...) PRINTF_LIKE(4, 5);
