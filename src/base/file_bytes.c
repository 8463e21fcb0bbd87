/* file_bytes.c: a buffer that doubles. */
#include "base/file_bytes.h"
#include "base/platform.h"

#include <errno.h>
#include <string.h>

paritas_status file_bytes_read(paritas_context *context, const char *label, int file, size_t most,
                               struct file_bytes *bytes)
{
    size_t room = 0;
    *bytes = (struct file_bytes){0};
    while (bytes->length < most) {
        if (bytes->length == room) {
            room = room ? 2 * room : 65536;
            char *larger = paritas_reallocate(context, bytes->at, room, 1);
            if (!larger) return paritas_fail_memory(context);
            bytes->at = larger;
        }
        const ptrdiff_t got = platform_read(file, bytes->at + bytes->length, room - bytes->length);
        if (got < 0) return paritas_fail(context, PARITAS_UNREADABLE, "%s: %s", label, strerror(errno));
        if (got == 0) return PARITAS_OK;
        bytes->length += (size_t)got;
    }
    return PARITAS_OK;
}
