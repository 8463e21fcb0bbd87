/* fuzz_gz.c: any bytes are a day file, gzip members among them. It is refused by name, or read as the same
 * day again from its plain bytes. */
#define _GNU_SOURCE /* mkstemp */
#include "fuzz_file.h"
#include "base/gunzip.h"
#include "paritas_er.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 22 }; /* plain bytes that are compared */

/* A day of a whole file is the day of what the file holds. */
static void check_plain(paritas_context *context, const paritas_er_day *day, const uint8_t *data, size_t size)
{
    static char plain[MOST];
    struct gunzip_bytes packed = {data, size};
    struct gunzip *gunzip = gunzip_open(context, gunzip_take_bytes, &packed);
    paritas_er_day *again;
    const size_t length = gunzip_read(gunzip, plain, sizeof plain);
    const bool whole = length < sizeof plain && gunzip_state(gunzip) == GUNZIP_END;
    gunzip_close(gunzip);
    if (!whole) return;
    check(paritas_er_parse(context, plain, length, "plain", NULL, &again) == PARITAS_OK);
    check(again->n == day->n && again->bytes == day->bytes && again->rows == day->rows);
    paritas_er_day_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    paritas_context context = fuzz_context();
    paritas_er_day *day;
    fuzz_write(data, size);
    const paritas_status status = paritas_er_read(&context, fuzz_path, NULL, &day);
    if (status)
        check(status == PARITAS_INVALID_INPUT && strstr(context.message, fuzz_path) != NULL && day == NULL);
    else if (size > 2 && memcmp(data, "\x1f\x8b", 2) == 0)
        check_plain(&context, day, data, size);
    paritas_er_day_free(day);
    return 0;
}
