/* er_text.h: small text files in memory: lines of fields. */
#pragma once

#include "moon/er/er.h"

struct er_text {
    paritas_context *context;
    const char *path;
    char *bytes;
    size_t length;
    const char *at; /* next line */
    uint64_t line;  /* current, from 1 */
};

/* Part of a text, trimmed, no end byte. */
struct er_piece {
    const char *at;
    size_t length;
};

paritas_status er_text_open(paritas_context *context, const char *path, struct er_text *text);
void er_text_close(struct er_text *text);
/* The next line that is not blank; false: none. */
bool er_text_line(struct er_text *text, struct er_piece *line);
/* Cuts the next field, up to one of the separators; false: none left. */
bool er_piece_field(struct er_piece *line, const char *separators, struct er_piece *field);
bool er_piece_is(struct er_piece piece, const char *word);
bool er_piece_number(struct er_piece piece, double *value);
/* Refuses the line (INVALID_INPUT): "PATH: line N: REASON". */
paritas_status er_text_refuse(const struct er_text *text, const char *format, ...) PRINTF_LIKE(2, 3);
