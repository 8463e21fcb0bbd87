/* er_input.c: plain and gzip files, told apart by their first bytes. */
#define _POSIX_C_SOURCE 200809L
#include "moon/er/er_input.h"
#include "base/platform.h"
#include "base/unpacked.h"

#include <string.h>

static size_t read_file(void *user, void *out, size_t room)
{
    struct er_input *input = user;
    size_t got = 0;
    while (input->at_head < input->n_head && got < room) ((char *)out)[got++] = input->head[input->at_head++];
    got += fread((char *)out + got, 1, room - got, input->file);
    if (input->digest) sha256_append(input->digest, out, got);
    return got;
}

paritas_status er_input_open(paritas_context *context, const char *path, struct sha256 *digest,
                             struct er_input *input)
{
    *input = (struct er_input){.context = context, .path = path, .digest = digest};
    input->file = platform_open_stream(path, "rb");
    if (!input->file) return er_unreadable(context, path);
    struct platform_info about;
    if (platform_info_open(fileno(input->file), &about)) input->size = about.size;
    input->n_head = fread(input->head, 1, sizeof input->head, input->file);
    if (input->n_head < 2 || memcmp(input->head, "\x1f\x8b", 2) != 0) return PARITAS_OK;
    input->gunzip = gunzip_open(context, read_file, input);
    if (input->gunzip) return PARITAS_OK;
    fclose(input->file);
    return paritas_fail_memory(context);
}

size_t er_input_read(struct er_input *input, char *out, size_t room)
{
    return input->gunzip ? gunzip_read(input->gunzip, out, room) : read_file(input, out, room);
}

paritas_status er_input_close(struct er_input *input, bool *cut)
{
    char rest[4096];
    while (input->digest && read_file(input, rest, sizeof rest) > 0) {
    }
    const bool broken = ferror(input->file) != 0;
    const enum gunzip_state state = input->gunzip ? gunzip_state(input->gunzip) : GUNZIP_END;
    paritas_status status = PARITAS_OK;
    if (broken)
        status = er_unreadable(input->context, input->path);
    else if (state == GUNZIP_NO_MEMORY)
        status = paritas_fail_memory(input->context);
    else if (state == GUNZIP_TOO_FAR)
        status = paritas_fail(input->context, PARITAS_INVALID_INPUT,
                              "%s: " UNPACKS_TOO_FAR ": unpack it first", input->path);
    else if (state == GUNZIP_DAMAGED)
        status = paritas_fail(input->context, PARITAS_INVALID_INPUT,
                              "%s: the compressed data are damaged: this is no whole gzip file", input->path);
    if (cut) *cut = state == GUNZIP_CUT;
    fclose(input->file);
    gunzip_close(input->gunzip);
    return status;
}
