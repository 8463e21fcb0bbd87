/* json_format.c: tells files of other formats by their first bytes. */
#include "base/gunzip.h"
#include "base/json/json.h"

#include <string.h>

#define TAR_MAGIC_AT 257 /* "ustar" in the header of the first file */
#define TAR_HEADER 512

static bool starts(const char *text, size_t length, const char *bytes, size_t n)
{
    return length >= n && memcmp(text, bytes, n) == 0;
}

static bool is_tar(const char *text, size_t length)
{
    return length >= TAR_HEADER && memcmp(text + TAR_MAGIC_AT, "ustar", 5) == 0;
}

/* Without memory the answer is no. */
static bool holds_tar(paritas_context *context, const char *text, size_t length)
{
    struct gunzip_bytes bytes = {(const unsigned char *)text, length};
    char header[TAR_HEADER];
    size_t n = 0, got = 1;
    struct gunzip *gunzip = gunzip_open(context, gunzip_take_bytes, &bytes);
    if (!gunzip) return false;
    while (n < sizeof header && got > 0) {
        got = gunzip_read(gunzip, header + n, sizeof header - n);
        n += got;
    }
    gunzip_close(gunzip);
    return is_tar(header, n);
}

bool json_is_archive(const char *text, size_t length)
{
    return is_tar(text, length) || starts(text, length, "PK\3\4", 4);
}

static paritas_status refuse_archive(paritas_context *context, const char *label, const char *kind,
                                     const char *command)
{
    return paritas_fail(context, PARITAS_INVALID_INPUT,
                        "%s: is %s archive; run `%s` on it, and give the workspace inside", label, kind,
                        command);
}

paritas_status json_check_format(paritas_context *context, const char *label, const char *text, size_t length)
{
    static const char *const xml[] = {"<?xml", "<!DOCTYPE", "<Combination", "<Channel"};
    for (size_t i = 0; i < sizeof xml / sizeof *xml; i++)
        if (starts(text, length, xml[i], strlen(xml[i])))
            return paritas_fail(context, PARITAS_INVALID_INPUT,
                                "%s: is XML, not JSON; `python -m paritas convert FILE` reads HistFactory's",
                                label);
    if (starts(text, length, "\x1f\x8b", 2)) {
        if (holds_tar(context, text, length)) return refuse_archive(context, label, "a tar", "tar xzf");
        return paritas_fail(context, PARITAS_INVALID_INPUT,
                            "%s: is compressed by gzip; run `gunzip` on it first", label);
    }
    if (starts(text, length, "PK\3\4", 4)) return refuse_archive(context, label, "a zip", "unzip");
    if (is_tar(text, length)) return refuse_archive(context, label, "a tar", "tar xf");
    if (starts(text, length, "root\0", 5))
        return paritas_fail(context, PARITAS_INVALID_INPUT,
                            "%s: is a ROOT file, not JSON; `python -m paritas convert` reads the HistFactory "
                            "XML that names it",
                            label);
    return PARITAS_OK;
}
