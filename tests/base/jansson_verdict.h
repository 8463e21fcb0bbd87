/* jansson_verdict.h: jansson's verdict on a text. Its names (json_type, json_equal) are also those of
 * base/json/json.h, so no file may include both. */
#ifndef PARITAS_TESTS_BASE_JANSSON_VERDICT_H
#define PARITAS_TESTS_BASE_JANSSON_VERDICT_H

#include <stddef.h>

enum verdict { VERDICT_REFUSED, VERDICT_TAKEN, VERDICT_BIG_INTEGER };

/* Reads strictly; if taken, prints the tree: n, t, f, i<integer>, r<hexadecimal real>, s<text>, a<count>,
 * o<count>, k<key>, in document order. */
enum verdict jansson_read(const char *text, size_t length, char *out, size_t size);

/* Appends to `out`; what does not fit is dropped. */
__attribute__((format(printf, 4, 5))) void verdict_print(char *out, size_t size, size_t *used,
                                                         const char *format, ...);

#endif
